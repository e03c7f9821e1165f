/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of numbers in a page, ldb.columns(id): it is filled by rows and written by columns.
 *
 *	store_init(&s, "thread- at+ length");
 *	store_add(&s, (int64_t[]){ thread, at, length });
 *	store_finish(&s, p, "gaps");
 *
 * After a column's name, '+' means that each value is close to the previous one, and '-' that the
 * column is not written.  If there is a limit, only the max rows with the greatest weight are
 * stored; a column contains the weights.  Functions return 0 or -ENOMEM; after an error,
 * store_add(), store_write() and store_finish() return that error, too.
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
	int64_t dropped_below;	/* greatest weight of a dropped row */
};

void store_init(struct store *s, const char *columns);
void store_limit(struct store *s, unsigned weight, size_t max);
void store_free(struct store *s);

/* Adds a row.  Up to twice max rows are stored until store_prune(). */
int store_add(struct store *s, const int64_t *row);

/* Reduces the rows to max; their order does not change. */
int store_prune(struct store *s);

static inline int64_t *store_row(const struct store *s, size_t i)
{
	return s->rows + i * s->nr_columns;
}

int store_write(const struct store *s, struct page *p, const char *id);
int store_finish(struct store *s, struct page *p, const char *id);	/* also frees the table */

#define STORE_COLUMNS_MAX	40

/*
 * Adds columns to a table whose columns have different lengths; returns the resulting number of
 * columns.
 */
size_t store_columns(const struct store *s, struct page_column *columns, size_t nr);

#endif
