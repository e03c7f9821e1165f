// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes calls between libraries that are hard to follow; tests/e2e/flows-hostile.t records it.
 * With -DLIBRARY this is the library that is called.
 *
 *	flows-hostile WHAT	prints "WHAT: right", or what was wrong
 */
#include <errno.h>
#include <execinfo.h>
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define TF	0x100	/* the flag that makes the CPU trap after each instruction */

struct pair { long a; double b; };
struct large { long v[9]; };
typedef int callback(int n, void *arg);

extern "C" {
double sum_many(int a, int b, int c, int d, int e, int f, int g, double h, double i, double j,
		double k, double l, double m, double n, double o, double p, struct pair q, long r);
long sum_varargs(const char *format, ...);
struct pair make_pair_of(long a, double b);
struct large make_large(long a);
__int128 make_128(long a, long b);
long double make_long(long double a);
_Complex double make_complex(double a, double b);
_Complex long double make_complex_long(long double a);
__m256 add_256(__m256 a, __m256 b);
int call_back(callback *fn, int n, void *arg);
int jump_to_call_back(callback *fn, int n, void *arg);
int plus_one(int n);
}

#ifdef LIBRARY
double sum_many(int a, int b, int c, int d, int e, int f, int g, double h, double i, double j,
		double k, double l, double m, double n, double o, double p, struct pair q, long r)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
	       12 * l + 13 * m + 14 * n + 15 * o + 16 * p + 17 * q.a + 18 * q.b + 19 * r;
}

long sum_varargs(const char *format, ...)
{
	va_list ap;
	double sum = 0;

	va_start(ap, format);
	for (; *format; format++)
		sum += *format == 'd' ? va_arg(ap, int) : va_arg(ap, double);
	va_end(ap);
	return (long)sum;
}

struct pair make_pair_of(long a, double b) { return { a, b }; }

struct large make_large(long a)
{
	struct large l;

	for (int i = 0; i < 9; i++)
		l.v[i] = a + i;
	return l;
}

__int128 make_128(long a, long b) { return (__int128)a << 64 | b; }
long double make_long(long double a) { return a * 2; }

_Complex double make_complex(double a, double b)
{
	_Complex double c;

	__real__ c = a;
	__imag__ c = b;
	return c;
}

_Complex long double make_complex_long(long double a)
{
	_Complex long double c;

	__real__ c = a;
	__imag__ c = a + 1;
	return c;
}

__attribute__((target("avx"))) __m256 add_256(__m256 a, __m256 b) { return _mm256_add_ps(a, b); }
int call_back(callback *fn, int n, void *arg) { return fn(n, arg) + 1; }
int jump_to_call_back(callback *fn, int n, void *arg) { return call_back(fn, n, arg); }
int plus_one(int n) { return n + 1; }
#else

static const char *wrong;
static volatile int zero;

#define EXPECT(condition)	do { if (!(condition) && !wrong) wrong = #condition " in line " LINE(__LINE__); } while (0)
#define LINE(n)			LINE_(n)
#define LINE_(n)		#n

static int same(int n, void *arg)
{
	(void)arg;
	return n;
}

__attribute__((target("avx"))) static void values_256(void)
{
	__m256 a = _mm256_set1_ps(1.5f), b = _mm256_set1_ps(2.0f), r = add_256(a, b);
	float f[8];

	_mm256_storeu_ps(f, r);
	EXPECT(f[0] == 3.5f && f[7] == 3.5f);
}

/* Arguments and results of each kind. */
static void values(void)
{
	struct pair q = { 17, 18 };
	struct large l;

	errno = 77;
	EXPECT(sum_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, q, 19) == 2470);
	EXPECT(sum_varargs("dfdfdfdfdfdf", 1, 1.0, 2, 2.0, 3, 3.0, 4, 4.0, 5, 5.0, 6, 6.0) == 42);
	q = make_pair_of(5, 2.5);
	EXPECT(q.a == 5 && q.b == 2.5);
	l = make_large(3);
	EXPECT(l.v[0] == 3 && l.v[8] == 11);
	EXPECT(make_128(3, 4) == ((__int128)3 << 64 | 4));
	EXPECT(make_long(1.25L) == 2.5L);
	EXPECT(__real__ make_complex(1, 2) == 1 && __imag__ make_complex(1, 2) == 2);
	EXPECT(__imag__ make_complex_long(2) == 3);
	EXPECT(call_back(same, 3, NULL) == 4 && jump_to_call_back(same, 3, NULL) == 4);
	if (__builtin_cpu_supports("avx"))
		values_256();
	EXPECT(errno == 77);
}

