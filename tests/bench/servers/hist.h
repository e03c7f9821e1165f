/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This histogram has buckets of at most 1/128 (0.8 %) of their value: 128 for each power of two.
 * Writers need no lock if each has its own; others may read at any time.
 */
#ifndef BENCH_HIST_H
#define BENCH_HIST_H

#include <stdint.h>

#define HIST_BITS	7
#define HIST_SUB	(1u << HIST_BITS)
/* The range is up to 2^41, half an hour in nanoseconds; a longer value counts as that. */
#define HIST_BUCKETS	((41 - HIST_BITS + 1) * HIST_SUB)

struct hist {
	uint32_t count[HIST_BUCKETS];
};

static inline unsigned int hist_bucket(uint64_t v)
{
	unsigned int shift, b;

	if (v < HIST_SUB)
		return (unsigned int)v;
	shift = 63 - (unsigned int)__builtin_clzll(v) - HIST_BITS;
	b = (shift << HIST_BITS) + (unsigned int)(v >> shift);
	return b < HIST_BUCKETS ? b : HIST_BUCKETS - 1;
}

/* Returns the middle of bucket b. */
static inline double hist_value(unsigned int b)
{
	unsigned int shift = b >> HIST_BITS;

	if (shift < 1)
		return b;
	shift--;
	return ((double)(b - (shift << HIST_BITS)) + 0.5) * (double)(1ull << shift);
}

static inline void hist_add(struct hist *h, uint64_t v)
{
	uint32_t *count = &h->count[hist_bucket(v)];

	__atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

#endif
