// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the blockers behind causes: for waits the holder of the lock, what it was executing and why
 * it was off the CPU; for times off the CPU the task that was running instead, or the waker.
 */
#include "facts/ticks.h"
#include "timeline-private.h"

#define DELAYS_MAX	16	/* distinct delays of one thread */

bool segment_is_off(const struct segment *s)
{
	return s->kind == SEGMENT_RUNNABLE || s->kind == SEGMENT_PREEMPTED ||
	       s->kind == SEGMENT_BLOCKED || s->kind == SEGMENT_FUTEX_WAIT;
}

bool segment_is_hold(const struct segment *s)
{
	return s->kind == SEGMENT_LOCK_HOLD;
}

static int64_t length(const struct segment *s)
{
	return s->end_ns - s->start_ns;
}

/* Holders */

static const struct segment *longest_hold(const struct timeline *t, const struct segment *wait)
{
	const struct segment *best = NULL;

	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];

		if (s->kind != SEGMENT_LOCK_HOLD || s->lock != wait->lock || s->level != wait->level ||
		    !segment_overlap_ns(s, wait))
			continue;
		if (!best || segment_overlap_ns(s, wait) > segment_overlap_ns(best, wait))
			best = s;
	}
	return best;
}

/*
 * Returns true if the function lasted, or may have lasted according to its resolution, for more
 * than half of the time of `in`.
 */
static bool took_most(const struct segment *func, const struct segment *in)
{
	int64_t ns = segment_overlap_ns(func, in);

	return 2 * ns > length(in) || (2 * (ns + func->resolution_ns) > length(in) && 5 * ns > length(in));
}

/*
 * Returns true if function a explains the time of `hold` better than function b. The best is the
 * deepest of those that lasted for more than half of the time, and a function of the user is better
 * than one of a system header; if there is none, the longest.
 */
static bool explains_better(const struct segment *a, const struct segment *b,
		       const struct segment *hold)
{
	bool a_most = took_most(a, hold), b_most = took_most(b, hold);

	if (a_most != b_most)
		return a_most;
	if (a->func->func_in_system != b->func->func_in_system)
		return b->func->func_in_system;
	if (!a_most || a->depth == b->depth)
		return segment_overlap_ns(a, hold) > segment_overlap_ns(b, hold);
	return a->depth > b->depth;
}

/*
 * Returns the deepest callee that lasted for more than `tenths` tenths of the function, or the
 * function itself.
 */
static const struct segment *deepest_callee(const struct timeline *t, const struct segment *in,
					    const struct segment *func, int tenths)
{
	struct segment of = *func;
	const struct segment *best = func;

	of.start_ns = max(func->start_ns, in->start_ns);
	of.end_ns = min(func->end_ns, in->end_ns);
	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];

		if (s->kind == SEGMENT_FUNCTION && s->tid == in->tid && s->depth > best->depth &&
		    s->func->func_in_system <= func->func->func_in_system &&
		    10. * (double)segment_overlap_ns(s, &of) > tenths * (double)length(&of))
			best = s;
	}
	return best;
}

/*
 * If no function lasted for most of the hold, the longest function is taken, or its callee if that
 * took most of the function.  If a function did last for most of the hold, its callee is taken only
 * if it took nearly all of the function.
 */
const struct segment *blockers_function(const struct timeline *t, const struct segment *hold)
{
	const struct segment *best = NULL;

	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];

		/* The request can be blocked by functions of its own threads, too. */
		if (s->kind != SEGMENT_FUNCTION || s->tid != hold->tid || !segment_overlap_ns(s, hold))
			continue;
		if (!best || explains_better(s, best, hold))
			best = s;
	}
	return best ? deepest_callee(t, hold, best, took_most(best, hold) ? 9 : 5) : NULL;
}

/* Returns the task that caused a time off the CPU: the one that ran longest, or the waker. */
struct context blocker_of(const struct segment *s, int64_t *ns)
{
	const struct segment_sched *k = s->sched;

	*ns = length(s);
	if (s->kind != SEGMENT_RUNNABLE && s->kind != SEGMENT_PREEMPTED)
		return k->waker;
	*ns = 0;
	if (k->nr_running && k->running[0].who.kind != CONTEXT_NONE) {
		*ns = k->running[0].ns;
		return k->running[0].who;
	}
	return k->preempted_by;
}

static bool is_same_delay(const struct segment *a, const struct segment *b)
{
	int64_t ns;
	struct context pa, pb;

	if (a->kind != b->kind)
		return false;
	if (a->kind == SEGMENT_FUTEX_WAIT || a->kind == SEGMENT_LOCK_WAIT)
		return a->lock == b->lock;
	if (a->kind == SEGMENT_BLOCKED)
		return a->sched->state == b->sched->state && a->site == b->site;
	pa = blocker_of(a, &ns);
	pb = blocker_of(b, &ns);
	return context_is(&pa, &pb);
}

/*
 * Returns how long a delay lasted during segment `in`; for a wait for a lock, at most the time for
 * which the thread slept in the wait.
 */
static int64_t delay_ns(const struct segment *s, const struct segment *in)
{
	int64_t ns = segment_overlap_ns(s, in);

	return s->kind == SEGMENT_LOCK_WAIT && s->sched ? min(ns, s->sched->asleep_ns) : ns;
}

const struct segment *blockers_delay(const struct segment *segments, size_t nr_segments,
				     const struct segment *in, bool has_waits, int64_t *ns)
{
	const struct segment *delays[DELAYS_MAX];
	int64_t sums[DELAYS_MAX] = { 0 }, off_ns = 0;
	size_t nr = 0, best = 0;

	for (size_t i = 0; i < nr_segments; i++) {
		const struct segment *s = &segments[i];
		size_t n = 0;

		/* Segments of the request's own threads count, too: they may block it as well. */
		if (s->tid != in->tid || !segment_overlap_ns(s, in) ||
		    !(segment_is_off(s) || (has_waits && s->kind == SEGMENT_LOCK_WAIT)))
			continue;
		if (s->kind == SEGMENT_RUNNABLE || s->kind == SEGMENT_PREEMPTED)
			ticks_add(&off_ns, segment_overlap_ns(s, in));
		while (n < nr && !is_same_delay(delays[n], s))
			n++;
		if (n == DELAYS_MAX)
			continue;
		if (n == nr)
			delays[nr++] = s;
		if (length(s) > length(delays[n]))
			delays[n] = s;
		ticks_add(&sums[n], delay_ns(s, in));
	}
	/*
	 * asleep_ns is that of a whole wait, which may have begun before `in`.  During `in` the
	 * thread slept at most for the time in which it did not wait for a CPU.
	 */
	for (size_t i = 0; i < nr; i++)
		if (delays[i]->kind == SEGMENT_LOCK_WAIT)
			sums[i] = min(sums[i], max(length(in) - off_ns, 0));
	for (size_t i = 1; i < nr; i++)
		if (sums[i] > sums[best])
			best = i;
	*ns = nr ? sums[best] : 0;
	return nr ? delays[best] : NULL;
}

void blockers_find(const struct timeline *t, struct timeline_cause *c)
{
	if (!c->wait || (c->kind != LEAF_LOCK && c->kind != LEAF_FUTEX))
		return;
	c->hold = longest_hold(t, c->wait);
	if (!c->hold)
		return;
	c->hold_func = blockers_function(t, c->hold);
	c->hold_off = blockers_delay(t->segments, t->nr_segments, c->hold, false, &c->hold_off_ns);
	/* Times off the CPU below a tenth of the cause's time are not mentioned. */
	if (c->hold_off_ns < c->ns / 10)
		c->hold_off = NULL;
}
