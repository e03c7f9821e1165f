// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A small program to record: a loop that calls two functions and never reads stdin.  Usage: app
 * [MILLISECONDS [EXIT STATUS]].  Its output depends only on its arguments, so that tests can
 * compare it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The function is not inlined, because a test looks for its name. */
__attribute__((noinline)) void spin_us(unsigned us)
{
	uint64_t end = now_ns() + us * 1000ULL;

	while (now_ns() < end)
		;
}

__attribute__((noinline)) void step(int i)
{
	spin_us(i % 4 == 0 ? 200 : 20);
	/* Without this the call would be a tail call, and step() would not be the caller. */
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int ms = argc > 1 ? atoi(argv[1]) : 200;
	uint64_t end = now_ns() + ms * 1000000ULL;

	printf("app: begin\n");
	fflush(stdout);
	for (int i = 0; now_ns() < end; i++)
		step(i);
	printf("app: end\n");
	return argc > 2 ? atoi(argv[2]) : 0;
}