/* Signals at each instruction: the handler unwinds the stack, and makes calls as well. */

static uintptr_t runtime_lo, runtime_hi, stepped_lo, stepped_hi;
static volatile long nr_steps, nr_in_runtime;
static const char *step_wrong;
static uintptr_t step_wrong_at;

static void on_step(int sig, siginfo_t *info, void *context)
{
	uintptr_t pc = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	void *frames[64];
	int n, saved = errno;
	bool found = false;

	(void)sig;
	(void)info;
	nr_steps++;
	if (pc >= runtime_lo && pc < runtime_hi) {
		nr_in_runtime++;
		n = backtrace(frames, 64);
		for (int i = 0; i < n; i++)
			found = found || ((uintptr_t)frames[i] >= stepped_lo && (uintptr_t)frames[i] < stepped_hi);
		if (!found && !step_wrong) {
			step_wrong = "the stack cannot be unwound";
			step_wrong_at = pc - runtime_lo;
		}
		if (plus_one(1) != 2 || call_back(same, 3, NULL) != 4)
			step_wrong = "a call in the handler";
	}
	errno = saved;
}

static void step(bool on)
{
	if (on)
		__asm__ volatile("pushf; orl %0, (%%rsp); popf" : : "i"(TF) : "memory", "cc");
	else
		__asm__ volatile("pushf; andl %0, (%%rsp); popf" : : "i"(~TF) : "memory", "cc");
}

__attribute__((noinline, section("stepped"))) static void stepped(void)
{
	for (int i = 0; i < 3; i++) {
		step(true);
		values();
		step(false);
	}
}

extern "C" const char __start_stepped[], __stop_stepped[];

static void find_runtime(void)
{
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long lo, hi;

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "libldbtrace") && sscanf(line, "%lx-%lx", &lo, &hi) == 2) {
			runtime_lo = runtime_lo ? runtime_lo : lo;
			runtime_hi = hi;
		}
	if (f)
		fclose(f);
}

static void steps(void)
{
	struct sigaction sa = {};
	void *frames[4];

	find_runtime();
	backtrace(frames, 4);	/* loads libgcc */
	stepped_lo = (uintptr_t)__start_stepped;
	stepped_hi = (uintptr_t)__stop_stepped;
	sa.sa_sigaction = on_step;
	sa.sa_flags = SA_SIGINFO;
	sigaction(SIGTRAP, &sa, NULL);
	stepped();
	if (step_wrong)
		printf("%s at %lx of the runtime\n", step_wrong, (unsigned long)step_wrong_at);
	EXPECT(!step_wrong);
	printf("%s\n", nr_in_runtime > 500 ? "stepped through the runtime" : "the runtime has not run");
}

/* Threads */

static void *thread_main(void *arg)
{
	uintptr_t sum = 0;

	for (int i = 0; i < 200; i++)
		sum += call_back(same, i, NULL) + plus_one(i);
	return (void *)(sum + (uintptr_t)arg);
}

static void threads(void)
{
	static pthread_t t[1000];
	void *sum;

	for (uintptr_t i = 0; i < 1000; i++)
		if (pthread_create(&t[i], NULL, thread_main, (void *)i))
			abort();
	for (uintptr_t i = 0; i < 1000; i++) {
		pthread_join(t[i], &sum);
		EXPECT((uintptr_t)sum == 200 * 199 + 400 + i);
	}
}

static void *small_main(void *)
{
	values();
	return NULL;
}

static void small_stack(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	EXPECT(!pthread_attr_setstacksize(&attr, 16384));
	for (int i = 0; i < 50; i++) {
		if (pthread_create(&t, &attr, small_main, NULL))
			abort();
		pthread_join(t, NULL);
	}
}

/* Recursion through a library, deeper than there is room for return addresses. */
static int down(int n, void *arg)
{
	return n ? call_back(down, n - 1, arg) : plus_one((int)(intptr_t)arg);
}

static void *deep_main(void *)
{
	EXPECT(down(30000, (void *)5) == 30006);
	EXPECT(down(100, (void *)5) == 106);
	return NULL;
}

