// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes items of the segments of each thread (tracks.h) that take time, or for whose end other
 * threads may wait.
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/tracks/tracks.h"
#include "base/search.h"
#include "base/sort.h"
#include "facts/lockset.h"
#include "facts/ticks.h"
#include "replay-private.h"

struct reading {
	struct replay *r;
	struct replay_funcs *funcs;
	uint32_t actor;
	size_t last_event;	/* index + 1 of the last EVENT of this actor; 0: none */
};

struct item *replay_add_item(struct replay *r, enum item_kind kind, uint32_t actor, int64_t start,
			     int64_t end, uint32_t object)
{
	struct item *at = replay_add(r, r, items);

	if (r->nr_items > WHATIF_ITEMS_MAX && !r->ret)
		replay_refuse(r, "more than %u events: record for a shorter time, or with a higher "
			      "--lock-threshold", WHATIF_ITEMS_MAX);
	*at = (struct item){ .start = start < end ? start : end, .end = end, .mid = end,
			     .actor = actor, .object = object, .kind = kind };
	return at;
}

/* Locks */

/* A lock is named by its variable, or by its address in hexadecimal. */
static bool is_named(const char *glob, const struct replay_lock *l)
{
	char address[32];

	snprintf(address, sizeof(address), "0x%" PRIx64, l->address);
	return !fnmatch(glob, address, 0) ||
	       (l->symbol && l->symbol->known && !fnmatch(glob, l->symbol->function, 0));
}

static void describe(struct replay *r, struct replay_lock *l)
{
	for (size_t i = 0; i < r->w->nr_changes; i++) {
		const struct whatif_change *c = &r->w->changes[i];

		if ((c->kind != WHATIF_HOLD && c->kind != WHATIF_SHARDED) || !is_named(c->name, l))
			continue;
		l->changes |= 1U << i;
		if (c->kind == WHATIF_HOLD)
			l->factor *= c->factor;
		else
			l->nr_shards = c->n;
	}
}

static uint32_t get_lock(struct replay *r, const struct segment *s)
{
	struct replay_lock *at;
	uint64_t hash = hash_mix(0, s->lock);
	uint32_t n;

	hash_each(&r->by_address, hash, n)
		if (r->locks[n].address == s->lock)
			return n;
	if (hash_add(&r->by_address, hash, r->nr_locks))
		r->ret = -ENOMEM;
	at = replay_add(r, r, locks);
	*at = (struct replay_lock){ .address = s->lock, .symbol = s->lock_symbol,
				    .nr_shards = 1, .factor = 1 };
	describe(r, at);
	return r->nr_locks - 1;
}

static void add_lock(struct reading *g, const struct segment *s)
{
	bool is_hold = s->kind == SEGMENT_LOCK_HOLD;
	uint32_t lock = get_lock(g->r, s);
	int64_t start = s->full_start_ns;
	struct replay *r = g->r;
	struct item *i;

	/*
	 * A hold without a recorded start is assumed to begin as late as possible, because a lock
	 * is usually taken just before it is needed; but it begins before other threads wait for
	 * it.
	 */
	if (is_hold && s->resolution_ns > 0)
		start += s->resolution_ns - 1;
	i = replay_add_item(r, is_hold ? ITEM_HOLD : s->has_failed ? ITEM_FAILED : ITEM_WAIT,
			    g->actor, start, s->full_end_ns, lock);
	if (s->lock_kind == LDB_LOCK_RWLOCK_RD)
		i->flags |= ITEM_F_SHARED;
	for (size_t k = 0; k < r->w->nr_changes && is_hold && !r->ret; k++) {
		if (!(r->locks[lock].changes & 1U << k))
			continue;
		r->w->changes[k].nr++;
		ticks_add(&r->w->changes[k].ns, i->end - i->start);
	}
}

/* Other waits */

static struct item *add_item(struct reading *g, enum item_kind kind, const struct segment *s,
			     uint32_t object)
{
	return replay_add_item(g->r, kind, g->actor, s->start_ns, s->end_ns, object);
}

/*
 * Adds a wait that thread t ends; the item is ITEM_FIXED if t is NULL (not known), or the wait
 * failed.
 */
static struct item *add_until(struct reading *g, enum item_kind kind, const struct segment *s,
			      const struct thread *t)
{
	return add_item(g, t && !s->has_failed ? kind : ITEM_FIXED, s,
			t ? (uint32_t)(t - g->r->m->threads) : NONE);
}

