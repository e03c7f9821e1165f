// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests every way in which control enters, leaves or comes back into a C function.  After each of
 * them the chain of records must be right.
 */
#include "chain.h"
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- plain calls and returns ------------------------------------------- */

SUBJECT int third(int x)
{
	CHAIN_IS("third", "second", "first", "case_calls");
	CHAIN_CALLED_FROM(0, "second");
	CHAIN_CALLED_FROM(1, "first");
	return x + 1;
}

SUBJECT int second(int x)
{
	int r = third(x);

	CHAIN_IS("second", "first", "case_calls");
	return r * 2;
}

SUBJECT int first(int x)
{
	int r = second(x);

	CHAIN_IS("first", "case_calls");
	return r + 3;
}

SUBJECT void case_calls(void)
{
	printf("%d\n", first(4));
	CHAIN_IS("case_calls", MAIN);
}

/* --- fast paths, several exits, dead ends ------------------------------- */

static volatile int zero;

SUBJECT int note(int x)
{
	chain_walk("note");
	NO_TAIL();
	return x;
}

SUBJECT int shapes(int x)
{
	int i, sum = 0;

	if (x == zero)
		return -1;
	if (x & 1) {
		sum = note(x);
		if (x & 2)
			return sum;
	} else if (x & 4) {
		for (i = 0; i < x; i++) {
			if (i == 9)
				return i;
			sum += note(i);
			if (sum > 40)
				goto out;
		}
	}
	if (x > 1000) {
		fprintf(stderr, "unreachable\n");
		abort();
	}
	switch (x) {
	case 6: return note(60);
	case 7: return 70;
	case 8: sum += note(80); /* fall through */
	case 9: sum += 90; break;
	default: break;
	}
	return sum;
out:
	return -sum;
}

NEVER void case_shapes(void)
{
	struct ldb_frame *top = chain_top();
	int i;

	for (i = 0; i < 40; i++) {
		printf("%d ", shapes(i));
		if (chain_top() != top)
			chain_fail("shapes", "top is not what it was", i);
	}
	puts("");
}

SUBJECT int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

SUBJECT void case_fib(void)
{
	printf("%d\n", fib(15));
	NO_TAIL();
}

/* --- arguments: the link must not disturb any register ------------------- */

struct big { long v[9]; };

SUBJECT struct big many(int a, long b, char c, short d, unsigned e, long long f,
			double g, float h, long double i, int j, struct big k)
{
	struct big r = k;

	r.v[0] = note(a) + b + c + d + e + f;
	r.v[1] = (long)(g * 10 + h * 100 + i * 1000) + j;
	return r;
}

SUBJECT long sum_up(int n, ...)
{
	va_list ap;
	long sum = 0;
	double d = 0;

	va_start(ap, n);
	while (n--) {
		sum += note(va_arg(ap, int));
		d += va_arg(ap, double);
	}
	va_end(ap);
	return sum * 1000 + (long)d;
}

SUBJECT __int128 wide(__int128 a, unsigned __int128 b)
{
	return a * note(3) - (__int128)b;
}

SUBJECT __attribute__((ms_abi)) long foreign(long a, double b, long c, long d, long e)
{
	return note(a) + (long)b + c + d + e;
}

SUBJECT void case_arguments(void)
{
	struct big k = { { 1, 2, 3, 4, 5, 6, 7, 8, 9 } };
	struct big r = many(1, 2, 3, 4, 5, 6, .7, .8f, .9L, 10, k);

	printf("%ld %ld %ld\n", r.v[0], r.v[1], r.v[8]);
	printf("%ld\n", sum_up(3, 1, 1.5, 2, 2.5, 3, 3.5));
	printf("%ld\n", (long)wide(-5, 7));
	printf("%ld\n", foreign(1, 2, 3, 4, 5));
}

/* --- stack shapes -------------------------------------------------------- */

SUBJECT int variable_array(int n)
{
	char array[n];
	char *more = alloca(n);

	memset(array, 1, n);
	memset(more, 2, n);
	CHAIN_IS("variable_array", "case_stack");
	CHAIN_CALLED_FROM(0, "case_stack");
	return array[n - 1] + more[n - 1];
}

SUBJECT int aligned_local(int n)
{
	_Alignas(64) volatile char wide_local[128];

	wide_local[n] = 5;
	CHAIN_IS("aligned_local", "case_stack");
	CHAIN_CALLED_FROM(0, "case_stack");
	return ((uintptr_t)wide_local & 63) + wide_local[n];
}

