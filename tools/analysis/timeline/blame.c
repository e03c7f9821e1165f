// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds what blocked a request: from a wait to the holds of the same lock during the wait, from a
 * hold to the waits of its thread during the hold, and so on.
 *
 * A lock that passes from thread to thread while the request waits (a convoy) has several holds in
 * one wait: all of them are shown.  If the holder that the wait names has no recorded hold, its
 * hold is inferred: from the start of the wait to the next recorded hold, or at most to the end of
 * the wait.
 *
 * A lock that is released while threads wait for it is free until the thread that was woken runs
 * and takes it; others sleep on until that thread releases it.  So the end of a wait that no hold
 * explains is blocked by the waker, and by the delays of the waker.
 *
 * Conditions, semaphores, barriers and joins have no holder.  For these, the thread that ended the
 * wait is treated as the holder, with an inferred hold.  Kernel events say which thread ended the
 * last sleep in such a wait; without them, the events of ldb's wrappers of pthread functions (the
 * shim) say which thread signalled last.  According to kernel events, a thread that does not sleep
 * in its wait, or is woken by an interrupt (a timeout), has no waker.
 *
 * Edges record which thread caused which delay, for chain.c: also which thread ended a sleep that
 * the shim did not record as a wait, and which thread ran while another one waited long for a CPU.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "timeline-private.h"

#define LONG_PART	20	/* delays below 1/20 of the latency, or of a range, are ignored */

struct blame {
	struct timeline_build *b;
	/* sorted by tid and end; those of a thread do not overlap */
	struct index waits, offs;
	struct index holds;		/* sorted by lock and end */
	/* for each of holds: the earliest start of it and the later holds of its lock */
	int64_t *first;
	/* by number in all[]: the wait, or time off the CPU, has been followed */
	bool *is_followed;
};

static bool is_wait(const struct segment *s)
{
	return s->kind == SEGMENT_LOCK_WAIT || s->kind == SEGMENT_FUTEX_WAIT;
}

static bool is_held(const struct segment *wait)
{
	return wait->kind == SEGMENT_LOCK_WAIT && lock_kind_is_held(wait->lock_kind);
}

/* Returns true if the segment is a time off the CPU other than a sleep on a futex. */
static bool is_off(const struct segment *s)
{
	return segment_is_off(s) && s->kind != SEGMENT_FUTEX_WAIT;
}

/* Wakers */

static uint32_t woken_by(const struct model *m, const struct segment *s)
{
	const struct context *waker = s->sched && s->sched->has_woken ? &s->sched->waker : NULL;

	return waker && waker->kind == CONTEXT_TASK && waker->tid != s->tid &&
	       model_thread(m, waker->tid, s->end) ? waker->tid : 0;
}

uint32_t blame_waker(const struct model *m, const struct segment *s)
{
	uint32_t waker;

	/* No thread blocks one that waits for a disk. */
	if (s->kind == SEGMENT_BLOCKED)
		return s->sched->state == LDB_STATE_DISK ? 0 : woken_by(m, s);
	if (!is_wait(s))
		return 0;
	waker = woken_by(m, s);
	if (waker)
		return waker;
	return s->waker != s->tid && model_thread(m, s->waker, s->end) ? s->waker : 0;
}

uint32_t blame_running(const struct timeline_build *b, const struct segment *s)
{
	const struct segment_running *most = s->sched && s->sched->nr_running ? s->sched->running : NULL;
	int64_t latency_ns = ticks_ns(b->m->reader, (double)b->instance->end - (double)b->instance->start);

	if (!most || most->who.kind != CONTEXT_TASK || most->who.tid == s->tid ||
	    most->ns < latency_ns / LONG_PART)
		return 0;
	return model_thread(b->m, most->who.tid, s->end) ? most->who.tid : 0;
}

uint32_t blame_owner(const struct model *m, const struct segment *wait)
{
	if (wait->owner)
		return wait->owner;
	/*
	 * A futex that names no owner is possibly not a lock; if it is one, the waker has released
	 * it.
	 */
	return is_held(wait) ? wait->waker : blame_waker(m, wait);
}

uint32_t blame_releaser(const struct model *m, const struct segment *wait)
{
	return is_held(wait) ? woken_by(m, wait) : 0;
}

/* From waits to holds, and so on */

static int follow_wait(struct blame *k, size_t wait, int64_t start, int64_t end, unsigned level);
static int follow_delays(struct blame *k, uint32_t tid, int64_t start, int64_t end, unsigned level);