/* Adds a sleep.  If a thread of the program ended it, this thread does so in the replay, too. */
static void add_event(struct reading *g, const struct segment *s)
{
	const struct context *waker = s->sched ? &s->sched->waker : NULL;
	const struct thread *t = NULL;

	if (waker && waker->kind == CONTEXT_TASK && waker->tid != s->tid && !s->has_failed)
		t = model_thread(g->r->m, waker->tid, s->end);
	if (t && (t->start > s->end || (t->has_exited && t->end < s->start)))
		t = NULL;
	add_until(g, ITEM_EVENT, s, t)->flags |= ITEM_F_IDLE;
	g->last_event = t ? g->r->nr_items : 0;
}

static void add_blocked(struct reading *g, const struct segment *s)
{
	const struct segment_sched *k = s->sched;
	bool is_disk = k && k->state == LDB_STATE_DISK;

	if (k && k->waker.kind == CONTEXT_TASK && k->waker.tid != s->tid && !is_disk &&
	    model_thread(g->r->m, k->waker.tid, s->end))
		add_event(g, s);
	else if (is_disk)
		add_item(g, ITEM_IO, s, NONE);
	else
		add_item(g, ITEM_SLEEP, s, NONE)->flags |= ITEM_F_IDLE;
}

static void add_join(struct reading *g, const struct segment *s)
{
	add_until(g, ITEM_JOIN, s, s->owner ? model_thread(g->r->m, s->owner, s->start) : NULL);
}

static void add_cpu(struct reading *g, const struct segment *s)
{
	bool is_preempted = s->kind == SEGMENT_PREEMPTED;
	struct item *event = g->last_event ? &g->r->items[g->last_event - 1] : NULL;

	/*
	 * The thread was woken when this segment began; it ran again only at the end of the wait.
	 */
	if (event && s->start_ns >= event->start && s->start_ns < event->mid && !is_preempted)
		event->mid = s->start_ns;
	for (size_t i = 0; i < g->r->w->nr_changes; i++) {
		struct whatif_change *c = &g->r->w->changes[i];

		if (c->kind != WHATIF_CPUS && (c->kind != WHATIF_NO_PREEMPT || !is_preempted))
			continue;
		c->nr++;
		ticks_add(&c->ns, s->end_ns - s->start_ns);
	}
	add_item(g, is_preempted ? ITEM_PREEMPTED : ITEM_RUNNABLE, s, NONE);
}

static int on_segment(void *arg, const struct segment *s)
{
	struct reading *g = arg;

	if (g->actor == NONE)
		return 0;
	switch (s->kind) {
	case SEGMENT_FUNCTION:
		if (replay_wants_funcs(g->r))
			replay_funcs_add(g->funcs, s);
		break;
	case SEGMENT_LOCK_HOLD:
		add_lock(g, s);
		break;
	case SEGMENT_LOCK_WAIT:
		if (lock_kind_is_exclusive(s->lock_kind) || s->lock_kind == LDB_LOCK_RWLOCK_RD)
			add_lock(g, s);
		else if (s->lock_kind == LDB_LOCK_JOIN)
			add_join(g, s);
		else
			add_event(g, s);
		break;
	case SEGMENT_FUTEX_WAIT:
		add_event(g, s);
		break;
	case SEGMENT_BLOCKED:
		add_blocked(g, s);
		break;
	case SEGMENT_RUNNABLE:
	case SEGMENT_PREEMPTED:
		add_cpu(g, s);
		break;
	default:
		break;
	}
	return g->r->ret;
}

/* Begins a thread, if it is one of the model or works on requests; others are ldb's own threads. */
static int on_thread(void *arg, const struct thread *t)
{
	struct reading *g = arg;

	if (t >= g->r->m->threads && t < g->r->m->threads + g->r->m->nr_threads)
		g->actor = t - g->r->m->threads;
	else
		g->actor = replay_find_stranger(g->r, t->tid);
	g->last_event = 0;
	if (g->actor != NONE)
		replay_funcs_thread(g->funcs, g->actor);
	return g->r->ret;
}

/* Wake-ups, which are items of the waking threads */

struct asleep {
	int64_t start, end;
	int64_t since;		/* start of the item that contains this item */
	uint32_t actor;
};

