/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cursor, for those who make them. */
#ifndef TRACE_CURSOR_PRIVATE_H
#define TRACE_CURSOR_PRIVATE_H

#include "trace/reader-private.h"

struct cursor {
	struct query q;
	struct share *share;	/* where blocks come from; NULL: all of them, by next */
	size_t next;
	bool is_kept;		/* and that was all */
	struct ahead *ahead;	/* does it all, or NULL */
	struct decoder d;
	/* cursor_next_funcs(): what is left of the block, as columns or as rows */
	struct tiles tiles;
	const struct ldb_row_func *row;
	size_t nr_rows;
	uint64_t (*values)[TILES_ROWS];
};

/* share NULL: a cursor of its own. */
struct cursor *cursor_open(struct reader *r, unsigned kind, const struct reader_filter *filter,
			   struct share *share);

/* kept.c: can the rows be had from what is kept?  1: c->d.rows are; 0: none are; -EAGAIN: no. */
bool kept_serves(const struct query *q);
int kept_rows(struct cursor *c, size_t *nr);

#endif
