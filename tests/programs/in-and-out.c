// SPDX-License-Identifier: GPL-2.0-or-later
/* Works and sleeps in a request, and outside of one, ROUNDS times: in-and-out ROUNDS. */
#include <stdlib.h>
#include <time.h>
#include <ldb/ldb.h>

#define KEEP	__attribute__((noinline, noclone))

__attribute__((always_inline)) static inline void nap(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
}

__attribute__((always_inline)) static inline void work(void)
{
	volatile unsigned n = 0;

	while (n < 300000)
		n++;
	nap();
}

KEEP static void inside(void)
{
	work();
	__asm__ volatile("");
}

KEEP static void outside(void)
{
	work();
	/* different code, so that GCC does not merge this with inside() */
	__asm__ volatile("# outside");
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? atoi(argv[1]) : 100;

	for (unsigned i = 1; i <= rounds; i++) {
		ldb_req_start(i, NULL);
		inside();
		ldb_req_end(i);
		/*
		 * pause, because a call that is observed to end during a request counts as one of
		 * the request
		 */
		nap();
		outside();
		nap();
	}
	return 0;
}