struct sleepers {
	struct asleep *at;	/* by actor and start */
	size_t nr;
};

COMPARE(asleep_compare, struct asleep, UP(actor) UP(start) DOWN(end))

/* A call that waits, and each sleep in it, are separate items: finds the call of each sleep. */
static void find_outer(struct sleepers *w)
{
	const struct asleep *outer = NULL;

	for (size_t i = 0; i < w->nr; i++) {
		struct asleep *a = &w->at[i];
		bool is_part = outer && outer->actor == a->actor && a->start < outer->end;

		a->since = is_part ? outer->since : a->start;
		if (!is_part || a->end > outer->end)
			outer = a;
	}
}

/*
 * Finds the waits and sleeps of threads that woke others.  The caller frees w->at, also after an
 * error.
 */
static void find_sleepers(struct replay *r, struct sleepers *w)
{
	bool *has_woken = calloc(r->nr_actors + 1, sizeof(*has_woken));

	*w = (struct sleepers){ malloc((r->nr_items + 1) * sizeof(*w->at)), 0 };
	if (!w->at || !has_woken)
		r->ret = -ENOMEM;
	for (size_t i = 0; i < r->nr_items && !r->ret; i++)
		if (r->items[i].kind == ITEM_EVENT)
			has_woken[r->items[i].object] = true;
	for (size_t i = 0; i < r->nr_items && !r->ret; i++) {
		const struct item *k = &r->items[i];

		if (k->kind >= ITEM_WAIT && k->kind <= ITEM_SLEEP && has_woken[k->actor])
			w->at[w->nr++] = (struct asleep){ k->start, k->end, k->start, k->actor };
	}
	free(has_woken);
	sort_by(w->at, w->nr, asleep_compare);
	find_outer(w);
}

/*
 * Returns when the waker was last awake, at `at` or before.  The recorded time of a wake-up is when
 * the woken thread was in a run queue; another CPU may have put it there, and the waker may have
 * gone to sleep before that.
 */
static int64_t awake_at(const struct sleepers *w, uint32_t actor, int64_t at)
{
	const struct asleep key = { .actor = actor, .start = at };
	size_t low = search(w->nr, i, asleep_compare(&w->at[i], &key) < 0);

	if (!low || w->at[low - 1].actor != actor || w->at[low - 1].end <= at)
		return at;
	return w->at[low - 1].since;
}

/*
 * Moves each wake-up to a time at which its waker was awake.  A sleep that the waker cannot have
 * ended ends as recorded.
 */
static void mend_events(struct replay *r)
{
	struct sleepers w;

	find_sleepers(r, &w);
	for (size_t i = 0; i < r->nr_items && !r->ret; i++) {
		struct item *e = &r->items[i];
		int64_t at;

		if (e->kind != ITEM_EVENT)
			continue;
		at = awake_at(&w, e->object, e->mid);
		if (e->object == e->actor || at < e->start)
			e->kind = ITEM_FIXED;
		else
			e->mid = at;
	}
	free(w.at);
}

static void add_posts(struct replay *r)
{
	for (size_t i = 0, nr = r->nr_items; i < nr && !r->ret; i++) {
		struct item *e = &r->items[i];
		uint32_t waker = e->object;

		if (e->kind != ITEM_EVENT)
			continue;
		e->object = r->nr_events++;
		replay_add_item(r, ITEM_POST, waker, e->mid, e->mid, e->object);
	}
}

void replay_read(struct replay *r)
{
	struct reading g = { .r = r, .funcs = replay_funcs_open(r) };
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct tracks_sink sink = { .thread = on_thread, .segment = on_segment, .arg = &g };
	struct tracks_result result;

	for (size_t i = 0; i < r->m->nr_threads; i++)
		replay_new_actor(r, r->m->threads[i].tid);
	if (!r->ret)
		replay_read_instances(r);
	o.progress = r->o->progress;
	o.progress_arg = r->o->progress_arg;
	/* Functions are read only if needed, because they are the greatest part of a recording. */
	if (!replay_wants_funcs(r))
		o.min_ns = INT64_MAX / 4;
	if (!r->ret)
		r->ret = tracks_each(r->m, &o, &sink, &result);
	if (!r->ret)
		replay_funcs_end(g.funcs);
	replay_funcs_close(g.funcs);
	if (!r->ret)
		mend_events(r);
	add_posts(r);
}
