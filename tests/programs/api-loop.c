// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Serves ROUNDS requests of about a microsecond and prints the CPU time of one, in ns.  With TAGS
 * each request is tagged; with NOTES it also has two notes and an event.  Without the runtime the
 * builds differ only in these calls.
 */
#define _GNU_SOURCE
#include <ldb/ldb.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, x = 88172645463325252ULL;
	struct timespec from, to;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	for (uint64_t id = 0; id < rounds; id++) {
#ifdef TAGS
		ldb_req_start(id, NULL);
#endif
#ifdef NOTES
		ldb_req_note(id, "tenant", "acme");
		ldb_req_note_u64(id, "bytes", x);
#endif
		for (int i = 0; i < 300; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
		}
#ifdef NOTES
		ldb_event("done", (int64_t)x);
#endif
#ifdef TAGS
		ldb_req_end(id);
#endif
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	sink = x;
	printf("%.3f\n", ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / (double)rounds);
	return 0;
}
