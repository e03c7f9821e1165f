// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This is one of the libraries of dlopen-main.c; it is compiled once for each library, with
 * -DLIB_NR=n.
 */
#include <time.h>

#ifndef LIB_NR
#define LIB_NR 0
#endif

/* noinline, so that there is one instrumented frame below lib_work. */
static __attribute__((noinline)) int spin_1ms(int i)
{
	struct timespec a, b;
	volatile int n = LIB_NR;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do {
		clock_gettime(CLOCK_MONOTONIC, &b);
	} while ((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec < 1000000);
	return n + i;
}

int lib_work(int i)
{
	return spin_1ms(i) + 1;
}
