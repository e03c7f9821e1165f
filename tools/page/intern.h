/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for things that repeat: the first one seen is 0, the next new one 1. */
#ifndef PAGE_INTERN_H
#define PAGE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern {
	uint32_t *slots;	/* index + 1; 0: free */
	size_t nr_slots;
	struct intern_key { char *bytes; size_t size; } *keys;
	size_t nr, room;
};

/* All zeros is an empty one.  The number of the key, or -1: out of memory. */
int64_t intern_get(struct intern *t, const void *key, size_t size, bool *is_new);
int64_t intern_string(struct intern *t, const char *s);

/* The bytes of a key, followed by a 0. */
const void *intern_key(const struct intern *t, size_t i);
void intern_free(struct intern *t);

#endif
