/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts rows that are nearly in order of time: a window holds two blocks of them, and when it is
 * full the older half is passed to play().  Rows of equal times stay in the order they came in.
 */
#ifndef BASE_WINDOW_H
#define BASE_WINDOW_H

#include <stddef.h>
#include <stdint.h>
#include <ldb/trace-format.h>

#ifndef WINDOW_ROWS		/* fewer: tests/fuzz */
#define WINDOW_ROWS	(2 * LDB_BLOCK_ROWS)
#endif

struct window_key {
	int64_t tick;
	uint32_t slot;
};

struct window {
	size_t row_bytes;
	int (*play)(void *arg, const void *row);
	void *arg;
	char *rows;		/* WINDOW_ROWS slots; NULL before the first row */
	struct window_key *keys; /* one for each row, and as many again to sort them */
	size_t nr, nr_sorted;	/* keys; how many of them are in order */
	size_t nr_slots;	/* that were ever used */
};

void window_init(struct window *w, size_t row_bytes, int (*play)(void *arg, const void *row),
		 void *arg);
void window_free(struct window *w);

/* Returns 0, -ENOMEM, or what play() returned that was not 0. */
int window_add(struct window *w, const void *row, int64_t tick);

/* Passes the remaining rows to play(). */
int window_finish(struct window *w);

#endif