SUBJECT int aligned_variable(int n)
{
	_Alignas(64) volatile char wide_local[64];
	char *more = alloca(n);

	more[0] = 1;
	wide_local[0] = 6;
	CHAIN_IS("aligned_variable", "case_stack");
	CHAIN_CALLED_FROM(0, "case_stack");
	return ((uintptr_t)wide_local & 63) + wide_local[0] + more[0];
}

SUBJECT long big_frame(int n)
{
	volatile char array[100000];

	array[n] = 7;
	CHAIN_IS("big_frame", "case_stack");
	return array[n];
}

SUBJECT void case_stack(void)
{
	printf("%d %d %d %ld\n", variable_array(33), aligned_local(3),
	       aligned_variable(77), big_frame(99999));
}

/* --- tail calls ----------------------------------------------------------- */

SUBJECT int is_odd(int n);

SUBJECT int is_even(int n)
{
	if (n == 0)
		return chain_walk("is_even") < 1000;
	if (n % 1000 == 0)
		note(n);
	return is_odd(n - 1);
}

SUBJECT int is_odd(int n)
{
	if (n == 0)
		return 0;
	return is_even(n - 1);
}

SUBJECT void case_tail_calls(void)
{
#if defined(__OPTIMIZE__) && LEVEL >= 2 && !defined(SANITIZED)
	/* If the record prevented the tail calls, this would overflow the stack. */
	int n = 4000000;
#else
	int n = 500;
#endif
	printf("%d\n", is_even(n));
	CHAIN_IS("case_tail_calls", MAIN);
}

/* --- computed goto, asm goto ---------------------------------------------- */

SUBJECT int interpret(const unsigned char *code)
{
	static const void * const ops[] = { &&op_add, &&op_call, &&op_back, &&op_end };
	int acc = 0, left = 5;

	if (!*code)
		goto *ops[3];
	goto *ops[*code & 3];
op_add:
	acc += *code++ >> 2;
	goto *ops[*code & 3];
op_call:
	acc += note(*code++ >> 2);
	goto *ops[*code & 3];
op_back:
	if (left--)
		code -= *code >> 2;
	else
		code++;
	goto *ops[*code & 3];
op_end:
	return acc;
}

SUBJECT int jump_in_asm(int x)
{
	asm goto("{testl\t%0, %0|test\t%0, %0}\n\tjz\t%l1" : : "r"(x) : "cc" : is_zero);
	note(x);
	return 1;
is_zero:
	return 2;
}

SUBJECT void case_gotos(void)
{
	static const unsigned char code[] = { 4, 5, 8, 9, 10, 3 };

	printf("%d %d\n", interpret(code), interpret((const unsigned char *)""));
	CHAIN_IS("case_gotos", MAIN);
	printf("%d %d\n", jump_in_asm(0), jump_in_asm(1));
	CHAIN_IS("case_gotos", MAIN);
}

/* --- longjmp() and nonlocal gotos ------------------------------------------ */

static jmp_buf env;
static sigjmp_buf sig_env;
static void *builtin_env[5];

SUBJECT void jump_down(int n)
{
	if (n)
		jump_down(n - 1);
	else
		longjmp(env, 7);
	NO_TAIL();
}

SUBJECT void case_longjmp(void)
{
	volatile int rounds = 0;
	int r = setjmp(env);

	CHAIN_IS("case_longjmp", MAIN);
	printf("setjmp %d\n", r);
	if (++rounds < 4)
		jump_down(rounds * 3);
	CHAIN_IS("case_longjmp", MAIN);
}

SUBJECT void on_jump_signal(int sig)
{
	CHAIN_IS("on_jump_signal", "raise_it", "case_siglongjmp");
	siglongjmp(sig_env, sig);
}

SUBJECT void raise_it(void)
{
	raise(SIGUSR1);
	NO_TAIL();
}

SUBJECT void case_siglongjmp(void)
{
	volatile int rounds = 0;

	signal(SIGUSR1, on_jump_signal);
	if (sigsetjmp(sig_env, 1))
		CHAIN_IS("case_siglongjmp", MAIN);
	if (rounds++ < 3)
		raise_it();
	printf("%d\n", rounds);
	CHAIN_IS("case_siglongjmp", MAIN);
}

SUBJECT void builtin_jump(int n)
{
	if (n)
		builtin_jump(n - 1);
	else
		__builtin_longjmp(builtin_env, 1);
	NO_TAIL();
}

SUBJECT int with_builtin_setjmp(void)
{
	if (__builtin_setjmp(builtin_env)) {
		CHAIN_IS("with_builtin_setjmp", "case_builtin_setjmp");
		return 1;
	}
	builtin_jump(5);
	return 0;
}

