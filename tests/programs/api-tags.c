// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program makes 20 requests of 2 ms, tagged through the header that HEADER names, of class
 * NAME.  The odd ones arrived 50 ms before they are started and are of class "NAME early", if that
 * version of the header supports it.
 */
#define _GNU_SOURCE
#include HEADER
#include <stdio.h>
#include <time.h>

void TAG(uint64_t first);
void tag_other(uint64_t first);

static void spin_ms(unsigned ms)
{
	struct timespec t;
	uint64_t begin = 0, now;

	do {
		clock_gettime(CLOCK_MONOTONIC, &t);
		now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
		begin = begin ? begin : now;
	} while (now - begin < ms * 1000000ull);
}

void TAG(uint64_t first)
{
	for (uint64_t id = first; id < first + 20; id++) {
		const char *class = NAME;

#if LDB_API_VERSION >= 2
		if (id % 2) {
			ldb_req_arrived(id, NULL, 50000000);
			class = NAME " early";
		}
#endif
		ldb_req_start(id, NULL);
		ldb_req_class(id, class);
		spin_ms(2);
		ldb_req_end(id);
	}
}

#ifdef MAIN
int main(void)
{
	TAG(100);
#ifdef OTHER
	tag_other(200);
#endif
	puts("api-tags: done");
	return 0;
}
#endif
