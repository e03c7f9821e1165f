// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program for the benchmark only makes calls.
 *
 *	call-storm leaf|fib|qsort|lock|deep ROUNDS [CPU]
 *	call-storm stack20 SECONDS [CPU]
 *
 * The program is pinned to CPU.  leaf: calls of a function that contains an asm statement, which
 * the plugin treats as a call; fib: recursion about ten deep; qsort: callbacks through libc; lock:
 * uncontended lock and unlock.  Prints "KIND CALLS NS", the time of the loop alone (CPU time of the
 * thread, so that other load on the machine counts less).  deep: 20 frames and a microsecond of
 * arithmetic, again and again.  stack20: 20 frames, all of which are left and entered again every
 * microsecond.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>
#ifdef BENCH_COZ	/* coz needs a progress point: it is passed once in a thousand calls */
#include <coz.h>
#define PROGRESS(calls)                 \
	do {                            \
		if (!((calls) & 1023))  \
			COZ_PROGRESS;   \
	} while (0)
#else
#define PROGRESS(calls)
#endif

static volatile int sink;
static uint64_t calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* noinline, here and below, because the calls are what is measured. */
__attribute__((noinline)) int leaf(int x)
{
	/*
	 * The plugin treats an asm statement that it does not understand as a call, so the function
	 * has a record.
	 */
	__asm__ volatile("# unknown" ::: "memory");
	return x + 1;
}

__attribute__((noinline)) int fib(int n)
{
	int sum;

	if (n < 2)
		return n;
	sum = fib(n - 1) + fib(n - 2);
	/* Without this GCC makes a loop of the second call. */
	__asm__ volatile("" : "+r"(sum));
	return sum;
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	__asm__ volatile("# unknown" ::: "memory");
	return (x > y) - (x < y);
}

static int compare_counted(const void *a, const void *b)
{
	calls++;
	return compare(a, b);
}

__attribute__((noinline)) int descend(int depth, uint64_t until)
{
	int below = 0;

	if (depth)
		below = descend(depth - 1, until) + 1;
	else
		while (__rdtsc() < until)
			;
	/* Without this GCC makes a loop of the call, and one frame instead of twenty. */
	__asm__ volatile("" : "+r"(below));
	return below;
}

/* Does the same as descend(), with `steps` steps of arithmetic in the innermost call. */
__attribute__((noinline)) uint64_t compute(int depth, long steps)
{
	uint64_t x = depth;

	if (depth)
		x = compute(depth - 1, steps);
	else
		while (steps--)
			x = x * 6364136223846793005ULL + 1442695040888963407ULL;
	__asm__ volatile("" : "+r"(x));
	return x;
}

static void storm_deep(long rounds)
{
	for (long i = 0; i < rounds; i++)
		sink = compute(19, 700);
	calls = rounds;
}

static void storm_leaf(long rounds)
{
	int x = 0;

	for (long i = 0; i < rounds; i++) {
		x = leaf(x);
		PROGRESS(i);
	}
	sink = x;
	calls = rounds;
}

static void storm_fib(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		sink = fib(12);
		PROGRESS(i * 512);
	}
	calls = rounds * 465;	/* 2 fib(13) - 1 */
}

static void storm_qsort(long rounds)
{
	enum { NR = 1000 };
	int sorted[NR], scratch[NR];
	unsigned seed = 1;

	for (int i = 0; i < NR; i++)
		sorted[i] = seed = seed * 1103515245 + 12345;
	/* The input is the same each time, and so is the number of callbacks. */
	memcpy(scratch, sorted, sizeof(sorted));
	qsort(scratch, NR, sizeof(scratch[0]), compare_counted);
	calls *= rounds;
	for (long i = 0; i < rounds; i++) {
		memcpy(scratch, sorted, sizeof(sorted));
		qsort(scratch, NR, sizeof(scratch[0]), compare);
	}
	sink = scratch[0];
}

static void storm_lock(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		sink = i;
		pthread_mutex_unlock(&lock);
	}
	calls = rounds;
}

/* Measures how many ticks of the time-stamp counter a microsecond has. */
static uint64_t ticks_per_us(void)
{
	uint64_t t0 = now_ns(CLOCK_MONOTONIC), c0 = __rdtsc(), t1;

	do {
		t1 = now_ns(CLOCK_MONOTONIC);
	} while (t1 - t0 < 20000000);
	return (__rdtsc() - c0) * 1000 / (t1 - t0);
}

static void stack20(double seconds)
{
	uint64_t us = ticks_per_us();
	uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);

	while (now_ns(CLOCK_MONOTONIC) < end)
		for (int i = 0; i < 1000; i++)
			sink = descend(19, __rdtsc() + us);
}

/* This is a second thread, asleep: with one thread only, glibc's locks are cheaper. */
static void *sleeper(void *arg)
{
	(void)arg;
	nanosleep(&(struct timespec){ .tv_sec = 1000000 }, NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(long rounds);
	} kinds[] = {
		{ "leaf", storm_leaf }, { "fib", storm_fib },
		{ "qsort", storm_qsort }, { "lock", storm_lock }, { "deep", storm_deep },
	};

	if (argc == 4) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(atoi(argv[3]), &set);
		if (sched_setaffinity(0, sizeof(set), &set)) {
			perror("call-storm: CPU");
			return 1;
		}
		argc--;
	}
	if (argc == 3 && !strcmp(argv[1], "stack20")) {
		stack20(atof(argv[2]));
		return 0;
	}
	for (unsigned i = 0; argc == 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		pthread_t thread;
		uint64_t begin;

		if (strcmp(argv[1], kinds[i].name))
			continue;
		if (pthread_create(&thread, NULL, sleeper, NULL))
			return 1;
		begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
		kinds[i].run(atol(argv[2]));
		printf("%s %lu %lu\n", kinds[i].name, (unsigned long)calls,
		       (unsigned long)(now_ns(CLOCK_THREAD_CPUTIME_ID) - begin));
		return 0;
	}
	fprintf(stderr, "usage: call-storm leaf|fib|qsort|lock|deep ROUNDS [CPU], stack20 SECONDS [CPU]\n");
	return 2;
}