SUBJECT void case_builtin_setjmp(void)
{
	printf("%d\n", with_builtin_setjmp());
	CHAIN_IS("case_builtin_setjmp", MAIN);
}

SUBJECT void call_back(void (*fn)(int), int n)
{
	if (n)
		call_back(fn, n - 1);
	else
		fn(3);
	NO_TAIL();
}

SUBJECT int nonlocal(int n)
{
	__label__ out;
	int seen = 0;
	__attribute__((noipa)) void inner(int x)
	{
		chain_walk("inner");
		seen += x + n;
		if (n > 1)
			goto out;
	}

	call_back(inner, n);
	CHAIN_IS("nonlocal", "case_nested");
	return seen;
out:
	CHAIN_IS("nonlocal", "case_nested");
	return -seen;
}

SUBJECT int nested_registers(int n)
{
	/* The static chain is passed in a seventh register. */
	__attribute__((noipa)) int inner(int a, int b, int c, int d, int e, int f)
	{
		return note(a) + b + c + d + e + f + n;
	}

	return inner(1, 2, 3, 4, 5, 6);
}

SUBJECT void case_nested(void)
{
	printf("%d %d %d\n", nonlocal(0), nonlocal(1), nonlocal(5));
	printf("%d\n", nested_registers(100));
	CHAIN_IS("case_nested", MAIN);
}

/* --- processes and threads ---------------------------------------------- */

SUBJECT int in_child(int x)
{
	return note(x) + 1;
}

SUBJECT int with_vfork(void)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/nonexistent", "x", (char *)NULL);
		_exit(in_child(6));
	}
	CHAIN_IS("with_vfork", "case_vfork");
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

SUBJECT void case_vfork(void)
{
	printf("%d\n", with_vfork());
	CHAIN_IS("case_vfork", MAIN);
}

SUBJECT void clean_up(void *arg)
{
	chain_walk("clean_up");
	*(int *)arg += 1;
	NO_TAIL();
}

SUBJECT void die(int n)
{
	if (n)
		die(n - 1);
	else
		pthread_exit(NULL);
	NO_TAIL();
}

SUBJECT void *thread_main(void *arg)
{
	CHAIN_IS("thread_main");
	if (chain_top() && chain_top()->prev)
		chain_fail("thread_main", "not the bottom", 0);
	pthread_cleanup_push(clean_up, arg);
	die(4);
	pthread_cleanup_pop(0);
	return NULL;
}

SUBJECT void case_threads(void)
{
	pthread_t tid[4];
	int cleaned[4] = { 0 };
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&tid[i], NULL, thread_main, &cleaned[i]);
	for (i = 0; i < 4; i++)
		pthread_join(tid[i], NULL);
	printf("%d %d %d %d\n", cleaned[0], cleaned[1], cleaned[2], cleaned[3]);
	CHAIN_IS("case_threads", MAIN);
}

/* --- signals at any instruction ------------------------------------------- */

static volatile int nr_signals;

SUBJECT int in_handler(int x)
{
	return note(x);
}

SUBJECT void on_timer(int sig)
{
	chain_walk("on_timer");
	in_handler(sig);
	nr_signals++;
	NO_TAIL();
}

SUBJECT void case_signals(void)
{
	struct itimerval every = { { 0, 100 }, { 0, 100 } };
	struct itimerval off = { { 0, 0 }, { 0, 0 } };
	struct sigaction sa;
	int before = nr_signals, rounds = 0;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_timer;
	sa.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (nr_signals < before + 50 && rounds++ < 100000)
		if (fib(12) != 144)
			puts("wrong");
	setitimer(ITIMER_REAL, &off, NULL);
	puts(nr_signals > before ? "signals seen" : "no signals");
	CHAIN_IS("case_signals", MAIN);
}

/* --- a signal before each instruction ---------------------------------------- */

#ifndef SANITIZED
static volatile int nr_steps;
static uint64_t gen_seen;

/* The interrupted link or unlink must neither lose a record nor repeat a generation. */
SUBJECT void on_step(int sig)
{
	/*
	 * After the first broken chain nothing more is checked: the chain would otherwise be walked
	 * thousands of times.
	 */
	if (chain_failures)
		return;
	chain_walk("on_step");
	if (chain_gen() < gen_seen)
		chain_fail("on_step", "generation went back", nr_steps);
	in_handler(sig);
	gen_seen = chain_gen();
	nr_steps++;
	NO_TAIL();
}

NEVER void step(int on)
{
	uint64_t flags = __builtin_ia32_readeflags_u64();

	__builtin_ia32_writeeflags_u64(on ? flags | 0x100 : flags & ~0x100ULL);
}

