/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads rows of the file, one by one. */
#ifndef FACTS_ROWS_H
#define FACTS_ROWS_H

#include "trace/reader.h"

/* A filter for rows that overlap [from, to]. */
#define ROWS_WITHIN(from, to)	{ from, to, 0, UINT64_MAX, 0, 0 }

/* Called for each row.  If it returns a value that is not 0, reading stops. */
typedef int row_function(void *arg, const void *row);

/*
 * Calls row() for the rows of a kind, which may be any but INDEX, in the order of the file.  If
 * `filter` is NULL, these are all rows of the kind.  Returns 0, -ENOMEM, or what row() returned
 * that was not 0.
 */
int rows_each(struct reader *r, unsigned kind, const struct reader_filter *filter,
	      row_function *row, void *arg);

/*
 * Does what rows_each() does, for rows of LDB_BLK_REQ or LDB_BLK_SCHED, but in the order of time.
 * In the file they are nearly in that order (base/window.h).  Their ticks are limited to a sane
 * range (facts/ticks.h).  REQ rows lack gen and the members after it.
 */
int rows_by_time(struct reader *r, unsigned kind, const struct reader_filter *filter,
		 row_function *row, void *arg);

#endif
