// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the blockers behind causes: of waits the holder of the lock, what it was
 * executing and why it was off the CPU; of times off the CPU the task that was
 * running instead.
 */
#include "facts/ticks.h"
#include "timeline-private.h"

#define GROUPS_OF_HOLD	16	/* distinct kinds of times off the CPU of one holder */

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
 * Does segment a explain a hold better than b?  The best is the deepest function that lasted for
 * most of it, the user's own before one of a system header; else the longest.
 */
static bool explains_better(const struct segment *a, const struct segment *b,
		       const struct segment *hold)
{
	int64_t most = (hold->end_ns - hold->start_ns) / 10 * 8;
	bool a_most = segment_overlap_ns(a, hold) >= most, b_most = segment_overlap_ns(b, hold) >= most;

	if (a_most != b_most)
		return a_most;
	if (a->func->func_in_system != b->func->func_in_system)
		return b->func->func_in_system;
	if (!a_most)
		return segment_overlap_ns(a, hold) > segment_overlap_ns(b, hold);
	return a->depth > b->depth;
}

static const struct segment *hold_function(const struct timeline *t, const struct segment *hold)
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
	return best;
}

/* Returns what the waker of a sleep was executing for most of it; NULL: not known. */
static const struct segment *waker_function(const struct timeline *t, const struct segment *sleep)
{
	const struct party *waker = &sleep->sched->waker;
	struct segment until = { .tid = waker->tid, .start_ns = sleep->start_ns, .end_ns = sleep->end_ns };
	const struct segment *func;

	if (waker->kind != PARTY_TASK || waker->tid == sleep->tid || sleep->sched->state == LDB_STATE_DISK)
		return NULL;
	func = hold_function(t, &until);
	return func && segment_overlap_ns(func, &until) > length(&until) / 2 ? func : NULL;
}

/* Returns the task that caused a time off the CPU: the one that ran longest, or the waker. */
struct party culprit_of(const struct segment *s, int64_t *ns)
{
	const struct segment_sched *k = s->sched;

	*ns = length(s);
	if (s->kind != SEGMENT_RUNNABLE && s->kind != SEGMENT_PREEMPTED)
		return k->waker;
	*ns = 0;
	if (k->nr_occupants && k->occupants[0].who.kind != PARTY_NONE) {
		*ns = k->occupants[0].ns;
		return k->occupants[0].who;
	}
	return k->preempted_by;
}

static bool same_off(const struct segment *a, const struct segment *b)
{
	int64_t ns;
	struct party pa, pb;

	if (a->kind != b->kind)
		return false;
	if (a->kind == SEGMENT_FUTEX_WAIT)
		return a->lock == b->lock;
	if (a->kind == SEGMENT_BLOCKED)
		return a->sched->state == b->sched->state && a->site == b->site;
	pa = culprit_of(a, &ns);
	pb = culprit_of(b, &ns);
	return party_is(&pa, &pb);
}

/* Finds the times off the CPU of the holder that were a substantial part of the wait. */
static const struct segment *find_off(const struct timeline *t, const struct segment *hold,
				      int64_t wait_ns, int64_t *ns)
{
	const struct segment *offs[GROUPS_OF_HOLD];
	int64_t sums[GROUPS_OF_HOLD] = { 0 };
	size_t nr = 0, best = 0;

	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];
		size_t n = 0;

		/* The request's own other threads count, too. */
		if (!segment_is_off(s) || s->tid != hold->tid || !segment_overlap_ns(s, hold))
			continue;
		while (n < nr && !same_off(offs[n], s))
			n++;
		if (n == GROUPS_OF_HOLD)
			continue;
		if (n == nr)
			offs[nr++] = s;
		if (length(s) > length(offs[n]))
			offs[n] = s;
		ticks_add(&sums[n], segment_overlap_ns(s, hold));
	}
	for (size_t i = 1; i < nr; i++)
		if (sums[i] > sums[best])
			best = i;
	*ns = nr ? sums[best] : 0;
	return nr && sums[best] >= wait_ns / 10 ? offs[best] : NULL;
}

/* Returns the wait of the holder that took most of the hold; NULL: none took half of it. */
static const struct segment *find_wait(const struct timeline *t, const struct segment *hold)
{
	const struct segment *best = NULL;

	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];

		if ((s->kind != SEGMENT_LOCK_WAIT && s->kind != SEGMENT_FUTEX_WAIT) ||
		    !s->blocks_req || s->tid != hold->tid || s->level != hold->level + 1)
			continue;
		if (segment_overlap_ns(s, hold) > length(hold) / 2 &&
		    (!best || segment_overlap_ns(s, hold) > segment_overlap_ns(best, hold)))
			best = s;
	}
	return best;
}

/* Leaves out a wait for a futex that the next link of the chain shows anyway. */
static const struct segment *unless_in_link(const struct segment *off, const struct timeline_link *next)
{
	return off && off->kind == SEGMENT_FUTEX_WAIT && off->lock == next->wait->lock ? NULL : off;
}

/* Goes from holder to holder.  Each is one level further, so this ends. */
static void find_links(const struct timeline *t, struct timeline_cause *c)
{
	const struct segment *hold = c->hold;

	while (c->nr_links < TIMELINE_LINKS_MAX) {
		struct timeline_link *link = &c->links[c->nr_links];

		link->wait = find_wait(t, hold);
		link->hold = link->wait ? longest_hold(t, link->wait) : NULL;
		if (!link->hold)
			return;
		link->func = hold_function(t, link->hold);
		link->off = find_off(t, link->hold, c->ns, &link->off_ns);
		hold = link->hold;
		if (c->nr_links)
			link[-1].off = unless_in_link(link[-1].off, link);
		else
			c->hold_off = unless_in_link(c->hold_off, link);
		c->nr_links++;
	}
}

void culprits_find(const struct timeline *t, struct timeline_cause *c)
{
	if (c->kind == LEAF_SLEEP && c->off)
		c->waker_func = waker_function(t, c->off);
	if (!c->wait || (c->kind != LEAF_LOCK && c->kind != LEAF_FUTEX))
		return;
	c->hold = longest_hold(t, c->wait);
	if (!c->hold)
		return;
	c->hold_func = hold_function(t, c->hold);
	c->hold_off = find_off(t, c->hold, c->ns, &c->hold_off_ns);
	find_links(t, c);
}
