// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This object contains a table of functions with a version that this runtime does not know, as a
 * later header might add it.  tag_other() prints how many entries of the table are not 0 any more,
 * and makes a request.
 */
#include <ldb/ldb.h>
#include <stdio.h>

struct ldb_api_later {
	void *functions[8];
};
__attribute__((weak, visibility("hidden"), used)) struct ldb_api_later __ldb_api_later;
LDB_API_NOTE(__ldb_api_later, 1000);

void tag_other(uint64_t first);

void tag_other(uint64_t first)
{
	int nr = 0;

	for (int i = 0; i < 8; i++)
		nr += !!__atomic_load_n(&__ldb_api_later.functions[i], __ATOMIC_RELAXED);
	printf("api-future: %d filled\n", nr);
	ldb_req_start(first, 0);
	ldb_req_end(first);
}
