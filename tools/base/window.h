/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts rows that are nearly in order of time: a window holds as many rows as two blocks of the
 * trace, and when it is full, the half with the earlier times is passed to play().  Rows with equal
 * times stay in the order in which they were added.
 */
#ifndef BASE_WINDOW_H
#define BASE_WINDOW_H

#include <stddef.h>
#include <stdint.h>
#include <ldb/trace-format.h>

#ifndef WINDOW_ROWS		/* tests/fuzz sets a smaller number */
#define WINDOW_ROWS	(2 * LDB_BLOCK_ROWS)
#endif

/* Slots are allocated in chunks that are small enough to use memory again that was freed before. */
#define WINDOW_CHUNK	(WINDOW_ROWS / 32)
#define WINDOW_FIRST	(WINDOW_ROWS / 8)	/* keys that are allocated at first */

struct window_key {
	int64_t tick;
	uint32_t slot;
};

struct window {
	size_t row_bytes;
	int (*play)(void *arg, const void *row);
	void *arg;
	char *chunks[WINDOW_ROWS / WINDOW_CHUNK];	/* slots of rows */
	struct window_key *keys;	/* one for each row, and then one for each free slot */
	size_t room;
	struct window_key *spare;	/* the same number again as space for sorting */
	size_t spare_bytes;
	size_t nr, nr_sorted;	/* how many rows there are; how many of their keys are in order */
	size_t nr_slots;	/* slots that were ever used */
};

void window_init(struct window *w, size_t row_bytes, int (*play)(void *arg, const void *row),
		 void *arg);
void window_free(struct window *w);

/* Returns 0, -ENOMEM, or what play() returned if that was not 0. */
int window_add(struct window *w, const void *row, int64_t tick);

/* Passes the remaining rows to play(). */
int window_finish(struct window *w);

#endif