SUBJECT void case_steps(void)
{
	int want = fib(5);

	signal(SIGTRAP, on_step);
	step(1);
	if (fib(5) != want || shapes(5) != 5)
		puts("wrong");
	step(0);
	signal(SIGTRAP, SIG_DFL);
	puts(nr_steps > 100 || chain_failures ? "stepped" : "not stepped");
	CHAIN_IS("case_steps", MAIN);
}
#else
SUBJECT void case_steps(void) { puts("stepped"); }
#endif

/* --- through libc, cleanup, constructors, ifunc ------------------------------ */

SUBJECT int compare(const void *a, const void *b)
{
	CHAIN_IS("compare", "case_qsort", MAIN);
	return *(const int *)a - *(const int *)b;
}

SUBJECT void case_qsort(void)
{
	int v[] = { 5, 3, 9, 1, 7 };

	qsort(v, 5, sizeof(*v), compare);
	printf("%d %d %d\n", v[0], v[2], v[4]);
	CHAIN_IS("case_qsort", MAIN);
}

SUBJECT void drop(int *p)
{
	CHAIN_IS("drop", "with_cleanup", "case_cleanup");
	printf("drop %d\n", *p);
	NO_TAIL();
}

SUBJECT int with_cleanup(int n)
{
	__attribute__((cleanup(drop))) int guard = n;

	if (n > 1)
		return note(n);
	return guard;
}

SUBJECT void case_cleanup(void)
{
	printf("%d %d\n", with_cleanup(1), with_cleanup(2));
	CHAIN_IS("case_cleanup", MAIN);
}

static int ctor_depth = -1;

__attribute__((constructor)) SUBJECT void ctor(void)
{
	ctor_depth = chain_walk("ctor");
	NO_TAIL();
}

SUBJECT void case_constructor(void)
{
#ifdef WITH_LDB
	if (ctor_depth != 1)
		chain_fail("ctor", "depth is not 1", ctor_depth);
#endif
	printf("constructor %s\n", ctor_depth >= 0 ? "ran" : "did not run");
	NO_TAIL();
}

#ifndef SANITIZED
/* This runs before thread-local storage exists and must not touch it. */
static __attribute__((noipa)) int cpu_features(void)
{
	int i, n = 0;

	for (i = 0; i < 10; i++)
		n += i * zero;
	return n;
}

SUBJECT int chosen_impl(int x)
{
	return note(x) * 2;
}

SUBJECT int other_impl(int x)
{
	return note(x) * 3;
}

static void *resolve(void)
{
	return cpu_features() ? (void *)other_impl : (void *)chosen_impl;
}

int chosen(int x) __attribute__((ifunc("resolve")));
#else
SUBJECT int chosen(int x) { return note(x) * 2; }
#endif

SUBJECT void case_ifunc(void)
{
	printf("%d\n", chosen(21));
	CHAIN_IS("case_ifunc", MAIN);
}

/* --- never left ----------------------------------------------------------- */

__attribute__((noreturn)) SUBJECT void leave(int status)
{
	CHAIN_IS("leave", MAIN);
	fflush(stdout);
	exit(status);
}

SUBJECT void at_end(void)
{
	chain_walk("at_end");
	puts("at end");
	fflush(stdout);
	if (chain_failures)
		_exit(99);
}

#ifdef BREAK_CHAIN
/* The checks must detect this broken chain. */
NEVER void case_broken(void)
{
	__ldb_thread.top = BREAK_CHAIN;
}
#endif

#ifdef AS_LIBRARY
#define main subject_main
int subject_main(int argc, char **argv);
#endif

int main(int argc, char **argv)
{
	(void)argv;
	atexit(at_end);
	run_case("constructor", case_constructor);
	run_case("calls", case_calls);
	run_case("shapes", case_shapes);
	run_case("fib", case_fib);
	run_case("arguments", case_arguments);
	run_case("stack", case_stack);
	run_case("tail calls", case_tail_calls);
	run_case("gotos", case_gotos);
	run_case("longjmp", case_longjmp);
	run_case("siglongjmp", case_siglongjmp);
	run_case("__builtin_setjmp", case_builtin_setjmp);
	run_case("nested functions", case_nested);
	run_case("vfork", case_vfork);
	run_case("threads", case_threads);
	run_case("signals", case_signals);
	run_case("steps", case_steps);
	run_case("qsort", case_qsort);
	run_case("cleanup", case_cleanup);
	run_case("ifunc", case_ifunc);
#ifdef BREAK_CHAIN
	run_case("broken", case_broken);
#endif
	leave(argc > 5 ? 1 : 42);
}
