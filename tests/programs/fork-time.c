// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fork-time CALLS MS measures how long fork() takes until it returns in the parent, and the time
 * from fork() to the end of wait() if the child works for MS milliseconds of CPU time.  Prints
 * "call NS" and "whole NS", which are medians.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

__attribute__((noinline)) void work(unsigned ms)
{
	uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + ms * 1000000ULL;

	while (ms && now_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	size_t nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned ms = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	uint64_t *call = calloc(nr + 1, sizeof(*call)), *whole = calloc(nr + 1, sizeof(*whole));

	if (!nr || !call || !whole)
		return 2;
	for (size_t i = 0; i < nr; i++) {
		uint64_t start = now_ns(CLOCK_MONOTONIC);
		pid_t pid = fork();

		if (!pid) {
			work(ms);
			_exit(0);
		}
		call[i] = now_ns(CLOCK_MONOTONIC) - start;
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
		whole[i] = now_ns(CLOCK_MONOTONIC) - start;
	}
	qsort(call, nr, sizeof(*call), by_size);
	qsort(whole, nr, sizeof(*whole), by_size);
	printf("call %lu\nwhole %lu\n", (unsigned long)call[nr / 2], (unsigned long)whole[nr / 2]);
	return 0;
}
