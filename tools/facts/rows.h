/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the file, one by one. */
#ifndef FACTS_ROWS_H
#define FACTS_ROWS_H

#include "trace/reader.h"

/* A filter for what overlaps [from, to]. */
#define ROWS_WITHIN(from, to)	{ from, to, 0, UINT64_MAX, 0 }

/* What it returns stops, unless it is 0. */
typedef int row_function(void *arg, const void *row);

/*
 * Calls row() for rows of any kind but INDEX, in the order of the file; filter NULL: all.
 * 0, -ENOMEM, or what row() returned that was not 0.
 */
int rows_each(struct reader *r, unsigned kind, const struct reader_filter *filter,
	      row_function *row, void *arg);

/* Is there a row of that kind?  1, 0 or -ENOMEM. */
int rows_exist(struct reader *r, unsigned kind);

/*
 * rows_each() for rows of LDB_BLK_REQ or LDB_BLK_SCHED, which are nearly in order of time: in that
 * order (base/window.h), with sane ticks.
 */
int rows_by_time(struct reader *r, unsigned kind, const struct reader_filter *filter,
		 row_function *row, void *arg);

#endif
