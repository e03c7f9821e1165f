// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Turns a thread's segments, in order of time, into shares of the requests it worked on: at each
 * time the thread is in one leaf, and works on at most one request.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "partition-private.h"

#define NEAR_MAX	64	/* requests examined before and after a function's start */

/* The shares of the current piece are collected by leaf, and then added to the request */

static void end_piece(struct partition_build *b)
{
	for (size_t i = 0; i < b->nr_touched; i++) {
		const struct spent *s = &b->spent[b->touched[i]];

		if (s->ns || s->nr || s->nr_faults)
			partition_add_share(b, b->active[b->spot].work->request, b->touched[i], s);
	}
	b->nr_touched = 0;
	b->stamp++;
}

static struct spent *spent_on(struct partition_build *b, uint32_t leaf)
{
	struct spent *s;

	if (leaf == NO_LEAF ||
	    !array_reserve(&b->spent, &b->room_spent, leaf + 1, sizeof(*b->spent))) {
		b->ret = -ENOMEM;
		return &b->spare;
	}
	for (; b->nr_spent <= leaf; b->nr_spent++)
		b->spent[b->nr_spent] = (struct spent){ 0 };
	s = &b->spent[leaf];
	if (s->stamp == b->stamp)
		return s;
	if (array_push(b->touched, b->nr_touched, b->room_touched, leaf))
		b->ret = -ENOMEM;
	*s = (struct spent){ .stamp = b->stamp };
	return s;
}

/*
 * Sets the part of the active interval that is in the request's piece; returns false if there is
 * none.
 */
static bool spot_range(const struct partition_build *b, const struct active *o, int64_t *start,
		       int64_t *end)
{
	const struct work *w = o->work;

	if (w->request == NO_REQUEST || b->p->requests[w->request].is_left_out)
		return false;
	*start = o->start > w->piece_start ? o->start : w->piece_start;
	*end = o->end < w->piece_end ? o->end : w->piece_end;
	return *start < *end;
}

static void add_idle(struct partition_build *b, int64_t start, int64_t end, uint32_t leaf)
{
	struct idle *last = b->nr_idle ? &b->idle[b->nr_idle - 1] : NULL;

	if (!b->has_queued || start >= end)
		return;
	if (last && last->leaf == leaf && last->is_nap == b->is_nap && last->end == start)
		last->end = end;
	else if (array_push(b->idle, b->nr_idle, b->room_idle, { start, end, leaf, b->is_nap }))
		b->ret = -ENOMEM;
}

/*
 * Returns the leaf to which a sample belongs.  A sample is taken by an interrupt, which may be in
 * the trace; then the sample belongs to the interrupted function.
 */
static uint32_t sampled_leaf(struct partition_build *b, uint32_t leaf)
{
	const struct leaf *l = &b->p->leaves[leaf];

	if (l->kind != LEAF_IRQ)
		return leaf;
	return l->path ? partition_function(b->p, l->path) :
			 partition_leaf(b->p, LEAF_UNKNOWN, 0, "", NULL);
}

static void add_sample(struct partition_build *b, const struct sample *s, uint32_t leaf)
{
	struct partition *p = b->p;
	int64_t place;

	leaf = sampled_leaf(b, leaf);
	place = leaf == NO_LEAF ? -ENOMEM : places_find(&p->places, s, p->paths[p->leaves[leaf].path].func);
	if (place < 0 || array_push(p->samples, p->nr_samples, b->room_placed,
				    { b->active[b->spot].work->request, leaf, place }))
		b->ret = -ENOMEM;
}

static void spend_on(struct partition_build *b, int64_t start, int64_t end, uint32_t leaf)
{
	struct spent *s = spent_on(b, leaf);

	s->ns += partition_ns(b, end) - partition_ns(b, start);
	if (b->o->spent && !b->ret)
		b->ret = b->o->spent(b->o->arg, b->tid, start, end, leaf);
	while (b->next_fault < b->nr_faults && b->faults[b->next_fault] < start)
		b->next_fault++;
	for (; b->next_fault < b->nr_faults && b->faults[b->next_fault] < end; b->next_fault++)
		s->nr_faults++;
	while (b->next_sample < b->nr_samples && b->samples[b->next_sample].tick < start)
		b->next_sample++;
	for (; b->next_sample < b->nr_samples && b->samples[b->next_sample].tick < end && !b->ret; b->next_sample++)
		add_sample(b, &b->samples[b->next_sample], leaf);
}

