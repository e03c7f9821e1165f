// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls a function of libc that does nearly nothing, either in a loop or with pauses:
 *
 *	flows-calls KIND CALLS CPU	prints "KIND NS": the time of one call
 *
 * KIND hot makes one call after the other, and divides the CPU time by the number of calls; wall
 * divides the elapsed time.  spaced waits for about 10 us before each call, so that the runtime
 * measures each call, and prints the mean without the fastest and the slowest tenth.  "flows-calls
 * clock" prints the time of reading the clock once.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define SPACED_MAX	1000000
#define PAUSE_TICKS	25000

static uint32_t took[SPACED_MAX];

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

/*
 * rdtscp waits until the instructions before it are done, except for stores that have not reached
 * the cache.
 */
static uint64_t stamp(void)
{
	unsigned cpu;

	return __rdtscp(&cpu);
}

/* Returns the time of one reading of the clock, as the stubs make it. */
static double clock_price(void)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), sum = 0;

	for (int i = 0; i < 2000000; i++)
		sum += __rdtsc();
	return (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns + (sum == 1)) / 2e6;
}

static double spaced(unsigned long calls, unsigned *seed)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), begin = __rdtsc(), ns, ticks, sum = 0;

	for (unsigned long i = 0; i < calls; i++) {
		uint64_t from = stamp(), to;

		while (__rdtsc() - from < PAUSE_TICKS)
			;
		from = stamp();
		rand_r(seed);
		to = stamp();
		took[i] = to - from;
	}
	ticks = __rdtsc() - begin;
	ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	qsort(took, calls, sizeof(took[0]), compare);
	/*
	 * the counter advances in steps of many ticks, so a mean is used, without the fastest and
	 * the slowest tenth
	 */
	for (unsigned long i = calls / 10; i < calls - calls / 10; i++)
		sum += took[i];
	return (double)sum / (calls - 2 * (calls / 10)) * ns / ticks;
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000;
	unsigned seed = 1;
	clockid_t clock;
	uint64_t begin;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(argc > 3 ? atoi(argv[3]) : 0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (argc > 1 && !strcmp(argv[1], "clock")) {
		printf("%.2f\n", clock_price());
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "spaced")) {
		printf("spaced %.2f\n", spaced(calls < SPACED_MAX ? calls : SPACED_MAX, &seed));
		return 0;
	}
	clock = argc > 1 && !strcmp(argv[1], "wall") ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
	begin = clock_ns(clock);
	for (unsigned long i = 0; i < calls; i++)
		rand_r(&seed);
	printf("%s %.2f\n", argc > 1 ? argv[1] : "hot", (double)(clock_ns(clock) - begin) / calls);
	return 0;
}
