/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the FUNC rows of each thread that have left the rings, without invocations from before
 * the recording, as the scanner does.
 *
 * A thread's own counter is ahead of its rows, by as much as the recorder is late.  At the end of
 * a recording all rows have been read; a dump of the flight recorder is made while they come, and
 * takes this number.
 */
#ifndef RECORD_FUNC_COUNTS_H
#define RECORD_FUNC_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

struct func_count {
	uint32_t tid;
	int64_t since;	/* rows of an earlier thread with this number began before this */
	uint64_t nr;
};

/* A struct of zeros counts nothing: set is_on. */
struct func_counts {
	bool is_on;
	struct func_count *counts;
	size_t nr, room, last;	/* last: where the previous row was counted */
	struct hash by_tid;
};

void func_counts_free(struct func_counts *c);

/* Without memory a thread of which nothing was counted yet stays so. */
void func_counts_add(struct func_counts *c, uint32_t tid, int64_t start);

uint64_t func_counts_of(const struct func_counts *c, uint32_t tid);

/*
 * The thread has exited at this tick: another one may get its number, and starts at 0.  Rows of the
 * first one may still come.
 */
void func_counts_forget(struct func_counts *c, uint32_t tid, int64_t tick);

#endif
