/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds things that come and go by numbers, in one array, whose places are used again.  Several may
 * have the same key.
 *
 *	struct thing { struct slot slot; ... } *k;
 *	struct slots t = { .size = sizeof(struct thing), .max = 1000 };
 *
 *	slots_each(&t, key, k)		each one with that key
 *	k = slots_add(&t, key);		zeros but for slot; things move
 *	slots_remove(&t, &k->slot);
 */
#ifndef BASE_SLOTS_H
#define BASE_SLOTS_H

#include "base/hash.h"

/* Each thing begins with it. */
struct slot {
	uint64_t key;
	bool is_used;
};

struct slots {
	size_t size, max;	/* of a thing; how many there may be */
	struct hash hash;
	char *all;
	size_t nr, room;	/* nr: also those that are not used */
	uint32_t *free;
	size_t nr_free, room_free;
};

/* Returns NULL if there are too many, or there is no memory. */
void *slots_add(struct slots *t, uint64_t key);

/* It may be called for any thing while they are visited by number. */
void slots_remove(struct slots *t, struct slot *s);

void slots_clear(struct slots *t);
void slots_free(struct slots *t);

/* Returns the first with that key, or NULL. */
void *slots_find(const struct slots *t, uint64_t key);

/* i: less than nr.  It may not be used. */
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

/* thing is each one with that key, NULL after the last; none may be added or removed meanwhile. */
#define slots_each(t, of, thing)						\
	for (struct hash_walk walk_ = hash_begin(&(t)->hash, hash_mix(0, of));	\
	     ((thing) = slots_next(t, &walk_, of));)

#endif
