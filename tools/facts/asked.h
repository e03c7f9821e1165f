/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To process a request, a process may ask another process to process a request of its own; an ASKED
 * row records this.  For a given request, these functions find the request that asked for it and
 * the requests for which it asked; then the same for each request that was found, and so on.
 */
#ifndef FACTS_ASKED_H
#define FACTS_ASKED_H

#include "instances.h"

/* the most requests that a struct asked may contain */
#define ASKED_MAX	10000

/* A request instance: its id, and when it began and ended, as the table of requests has it. */
struct asked_one {
	uint64_t id;
	int64_t start, end;
};

struct asked {
	struct asked_one *at;	/* in the order in which they were found */
	size_t nr, room;
	struct asked_one *by_id;	/* the same, sorted by id and start */
	size_t nr_by_id, room_by_id;
	/*
	 * all ASKED rows, read when they are first needed: sorted by the request that asked, and by
	 * the request that was asked for
	 */
	bool is_read;
	struct ldb_row_asked *down, *up;
	size_t nr_down, room_down, nr_up, room_up;
};

/*
 * Adds the instance, and all instances that belong to it and are not there yet.  Instances beyond
 * ASKED_MAX are left out.  Returns 0 or -errno.
 */
int asked_add(struct model *m, uint64_t id, int64_t start, struct asked *all);
bool asked_has(const struct asked *all, const struct instance *instance);
/* Forgets the requests, but not the rows. */
void asked_clear(struct asked *all);
void asked_free(struct asked *all);

#endif