/* Adds time in which no function of the thread is known. */
static void spend_unknown(struct partition_build *b, int64_t start, int64_t end)
{
	while (start < end && !b->ret) {
		int64_t until = end;
		bool is_away = gaps_cover(&b->m->gaps, b->tid, start, &until);

		spend_on(b, start, until, partition_leaf(b->p, LEAF_UNKNOWN, 0,
			 is_away ? PARTITION_UNOBSERVED : "", NULL));
		start = until;
	}
}

/* Adds [start, end) to the leaf, in each piece that it overlaps. */
static void spend_on_pieces(struct partition_build *b, int64_t start, int64_t end, uint32_t leaf)
{
	while (b->spot < b->nr_active && !b->ret && start < end) {
		const struct active *o = &b->active[b->spot];
		int64_t from, to, until = o->end < end ? o->end : end;

		if (o->start >= end)
			break;
		if (o->start > start) {
			add_idle(b, start, o->start, leaf);
			start = o->start;
		}
		if (spot_range(b, o, &from, &to)) {
			from = from > start ? from : start;
			to = to < until ? to : until;
			if (leaf == NO_LEAF)
				spend_unknown(b, from, to);
			else if (from < to)
				spend_on(b, from, to, leaf);
		}
		if (until > start)
			start = until;
		if (o->end > end)
			break;
		end_piece(b);
		b->spot++;
	}
	add_idle(b, start, end, leaf);
}

/* Counts an event for the request that the thread works on when the event begins. */
static void count_begin(struct partition_build *b, int64_t tick, uint32_t leaf)
{
	int64_t start, end;

	if (b->spot < b->nr_active && spot_range(b, &b->active[b->spot], &start, &end) &&
	    tick >= start && tick < end)
		spent_on(b, leaf)->nr++;
}

static bool is_near(const struct active *o, int64_t ns, int64_t resolution)
{
	return o->end_ns > ns - resolution && o->start_ns < ns + resolution;
}

/* The errors of the segment's start and end make the times of the requests near them less exact. */
static void widen_resolution(struct partition_build *b, const struct active *o,
			     const struct segment *s)
{
	struct request *r = o->work->request != NO_REQUEST ? &b->p->requests[o->work->request] : NULL;
	int64_t ns = s->resolution_ns;

	if (!r || !(is_near(o, s->start_ns, ns) || is_near(o, s->end_ns, ns)))
		return;
	if (s->kind != SEGMENT_FUNCTION) {
		r->off_resolution_ns = max(r->off_resolution_ns, min(ns, r->latency_ns));
		return;
	}
	if (o == b->active + b->spot && o->start <= s->start && ns > r->noise_ns)
		r->noise_ns = ns;
	r->resolution_ns = max(r->resolution_ns, min(ns, r->latency_ns));
}

static void add_resolution(struct partition_build *b, const struct segment *s)
{
	size_t first = b->spot > NEAR_MAX ? b->spot - NEAR_MAX : 0, last = b->spot + NEAR_MAX;

	if (s->resolution_ns <= 0)
		return;
	for (size_t i = b->spot; i-- > first && b->active[i].end_ns > s->start_ns - s->resolution_ns;)
		widen_resolution(b, &b->active[i], s);
	for (size_t i = b->spot; i < b->nr_active && i < last &&
	     b->active[i].start_ns < s->end_ns + s->resolution_ns; i++)
		widen_resolution(b, &b->active[i], s);
}

/* Adds the errors of a function's start and end to the function and to its caller. */
static void add_errors(struct partition_build *b, const struct segment *s, uint32_t leaf,
		       const struct attribution_item *in)
{
	const struct active *o = b->active + b->spot;
	double error2 = (double)s->resolution_ns * s->resolution_ns;
	int64_t start, end;

	if (b->spot == b->nr_active || !spot_range(b, o, &start, &end) ||
	    !(is_near(o, s->start_ns, s->resolution_ns) || is_near(o, s->end_ns, s->resolution_ns)))
		return;
	spent_on(b, leaf)->error2 += error2;
	spent_on(b, in ? in->leaf : partition_leaf(b->p, LEAF_UNKNOWN, 0, "", NULL))->error2 += error2;
}

static int begin_function(struct partition_build *b, const struct segment *s,
			  const struct attribution_item *in, struct attribution_item *item)
{
	item->path = partition_path(b->p, item->path, s->func);
	item->leaf = partition_function(b->p, item->path);
	if (item->leaf == NO_LEAF)
		return -ENOMEM;
	add_resolution(b, s);
	add_errors(b, s, item->leaf, in);
	count_begin(b, s->start, item->leaf);
	return b->ret;
}

