/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds things by their keys, each in a separate allocation, which does not move.
 *
 *	struct thing *k;
 *
 *	keyed_each(&t, hash, k)
 *		if (k->key == key)
 *			return k;
 *	k = keyed_add(&t, hash, sizeof(*k));	all zeros; NULL: out of memory
 *
 * at[] has the things in the order in which they were added.
 */
#ifndef BASE_KEYED_H
#define BASE_KEYED_H

#include "base/hash.h"

/* A struct of zeros is an empty table. */
struct keyed {
	struct hash hash;
	void **at;
	size_t nr, room;
};

void *keyed_add(struct keyed *t, uint64_t hash, size_t size);

/* Frees the things, too. */
void keyed_free(struct keyed *t);

static inline void *keyed_next(const struct keyed *t, struct hash_walk *w)
{
	uint32_t n;

	return hash_next(w, &n) ? t->at[n] : NULL;
}

/*
 * Loops over the things that were added with the hash `of`, and perhaps a few others; the caller
 * compares keys.  After the loop, thing is NULL.  Nothing may be added in the loop.
 */
#define keyed_each(t, of, thing)						\
	for (struct hash_walk walk_ = hash_begin(&(t)->hash, of);		\
	     ((thing) = keyed_next(t, &walk_));)

#endif
