/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Observation gaps of threads: the scanner did not run, or did not sample one of them.
 * What they did then is not known, which differs from uninstrumented code.
 */
#ifndef FACTS_GAPS_H
#define FACTS_GAPS_H

#include "trace/reader.h"

struct gap {
	int64_t start, end;	/* ticks */
	uint32_t tid;		/* 0: all threads */
};

/* Calls gap() for each, in the order of the file.  0, -ENOMEM, or what it returned to stop. */
int gaps_each(struct reader *r, const struct reader_filter *filter,
	      int (*gap)(void *arg, const struct gap *gap), void *arg);

/* They, where it is asked who was in one. */
struct gaps {
	struct gap *at;		/* by tid, start; the gaps of a tid do not touch */
	size_t nr, room;
};

/* False: out of memory.  Gaps may come in any order; sort before asking. */
bool gaps_add(struct gaps *g, uint32_t tid, int64_t start, int64_t end);
void gaps_sort(struct gaps *g);
void gaps_free(struct gaps *g);

/* Was the thread in a gap at tick?  *until is reduced to where that changes. */
bool gaps_cover(const struct gaps *g, uint32_t tid, int64_t tick, int64_t *until);

#endif