static int begin_other(struct partition_build *b, const struct attribution_begin *what,
		       struct attribution_item *item)
{
	const struct segment *s = what->segment;

	item->leaf = s ? partition_segment_leaf(b->p, s, item->path) :
			 partition_leaf(b->p, item->kind, item->path, what->irq->name, NULL);
	if (item->leaf == NO_LEAF)
		return -ENOMEM;
	/* The flag marks a sleep that was ended by an interrupt (a timer), and not by a thread. */
	item->flag = s && s->kind == SEGMENT_BLOCKED && s->sched && s->sched->waker.kind == CONTEXT_HARDIRQ;
	if (s && segment_kinds[s->kind].off_cpu && b->p->m->counters)
		add_resolution(b, s);
	if (!what->is_moved)
		count_begin(b, item->start, item->leaf);
	return b->ret;
}

static int on_begin(void *arg, const struct attribution_begin *what, struct attribution_item *item)
{
	struct partition_build *b = arg;
	const struct segment *s = what->segment;
	int ret;

	item->path = what->in ? what->in->path : 0;
	ret = s && s->kind == SEGMENT_FUNCTION ? begin_function(b, s, what->in, item) :
						  begin_other(b, what, item);
	return ret || !s || !b->o->begins ? ret : b->o->begins(b->o->arg, s, item->leaf);
}

static int on_spend(void *arg, int64_t start, int64_t end, struct attribution_item *item)
{
	struct partition_build *b = arg;

	b->is_nap = item && item->flag;
	spend_on_pieces(b, start, end, item ? item->leaf : NO_LEAF);
	return b->ret;
}

/* Adds a fault or an interrupt, unless the thread never works on a request. */
static int add_event(struct partition_build *b, const struct segment *s)
{
	if (!b->nr_active)
		return 0;
	return s->kind == SEGMENT_IRQ ? attribution_segment(&b->attribution, s) :
	       array_push(b->faults, b->nr_faults, b->room_faults, s->start);
}

static int on_sample(void *arg, const struct sample *s)
{
	struct partition_build *b = arg;
	int ret = b->o->sample ? b->o->sample(b->o->arg, s) : 0;

	return ret ? ret : b->nr_active ? array_push(b->samples, b->nr_samples, b->room_samples, *s) : 0;
}

static int on_segment(void *arg, const struct segment *s)
{
	struct partition_build *b = arg;
	int ret;

	if (s->kind == SEGMENT_IRQ || s->kind == SEGMENT_FAULT)
		return add_event(b, s);
	ret = b->o->segment ? b->o->segment(b->o->arg, s) : 0;
	if (ret)
		return ret;
	if (s->kind == SEGMENT_REQUEST || !(b->nr_active || b->has_queued))
		return 0;
	return s->end > s->start ? attribution_segment(&b->attribution, s) :
				   attribution_to(&b->attribution, s->start);
}

static int on_migration(void *arg, const struct sched_migration *m)
{
	struct partition_build *b = arg;

	return b->o->migration(b->o->arg, m);
}

/* Threads */

static size_t first_queued(const struct partition_build *b, uint32_t tid)
{
	return search(b->nr_queued, i, b->queued[i].server < tid);
}

static void end_thread(struct partition_build *b)
{
	size_t first = first_queued(b, b->tid), nr = first;

	if (!b->ret)
		b->ret = attribution_finish(&b->attribution);
	while (nr < b->nr_queued && b->queued[nr].server == b->tid)
		nr++;
	if (!b->ret)
		partition_add_behind(b);
	/*
	 * Tid 0 stands for the unknown thread, which comes first; a trace may have a thread 0 as
	 * well.
	 */
	if (b->tid || !b->has_unknown)
		partition_add_queued(b, b->queued + first, nr - first);
	b->has_unknown = true;
	b->nr_active = 0;
	b->nr_idle = 0;
	b->spot = 0;
}

/* Drops the thread's open segments, interrupts, faults and samples. */
static void forget_thread(struct partition_build *b)
{
	attribution_forget(&b->attribution);
	b->nr_faults = b->next_fault = 0;
	b->nr_samples = b->next_sample = 0;
}

static void emit_pieces(struct partition_build *b)
{
	int64_t start, end;

	for (size_t i = 0; i < b->nr_active && b->o->piece && !b->ret; i++)
		if (spot_range(b, &b->active[i], &start, &end))
			b->ret = b->o->piece(b->o->arg, b->tid, start, end,
					     &b->p->requests[b->active[i].work->request]);
}