static void recursion(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 20);
	if (pthread_create(&t, &attr, deep_main, NULL))
		abort();
	pthread_join(t, NULL);
}

/* Calls that do not return */

static int throws(int n, void *arg)
{
	(void)arg;
	throw n;
}

static int rethrows(int n, void *arg)
{
	try {
		return jump_to_call_back(throws, n, arg);
	} catch (int m) {
		throw m + 1;
	}
}

static void exceptions(void)
{
	for (int i = 0; i < 20000; i++) {
		int got = -1;

		try {
			call_back(i % 2 ? throws : rethrows, i, NULL);
		} catch (int n) {
			got = n;
		}
		EXPECT(got == (i % 2 ? i : i + 1));
	}
	EXPECT(plus_one(1) == 2);
}

static jmp_buf env;

static int jumps(int n, void *arg)
{
	(void)arg;
	longjmp(env, n + 1);
}

static void longjumps(void)
{
	for (volatile int i = 0; i < 40000; i++) {
		int n = setjmp(env);

		if (!n)
			call_back(jumps, i, NULL);
		EXPECT(n == i + 1);
	}
	EXPECT(plus_one(1) == 2);
}

static void cleaned(void *n)
{
	++*(int *)n;
}

static int sleeps(int n, void *arg)
{
	pthread_cleanup_push(cleaned, arg);
	for (;;)
		usleep(100000);
	pthread_cleanup_pop(0);
	return n;
}

static void *cancel_main(void *nr)
{
	call_back(sleeps, 1, nr);
	return NULL;
}

static int exits(int n, void *arg)
{
	(void)n;
	pthread_exit(arg);
}

static void *exit_main(void *arg)
{
	jump_to_call_back(exits, 1, arg);
	return NULL;
}

static void cancellation(void)
{
	for (int i = 0; i < 20; i++) {
		pthread_t t;
		void *result;
		int nr = 0;

		pthread_create(&t, NULL, cancel_main, &nr);
		usleep(1000);
		pthread_cancel(t);
		pthread_join(t, &result);
		EXPECT(result == PTHREAD_CANCELED && nr <= 1);
		pthread_create(&t, NULL, exit_main, &nr);
		pthread_join(t, &result);
		EXPECT(result == &nr);
	}
}

/* Processes */

static int forks(int n, void *arg)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		/* the child is in the middle of calls that were made in the parent */
		values();
		_exit(wrong ? 1 : plus_one(n) == n + 1 ? 3 : 2);
	}
	waitpid(pid, &status, 0);
	*(int *)arg = WEXITSTATUS(status);
	return n;
}

static void forking(void)
{
	int status;

	for (int i = 0; i < 20; i++) {
		EXPECT(call_back(forks, i, &status) == i + 1);
		EXPECT(status == 3);
		if (!fork())
			_exit(call_back(same, 6, NULL));
		wait(&status);
		EXPECT(WEXITSTATUS(status) == 7);
		pid_t pid = vfork();
		if (!pid)
			_exit(plus_one(8));
		waitpid(pid, &status, 0);
		EXPECT(WEXITSTATUS(status) == 9);
		EXPECT(system("exit 11") >> 8 == 11);
	}
}

/* Coroutines that are switched in the middle of calls, and continue on another thread */

static ucontext_t main_context, co_context;
static char co_stack[65536];

static int yields(int n, void *arg)
{
	(void)arg;
	swapcontext(&co_context, &main_context);
	return n;
}

static int co_sum;

static void co_main(void)
{
	for (int i = 0; i < 1000; i++)
		co_sum += call_back(yields, i, NULL);
}

static void *co_resume(void *)
{
	swapcontext(&main_context, &co_context);
	return NULL;
}

static void coroutines(void)
{
	pthread_t t;

	getcontext(&co_context);
	co_context.uc_stack.ss_sp = co_stack;
	co_context.uc_stack.ss_size = sizeof(co_stack);
	co_context.uc_link = &main_context;
	makecontext(&co_context, co_main, 0);
	for (int i = 0; i <= 1000; i++) {
		if (i % 10) {
			co_resume(NULL);
			continue;
		}
		pthread_create(&t, NULL, co_resume, NULL);
		pthread_join(t, NULL);
	}
	EXPECT(co_sum == 1000 * 999 / 2 + 1000);
}

