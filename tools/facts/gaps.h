/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When threads were not watched: the scanner did not run, or not for one of them.  What
 * they did then is not known, which is another thing than code that has no records.
 */
#ifndef FACTS_GAPS_H
#define FACTS_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gap {
	int64_t start, end;	/* ticks */
	uint32_t tid;		/* 0: all threads */
};

struct gaps {
	struct gap *at;		/* by tid, start; those of a tid do not touch each other */
	size_t nr, room;
};

/* False: out of memory.  Gaps may come in any order; sort before asking. */
bool gaps_add(struct gaps *g, uint32_t tid, int64_t start, int64_t end);
void gaps_sort(struct gaps *g);
void gaps_free(struct gaps *g);

/* Whether the thread was not watched at tick; *until becomes less if that ends before it. */
bool gaps_cover(const struct gaps *g, uint32_t tid, int64_t tick, int64_t *until);

#endif
