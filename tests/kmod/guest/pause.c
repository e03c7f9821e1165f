// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For pause.t: two threads on one CPU wake each other in turn, through two pipes, until they are
 * killed.  Every 50 ms the program prints the time (CLOCK_MONOTONIC, ns) and the average CPU time
 * of a turn of both, in ns.
 */
#include <ldb/ldb.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EVERY_NS	50000000

static int ping[2], pong[2];

static long long now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__attribute__((noinline)) static void turn(int from, int to)
{
	char byte;

	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		exit(1);
}

static void *other(void *unused)
{
	(void)unused;
	for (;;)
		turn(ping[0], pong[1]);
	return NULL;
}

int main(void)
{
	long long cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID), then = now_ns(CLOCK_MONOTONIC);
	cpu_set_t one;
	pthread_t t;
	long nr = 0;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(ping) || pipe(pong) || pthread_create(&t, NULL, other, NULL))
		return 1;
	if (write(ping[1], "x", 1) != 1)
		return 1;
	for (;; nr++) {
		turn(pong[0], ping[1]);
		if (nr % 64 || now_ns(CLOCK_MONOTONIC) - then < EVERY_NS)
			continue;
		then = now_ns(CLOCK_MONOTONIC);
		printf("%lld %lld\n", then, (now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns) / (nr + 1));
		fflush(stdout);
		cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
		nr = -1;
	}
}
