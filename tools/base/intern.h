/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Assigns numbers to texts and other keys that repeat: the first key gets 0, the next new one gets
 * 1.  Each key is stored once and never moves, so two interned texts are equal if their addresses
 * are equal.
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "base/hash.h"

/* A struct of zeros is an empty set. */
struct intern {
	struct hash hash;
	struct intern_key { char *bytes; size_t size; } *keys;
	size_t nr, room;
	size_t max;		/* limit for nr; 0: no limit */
};

/*
 * Returns the number of the key, or -1 if there is no memory or there are max other keys already.
 * Sets *is_new, unless is_new is NULL, to whether the key was not known before.
 */
int64_t intern_get(struct intern *t, const void *key, size_t size, bool *is_new);
int64_t intern_string(struct intern *t, const char *s);

/* Returns the interned text, or NULL if intern_get() would return -1. */
const char *intern_text(struct intern *t, const char *s);

/* Returns the bytes of a key; a byte of 0 follows them. */
const void *intern_key(const struct intern *t, size_t i);
void intern_free(struct intern *t);

#endif
