/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds rows of one kind until it is certain that no earlier one will come.
 *
 * They come in runs, each nearly in order: one for each ring that was read.  So they are merged
 * rather than sorted.  Rows of the same tick leave in the order in which they came.
 */
#ifndef RECORD_BACKLOG_H
#define RECORD_BACKLOG_H

#include <stddef.h>
#include <stdint.h>

/* Takes rows in order: a copy, which it may change. */
typedef void backlog_out_fn(void *arg, void *rows, size_t nr);

struct backlog {
	size_t row_bytes;
	backlog_out_fn *out;
	void *arg;
	char *rows;
	struct backlog_key {
		int64_t tick;
		uint64_t row;
	} *keys, *merged;	/* in order of tick, except those added lately; a spare array */
	size_t nr, room, max;
};

#ifndef BACKLOG_MAX		/* fewer: tests/fuzz */
#define BACKLOG_MAX	(1U << 18)	/* enough for rows of which some may be out of order */
#endif

/* When there are max, all leave, in order or not.  Returns 0 or -ENOMEM. */
int backlog_init(struct backlog *w, size_t row_bytes, size_t max, backlog_out_fn *out, void *arg);
void backlog_exit(struct backlog *w);

/* Returns where to store the row; the caller must do so at once. */
void *backlog_add(struct backlog *w, int64_t tick);

/* Releases rows of this tick or older. */
void backlog_release(struct backlog *w, int64_t tick);

#endif
