// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds, for each sleep of a thread, the I/O requests that block devices processed in that time.
 * Only sleeps that are uninterruptible according to the kernel are examined: during others the
 * thread's writes may be in progress as well, although it waits for something else.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/attribution/states.h"
#include "facts/disks.h"
#include "timeline-private.h"

static bool may_wait_for_disk(const struct segment *s)
{
	return s->kind == SEGMENT_BLOCKED && s->sched && leaf_kind_of(s) == LEAF_IO;
}

/* Returns the waker's tid; 0: the waker is a thread of the program, or not a task. */
static uint32_t waker_of(const struct timeline_build *b, const struct segment *s)
{
	const struct context *w = &s->sched->waker;

	return w->kind == CONTEXT_TASK && !model_thread(b->m, w->tid, s->end) ? w->tid : 0;
}

int disk_find(struct timeline_build *b)
{
	struct timeline *t = b->t;
	struct disk_sleep *sleeps;
	size_t nr = 0;
	int ret;

	if (!b->m->has_disks)
		return 0;
	sleeps = calloc(t->nr_segments + 1, sizeof(*sleeps));
	if (!sleeps)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_segments; i++) {
		struct segment *s = &t->segments[i];

		if (may_wait_for_disk(s))
			sleeps[nr++] = (struct disk_sleep){ s->tid, waker_of(b, s), s->start, s->end,
							    &s->sched->disk };
	}
	ret = disks_join(b->m, sleeps, nr);
	free(sleeps);
	return ret;
}
