/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the cursor, for the files that make cursors. */
#ifndef TRACE_CURSOR_PRIVATE_H
#define TRACE_CURSOR_PRIVATE_H

#include "trace/reader-private.h"

struct cursor {
	struct query q;
	struct share *share;	/* distributes blocks to cursors; NULL: this cursor reads all */
	size_t next;
	bool is_retained;	/* the rows that it selects are retained: see retain.c */
	/* set if other threads decode blocks; NULL: the caller's thread decodes them */
	struct ahead *ahead;
	struct decoder d;
	/* cursor_next_funcs(): the rest of the block, as columns or as rows */
	struct tiles tiles;
	const struct ldb_row_func *row;
	size_t nr_rows;
	uint64_t (*values)[TILES_ROWS];
};

/*
 * Cursors with the same `share` read each block once together; NULL: the cursor reads all blocks.
 */
struct cursor *cursor_open(struct reader *r, unsigned kind, const struct reader_filter *filter,
			   struct share *share);

/* retain.c */

/* Returns true if a range of reader_retain() includes that of the query. */
bool retain_serves(const struct query *q);

/* As query_decode(); may be called if retain_serves() is true. */
int retained_decode(const struct query *q, struct decoder *d, struct block *b, size_t *nr);

/* While rows are retained, a cursor uses the context for decompression of the previous one. */
void retain_swap_spare(struct reader *r, struct decoder *d);

#endif
