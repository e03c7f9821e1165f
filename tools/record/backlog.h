/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds rows of one kind back until it is certain that no earlier row will come.
 *
 * Rows come in runs, one for each ring that was read, and each run is nearly in order.  So the runs
 * are merged rather than all rows sorted.  Rows with the same tick are emitted in the order in
 * which they came.
 */
#ifndef RECORD_BACKLOG_H
#define RECORD_BACKLOG_H

#include <stddef.h>
#include <stdint.h>

/* Receives rows in order.  They are a copy, which the function may change. */
typedef void backlog_out_fn(void *arg, void *rows, size_t nr);

struct backlog {
	size_t row_bytes;
	backlog_out_fn *out;
	void *arg;
	char *rows;
	struct backlog_key {
		int64_t tick;
		uint64_t row;
	/* keys in order of tick, except those that were added lately; space for merging */
	} *keys, *merged;
	size_t nr, room, max;
};

#ifndef BACKLOG_MAX		/* fewer: tests/fuzz */
/* enough for kinds whose rows may be out of order */
#define BACKLOG_MAX	(1U << 18)
#endif

/*
 * Returns 0 or -ENOMEM.  When there are max rows, all of them are emitted, also if earlier ones may
 * come.
 */
int backlog_init(struct backlog *w, size_t row_bytes, size_t max, backlog_out_fn *out, void *arg);
void backlog_exit(struct backlog *w);

/* Returns where to store the row; the caller must do so at once. */
void *backlog_add(struct backlog *w, int64_t tick);

/* Emits the rows with this tick or an older one. */
void backlog_release(struct backlog *w, int64_t tick);

#endif
