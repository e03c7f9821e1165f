/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores intervals of threads, and finds them by time. */
#ifndef FACTS_INTERVALS_H
#define FACTS_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_interval {
	int64_t start, end;	/* ticks */
	uint32_t tid;
};

struct intervals {
	struct thread_interval *at;
	size_t nr, room;
};

/* Adds an interval.  Returns 0 or -ENOMEM. */
int intervals_add(struct intervals *list, uint32_t tid, int64_t start, int64_t end);
/* Sorts by thread and start.  Returns 0 or -ENOMEM. */
int intervals_sort(struct intervals *list);
/* Sorts, and joins intervals of a thread that overlap or touch. */
int intervals_merge(struct intervals *list);
void intervals_free(struct intervals *list);

static inline bool interval_is_before(const struct thread_interval *in, uint32_t tid, int64_t tick)
{
	return in->tid < tid || (in->tid == tid && in->end <= tick);
}

/*
 * Returns the index of the thread's first interval that ends after tick; if there is none, that of
 * the first interval of a thread with a greater tid, or nr.  The list must be sorted, and the
 * intervals of a thread must not overlap.
 */
size_t intervals_first(const struct intervals *list, uint32_t tid, int64_t tick);
size_t intervals_search_near(const struct intervals *list, uint32_t tid, int64_t tick, size_t last);

/*
 * Does what intervals_first() does, but begins to search at `last`, the previous result: this is
 * fast if tids and ticks come nearly in order.
 */
static inline size_t intervals_near(const struct intervals *list, uint32_t tid, int64_t tick,
				    size_t last)
{
	const struct thread_interval *in = list->at + last;

	if (last < list->nr && !interval_is_before(in, tid, tick) &&
	    (!last || interval_is_before(in - 1, tid, tick)))
		return last;
	return intervals_search_near(list, tid, tick, last);
}

#endif