/* Records that a thread caused a delay, and follows the delays of that thread during that time. */
static int add_edge(struct blame *k, const struct edge *e, unsigned level)
{
	struct timeline_build *b = k->b;

	if (array_push(b->edges, b->nr_edges, b->room_edges, *e) ||
	    intervals_add(&b->blamed, e->by, e->start, e->end))
		return -ENOMEM;
	if (level >= TIMELINE_LEVELS_MAX || e->source == EDGE_RUNNING)
		return 0;
	return follow_delays(k, e->by, e->start, e->end, level + 1);
}

/* Adds the part of a wait in [start, end], and follows its chain, but only once. */
static int add_wait(struct blame *k, size_t nr, int64_t start, int64_t end, unsigned level)
{
	const struct segment *w = &k->b->all[nr];
	int64_t from = w->start > start ? w->start : start, to = w->end < end ? w->end : end;
	struct segment *s = timeline_add_part(k->b, w, from, to);

	if (!s)
		return -ENOMEM;
	s->level = level;
	s->blocks_req = level > 1;
	if (level == 1 && s->kind == SEGMENT_LOCK_WAIT)
		ticks_add(&k->b->t->lock_wait_ns, s->end_ns - s->start_ns);
	return k->is_followed[nr] ? 0 : follow_wait(k, nr, from, to, level);
}

/*
 * Follows the waits of tid while it worked for the request, or blocked it, in [start, end].  The
 * request's own waits (level 1) count even if another thread's chain has led to them before.
 */
static int follow_waits(struct blame *k, uint32_t tid, int64_t start, int64_t end, unsigned level)
{
	int ret = 0;

	for (size_t i = index_first(&k->waits, tid, start); i < k->waits.nr && !ret; i++) {
		const struct segment *w = index_at(&k->waits, i);

		if (w->tid != tid || w->start >= end)
			break;
		if (level == 1 || !k->is_followed[k->waits.at[i]])
			ret = add_wait(k, k->waits.at[i], start, end, level);
	}
	return ret;
}

/*
 * Follows a time off the CPU: a thread that sleeps is blocked by its waker, and one that waits for a
 * CPU by the thread that ran most on the CPU meanwhile.
 */
static int follow_off(struct blame *k, const struct segment *s, int64_t start, int64_t end, unsigned level)
{
	struct edge e = { .tid = s->tid, .start = start, .end = end, .source = EDGE_WAKER };

	if (s->kind == SEGMENT_BLOCKED) {
		e.by = blame_waker(k->b->m, s);
	} else {
		e.by = blame_running(k->b, s);
		e.source = EDGE_RUNNING;
	}
	return e.by ? add_edge(k, &e, level) : 0;
}

/*
 * Follows times off the CPU in [start, end]: all of them, or only those that are a substantial part
 * of that time.
 */
static int follow_offs(struct blame *k, uint32_t tid, int64_t start, int64_t end, bool all, unsigned level)
{
	int64_t least = all ? 0 : (end - start) / LONG_PART;
	int ret = 0;

	for (size_t i = index_first(&k->offs, tid, start); i < k->offs.nr && !ret; i++) {
		const struct segment *s = index_at(&k->offs, i);
		int64_t from = max(s->start, start), to = min(s->end, end);

		if (s->tid != tid || s->start >= end)
			break;
		if (k->is_followed[k->offs.at[i]] || to - from < least)
			continue;
		k->is_followed[k->offs.at[i]] = true;
		ret = follow_off(k, s, from, to, level);
	}
	return ret;
}

static int follow_delays(struct blame *k, uint32_t tid, int64_t start, int64_t end, unsigned level)
{
	int ret = follow_waits(k, tid, start, end, level);

	return ret ? ret : follow_offs(k, tid, start, end, false, level);
}

/* Adds a holder; `hold` is NULL if it was not recorded, but is inferred from the wait. */
static int add_holder(struct blame *k, const struct segment *hold, const struct segment *wait,
		      uint32_t tid, int64_t start, int64_t end, unsigned level)
{
	struct segment *s = hold ? timeline_add_part(k->b, hold, start, end) :
				   timeline_add(k->b, SEGMENT_LOCK_HOLD, tid, start, end);
	bool is_woken = woken_by(k->b->m, wait) == tid;

	if (!s)
		return -ENOMEM;
	if (!hold) {
		s->lock = wait->lock;
		s->lock_symbol = wait->lock_symbol;
		s->lock_kind = wait->lock_kind;
		s->duration_ns = wait->duration_ns;
		s->duration_resolution_ns = wait->duration_resolution_ns;
		s->is_inferred = true;
	}
	s->level = level;
	s->blocks_req = true;
	return add_edge(k, &(struct edge){
		.tid = wait->tid, .by = tid, .start = start, .end = end, .hold = hold,
		.source = hold ? (wait->kind == SEGMENT_FUTEX_WAIT ? EDGE_FUTEX : EDGE_SHIM) :
			  wait->owner ? EDGE_OWNER : is_woken ? EDGE_WAKER : EDGE_SHIM,
		.is_likely = !hold && !wait->owner && !is_woken, .is_wait = true,
	}, level);
}

