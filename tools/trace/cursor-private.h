/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the cursor, for the files that make cursors. */
#ifndef TRACE_CURSOR_PRIVATE_H
#define TRACE_CURSOR_PRIVATE_H

#include "trace/reader-private.h"

struct cursor {
	struct query q;
	struct share *share;	/* distributes the blocks; NULL: the cursor reads all of them */
	size_t next;
	bool is_cached;		/* it returned the rows of the cache */
	struct ahead *ahead;	/* other threads decode; NULL: this one does */
	struct decoder d;
	/* cursor_next_funcs(): the rest of the block, as columns or as rows */
	struct tiles tiles;
	const struct ldb_row_func *row;
	size_t nr_rows;
	uint64_t (*values)[TILES_ROWS];
};

/* If share is NULL the cursor is not shared. */
struct cursor *cursor_open(struct reader *r, unsigned kind, const struct reader_filter *filter,
			   struct share *share);

/*
 * cache.c: copies matching rows of the cache to c->d.rows.  Returns 1, or 0: there are none;
 * -EAGAIN: not cached
 */
bool cache_serves(const struct query *q);
int cache_read(struct cursor *c, size_t *nr);

/* While rows are cached, a cursor uses the decoder of the previous one. */
void cache_swap_spare(struct reader *r, struct decoder *d);

#endif
