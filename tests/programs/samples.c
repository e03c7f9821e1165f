// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes requests whose time is spent in known places within functions: in a library, in the kernel,
 * in one of two loops.
 *
 *	samples ROUNDS
 *
 * Each round has one request of each class, which calls the function of that class.  The program
 * prints for each class which share of the function's CPU time a part of it took: "loops 0.700".
 * The classes are
 *
 *	loops		two_loops(): its first loop
 *	deflate		pack(): deflate() of zlib, which is uninstrumented; the rest is a loop
 *	kernel		fetch(): read() of /dev/zero; the rest is a loop
 */
#include <fcntl.h>
#include <ldb/ldb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define SIZE		(256 << 10)
#define FIRST_STEPS	7000000
#define SECOND_STEPS	3000000
#define REST_STEPS	1500000
#define READS		40

static unsigned char plain[SIZE], packed[2 * SIZE];
static volatile uint64_t sink;

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

/* Each loop is a single line, so that none of its code belongs to another line. */
#define LOOP(x, steps)	for (uint64_t i_ = 0; i_ < (steps); i_++) __asm__ volatile("imul $3, %0, %0" : "+r"(x))

static __attribute__((noinline)) double two_loops(uint64_t x)
{
	double begin = now_ms(), middle;

	LOOP(x, FIRST_STEPS);	/* line: first */
	middle = now_ms();
	LOOP(x, SECOND_STEPS);	/* line: second */
	sink = x;
	return (middle - begin) / (now_ms() - begin);
}

/*
 * Returns deflate()'s share of the time.  All memory that it uses is touched before, because page
 * faults would take time in the kernel.
 */
static __attribute__((noinline)) double pack(z_stream *z, uint64_t x)
{
	double begin = now_ms(), middle;

	if (deflate(z, Z_FINISH) != Z_STREAM_END)
		exit(1);
	middle = now_ms();
	LOOP(x, REST_STEPS);	/* line: pack */
	sink = x;
	return (middle - begin) / (now_ms() - begin);
}

static __attribute__((noinline)) double fetch(int fd, uint64_t x)
{
	double begin = now_ms(), middle;

	for (int i = 0; i < READS; i++)
		if (read(fd, plain, sizeof(plain)) != sizeof(plain))
			exit(1);
	middle = now_ms();
	LOOP(x, REST_STEPS);	/* line: fetch */
	sink = x;
	return (middle - begin) / (now_ms() - begin);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20, fd = open("/dev/zero", O_RDONLY);
	double loops = 0, deflated = 0, kernel = 0;
	z_stream z = { 0 };
	uint64_t id = 1;

	if (deflateInit(&z, 6) != Z_OK)
		exit(1);
	for (int r = 0; r < rounds; r++, id += 3) {
		ldb_req_class(id, "kernel");
		ldb_req_start(id, NULL);
		kernel += fetch(fd, r);
		ldb_req_end(id);
		for (unsigned i = 0; i < SIZE; i++)
			plain[i] = "abcdefgh"[(i * 2654435761U >> 13) & 7];
		ldb_req_class(id + 1, "loops");
		ldb_req_start(id + 1, NULL);
		loops += two_loops(r);
		ldb_req_end(id + 1);
		deflateReset(&z);
		z.next_in = plain;
		z.avail_in = sizeof(plain);
		z.next_out = packed;
		z.avail_out = sizeof(packed);
		ldb_req_class(id + 2, "deflate");
		ldb_req_start(id + 2, NULL);
		deflated += pack(&z, r);
		ldb_req_end(id + 2);
	}
	printf("kernel %.3f\nloops %.3f\ndeflate %.3f\n", kernel / rounds, loops / rounds, deflated / rounds);
	return 0;
}
