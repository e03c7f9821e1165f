// SPDX-License-Identifier: GPL-2.0-or-later
/* Merges the timelines of requests that belong together; see timeline_merge(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/sort.h"
#include "timeline.h"

COMPARE(segment_compare, struct segment, UP(start_ns) UP(tid) UP(depth) UP(kind))

/*
 * Returns true if both are the same segment, of the timelines of two requests: its thread blocked
 * both requests, or worked on both.
 */
static bool is_same(const struct segment *a, const struct segment *b)
{
	return a->kind == b->kind && a->tid == b->tid && a->start_ns == b->start_ns &&
	       a->end_ns == b->end_ns && a->depth == b->depth && a->func == b->func &&
	       a->kind != SEGMENT_REQUEST;
}

int timeline_merge(const struct timeline *timelines, size_t nr, struct timeline *t)
{
	size_t nr_segments = 0, root = 0, kept = 0;

	for (size_t i = 0; i < nr; i++) {
		nr_segments += timelines[i].nr_segments;
		if (timelines[i].latency_ns > timelines[root].latency_ns)
			root = i;
	}
	*t = timelines[root];
	t->nr_segments = 0;
	t->segments = calloc(nr_segments + 1, sizeof(*t->segments));
	if (!t->segments)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct timeline *of = &timelines[i];

		if (of->nr_segments)
			memcpy(t->segments + t->nr_segments, of->segments,
			       of->nr_segments * sizeof(*of->segments));
		t->nr_segments += of->nr_segments;
		t->start_ns = min(t->start_ns, of->start_ns);
		t->end_ns = max(t->end_ns, of->end_ns);
	}
	t->latency_ns = t->end_ns - t->start_ns;
	sort_by(t->segments, t->nr_segments, segment_compare);
	for (size_t i = 0; i < t->nr_segments; i++)
		if (!kept || !is_same(&t->segments[kept - 1], &t->segments[i]))
			t->segments[kept++] = t->segments[i];
	t->nr_segments = kept;
	return 0;
}
