// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program makes requests that consist of known parts.  compare [N [PARSE_US STORE_US]] makes N
 * requests one after the other; every fourth is of class "put", and the others are of class "get".
 * Each calls parse() for PARSE_US and store() for STORE_US (default: 100, 1000, 2000).  Both
 * functions sleep, so that other load on the machine changes little.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ldb/ldb.h>

/* This function is inlined, so that the time is the caller's own. */
static inline __attribute__((always_inline)) void wait_us(unsigned us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000L };

	while (nanosleep(&ts, &ts))
		;
}

/* These functions are not inlined, because a test looks for their names. */
__attribute__((noinline)) void parse(unsigned us)
{
	wait_us(us);
}

__attribute__((noinline)) void store(unsigned us)
{
	wait_us(us);
}

__attribute__((noinline)) void serve(unsigned parse_us, unsigned store_us)
{
	parse(parse_us);
	store(store_us);
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 100;
	unsigned parse_us = argc > 3 ? atoi(argv[2]) : 1000, store_us = argc > 3 ? atoi(argv[3]) : 2000;

	for (int id = 1; id <= nr; id++) {
		ldb_req_start(id, NULL);
		ldb_req_class(id, id % 4 ? "get" : "put");
		serve(parse_us, store_us);
		ldb_req_end(id);
	}
	printf("compare: %d requests\n", nr);
	return 0;
}
