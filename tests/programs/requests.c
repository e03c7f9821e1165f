// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program makes requests by the request API, in one thread, with known ids.  It is also
 * built with -no-pie, where weak function symbols would be bound to 0 for good.  requests [N]
 * makes requests 1..N of class "even" or "odd", each 100 us long, request N 100 ms; id 1 is
 * linked to a W3C trace; the last three are ended by one ldb_req_end_all().  It prints errno's
 * value, which the API must leave alone.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ldb/ldb.h>

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The function is not inlined, because a test looks for its name. */
__attribute__((noinline)) void serve(unsigned us)
{
	uint64_t end = now_ns() + us * 1000ULL;

	while (now_ns() < end)
		;
}

int main(int argc, char **argv)
{
	static const unsigned char trace[16] = "0123456789abcdef";
	static const unsigned char span[8] = "76543210";
	int nr = argc > 1 ? atoi(argv[1]) : 100;

	errno = 77;
	for (int id = 1; id <= nr; id++) {
		ldb_req_start(id, NULL);
		ldb_req_class(id, id % 2 ? "odd" : "even");
		if (id == 1)
			ldb_req_link(id, trace, span);
		serve(id == nr ? 100000 : 100);
		if (id <= nr - 3)
			ldb_req_end(id);
	}
	ldb_req_end_all();
	printf("requests: errno %d\n", errno);
	return 0;
}
