// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who held the request up.  From a wait to the holds of the same lock inside
 * it, from a hold to the waits of its thread inside that, and so on.
 *
 * A lock that passes from thread to thread while the request waits (a convoy)
 * has several holds in one wait: all of them are shown.  When the holder named
 * by the wait has no recorded hold, its hold is inferred: from the begin of the
 * wait to the next recorded hold, or to the end of the wait.  So is that of who ended a
 * wait for what nobody holds (wakers.c).
 */
#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "facts/ticks.h"
#include "timeline-private.h"

static int wait_compare(const void *pa, const void *pb)
{
	const struct lock_event *a = *(struct lock_event *const *)pa;
	const struct lock_event *b = *(struct lock_event *const *)pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

int blame_prepare(struct timeline_build *b)
{
	b->waits = calloc(b->locks.nr + 1, sizeof(*b->waits));
	b->is_followed = calloc(b->locks.nr + 1, sizeof(*b->is_followed));
	if (!b->waits || !b->is_followed)
		return -ENOMEM;
	for (size_t i = 0; i < b->locks.nr; i++)
		if (b->locks.events[i].op == LDB_LOCK_OP_WAIT)
			b->waits[b->nr_waits++] = &b->locks.events[i];
	if (b->nr_waits)
		qsort(b->waits, b->nr_waits, sizeof(*b->waits), wait_compare);
	return 0;
}

/* The first wait of tid that ends after tick.  Waits of a thread do not overlap. */
static size_t first_wait(const struct timeline_build *b, uint32_t tid, int64_t tick)
{
	return search(b->nr_waits, i,
		      b->waits[i]->tid < tid ||
		      (b->waits[i]->tid == tid && b->waits[i]->end <= tick));
}

/* The first event of the lock that ends after tick; events are sorted by lock, end. */
static size_t first_event(const struct timeline_build *b, uint64_t lock, int64_t tick)
{
	return search_by(b->locks.events, b->locks.nr, e,
			 e->lock < lock || (e->lock == lock && e->end <= tick));
}

static struct segment *add_segment(struct timeline_build *b, const struct lock_event *e,
				   enum segment_kind kind, uint32_t tid, int64_t start, int64_t end,
				   unsigned level)
{
	struct segment *s = timeline_add(b, kind, tid, start, end);
	const struct frame *f;
	int64_t next;

	if (!s)
		return NULL;
	s->lock = e->lock;
	s->lock_symbol = e->lock ? symtab_lookup_data(b->m->symtab, e->lock, e->end) : NULL;
	s->lock_kind = LDB_LOCK_KIND(e->flags);
	s->level = level;
	s->duration_ns = ticks_ns(b->m->reader, e->end - e->begin);
	s->duration_resolution_ns = ticks_ns(b->m->reader, e->resolution);
	if (tid == e->tid) {
		s->site = e->where;
		s->gen = e->gen;
		f = frames_at(b, tid, e->gen, e->begin);
		if (!f && !e->gen && b->m->has_sched)
			f = frames_by_time(b, tid, start, &next);
		s->depth = f ? f->depth + 1 : 0;
	}
	return s;
}

static int blame(struct timeline_build *b, const struct lock_event *wait, int64_t start,
		 int64_t end, unsigned level);

struct segment *blame_wait_segment(struct timeline_build *b, const struct lock_event *w,
				   int64_t start, int64_t end, unsigned level)
{
	bool is_futex = LDB_LOCK_KIND(w->flags) == LOCK_KIND_FUTEX;
	struct segment *s = add_segment(b, w, is_futex ? SEGMENT_FUTEX_WAIT : SEGMENT_LOCK_WAIT,
					w->tid, start, end, level);

	if (!s)
		return NULL;
	s->full_start_ns = ticks_time_ns(b->m->reader, w->begin);
	s->full_end_ns = ticks_time_ns(b->m->reader, w->end);
	s->is_clipped = s->full_start_ns < s->start_ns || s->full_end_ns > s->end_ns;
	s->owner = w->owner;
	s->has_failed = w->flags & LDB_LOCK_F_FAILED;
	return s;
}

struct segment *blame_hold_segment(struct timeline_build *b, const struct lock_event *hold,
				   int64_t start, int64_t end, unsigned level)
{
	struct segment *s = add_segment(b, hold, SEGMENT_LOCK_HOLD, hold->tid, start, end, level);

	if (!s)
		return NULL;
	s->full_start_ns = ticks_time_ns(b->m->reader, hold->begin);
	s->full_end_ns = ticks_time_ns(b->m->reader, hold->end);
	s->is_clipped = s->full_start_ns < s->start_ns || s->full_end_ns > s->end_ns;
	s->resolution_ns = ticks_ns(b->m->reader, hold->resolution);
	return s;
}

/* What tid itself waited for while it held the request up in [start, end]. */
static int follow_waits(struct timeline_build *b, uint32_t tid, int64_t start, int64_t end,
			unsigned level)
{
	int ret = 0;

	for (size_t i = first_wait(b, tid, start); i < b->nr_waits && !ret; i++) {
		const struct lock_event *w = b->waits[i];
		int64_t from = w->begin > start ? w->begin : start;
		int64_t to = w->end < end ? w->end : end;
		struct segment *s;

		if (w->tid != tid || w->begin >= end)
			break;
		if (b->is_followed[w - b->locks.events])
			continue;
		s = blame_wait_segment(b, w, from, to, level);
		if (!s)
			return -ENOMEM;
		s->blocks_req = true;
		ret = blame(b, w, from, to, level);
	}
	return ret;
}

static int add_holder(struct timeline_build *b, const struct lock_event *hold,
		      const struct lock_event *wait, uint32_t tid, int64_t start, int64_t end,
		      unsigned level)
{
	struct segment *s = hold ? blame_hold_segment(b, hold, start, end, level) :
			    add_segment(b, wait, SEGMENT_LOCK_HOLD, tid, start, end, level);

	if (!s)
		return -ENOMEM;
	s->blocks_req = true;
	s->is_inferred = !hold;
	if (interval_add(&b->blamed, tid, start, end))
		return -ENOMEM;
	if (level >= TIMELINE_LEVELS_MAX)
		return 0;
	return follow_waits(b, tid, start, end, level + 1);
}

/* Is e a hold that kept the wait from going on in [start, end]? */
static bool is_in_the_way(const struct lock_event *e, const struct lock_event *wait,
			  int64_t start, int64_t end)
{
	if (e->op != LDB_LOCK_OP_HOLD || e->tid == wait->tid || e->begin >= end || e->end <= start)
		return false;
	/* Readers do not keep each other out. */
	return LDB_LOCK_KIND(e->flags) != LDB_LOCK_RWLOCK_RD ||
	       LDB_LOCK_KIND(wait->flags) != LDB_LOCK_RWLOCK_RD;
}

static int blame(struct timeline_build *b, const struct lock_event *wait, int64_t start,
		 int64_t end, unsigned level)
{
	size_t first = first_event(b, wait->lock, start);
	uint32_t owner = wait->owner ? wait->owner : wait->waker;
	bool has_owner = !owner || owner == wait->tid;
	int64_t next = end;
	int ret = 0;

	b->is_followed[wait - b->locks.events] = true;
	if (ticks_ns(b->m->reader, (double)end - (double)start) < TIMELINE_WAIT_MIN_NS)
		return 0;
	for (size_t i = first; i < b->locks.nr && !ret; i++) {
		const struct lock_event *e = &b->locks.events[i];

		if (e->lock != wait->lock)
			break;
		if (!is_in_the_way(e, wait, start, end))
			continue;
		/* What it was when the wait began, as far as that is known. */
		if (e->tid == wait->owner && e->begin - (int64_t)e->resolution <= wait->begin)
			has_owner = true;
		else if (e->begin < next)
			next = e->begin > start ? e->begin : start;
		ret = add_holder(b, e, wait, e->tid, e->begin > start ? e->begin : start,
				 e->end < end ? e->end : end, level);
	}
	if (!ret && !has_owner && next > start)
		ret = add_holder(b, NULL, wait, owner, start, next, level);
	return ret;
}

/* Own times are shown as the request's, even if the thread held it up elsewhere. */
static int cut_own(struct timeline_build *b)
{
	struct interval_list out = { 0 };
	size_t k = 0;
	int ret = 0;

	interval_merge(&b->blamed);
	for (size_t i = 0; i < b->blamed.nr && !ret; i++) {
		struct interval in = b->blamed.at[i];

		while (k < b->own.nr && (b->own.at[k].tid < in.tid ||
					 (b->own.at[k].tid == in.tid && b->own.at[k].end <= in.start)))
			k++;
		for (size_t n = k; n < b->own.nr && !ret; n++) {
			const struct interval *own = &b->own.at[n];

			if (own->tid != in.tid || own->start >= in.end)
				break;
			if (own->start > in.start)
				ret = interval_add(&out, in.tid, in.start, own->start);
			in.start = own->end;
		}
		if (!ret && in.start < in.end)
			ret = interval_add(&out, in.tid, in.start, in.end);
	}
	free(b->blamed.at);
	b->blamed = out;
	return ret;
}

static int blame_waits(struct timeline_build *b, const struct interval *own)
{
	int ret = 0;

	for (size_t k = first_wait(b, own->tid, own->start); k < b->nr_waits && !ret; k++) {
		const struct lock_event *w = b->waits[k];
		int64_t start = w->begin > own->start ? w->begin : own->start;
		int64_t end = w->end < own->end ? w->end : own->end;
		struct segment *s;

		if (w->tid != own->tid || w->begin >= own->end)
			break;
		s = blame_wait_segment(b, w, start, end, 1);
		if (!s)
			return -ENOMEM;
		if (s->kind == SEGMENT_LOCK_WAIT)
			ticks_add(&b->t->lock_wait_ns, s->end_ns - s->start_ns);
		if (!b->is_followed[w - b->locks.events])
			ret = blame(b, w, start, end, 1);
	}
	return ret;
}

/* What they slept for, if it is no wait of the shim's: until then it was the waker's turn. */
static int blame_sleeps(struct timeline_build *b, const struct interval *own)
{
	int ret = 0;

	for (size_t i = wakers_first(b, own->tid, own->start); i < b->nr_offs && !ret; i++) {
		const struct sched_off *off = &b->offs[i].off;
		int64_t start = off->out > own->start ? off->out : own->start;
		int64_t end = off->woken < own->end ? off->woken : own->end;
		uint32_t waker = wakers_of_sleep(b, &b->offs[i]);
		size_t w = first_wait(b, own->tid, start);

		if (off->tid != own->tid || off->out >= own->end)
			break;
		if (!waker || start >= end ||
		    (w < b->nr_waits && b->waits[w]->tid == own->tid && b->waits[w]->begin < end))
			continue;
		ret = interval_add(&b->blamed, waker, start, end);
		if (!ret)
			ret = follow_waits(b, waker, start, end, 2);
	}
	return ret;
}

int blame_own(struct timeline_build *b)
{
	int ret = 0;

	for (size_t i = 0; i < b->own.nr && !ret; i++) {
		ret = blame_waits(b, &b->own.at[i]);
		if (!ret)
			ret = blame_sleeps(b, &b->own.at[i]);
	}
	return ret ? ret : cut_own(b);
}
