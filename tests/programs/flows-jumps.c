// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program leaves coroutines in the middle of a call to a library, and continues them there
 * later, for tests/e2e/flows-hostile.t.
 *
 *	flows-jumps stack	coroutines have parts of the thread's own stack, and switch by
 *				longjmp()
 *	flows-jumps fork	a coroutine of another thread is continued in a forked child, by the
 *				child's only thread
 *
 * Prints "WHAT: right", or what was wrong.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NR	3		/* coroutines */
#define TURNS	4000
#define ROOM	65536		/* stack for the code that runs between coroutines */
#define ITEMS	6

#define EXPECT(what)	do { if (!(what)) { printf("line %d: wrong\n", __LINE__); exit(1); } } while (0)

static jmp_buf scheduler, coroutine[NR];
static volatile int of, nr_sorted, nr_jumps;
static ucontext_t outside, inside;
static volatile int is_suspended;

static int jump(const void *a, const void *b)
{
	int items[2] = { 2, 1 };

	/*
	 * Every third time a call is nested: both are left and continued, then the outer one is
	 * left again.
	 */
	if (nr_jumps++ % 3 == 1)
		qsort(items, 2, sizeof(*items), jump);
	if (!setjmp(coroutine[of]))
		longjmp(scheduler, 1);
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline, noreturn)) void sort_for_ever(int (*compare)(const void *, const void *))
{
	for (;;) {
		int items[ITEMS] = { 5, 2, 4, 1, 3, 0 };

		qsort(items, ITEMS, sizeof(*items), compare);
		for (int i = 0; i < ITEMS; i++)
			EXPECT(items[i] == i);
		nr_sorted++;
	}
}

static int started;

/* It is called by a function of a library, and does not return. */
static int start(const void *a, const void *b)
{
	volatile char *room = alloca((started + 1) * ROOM);

	room[0] = a != b;
	sort_for_ever(jump);
}

static void start_in_call(int n)
{
	int items[2] = { 2, 1 };

	started = n;
	qsort(items, 2, sizeof(*items), start);
}

static int depth;

/* Nests 40 calls through the library: each needs a slot for its return address. */
static int nest(const void *a, const void *b)
{
	int items[2] = { 2, 1 };

	if (++depth < 40)
		qsort(items, 2, sizeof(*items), nest);
	depth--;
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) void call_much(void)
{
	int items[2] = { 2, 1 };

	qsort(items, 2, sizeof(*items), nest);
	for (int i = 0; i < 30; i++) {
		char text[16], *end;

		snprintf(text, sizeof(text), "%d", i);
		EXPECT(strtol(text, &end, 10) == i && !*end);
	}
}

static void on_own_stack(void)
{
	for (volatile int turn = 0; turn < TURNS; turn++) {
		of = turn % 7 % NR;
		if (!setjmp(scheduler)) {
			if (turn < NR)
				start_in_call(of);
			longjmp(coroutine[of], 1);
		}
		call_much();
	}
	EXPECT(nr_sorted > TURNS / 20);
}

static int leave(const void *a, const void *b)
{
	is_suspended = 1;
	swapcontext(&inside, &outside);
	return *(const int *)a - *(const int *)b;
}

static void sort_once(void)
{
	int items[2] = { 2, 1 };

	qsort(items, 2, sizeof(*items), leave);
	EXPECT(items[0] == 1 && items[1] == 2);
	nr_sorted++;
	setcontext(&outside);
}

static void *begin_there(void *arg)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = arg;
	inside.uc_stack.ss_size = ROOM;
	makecontext(&inside, sort_once, 0);
	is_suspended = 0;
	swapcontext(&outside, &inside);
	is_suspended = 2;
	for (;;)
		pause();
	return NULL;
}

static void in_child(void)
{
	pthread_t thread;
	int status;

	EXPECT(!pthread_create(&thread, NULL, begin_there, malloc(ROOM)));
	while (is_suspended != 2)
		usleep(1000);
	if (!fork()) {
		struct timespec begin, now;

		/* The recording of the child begins in this time. */
		clock_gettime(CLOCK_MONOTONIC, &begin);
		do {
			call_much();
			clock_gettime(CLOCK_MONOTONIC, &now);
		} while (now.tv_sec - begin.tv_sec < 2);
		swapcontext(&outside, &inside);
		EXPECT(nr_sorted == 1);
		exit(0);
	}
	wait(&status);
	EXPECT(WIFEXITED(status) && !WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "stack";

	if (!strcmp(what, "fork"))
		in_child();
	else
		on_own_stack();
	printf("%s: right\n", what);
	return 0;
}
