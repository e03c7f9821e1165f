/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delays rows of one kind until the caller knows that no earlier row will come.
 *
 * Rows arrive in runs, one for each ring that was read, and each run is nearly in order.  So the
 * rows are put into order by merging the runs, which takes less time than sorting all rows.  Rows
 * with the same tick are emitted in the order of their arrival.
 */
#ifndef BASE_BACKLOG_H
#define BASE_BACKLOG_H

#include <stddef.h>
#include <stdint.h>

/* Receives rows in order.  They are a copy, which this function may change. */
typedef void backlog_out_fn(void *arg, void *rows, size_t nr);

struct backlog {
	size_t row_bytes;
	backlog_out_fn *out;
	void *arg;
	char *rows;
	struct backlog_key {
		int64_t tick;
		uint64_t row;
	/* keys: in order of tick, except those that were added last; merged: space for merging */
	} *keys, *merged;
	size_t nr, room, max;
};

#ifndef BACKLOG_MAX		/* tests/fuzz defines a smaller number */
#define BACKLOG_MAX	(1U << 18)	/* a usual limit for the number of waiting rows */
#endif

/*
 * Returns 0 or -ENOMEM.  If a row is added when there is no room for it and max rows are waiting,
 * all of these are emitted first, even though earlier ones may still come.
 */
int backlog_init(struct backlog *w, size_t row_bytes, size_t max, backlog_out_fn *out, void *arg);
void backlog_exit(struct backlog *w);

/* Returns where to store the row; the caller must store it before the next call. */
void *backlog_add(struct backlog *w, int64_t tick);

/* Emits the waiting rows whose tick is at most this one. */
void backlog_release(struct backlog *w, int64_t tick);

#endif
