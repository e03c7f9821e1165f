/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores the last pauses of a recording, because rows of a pause may arrive after its end. */
#ifndef RECORD_REQUESTS_PAUSES_H
#define RECORD_REQUESTS_PAUSES_H

#include <stdbool.h>
#include <stdint.h>

#define PAUSES_KEPT	64	/* a power of two */

struct pauses {
	struct {
		int64_t from, to;	/* ticks; `to` is INT64_MAX until the pause ends */
	} at[PAUSES_KEPT];		/* circular */
	uint64_t nr;
};

static inline void pauses_begin(struct pauses *p, int64_t tick)
{
	p->at[p->nr % PAUSES_KEPT].from = tick;
	p->at[p->nr++ % PAUSES_KEPT].to = INT64_MAX;
}

static inline void pauses_end(struct pauses *p, int64_t tick)
{
	if (p->nr)
		p->at[(p->nr - 1) % PAUSES_KEPT].to = tick;
}

/*
 * Returns true if the recording was paused at some time between these ticks, or at this tick if
 * they are equal.  Only the last PAUSES_KEPT pauses are known.
 */
static inline bool pauses_are_in(const struct pauses *p, int64_t from, int64_t to)
{
	uint64_t first = p->nr > PAUSES_KEPT ? p->nr - PAUSES_KEPT : 0;

	for (uint64_t i = p->nr; i-- > first;) {
		if (from >= p->at[i % PAUSES_KEPT].to)
			return false;
		if (to >= p->at[i % PAUSES_KEPT].from)
			return true;
	}
	return false;
}

static inline bool pauses_are_at(const struct pauses *p, int64_t tick)
{
	return pauses_are_in(p, tick, tick);
}

#endif
