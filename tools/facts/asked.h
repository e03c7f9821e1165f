/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the requests that belong to one: those that it asked other processes for, what these asked for in
 * turn, and the one that has asked for it (ASKED rows).
 */
#ifndef FACTS_ASKED_H
#define FACTS_ASKED_H

#include "lives.h"

#define ASKED_MAX	10000		/* requests that are found for one */

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
	/* all ASKED rows, read when they are needed first: by the one that has asked, and by the other one */
	bool is_read;
	struct ldb_row_asked *down, *up;
	size_t nr_down, room_down, nr_up, room_up;
};

/*
 * Adds the instance, and all that belong to it and are not there yet; further ones than ASKED_MAX are left
 * out.  Returns 0 or -errno.
 */
int asked_add(struct model *m, uint64_t id, int64_t start, struct asked *all);
bool asked_has(const struct asked *all, const struct life *life);
/* Forgets the requests, but not the rows. */
void asked_clear(struct asked *all);
void asked_free(struct asked *all);

#endif
