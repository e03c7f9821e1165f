/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From time to time a flight recorder stores a mark: the number of the next block, and the counters
 * of all threads and scanners.  A dump begins at the oldest mark after which no block was dropped.
 * The counters in the dump are the differences to those of this mark, so that they match the events
 * in the dump.
 */
#ifndef RECORD_FLIGHT_MARKS_H
#define RECORD_FLIGHT_MARKS_H

#include <stddef.h>
#include <linux/ldb.h>
#include <ldb/trace-format.h>

#define FLIGHT_MARKS	32	/* most marks in the retained time */

struct flight_mark {
	uint64_t number;	/* the number of the next block */
	int64_t ns, tick;
	struct ldb_row_thread *threads;
	size_t nr_threads;
	struct ldb_row_scan scans[LDB_MAX_SCANNERS];
};

struct flight_marks {
	struct flight_mark at[FLIGHT_MARKS + 2];	/* the oldest first */
	size_t nr;
};

/* The first mark is the beginning of the recording, with counters of 0. */
void flight_marks_init(struct flight_marks *m);
void flight_marks_exit(struct flight_marks *m);

/* Returns a new mark, which the caller fills in.  The oldest mark may be dropped for it. */
struct flight_mark *flight_marks_add(struct flight_marks *m);

/* Returns the oldest mark at block number `first` or a later one, or NULL. */
const struct flight_mark *flight_marks_from(const struct flight_marks *m, uint64_t first);
/* Drops the marks that are older than `before`. */
void flight_marks_drop(struct flight_marks *m, const struct flight_mark *before);

/* Subtracts a mark's counters from those of a row. */
void flight_mark_subtract_thread(const struct flight_mark *m, struct ldb_row_thread *row);
void flight_mark_subtract_scan(const struct flight_mark *m, struct ldb_row_scan *row);

#endif