/*
 * Returns when the thread was woken from a wait: the waker is not to blame if the thread then
 * waited for a CPU.  If it did not wait for one, returns `end`.
 */
static int64_t woken_at(const struct blame *k, const struct segment *wait, int64_t start, int64_t end)
{
	int64_t at = end;

	for (size_t i = index_first(&k->offs, wait->tid, start); i < k->offs.nr; i++) {
		const struct segment *s = index_at(&k->offs, i);

		if (s->tid != wait->tid || s->start >= end)
			break;
		/* The thread may have been woken before `start`. */
		if (s->kind == SEGMENT_RUNNABLE && (s->start > start || 2 * (s->end - start) > end - start))
			at = max(s->start, start);
	}
	return at;
}

/* Returns true if this hold blocked the wait in [start, end]. */
static bool is_blocking(const struct segment *hold, const struct segment *wait, int64_t start,
			int64_t end)
{
	if (hold->tid == wait->tid || hold->start >= end || hold->end <= start)
		return false;
	/* Readers do not block each other. */
	return hold->lock_kind != LDB_LOCK_RWLOCK_RD || wait->lock_kind != LDB_LOCK_RWLOCK_RD;
}

/*
 * Returns when a thread was woken from its own wait for the lock of `wait`, which was free then;
 * `end`: not known.
 */
static int64_t handed_at(const struct blame *k, const struct segment *wait, uint32_t tid, int64_t start, int64_t end)
{
	for (size_t i = index_first(&k->waits, tid, start); i < k->waits.nr; i++) {
		const struct segment *w = index_at(&k->waits, i);

		if (w->tid != tid || w->start >= end)
			break;
		if (w->lock == wait->lock && w->kind == wait->kind && w->end > start)
			return woken_at(k, w, max(w->start, start), min(w->end, end));
	}
	return end;
}

/* Returns true if thread tid was waiting for the lock of `wait` at the tick. */
static bool waits_at(const struct blame *k, uint32_t tid, const struct segment *wait, int64_t tick)
{
	size_t i = index_first(&k->waits, tid, tick);
	const struct segment *w = i < k->waits.nr ? index_at(&k->waits, i) : NULL;

	return w && w->tid == tid && w->lock == wait->lock && w->kind == wait->kind && w->start <= tick;
}

/*
 * Adds an edge for the time in which the lock was free.  If `taker` took it without having waited
 * for it, it delayed nobody while the lock was free. is_last: the lock was free until the wait
 * ended.
 */
static int add_free(struct blame *k, const struct segment *wait, uint32_t taker, int64_t start, int64_t end,
		    bool is_last, unsigned level)
{
	if (is_last)
		end = woken_at(k, wait, start, end);
	if (!taker || taker == wait->tid || !waits_at(k, taker, wait, start) ||
	    ticks_ns(k->b->m->reader, (double)end - (double)start) < TIMELINE_WAIT_MIN_NS)
		return 0;
	return add_edge(k, &(struct edge){
		.tid = wait->tid, .by = taker, .start = start, .end = end, .source = EDGE_WAKER,
		.is_wait = true, .is_free = true,
	}, level);
}

/* Holds of a lock in the index, [from, to) */
struct holds {
	size_t from, to;
};

/*
 * Returns the holds from the first one that ends after `start` to the last one that begins before
 * `end`.
 */
static struct holds holds_in(const struct blame *k, uint64_t lock, int64_t start, int64_t end)
{
	struct holds h = { .from = index_first(&k->holds, lock, start) };

	for (h.to = h.from; h.to < k->holds.nr && index_at(&k->holds, h.to)->lock == lock && k->first[h.to] < end;)
		h.to++;
	return h;
}

/*
 * Follows the times between two holds, and between the last one and the end of the wait.  A hold
 * that was not recorded ended at `free_at`; 0: all holds were recorded.  Several readers may hold a
 * lock, so a hold that ends later may have begun earlier: going backward in time, the lock was free
 * from the end of a hold to the earliest start of the holds after it.
 */
static int follow_free(struct blame *k, const struct segment *wait, struct holds h, int64_t free_at, int64_t start,
		       int64_t end, unsigned level)
{
	uint32_t taker = blame_releaser(k->b->m, wait);
	int64_t next = end;
	int ret = 0;

	for (size_t i = h.to; i-- > h.from && !ret;) {
		const struct segment *hold = index_at(&k->holds, i);

		if (!is_blocking(hold, wait, start, end))
			continue;
		if (hold->end < next)
			ret = add_free(k, wait, taker, hold->end, next, next == end, level);
		if (hold->start < next) {
			next = hold->start;
			taker = hold->tid;
		}
	}
	return ret || !free_at || free_at >= next ? ret :
	       add_free(k, wait, taker, free_at, next, next == end, level);
}

