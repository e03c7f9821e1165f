// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program switches between stacks of its own.  For each switch it is known which function
 * called which.
 *
 *	coroutines FORM HOW [MS]
 *
 * HOW: ucontext, by_hand (a switch that the compiler knows of) or untold (a switch that the
 * compiler does not know of).
 * FORM:
 *
 *	generator	resumed by a function that returns each time it has yielded
 *	loop		a loop that switches to four coroutines in turn, in one function
 *	symmetric	two coroutines that switch to each other
 *	migrate		a coroutine that two threads resume in turn
 *	ends		a new coroutine each time, which ends on its own
 *	destroyed	a new coroutine each time, unmapped while it is suspended
 *
 * work_main() is called on a thread's own stack, by functions whose names begin with
 * loop_ or run_; work_a() and work_b() on coroutines, by body_a() and body_b().  Prints
 * how long each of the three ran, in ns.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <ldb/ldb.h>

#define SIZE	(128 * 1024)
#define NR	4

struct context {
	ucontext_t uc;
	void *sp;
	char *stack;
};

enum { AT_MAIN, AT_A, AT_B };

static struct context own, co[NR];
static int by_hand, told;
static _Atomic unsigned long spent[3];
static unsigned long end;
static volatile unsigned long sum;
/* A coroutine switches back to this context, that of the thread that has resumed it. */
static __thread struct context *back;

void switch_stack(void **from, void *to);
void switch_told(void **from, void *to) __attribute__((returns_twice));
void start_stack(void);
__asm__(".text\n"
	".globl switch_stack, switch_told, start_stack\n"
	"switch_stack:\n"
	"switch_told:\n"
	"	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
	"	ret\n"
	"start_stack:\n"
	"	mov %r12, %rdi\n"
	"	mov %r13, %rsi\n"
	"	call *%rbx\n"
	"	hlt\n");

static unsigned long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000UL + t.tv_nsec;
}

static inline __attribute__((always_inline)) void spin(int where, unsigned long ns)
{
	unsigned long from = now(), t;

	do {
		for (int i = 0; i < 200; i++)
			sum += i;
		t = now();
	} while (t - from < ns);
	atomic_fetch_add(&spent[where], t - from);
}

/* These run long enough for the scanner to observe them. */
__attribute__((noinline)) static void work_main(void) { spin(AT_MAIN, 150000); }
__attribute__((noinline)) static void work_a(void) { spin(AT_A, 150000); }
__attribute__((noinline)) static void work_b(void) { spin(AT_B, 150000); }

/* This is a macro, because the switch must be in the function that is resumed. */
#define SWITCH(from, to) do {							\
		if (!by_hand)							\
			swapcontext(&(from)->uc, &(to)->uc);			\
		else if (told)							\
			switch_told(&(from)->sp, (to)->sp);			\
		else								\
			switch_stack(&(from)->sp, (to)->sp);			\
	} while (0)

/* The compiler must not retain the address of a thread-local variable across a switch. */
__attribute__((noinline, ldb_never)) static struct context *whence(void)
{
	return back;
}

__attribute__((noinline)) static void yield(struct context *me)
{
	SWITCH(me, whence());
}

__attribute__((noinline)) static void body_a(struct context *me)
{
	for (;;) {
		work_a();
		yield(me);
		work_a();
	}
}

__attribute__((noinline)) static void body_b(struct context *me)
{
	for (;;) {
		work_b();
		SWITCH(me, whence());
		work_b();
	}
}

__attribute__((noinline)) static void body_short(struct context *me)
{
	work_a();
	yield(me);
	work_a();
	sum++;		/* otherwise that would be a tail call */
}

/* These two coroutines switch to each other, and return to the thread when their time is over. */
__attribute__((noinline)) static void body_a_pair(struct context *me)
{
	for (;;) {
		work_a();
		SWITCH(me, &co[1]);
	}
}

__attribute__((noinline)) static void body_b_pair(struct context *me)
{
	for (;;) {
		work_b();
		SWITCH(me, now() < end ? &co[0] : &own);
	}
}

static void first(void (*body)(struct context *), struct context *me)
{
	body(me);
	if (by_hand)
		for (;;)
			SWITCH(me, whence());
}

