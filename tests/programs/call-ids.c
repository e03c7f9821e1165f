// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the cost of a call whose id --request='handle(r->id)' reads: "call NS", in CPU time of the
 * thread.  The function only calls another function, because a function that calls nothing has no
 * record.
 *
 *	call-ids CALLS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct request {
	uint64_t id;
};

static uint64_t sum;

__attribute__((noipa)) void add(uint64_t id)
{
	sum += id;
}

__attribute__((noipa)) void handle(const struct request *r)
{
	add(r->id);
	add(0);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000, begin = now_ns();

	for (uint64_t i = 1; i <= calls; i++) {
		struct request r = { i };

		handle(&r);
	}
	printf("call %.2f\n", (double)(now_ns() - begin) / calls);
	return sum != calls * (calls + 1) / 2;
}
