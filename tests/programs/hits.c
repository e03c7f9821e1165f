// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program makes requests with a known number of page faults, and one that computes for so long
 * that interrupts come.
 *
 *	hits PAGES ROUNDS MS
 *
 * Requests 1 to ROUNDS touch PAGES pages each, none of which is mapped; the next one
 * computes for MS milliseconds.  Prints "region FIRST END", in hexadecimal.
 */
#include <ldb/ldb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

/* Not inlined, so that there is only one store: GCC 14 would make two copies of the loop. */
static __attribute__((noipa)) void touch_page(volatile char *p)
{
	*p = 1;
}

static __attribute__((noinline)) void touch(volatile char *p, long pages)
{
	for (long i = 0; i < pages; i++)
		touch_page(p + i * 4096);
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static __attribute__((noinline)) void compute(double ms)
{
	double begin = now_ms();

	while (now_ms() - begin < ms)
		;
}

int main(int argc, char **argv)
{
	long pages, rounds, i;
	size_t size;
	char *p;

	if (argc != 4) {
		fprintf(stderr, "hits PAGES ROUNDS MS\n");
		return 2;
	}
	pages = atol(argv[1]);
	rounds = atol(argv[2]);
	size = pages * 4096;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return 1;
	madvise(p, size, MADV_NOHUGEPAGE);
	printf("region %lx %lx\n", (long)p, (long)(p + size));
	for (i = 1; i <= rounds; i++) {
		ldb_req_start(i, NULL);
		touch(p, pages);
		ldb_req_end(i);
		madvise(p, size, MADV_DONTNEED);
	}
	ldb_req_start(i, NULL);
	compute(atof(argv[3]));
	ldb_req_end(i);
	return 0;
}