static int follow_wait(struct blame *k, size_t nr, int64_t start, int64_t end, unsigned level)
{
	const struct timeline_build *b = k->b;
	const struct segment *wait = &b->all[nr];
	uint32_t owner = blame_owner(b->m, wait), waker = blame_releaser(b->m, wait);
	bool has_owner = !owner || owner == wait->tid;
	int64_t next = end, free_at = 0;
	struct holds h;
	int ret = 0;

	k->is_followed[nr] = true;
	if (ticks_ns(b->m->reader, (double)end - (double)start) < TIMELINE_WAIT_MIN_NS)
		return 0;
	h = holds_in(k, wait->lock, start, end);
	for (size_t i = h.from; i < h.to && !ret; i++) {
		const struct segment *hold = index_at(&k->holds, i);
		int64_t from = hold->start > start ? hold->start : start;

		if (!is_blocking(hold, wait, start, end))
			continue;
		/* This is the hold of the owner that the wait names. */
		if (hold->tid == wait->owner &&
		    hold->start_ns - hold->duration_resolution_ns <= wait->start_ns)
			has_owner = true;
		else if (hold->start < next)
			next = from;
		ret = add_holder(k, hold, wait, hold->tid, from, hold->end < end ? hold->end : end, level);
	}
	if (!ret && !has_owner && next > start) {
		int64_t until = wait->owner ? next : woken_at(k, wait, start, next);

		if (waker)
			until = waker == owner ? woken_at(k, wait, start, until) :
				handed_at(k, wait, waker, start, until);
		free_at = until;
		if (until > start)
			ret = add_holder(k, NULL, wait, owner, start, until, level);
	}
	return ret || !waker ? ret : follow_free(k, wait, h, free_at, start, end, level);
}

/*
 * Removes the times in which a thread worked on the request itself from those in which it blocked
 * the request.
 */
static int cut_own(struct timeline_build *b)
{
	struct intervals out = { 0 };
	int ret = intervals_merge(&b->blamed);

	for (size_t i = 0; i < b->blamed.nr && !ret; i++) {
		struct thread_interval in = b->blamed.at[i];

		for (size_t n = intervals_first(&b->own, in.tid, in.start); n < b->own.nr && !ret; n++) {
			const struct thread_interval *own = &b->own.at[n];

			if (own->tid != in.tid || own->start >= in.end)
				break;
			if (own->start > in.start)
				ret = intervals_add(&out, in.tid, in.start, own->start);
			in.start = own->end;
		}
		if (!ret && in.start < in.end)
			ret = intervals_add(&out, in.tid, in.start, in.end);
	}
	intervals_free(&b->blamed);
	b->blamed = out;
	return ret;
}

/*
 * Sets k->first[].  Holds of a mutex begin in the order in which they end; those of readers need
 * not.
 */
static int find_first(struct blame *k)
{
	k->first = calloc(k->holds.nr + 1, sizeof(*k->first));
	for (size_t i = k->holds.nr; k->first && i--;) {
		const struct segment *hold = index_at(&k->holds, i);
		bool is_last = i + 1 == k->holds.nr || index_at(&k->holds, i + 1)->lock != hold->lock;

		k->first[i] = is_last ? hold->start : min(hold->start, k->first[i + 1]);
	}
	return k->first ? 0 : -ENOMEM;
}

COMPARE(edge_compare, struct edge, UP(tid) UP(start))

int blame_own(struct timeline_build *b)
{
	struct segment *const *all = &b->all;
	struct blame k = { .b = b, .is_followed = calloc(b->nr_all + 1, sizeof(bool)) };
	int ret = k.is_followed ? 0 : -ENOMEM;

	if (!ret)
		ret = index_make(&k.waits, all, b->nr_all, is_wait, index_by_thread);
	if (!ret)
		ret = index_make(&k.offs, all, b->nr_all, is_off, index_by_thread);
	if (!ret)
		ret = index_make(&k.holds, all, b->nr_all, segment_is_hold, index_by_lock);
	if (!ret)
		ret = find_first(&k);
	for (size_t i = 0; i < b->own.nr && !ret; i++) {
		const struct thread_interval *own = &b->own.at[i];

		ret = follow_waits(&k, own->tid, own->start, own->end, 1);
		if (!ret)
			ret = follow_offs(&k, own->tid, own->start, own->end, true, 1);
	}
	free(k.waits.at);
	free(k.offs.at);
	free(k.holds.at);
	free(k.first);
	free(k.is_followed);
	sort_by(b->edges, b->nr_edges, edge_compare);
	return ret ? ret : cut_own(b);
}
