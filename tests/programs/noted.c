// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A server whose requests are slow because of their properties: those of tenant 7 that are larger
 * than 64K compute for 3 ms more, and no others do.  Every request notes its tenant, its size and
 * its shard; the slow ones mark an event.
 *
 *	noted [REQUESTS]	default 600; prints "noted: N slow of REQUESTS"
 */
#define _GNU_SOURCE
#include <ldb/ldb.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "spin.h"

static uint64_t state = 88172645463325252ULL;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dULL >> 32;
}

__attribute__((noinline)) void compact(void)
{
	spin_us(3000);
}

__attribute__((noinline)) void handle(uint64_t id, unsigned tenant, uint64_t bytes)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", tenant);
	ldb_req_note(id, "tenant", text);
	ldb_req_note_u64(id, "bytes", bytes);
	ldb_req_note(id, "shard", draw() % 2 ? "left" : "right");
	spin_us(100);
	if (tenant == 7 && bytes > 65536) {
		ldb_event("compaction", (int64_t)bytes);
		compact();
	}
}

int main(int argc, char **argv)
{
	uint64_t nr = argc > 1 ? strtoull(argv[1], NULL, 10) : 600, nr_slow = 0;

	for (uint64_t id = 1; id <= nr; id++) {
		unsigned tenant = draw() % 10;
		uint64_t bytes = 1ull << (8 + draw() % 12);

		ldb_req_start(id, NULL);
		ldb_req_class(id, draw() % 2 ? "GET" : "PUT");
		handle(id, tenant, bytes);
		ldb_req_end(id);
		nr_slow += tenant == 7 && bytes > 65536;
	}
	printf("noted: %" PRIu64 " slow of %" PRIu64 "\n", nr_slow, nr);
	return 0;
}