static void first_ucontext(unsigned lo, unsigned hi, unsigned body_lo, unsigned body_hi)
{
	first((void (*)(struct context *))((uintptr_t)body_hi << 32 | body_lo),
	      (struct context *)((uintptr_t)hi << 32 | lo));
}

static void make(struct context *c, void (*body)(struct context *), struct context *link)
{
	uintptr_t me = (uintptr_t)c, fn = (uintptr_t)body;
	void **sp;

	if (!c->stack) {
		c->stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ldb_stack_register(c->stack, c->stack + SIZE);
	}
	if (by_hand) {
		sp = (void **)(c->stack + SIZE) - 2;
		*--sp = (void *)start_stack;
		*--sp = NULL;		/* rbp */
		*--sp = (void *)first;	/* rbx: start_stack() calls it */
		*--sp = (void *)body;	/* r12, r13: with these */
		*--sp = c;
		c->sp = sp - 2;
		return;
	}
	getcontext(&c->uc);
	c->uc.uc_stack.ss_sp = c->stack;
	c->uc.uc_stack.ss_size = SIZE;
	c->uc.uc_link = &link->uc;
	makecontext(&c->uc, (void (*)(void))first_ucontext, 4, (unsigned)me, (unsigned)(me >> 32),
		    (unsigned)fn, (unsigned)(fn >> 32));
}

static void destroy(struct context *c)
{
	ldb_stack_unregister(c->stack);
	munmap(c->stack, SIZE);
	c->stack = NULL;
}

/*
 * This function returns each time, so the function that started the coroutine has ended when the
 * coroutine is resumed.
 */
__attribute__((noinline)) static void run_one(struct context *me, struct context *c)
{
	back = me;
	SWITCH(me, c);
	work_main();
}

__attribute__((noinline)) static void run_other(struct context *me, struct context *c, int depth)
{
	volatile char room[512];

	room[depth] = 0;
	if (depth)
		run_other(me, c, depth - 1);
	else
		run_one(me, c);
	room[depth]++;
}

__attribute__((noinline)) static void loop_generator(void)
{
	make(&co[0], body_a, &own);
	for (int i = 0; now() < end; i++) {
		run_other(&own, &co[0], i % 3);
		work_main();
	}
}

__attribute__((noinline)) static void loop_loop(void)
{
	back = &own;
	for (int i = 0; i < NR; i++)
		make(&co[i], i % 2 ? body_b : body_a, &own);
	for (int i = 0; now() < end; i++) {
		SWITCH(&own, &co[i % NR]);
		work_main();
	}
}

__attribute__((noinline)) static void loop_symmetric(void)
{
	make(&co[0], body_a_pair, &own);
	make(&co[1], body_b_pair, &own);
	SWITCH(&own, &co[0]);
	work_main();
	work_main();
}

static void *loop_thread(void *arg)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct context mine = { 0 };

	while (now() < end) {
		pthread_mutex_lock(&lock);
		run_one(&mine, &co[0]);
		pthread_mutex_unlock(&lock);
		work_main();
	}
	return arg;
}

__attribute__((noinline)) static void loop_migrate(void)
{
	pthread_t t[2];

	make(&co[0], body_a, &own);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, loop_thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

__attribute__((noinline)) static void loop_ends(void)
{
	while (now() < end) {
		make(&co[0], body_short, &own);
		for (int i = 0; i < 2; i++)
			run_one(&own, &co[0]);
		work_main();
	}
}

__attribute__((noinline)) static void loop_destroyed(void)
{
	while (now() < end) {
		make(&co[0], body_a, &own);
		for (int i = 0; i < 3; i++)
			run_one(&own, &co[0]);
		destroy(&co[0]);
		work_main();
	}
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*fn)(void); } forms[] = {
		{ "generator", loop_generator }, { "loop", loop_loop },
		{ "symmetric", loop_symmetric }, { "migrate", loop_migrate },
		{ "ends", loop_ends }, { "destroyed", loop_destroyed },
	};

	if (argc < 3)
		return 2;
	by_hand = strcmp(argv[2], "ucontext") != 0;
	told = !strcmp(argv[2], "by_hand");
	end = now() + (argc > 3 ? atoi(argv[3]) : 500) * 1000000UL;
	for (unsigned i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (!strcmp(argv[1], forms[i].name)) {
			forms[i].fn();
			printf("%lu %lu %lu\n", spent[0], spent[1], spent[2]);
			return 0;
		}
	return 2;
}
