// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This event loop has no tags: every 4 ms it wakes up in poll() and calls handle().  It is for
 * triggers.t.
 *
 *	looping SECONDS SLOW_MS		once, in the middle, handle() takes SLOW_MS
 *
 * handle() calls itself twice in every second turn.
 */
#include <poll.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sum;

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

__attribute__((noinline)) static void work(long us)
{
	long long until = now_us() + us;

	while (now_us() < until)
		sum++;
}

__attribute__((noinline, noipa)) void handle(long us, int deeper)
{
	if (deeper) {
		handle(us / 2, deeper - 1);
		handle(us / 2, deeper - 1);
	} else {
		work(us);
	}
	sum++;
}

int main(int argc, char **argv)
{
	long long begin = now_us(), us = (argc > 1 ? atoi(argv[1]) : 2) * 1000000LL;
	long slow_ms = argc > 2 ? atol(argv[2]) : 0;

	for (int turn = 0; now_us() - begin < us; turn++) {
		poll(NULL, 0, 4);
		if (slow_ms && now_us() - begin > us / 2) {
			handle(slow_ms * 1000, 0);
			slow_ms = 0;
		} else {
			handle(500, turn % 2);
		}
	}
	return 0;
}
