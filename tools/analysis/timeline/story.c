// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a request's time went, biggest first: waits by lock and call site,
 * queues, times off the CPU (culprits.c), and the time functions spent in
 * themselves: without the instrumented functions they called, without waits,
 * without what the kernel took from them.  On a request that one thread at a
 * time works on, the causes add up to the latency.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "timeline-private.h"

struct self_time {
	const struct symbol *func;
	int64_t ns;
	uint64_t resolution;		/* ticks */
};

int story_add_cause(struct timeline *t, const struct timeline_cause *cause)
{
	if (!array_room(&t->causes, &t->room_causes, t->nr_causes, sizeof(*t->causes)))
		return -ENOMEM;
	t->causes[t->nr_causes++] = *cause;
	return 0;
}

static int self_compare(const void *pa, const void *pb)
{
	const struct symbol *a = ((const struct self_time *)pa)->func;
	const struct symbol *b = ((const struct self_time *)pb)->func;

	/* Strings are interned: the same text is the same address. */
	if (a->function != b->function)
		return strcmp(a->function, b->function);
	if (a->func_file != b->func_file)
		return strcmp(a->func_file, b->func_file);
	return a->path == b->path ? 0 : strcmp(a->path, b->path);
}

static int add_functions(struct timeline_build *b, const int64_t *self)
{
	struct self_time *times = calloc(b->nr_frames + 1, sizeof(*times));
	size_t nr = 0;
	int ret = 0;

	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr_frames; i++) {
		const struct frame *f = &b->frames[i];

		if (f->own > 0)
			times[nr++] = (struct self_time){
				symtab_lookup(b->m->symtab, f->pc, f->full_start),
				ticks_ns(b->m->reader, self[i]), f->resolution,
			};
	}
	if (nr)
		qsort(times, nr, sizeof(*times), self_compare);
	for (size_t i = 0; i < nr && !ret;) {
		struct timeline_cause c = { .kind = SEGMENT_FUNCTION, .func = times[i].func };
		uint64_t resolution = 0;
		size_t first = i;

		for (; i < nr && !self_compare(&times[first], &times[i]); i++) {
			ticks_add(&c.ns, times[i].ns);
			c.nr++;
			if (times[i].resolution > resolution)
				resolution = times[i].resolution;
		}
		c.resolution_ns = ticks_ns(b->m->reader, resolution);
		if (c.ns)
			ret = story_add_cause(b->t, &c);
	}
	free(times);
	return ret;
}

/* What is left: code without records, and invocations that were not seen. */
static int add_rest(struct timeline_build *b, int64_t rest)
{
	struct timeline_cause c = { .kind = SEGMENT_REQUEST, .ns = ticks_ns(b->m->reader, rest) };
	int64_t away = 0;

	for (size_t i = 0; i < b->own.nr; i++)
		ticks_add(&away, gaps_within(&b->m->gaps, b->own.at[i].tid, b->own.at[i].start,
					     b->own.at[i].end));
	c.unwatched_ns = ticks_ns(b->m->reader, away < rest ? away : rest);
	return c.ns ? story_add_cause(b->t, &c) : 0;
}

/* Takes [start, end) of a thread from the functions that it was in then. */
static void take(struct timeline_build *b, uint32_t tid, int64_t start, int64_t end,
		 int64_t *self, int64_t *rest)
{
	while (start < end) {
		int64_t next, to = end;
		const struct frame *f = frames_by_time(b, tid, start, &next);

		if (f && f->end < to)
			to = f->end;
		if (next < to)
			to = next;
		if (to <= start)
			to = end;
		ticks_add(f ? &self[f - b->frames] : rest, start - to);
		start = to;
	}
}

/* Of a wait for a lock: what the thread spent off the CPU for another reason is not its. */
static void take_wait(struct timeline_build *b, const struct segment *wait, int64_t *self,
		      int64_t *rest)
{
	const struct timeline *t = b->t;
	int64_t start = wait->start;

	for (size_t i = offs_find(b, wait->tid, start); i < b->nr_own_offs; i++) {
		const struct segment *off = &t->segments[b->own_offs[i]];

		if (off->tid != wait->tid || off->start >= wait->end)
			break;
		if (off->start > start)
			take(b, wait->tid, start, off->start, self, rest);
		if (off->end > start)
			start = off->end;
	}
	take(b, wait->tid, start, wait->end, self, rest);
}

static int add_times(struct timeline_build *b)
{
	int64_t *self = calloc(b->nr_frames + 1, sizeof(*self)), rest = 0;
	struct timeline *t = b->t;
	int ret;

	if (!self)
		return -ENOMEM;
	for (size_t i = 0; i < b->own.nr; i++)
		ticks_add(&rest, b->own.at[i].end - b->own.at[i].start);
	for (size_t i = 0; i < b->nr_frames; i++) {
		const struct frame *f = &b->frames[i];

		ticks_add(&self[i], f->own);
		if (f->parent)
			ticks_add(&self[f->parent - 1], -f->own);
		else
			ticks_add(&rest, -f->own);
	}
	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];

		if (s->blocks_req)
			continue;
		if (s->kind == SEGMENT_LOCK_WAIT)
			take_wait(b, s, self, &rest);
		else if (segment_is_off(s))
			take(b, s->tid, s->start, s->end, self, &rest);
	}
	ret = add_functions(b, self);
	if (!ret)
		ret = add_rest(b, rest);
	free(self);
	return ret;
}

COMPARE(cause_compare, struct timeline_cause, DOWN(ns))

/*
 * Each sum was rounded by itself: the nanoseconds that are missing, or too many,
 * go where they matter least.
 */
static void round_off(struct timeline_build *b)
{
	struct timeline *t = b->t;
	struct timeline_cause *most = NULL;
	int64_t missing = t->queue_ns;

	for (size_t i = 0; i < b->own.nr; i++)
		ticks_add(&missing, ticks_time_ns(b->m->reader, b->own.at[i].end) -
			  ticks_time_ns(b->m->reader, b->own.at[i].start));
	for (size_t i = 0; i < t->nr_causes; i++) {
		struct timeline_cause *c = &t->causes[i];

		ticks_add(&missing, -c->ns);
		if ((c->kind == SEGMENT_FUNCTION || c->kind == SEGMENT_REQUEST) &&
		    (!most || c->ns > most->ns))
			most = c;
	}
	/* More than that is no rounding. */
	if (most && most->ns > 2 * (int64_t)t->nr_causes + 16 &&
	    missing <= (int64_t)t->nr_causes + 8 && missing >= -(int64_t)t->nr_causes - 8)
		most->ns += missing;
}

int story_build(struct timeline_build *b)
{
	struct timeline *t = b->t;
	int ret = culprits_add(b);

	if (!ret)
		ret = add_times(b);
	if (!ret)
		round_off(b);
	if (!ret && t->nr_causes)
		qsort(t->causes, t->nr_causes, sizeof(*t->causes), cause_compare);
	return ret;
}
