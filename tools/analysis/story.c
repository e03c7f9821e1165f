// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a request's time went, biggest first: waits by lock and call site,
 * queues, and the time functions spent in themselves (without the instrumented
 * functions they called, without waits).  On a request that one thread at a
 * time works on, the causes add up to the latency.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/ticks.h"
#include "analysis/timeline-private.h"

struct self_time {
	const struct symbol *func;
	int64_t ns;
	uint64_t resolution;		/* ticks */
};

static int add_cause(struct timeline *t, const struct timeline_cause *cause)
{
	struct timeline_cause *at;

	if (!(t->nr_causes & (t->nr_causes - 1))) {
		at = reallocarray(t->causes, t->nr_causes ? 2 * t->nr_causes : 1, sizeof(*at));
		if (!at)
			return -ENOMEM;
		t->causes = at;
	}
	t->causes[t->nr_causes++] = *cause;
	return 0;
}

static int self_compare(const void *pa, const void *pb)
{
	const struct symbol *a = ((const struct self_time *)pa)->func;
	const struct symbol *b = ((const struct self_time *)pb)->func;

	/* Strings are interned: their addresses are as good as their order. */
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->func_file != b->func_file)
		return a->func_file < b->func_file ? -1 : 1;
	return a->path < b->path ? -1 : a->path > b->path;
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
			ret = add_cause(b->t, &c);
	}
	free(times);
	return ret;
}

/* What is left: code without records, and invocations that were not seen. */
static int add_rest(struct timeline_build *b, int64_t rest)
{
	struct timeline_cause c = { .kind = SEGMENT_REQUEST, .ns = ticks_ns(b->m->reader, rest) };

	return c.ns ? add_cause(b->t, &c) : 0;
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
		int64_t start = ticks_sane(reader_tick(b->m->reader, s->start_ns));
		int64_t ticks = ticks_sane(reader_tick(b->m->reader, s->end_ns)) - start;
		const struct frame *f;

		if (s->kind != SEGMENT_LOCK_WAIT || s->blocks_req)
			continue;
		f = frames_at(b, s->tid, s->gen, start);
		if (f)
			ticks_add(&self[f - b->frames], -ticks);
		else
			ticks_add(&rest, -ticks);
	}
	ret = add_functions(b, self);
	if (!ret)
		ret = add_rest(b, rest);
	free(self);
	return ret;
}

static int64_t overlap(const struct segment *a, const struct segment *b)
{
	int64_t start = a->start_ns > b->start_ns ? a->start_ns : b->start_ns;
	int64_t end = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;

	return end > start ? end - start : 0;
}

static const struct segment *longest_hold(const struct timeline *t, const struct segment *wait)
{
	const struct segment *best = NULL;

	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];

		if (s->kind != SEGMENT_LOCK_HOLD || s->lock != wait->lock || s->level != 1 ||
		    !overlap(s, wait))
			continue;
		if (!best || overlap(s, wait) > overlap(best, wait))
			best = s;
	}
	return best;
}

/*
 * What tells most about a hold: the deepest function that lasted for most of
 * it, the user's own before one of a system header; else the longest.
 */
static bool tells_more(const struct segment *a, const struct segment *b,
		       const struct segment *hold)
{
	int64_t most = (hold->end_ns - hold->start_ns) / 10 * 8;
	bool a_most = overlap(a, hold) >= most, b_most = overlap(b, hold) >= most;

	if (a_most != b_most)
		return a_most;
	if (a->func->func_in_system != b->func->func_in_system)
		return b->func->func_in_system;
	if (!a_most)
		return overlap(a, hold) > overlap(b, hold);
	return a->depth > b->depth;
}

static const struct segment *hold_function(const struct timeline *t, const struct segment *hold)
{
	const struct segment *best = NULL;

	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];

		/* Functions of the request's own threads can be in its way, too. */
		if (s->kind != SEGMENT_FUNCTION || s->tid != hold->tid || !overlap(s, hold))
			continue;
		if (!best || tells_more(s, best, hold))
			best = s;
	}
	return best;
}

static bool same_cause(const struct segment *a, const struct segment *b)
{
	return a->kind == b->kind && a->lock == b->lock && a->site == b->site;
}

static int add_waits(struct timeline *t)
{
	size_t first = t->nr_causes;

	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];
		struct timeline_cause *c = NULL;

		if (s->blocks_req || (s->kind != SEGMENT_LOCK_WAIT && s->kind != SEGMENT_QUEUE))
			continue;
		for (size_t k = first; k < t->nr_causes && !c; k++)
			if (same_cause(t->causes[k].wait, s))
				c = &t->causes[k];
		if (!c) {
			if (add_cause(t, &(struct timeline_cause){ .kind = s->kind, .wait = s }))
				return -ENOMEM;
			c = &t->causes[t->nr_causes - 1];
		}
		c->nr++;
		ticks_add(&c->ns, s->end_ns - s->start_ns);
		if (s->end_ns - s->start_ns > c->wait->end_ns - c->wait->start_ns)
			c->wait = s;
	}
	for (size_t k = first; k < t->nr_causes; k++) {
		struct timeline_cause *c = &t->causes[k];

		if (c->kind == SEGMENT_LOCK_WAIT)
			c->hold = longest_hold(t, c->wait);
		if (c->hold)
			c->hold_func = hold_function(t, c->hold);
	}
	return 0;
}

static int cause_compare(const void *pa, const void *pb)
{
	const struct timeline_cause *a = pa, *b = pb;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

int story_build(struct timeline_build *b)
{
	struct timeline *t = b->t;
	int ret = add_waits(t);

	if (!ret)
		ret = add_times(b);
	if (!ret && t->nr_causes)
		qsort(t->causes, t->nr_causes, sizeof(*t->causes), cause_compare);
	return ret;
}
