/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds on which request each thread worked at each time, as in the partition (partition.h): pieces
 * of a request do not overlap, also if several threads worked on it at once, and a thread that has
 * several requests open works on one of them.
 */
#ifndef PARTITION_PIECES_H
#define PARTITION_PIECES_H

#include "facts/instances.h"

struct piece {
	int64_t start, end;		/* ticks */
	uint64_t req;
	int64_t req_start;		/* ticks: when this request instance began */
	uint32_t tid;
};

/* Pieces in order of thread and time. */
struct pieces {
	struct piece *at;
	size_t nr, room;
};

/*
 * Finds the pieces of the complete requests that start in [from, to] (ticks).  instance() may be
 * NULL; it is called with each request instance of the trace.  Returns 0, -ENOMEM, or what
 * instance() returned if that was not 0.
 */
int pieces_read(struct model *m, int64_t from, int64_t to,
		int (*instance)(void *arg, const struct instance *instance), void *arg,
		struct pieces *p);
void pieces_free(struct pieces *p);

/* Returns the index of the thread's first piece that ends after tick. */
size_t pieces_first(const struct pieces *p, uint32_t tid, int64_t tick);

#endif
