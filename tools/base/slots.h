/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds things by keys that are numbers.  The things come and go; they are in one array, whose free
 * places are used again.  Several things may have the same key.
 *
 *	struct thing { struct slot slot; ... } *k;
 *	struct slots t = { .size = sizeof(struct thing), .max = 1000 };
 *
 *	slots_each(&t, key, k)		each one with that key
 *	k = slots_add(&t, key);		all zeros except for slot; the others may move
 *	slots_remove(&t, &k->slot);
 */
#ifndef BASE_SLOTS_H
#define BASE_SLOTS_H

#include "base/hash.h"

/* Each thing begins with a struct slot. */
struct slot {
	uint64_t key;
	bool is_used;
};

struct slots {
	size_t size, max;	/* the size of a thing; the most things there may be */
	struct hash hash;
	char *all;
	size_t nr, room;	/* nr: the number of places, also of free ones */
	uint32_t *free;
	size_t nr_free, room_free;
};

/* Returns NULL if there are max things already, or if there is no memory. */
void *slots_add(struct slots *t, uint64_t key);

/* Removes a thing.  This is allowed while the caller visits all places with slots_at(). */
void slots_remove(struct slots *t, struct slot *s);

void slots_clear(struct slots *t);
void slots_free(struct slots *t);

/* Returns one of the things with that key, or NULL. */
void *slots_find(const struct slots *t, uint64_t key);

/* Returns the thing at place i, which is less than nr.  The place may be free: see slot.is_used. */
static inline void *slots_at(const struct slots *t, size_t i)
{
	return t->all + i * t->size;
}

static inline void *slots_next(const struct slots *t, struct hash_walk *w, uint64_t key)
{
	uint32_t n;

	while (hash_next(w, &n))
		if (((struct slot *)slots_at(t, n))->key == key)
			return slots_at(t, n);
	return NULL;
}

/*
 * Loops over the things with the key `of`; after the loop, thing is NULL.  Nothing may be added or
 * removed in the loop.
 */
#define slots_each(t, of, thing)						\
	for (struct hash_walk walk_ = hash_begin(&(t)->hash, hash_mix(0, of));	\
	     ((thing) = slots_next(t, &walk_, of));)

#endif
