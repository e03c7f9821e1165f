/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of numbers for page_columns(), of which at most max rows are kept: those whose
 * weight, the value of one of the columns, is greatest.
 */
#ifndef PAGE_STORE_H
#define PAGE_STORE_H

#include "page/page.h"

struct store_column {
	const char *name;
	bool is_delta;
	bool is_inner;		/* not written */
};

struct store {
	const struct store_column *columns; /* ends with a NULL name */
	unsigned nr_columns, weight;
	size_t max;
	int64_t *rows;
	size_t nr, room;
	uint64_t nr_dropped;
	int64_t dropped_below;	/* the greatest weight that was dropped */
};

void store_init(struct store *s, const struct store_column *columns, unsigned weight, size_t max);
void store_free(struct store *s);

/* 0 or -ENOMEM.  Up to twice max are kept until store_prune(). */
int store_add(struct store *s, const int64_t *row);

/* Down to max; the order of what is left does not change. */
int store_prune(struct store *s);

static inline int64_t *store_row(const struct store *s, size_t i)
{
	return s->rows + i * s->nr_columns;
}

int store_write(struct page *p, const char *id, const struct store *s);

#endif
