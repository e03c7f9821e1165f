/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads rows of the file, one by one. */
#ifndef FACTS_ROWS_H
#define FACTS_ROWS_H

#include "trace/reader.h"

/* This is a filter for rows that overlap [from, to]. */
#define ROWS_WITHIN(from, to)	{ from, to, 0, UINT64_MAX, 0 }

/* A non-zero return value stops. */
typedef int row_function(void *arg, const void *row);

/*
 * Calls row() for rows of any kind but INDEX, in the order of the file; filter NULL: all.
 * Returns 0, -ENOMEM, or what row() returned that was not 0.
 */
int rows_each(struct reader *r, unsigned kind, const struct reader_filter *filter,
	      row_function *row, void *arg);

/* Is there a row of that kind?  Returns 1, 0 or -ENOMEM. */
int rows_exist(struct reader *r, unsigned kind);

/*
 * Does what rows_each() does for rows of LDB_BLK_REQ or LDB_BLK_SCHED, which are nearly in order
 * of time: in that order (base/window.h), with sane ticks.
 */
int rows_by_time(struct reader *r, unsigned kind, const struct reader_filter *filter,
		 row_function *row, void *arg);

#endif
