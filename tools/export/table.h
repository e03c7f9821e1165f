/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assigns numbers (1, 2, 3, ... in the order of their first use) to keys of three numbers. */
#ifndef EXPORT_TABLE_H
#define EXPORT_TABLE_H

#include "base/hash.h"

struct table {
	struct hash hash;
	uint64_t (*keys)[3];		/* the key with number n is keys[n - 1] */
	size_t nr, room;
};

/* Returns the number of the key; *is_new: the key was added.  0: out of memory. */
uint64_t table_get(struct table *t, uint64_t a, uint64_t b, uint64_t c, bool *is_new);

/* Returns the number of the key; 0: none. */
uint64_t table_find(const struct table *t, uint64_t a, uint64_t b, uint64_t c);

void table_free(struct table *t);

#endif