static void start_thread(struct partition_build *b, uint32_t tid)
{
	const struct work *first = b->works + partition_first_work(b, tid, INT64_MIN), *last = first;
	size_t queued = first_queued(b, tid);

	while (last < b->works + b->nr_works && last->tid == tid)
		last++;
	b->tid = tid;
	b->thread_works = first;
	b->nr_thread_works = last - first;
	b->has_queued = tid && queued < b->nr_queued && b->queued[queued].server == tid;
	forget_thread(b);
	attribution_start(&b->attribution);
	partition_own(b);
	emit_pieces(b);
}

/*
 * Marks the thread as processed; returns true if it had not been.  Returns false for a thread above
 * the greatest tid that has requests.
 */
static bool mark_processed(struct partition_build *b, uint32_t tid)
{
	uint64_t bit = 1ULL << tid % 64;
	bool is_new = tid / 64 < b->nr_tid_words && !(b->tids[tid / 64] & bit);

	if (is_new)
		b->tids[tid / 64] |= bit;
	return is_new;
}

/*
 * Threads that had the same tid one after the other are processed in that order; their spans are in
 * one list.
 */
static int on_thread(void *arg, const struct thread *t)
{
	struct partition_build *b = arg;

	if (t->tid == b->tid) {
		b->ret = attribution_to(&b->attribution, t->start);
		forget_thread(b);
		return b->ret;
	}
	end_thread(b);
	mark_processed(b, t->tid);
	if (!b->ret)
		start_thread(b, t->tid);
	return b->ret;
}

/* Processes a thread for which the trace has only requests. */
static void sweep_other_thread(struct partition_build *b, uint32_t tid)
{
	/* Tid 0 stands for the unknown thread, which was processed before all others. */
	if (b->ret || !tid || !mark_processed(b, tid))
		return;
	start_thread(b, tid);
	end_thread(b);
}

static void sweep_other_threads(struct partition_build *b)
{
	for (size_t i = 0; i < b->nr_works; i++)
		sweep_other_thread(b, b->works[i].tid);
	for (size_t i = 0; i < b->nr_queued; i++)
		sweep_other_thread(b, b->queued[i].server);
}

/* Allocates a bit for each tid up to the greatest: both lists are sorted by tid. */
static void alloc_tids(struct partition_build *b)
{
	uint32_t works = b->nr_works ? b->works[b->nr_works - 1].tid : 0;
	uint32_t queued = b->nr_queued ? b->queued[b->nr_queued - 1].server : 0;

	b->nr_tid_words = (works > queued ? works : queued) / 64 + 1;
	b->tids = calloc(b->nr_tid_words, sizeof(*b->tids));
	if (!b->tids)
		b->ret = -ENOMEM;
}

void partition_find_pieces(struct partition_build *b)
{
	for (size_t i = 0; i < b->nr_works && !b->ret; i++) {
		if (i && b->works[i].tid == b->works[i - 1].tid)
			continue;
		b->nr_active = 0;
		start_thread(b, b->works[i].tid);
	}
}

void partition_sweep(struct partition_build *b)
{
	struct tracks_options options = TRACKS_OPTIONS_ALL;
	struct tracks_sink sink = {
		.thread = on_thread, .segment = on_segment, .sample = on_sample,
		.migration = b->o->migration ? on_migration : NULL, .arg = b,
	};
	struct tracks_result result;

	alloc_tids(b);
	options.progress = b->o->progress;
	options.progress_arg = b->o->progress_arg;
	options.no_requests = options.with_irqs = options.with_faults = options.no_call_sites = true;
	options.with_calls = b->o->segment;
	if (b->o->only) {
		options.from = b->o->from;
		options.to = b->o->to;
		options.emit_from = b->o->only->start;
		options.emit_to = b->o->only->end;
		options.before = b->o->before;
		options.after = b->o->after;
	}
	if ((b->o->select || b->o->only) && !b->ret) {
		options.wants = b->o->wants ? b->o->wants : partition_is_needed;
		options.wants_arg = b->o->wants ? b->o->arg : b;
		partition_find_needed(b);
	}
	b->attribution = (struct attribution){ .begin = on_begin, .spend = on_spend, .arg = b };
	b->stamp = 1;
	if (!b->ret)
		b->ret = tracks_each(b->m, &options, &sink, &result);
	end_thread(b);
	sweep_other_threads(b);
}
