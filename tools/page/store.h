/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is a table of numbers in a page, ldb.columns(id): rows are added, columns are written.
 *
 *	store_init(&s, "thread- at+ length");
 *	store_add(&s, (int64_t[]){ thread, at, length });
 *	store_finish(&s, p, "gaps");
 *
 * Behind a column's name '+' says that its values are near the previous ones, '-' that it is not
 * written.  With a limit at most max rows stay: those whose weight, the value of one of the
 * columns, is greatest.  That there was no memory may be reported later: a result that is not 0 is
 * -ENOMEM, and stays so.
 */
#ifndef PAGE_STORE_H
#define PAGE_STORE_H

#include "page/page.h"

struct store {
	const char *columns;
	unsigned nr_columns, weight;
	size_t max;
	int64_t *rows;
	size_t nr, room;
	int error;
	uint64_t nr_dropped;
	int64_t dropped_below;	/* the greatest weight that was dropped */
};

void store_init(struct store *s, const char *columns);
void store_limit(struct store *s, unsigned weight, size_t max);
void store_free(struct store *s);

/* Up to twice max rows stay until store_prune(). */
int store_add(struct store *s, const int64_t *row);

/* Reduces the rows to max; their order does not change. */
int store_prune(struct store *s);

static inline int64_t *store_row(const struct store *s, size_t i)
{
	return s->rows + i * s->nr_columns;
}

int store_write(const struct store *s, struct page *p, const char *id);
int store_finish(struct store *s, struct page *p, const char *id);	/* and frees */

#define STORE_COLUMNS_MAX	40

/* Adds columns to a table whose columns have several lengths; returns how many it has then. */
size_t store_columns(const struct store *s, struct page_column *columns, size_t nr);

#endif
