/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds things in an array by their keys.  The table contains their indices in the array; the
 * caller has the array and compares the keys.
 *
 *	hash_each(&t, hash, n)
 *		if (things[n].key == key)
 *			return n;
 *	if (hash_add(&t, hash, nr_things))
 *		return -ENOMEM;
 *	things[nr_things++] = ...
 *
 * The table uses open addressing, and is at most half full.  A slot has 32 bits of its thing's
 * hash: they avoid most comparisons, and the table grows without computing hashes again.  No output
 * may depend on the order of the slots.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_slot {
	uint32_t hash;
	uint32_t number;		/* the thing's number + 1; 0: the slot is free */
};

/* A struct of zeros is an empty table. */
struct hash {
	struct hash_slot *slots;
	size_t nr, room;		/* room: a power of two, or 0 */
};

/* Mixes one more value into a hash; the initial hash may be any number. */
static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;	/* 2^64 / the golden ratio */
	return hash ^ hash >> 29;
}

/* Return the hash of a text that ends with a 0, and the hash of len bytes. */
uint64_t hash_text(const char *text);
uint64_t hash_bytes(const void *bytes, size_t len);

/* Makes room for one more number; returns 0 or -ENOMEM. */
int hash_reserve(struct hash *t);

/*
 * Adds number n with its hash.  hash_put() needs room that the caller has made; the result of
 * hash_add() must be checked.
 */
void hash_put(struct hash *t, uint64_t hash, uint32_t n);
int hash_add(struct hash *t, uint64_t hash, uint32_t n);

/* Removes number n, which was added with that hash. */
void hash_remove(struct hash *t, uint64_t hash, uint32_t n);

/* Removes all numbers; the memory stays allocated. */
void hash_clear(struct hash *t);
void hash_free(struct hash *t);

struct hash_walk {
	const struct hash *t;
	size_t at;
	uint32_t hash;
};

static inline struct hash_walk hash_begin(const struct hash *t, uint64_t hash)
{
	return (struct hash_walk){ t, (uint32_t)hash, hash };
}

static inline bool hash_next(struct hash_walk *w, uint32_t *n)
{
	const struct hash *t = w->t;

	while (t->room) {
		const struct hash_slot *s = &t->slots[w->at++ & (t->room - 1)];

		if (!s->number)
			break;
		if (s->hash != w->hash)
			continue;
		*n = s->number - 1;
		return true;
	}
	return false;
}

/*
 * Loops over the numbers n that were added with the hash `of`, and perhaps a few others; the caller
 * compares keys.  The loop may not change the table.
 */
#define hash_each(t, of, n)						\
	for (struct hash_walk walk_ = hash_begin(t, of); hash_next(&walk_, &(n));)

#endif
