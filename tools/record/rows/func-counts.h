/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the FUNC rows of each thread, before the filter.  As in the scanner's counter, invocations
 * from before the recording are not counted.
 *
 * The counter in the thread's page is ahead of the rows while the recorder has not read all of
 * them.  At the end of a recording the two agree.  A dump of the flight recorder is made before
 * that, and uses this count.
 */
#ifndef RECORD_ROWS_FUNC_COUNTS_H
#define RECORD_ROWS_FUNC_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

struct func_count {
	uint32_t tid;
	int64_t since;	/* a row that began earlier is of an earlier thread with the same tid */
	uint64_t nr;
	uint64_t exited;	/* number of the earlier thread in exited[], plus one; 0: none */
};

/* One of the last threads that have exited; thread n is at index n modulo FUNC_EXITED_MAX. */
#define FUNC_EXITED_MAX	4096
struct func_exited {
	uint32_t tid;
	int64_t end;
	uint64_t nr;
};

/* A struct of zeros counts nothing until is_on is set. */
struct func_counts {
	bool is_on;
	struct func_count *counts;
	size_t nr, room, last;	/* last: index of the count to which the previous row was added */
	struct hash by_tid;
	struct func_exited *exited;
	uint64_t nr_exited;
	struct hash by_end;		/* exited[], by tid and end */
};

void func_counts_free(struct func_counts *c);

/*
 * Counts a row that began at tick `start`.  If there is no memory, rows of new threads are not
 * counted.
 */
void func_counts_add(struct func_counts *c, uint32_t tid, int64_t start);

uint64_t func_counts_of(const struct func_counts *c, uint32_t tid);

/* Returns true if a row that began at this tick is of an earlier thread with the same tid. */
bool func_counts_is_earlier(const struct func_counts *c, uint32_t tid, int64_t start);

/*
 * Stores in *nr the number of rows of the thread that exited at tick `end`.  Returns false if the
 * number is not known: too many threads have exited since, or there was no memory.
 */
bool func_counts_of_exited(const struct func_counts *c, uint32_t tid, int64_t end, uint64_t *nr);

/*
 * Called when a thread has exited at this tick: a later thread with the same tid is counted from 0.
 * Rows of the thread that has exited may still be added.
 */
void func_counts_exit(struct func_counts *c, uint32_t tid, int64_t tick);

#endif
