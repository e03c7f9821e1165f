/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delivers the rows of a kind in order of time.  Files have them nearly in order: rows that are
 * out of place by no more than SORTED_WINDOW rows are sorted; others are delivered as they come,
 * and are counted.
 */
#ifndef TESTS_ORACLE_SORTED_H
#define TESTS_ORACLE_SORTED_H

#include <stddef.h>
#include "oracle.h"

#define SORTED_WINDOW	(1U << 17)	/* two blocks of the file, as in the readers' windows */

struct sorted_key {
	int64_t tick;
	uint64_t then;		/* order of rows with the same tick */
};

/* Computes the key of a row. */
typedef void sorted_key_fn(const void *row, struct sorted_key *key);

struct sorted {
	struct cursor *cursor;
	sorted_key_fn *key;
	size_t row_bytes;
	char *rows, *spare;
	struct sorted_place {
		struct sorted_key key;
		size_t row;
	} *places, *scratch;
	size_t nr, at, room;
	bool ended;
	int64_t last;		/* greatest tick of the rows that were delivered */
	uint64_t nr_rows, nr_late;
};

void sorted_open(struct sorted *s, struct oracle *o, unsigned kind, size_t row_bytes,
		 sorted_key_fn *key);
void sorted_close(struct sorted *s);

/* Returns the next row, or NULL; it is valid until the next call. */
const void *sorted_next(struct sorted *s);

/* Returns the next row without consuming it. */
const void *sorted_peek(struct sorted *s);

#endif
