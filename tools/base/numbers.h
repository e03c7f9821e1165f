/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Things that are kept once and known by a number: a hash of numbers. */
#ifndef BASE_NUMBERS_H
#define BASE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/array.h"

struct numbers {
	uint32_t *slots;		/* number + 1; 0: free */
	size_t nr, room;		/* room: a power of two, or 0 */
};

/* Makes room for one more; hash(arg, n): of number n.  False: out of memory. */
bool numbers_grow(struct numbers *t, uint64_t (*hash)(const void *arg, uint32_t n), const void *arg);

/* One more value into a hash; to begin with, any number. */
static inline uint64_t numbers_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

/* Of a text, up to its end or len bytes. */
uint64_t numbers_hash_text(const char *text, size_t len);

#endif
