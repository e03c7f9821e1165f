/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the cursor, for the files that make cursors. */
#ifndef TRACE_CURSOR_PRIVATE_H
#define TRACE_CURSOR_PRIVATE_H

#include "trace/reader-private.h"

struct cursor {
	struct query q;
	struct share *share;	/* where blocks come from; NULL: all of them, by next */
	size_t next;
	bool is_cached;		/* its only rows came from the cache */
	struct ahead *ahead;	/* other threads decode; NULL: this one does */
	struct decoder d;
	/* cursor_next_funcs(): these are the rest of the block, as columns or as rows */
	struct tiles tiles;
	const struct ldb_row_func *row;
	size_t nr_rows;
	uint64_t (*values)[TILES_ROWS];
};

/* If share is NULL the cursor is not shared. */
struct cursor *cursor_open(struct reader *r, unsigned kind, const struct reader_filter *filter,
			   struct share *share);

/* cache.c: copies rows of the cache: 1: c->d.rows has some; 0: there are none; -EAGAIN: no cache */
bool cache_serves(const struct query *q);
int cache_read(struct cursor *c, size_t *nr);

/* A cursor begins with the decoder of the one before, while rows are cached. */
void cache_swap_spare(struct reader *r, struct decoder *d);

#endif