/*
 * Coroutines on the thread's own stack, all at the same addresses: the contents are copied away and
 * back at each switch.  The second coroutine is further out on the stack than the first, and so are
 * its calls.
 */

enum { NR_SLICES = 3, SLICE = 40000 };
static ucontext_t slice_context[NR_SLICES], slice_main;
static char slice_copy[NR_SLICES][SLICE], slice_scheduler[32768];
static int slice_of;
static long slice_sum;

static int slice_yield(int n, void *)
{
	swapcontext(&slice_context[slice_of], &slice_main);
	return n + slice_of;
}

static int slice_call(int n, int depth)
{
	volatile char room[1500];

	room[0] = depth;
	if (depth)
		return slice_call(n, depth - 1) + room[0] - depth;
	return call_back(slice_yield, n, NULL) + plus_one(1);
}

static void slice_run()
{
	int own = slice_of;

	for (int i = 0;; i++) {
		for (int k = 0; k < 30; k++)
			EXPECT(plus_one(k) == k + 1);
		EXPECT(slice_call(i, (NR_SLICES - own) * 5) == i + own + 3);
		slice_sum++;
	}
}

static void slices(void)
{
	static char *area;
	char on_stack[SLICE] __attribute__((aligned(64)));
	ucontext_t back;

	area = on_stack;
	for (int i = 0; i < NR_SLICES; i++) {
		getcontext(&slice_context[i]);
		slice_context[i].uc_stack.ss_sp = on_stack;
		slice_context[i].uc_stack.ss_size = SLICE;
		makecontext(&slice_context[i], slice_run, 0);
		memcpy(slice_copy[i], on_stack, SLICE);
	}
	static ucontext_t *finished;
	finished = &back;
	getcontext(&slice_main);
	slice_main.uc_stack.ss_sp = slice_scheduler;
	slice_main.uc_stack.ss_size = sizeof(slice_scheduler);
	makecontext(&slice_main, [] {
		for (int turn = 0; turn < 3000; turn++) {
			slice_of = turn % 7 % NR_SLICES;
			memcpy(area, slice_copy[slice_of], SLICE);
			/* the coroutine comes back to this place */
			swapcontext(&slice_main, &slice_context[slice_of]);
			memcpy(slice_copy[slice_of], area, SLICE);
		}
		setcontext(finished);
	}, 0);
	swapcontext(&back, &slice_main);
	EXPECT(slice_sum > 2900);
}

/* Signals while calls are made; some handlers jump out */

static sigjmp_buf alarm_env;
static volatile sig_atomic_t may_jump;

static void on_alarm(int)
{
	int saved = errno;

	if (plus_one(4) != 5)
		wrong = "a call in a handler";
	errno = saved;
	if (may_jump)
		siglongjmp(alarm_env, 1);
}

static void alarms(void)
{
	struct sigaction sa = {};
	timer_t timer;
	struct itimerspec every = { { 0, 50000 }, { 0, 50000 } };

	sa.sa_handler = on_alarm;
	sigaction(SIGALRM, &sa, NULL);
	timer_create(CLOCK_MONOTONIC, NULL, &timer);
	timer_settime(timer, 0, &every, NULL);
	for (volatile int i = 0; i < 100000; i++) {
		if (!sigsetjmp(alarm_env, 1)) {
			may_jump = i % 3 == 0;
			EXPECT(call_back(same, i, NULL) == i + 1);
			EXPECT(sum_varargs("df", 1, 2.0) == 3);
		}
		may_jump = 0;
	}
	timer_delete(timer);
}

static const struct {
	const char *name;
	void (*fn)(void);
} all[] = {
	{ "values", values }, { "steps", steps }, { "threads", threads }, { "small-stack", small_stack },
	{ "recursion", recursion }, { "exceptions", exceptions }, { "longjumps", longjumps },
	{ "cancellation", cancellation }, { "forking", forking }, { "coroutines", coroutines },
	{ "slices", slices },
	{ "alarms", alarms },
};

int main(int argc, char **argv)
{
	for (auto &a : all) {
		if (argc > 1 && strcmp(argv[1], a.name))
			continue;
		wrong = NULL;
		a.fn();
		printf("%s: %s\n", a.name, wrong ? wrong : "right");
		fflush(stdout);
	}
	return zero;
}
#endif
