// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From items to steps, thread by thread.
 *
 * A cursor goes through the begins and ends of a thread's items.  From where the last
 * one left it to the next one the thread runs; what takes time moves it to its end.
 *
 * What a thread does between two requests that it takes from queues is waiting for
 * work: it becomes one TAKE with the delay from when both thread and request were
 * there.  The sleeps, and the locks of the queue, are in that delay.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "facts/ticks.h"
#include "replay-private.h"

#define HELD_MAX	64
#define SERIALS		1024
#define SERIAL_TIME_MAX	((int64_t)1 << 52)	/* 52 days */
#define WAY_MAX		4096	/* steps */
#define SOLID_NS	50000	/* a hold as long as this is work, no way to a queue */

struct edge {
	int64_t time;
	uint32_t item;		/* from the actor's first */
	uint8_t rank, is_end;
};

struct held {
	uint32_t lock;
	bool is_shared;
	int64_t serial;
};

struct maker {
	struct replay *r;
	struct replay_actor *actor;
	uint32_t nr_actor;
	struct edge *edges;
	size_t nr_edges, room_edges;
	struct replay_gap *gaps;
	size_t nr_gaps, room_gaps;
	int64_t cursor;
	size_t interval;	/* the step that moved it last, or SIZE_MAX */
	unsigned nr_open;	/* parts */
	bool has_takes;
	struct held held[HELD_MAX];
	unsigned nr_held;
	unsigned nr_serials;
	size_t piece, end_pieces; /* of the thread's time; the one at the cursor */
	bool is_idle;		/* waits for work since */
	int64_t idle_since;
	size_t idle_step;
};

static struct step *add_step(struct maker *k, enum step_kind kind, uint32_t object, int64_t base)
{
	return replay_add_step(k->r, kind, object, base);
}

/* The length of [from, to] with what is changed. */
static int64_t scale(struct maker *k, int64_t from, int64_t to)
{
	const struct replay_piece *pieces = k->r->pieces;
	double sum = 0, factor = 1;

	for (unsigned i = 0; i < k->nr_held; i++)
		factor *= k->r->locks[k->held[i].lock].factor;
	while (k->piece + 1 < k->end_pieces && pieces[k->piece + 1].start <= from)
		k->piece++;
	for (size_t i = k->piece; from < to; i++) {
		bool is_in = i < k->end_pieces && pieces[i].start <= from;
		size_t next = is_in ? i + 1 : i;
		int64_t end = next < k->end_pieces && pieces[next].start < to ?
			      pieces[next].start : to;

		sum += (end - from) * (is_in ? pieces[i].factor : 1);
		from = end;
		if (!is_in)
			i--;
	}
	sum = sum * factor + 0.5;
	return sum < (double)TICKS_MAX ? (int64_t)sum : TICKS_MAX;
}

static bool is_busy(const struct maker *k)
{
	return k->nr_open || k->nr_held;
}

static int add_gap(struct maker *k, int64_t start, int64_t end, size_t step)
{
	struct replay_gap *at = replay_grow(k->gaps, k->nr_gaps, &k->room_gaps, sizeof(*at));

	if (!at)
		return -ENOMEM;
	k->gaps = at;
	at[k->nr_gaps++] = (struct replay_gap){ start, end, step };
	return 0;
}

static int run_to(struct maker *k, int64_t to)
{
	int64_t from = k->cursor;
	struct step *s;

	if (to <= from)
		return 0;
	s = add_step(k, STEP_RUN, NONE, to - from);
	if (!s)
		return -ENOMEM;
	s->scaled = scale(k, from, to);
	k->cursor = to;
	k->interval = SIZE_MAX;
	/* Without kernel events a pause looks like work. */
	if (!k->r->m->has_sched && !is_busy(k))
		return add_gap(k, from, to, k->r->nr_steps - 1);
	return 0;
}

/* Locks */

/* Of an acquisition: in the order of the recording, and no two of a thread are the same. */
static int64_t serial_of(struct maker *k, const struct item *i)
{
	int64_t at = i->kind == ITEM_WAIT ? i->end : i->start;

	if (at < 0)
		at = 0;
	if (at > SERIAL_TIME_MAX)
		at = SERIAL_TIME_MAX;
	k->nr_serials = (k->nr_serials + 1) % SERIALS;
	return at * SERIALS + k->nr_serials;
}

static int acquire(struct maker *k, const struct item *i, int64_t delay, unsigned flags)
{
	struct step *s = add_step(k, STEP_ACQUIRE, i->object, delay);

	if (!s)
		return -ENOMEM;
	s->flags = flags | (i->flags & ITEM_F_SHARED ? STEP_F_SHARED : 0);
	s->scaled = serial_of(k, i);
	if (k->nr_held < HELD_MAX)
		k->held[k->nr_held++] = (struct held){ i->object, i->flags & ITEM_F_SHARED,
						       s->scaled };
	return 0;
}

static int release(struct maker *k, uint32_t lock)
{
	for (unsigned i = k->nr_held; i-- > 0;) {
		struct step *s;

		if (k->held[i].lock != lock)
			continue;
		s = add_step(k, STEP_RELEASE, lock, 0);
		if (!s)
			return -ENOMEM;
		s->scaled = k->held[i].serial;
		memmove(&k->held[i], &k->held[i + 1], (--k->nr_held - i) * sizeof(k->held[0]));
		return 0;
	}
	return 0;
}

/* Others took the lock while it waited: it was not fast enough then. */
static int add_pass(struct maker *k, const struct item *i)
{
	struct replay *r = k->r;
	struct replay_pass *at = replay_grow(r->passes, r->nr_passes, &r->room_passes, sizeof(*at));

	if (!at)
		return -ENOMEM;
	r->passes = at;
	at[r->nr_passes++] = (struct replay_pass){ r->steps[r->nr_steps - 1].scaled, i->pass_ns,
						    i->nr_passes };
	return 0;
}

static int wait_for_lock(struct maker *k, const struct item *i)
{
	bool is_blind = i->flags & ITEM_F_BLIND;
	int ret = 0;

	if (is_blind && !add_step(k, STEP_DELAY, NONE, i->end - i->start))
		return -ENOMEM;
	ret = acquire(k, i, is_blind ? 0 : i->end - i->mid, is_blind ? 0 : STEP_F_WAITED);
	k->interval = is_blind ? SIZE_MAX : k->r->nr_steps - 1;
	if (!ret && i->nr_passes && !is_blind)
		ret = add_pass(k, i);
	if (!ret && !(i->flags & ITEM_F_PAIRED)) {
		ret = release(k, i->object);
		k->interval = SIZE_MAX;
	}
	return ret;
}

/* What takes time by itself */

static int sleep_step(struct maker *k, const struct item *i)
{
	struct step *s = add_step(k, STEP_SLEEP, NONE, i->end - i->start);

	if (!s)
		return -ENOMEM;
	s->scaled = scale(k, i->start, i->end);
	if (i->kind == ITEM_SLEEP && !is_busy(k))
		return add_gap(k, i->start, i->end, k->r->nr_steps - 1);
	return 0;
}

static int wait_step(struct maker *k, const struct item *i)
{
	switch (i->kind) {
	case ITEM_EVENT:
		return add_step(k, STEP_AWAIT, i->object, i->end - i->mid) ? 0 : -ENOMEM;
	case ITEM_JOIN:
		return add_step(k, STEP_JOIN, i->object, 0) ? 0 : -ENOMEM;
	case ITEM_FAILED:
		return add_step(k, STEP_DELAY, NONE, i->end - i->start) ? 0 : -ENOMEM;
	case ITEM_FIXED:
		k->r->w->nr_fixed++;
		ticks_add(&k->r->w->fixed_ns, i->end - i->start);
		return add_step(k, STEP_UNTIL, NONE, i->end) ? 0 : -ENOMEM;
	case ITEM_WAIT:
		return wait_for_lock(k, i);
	default:
		return sleep_step(k, i);
	}
}

static int on_wait(struct maker *k, const struct item *from)
{
	struct item cut = *from, *i = &cut;
	int ret;

	if (i->end <= k->cursor && i->kind != ITEM_WAIT)
		return 0;
	if (i->start < k->cursor)
		i->start = k->cursor;
	if (i->end < i->start)
		i->end = i->mid = i->start;
	ret = run_to(k, i->start);
	if (ret)
		return ret;
	if (i->flags & ITEM_F_IDLE && !k->nr_open && !k->is_idle) {
		k->is_idle = true;
		k->idle_since = k->cursor;
		k->idle_step = k->r->nr_steps;
	}
	k->interval = k->r->nr_steps;
	ret = wait_step(k, i);
	if (i->end > k->cursor)
		k->cursor = i->end;
	return ret;
}

/* Of a wait that is a step already, the last part may be one for a CPU. */
static int on_cpu(struct maker *k, const struct item *i)
{
	struct step *wait = k->interval < k->r->nr_steps ? &k->r->steps[k->interval] : NULL;
	int64_t ns = 0;
	struct step *s;
	int ret;

	if (i->start >= k->cursor) {
		ret = run_to(k, i->start);
		if (ret)
			return ret;
	} else if (wait && (wait->kind == STEP_ACQUIRE || wait->kind == STEP_AWAIT)) {
		ns = (i->end < k->cursor ? i->end : k->cursor) - i->start;
		if (ns > wait->base)
			ns = wait->base;
		wait->base -= ns;
	}
	if (i->end > k->cursor) {
		ns += i->end - k->cursor;
		k->cursor = i->end;
		k->interval = SIZE_MAX;
	}
	if (!ns)
		return 0;
	s = add_step(k, STEP_CPU, NONE, ns);
	if (s && i->kind == ITEM_PREEMPTED)
		s->flags = STEP_F_PREEMPTED;
	return s ? 0 : -ENOMEM;
}

/* Taking from a queue */

static bool is_released_in(const struct step *steps, size_t nr, int64_t serial)
{
	for (size_t i = 0; i < nr; i++)
		if (steps[i].kind == STEP_RELEASE && steps[i].scaled == serial)
			return true;
	return false;
}

static bool is_acquired_in(const struct step *steps, size_t nr, int64_t serial)
{
	for (size_t i = 0; i < nr; i++)
		if (steps[i].kind == STEP_ACQUIRE && steps[i].scaled == serial)
			return true;
	return false;
}

/*
 * Leaves out what the thread did on its way to the queue, but not what others may wait
 * for.  What it took on the way and still has, it takes afterwards: *late.
 */
static void cut_way(struct maker *k, size_t from, struct step *late, unsigned *nr_late)
{
	struct step *steps = k->r->steps + from;
	size_t nr = k->r->nr_steps - from, kept = 0;

	*nr_late = 0;
	for (size_t i = 0; i < nr; i++) {
		struct step s = steps[i];

		if (s.kind == STEP_ACQUIRE) {
			if (!is_released_in(steps + i, nr - i, s.scaled) && *nr_late < HELD_MAX)
				late[(*nr_late)++] = s;
			continue;
		}
		if (s.kind == STEP_END || s.kind == STEP_BEGIN || s.kind == STEP_PUT ||
		    s.kind == STEP_POST ||
		    (s.kind == STEP_RELEASE && !is_acquired_in(steps, i, s.scaled)))
			steps[kept++] = s;
	}
	k->r->nr_steps = from + kept;
}

static int take(struct maker *k, const struct replay_part *p)
{
	const struct replay_part *q = &k->r->parts[p->item];
	struct step late[HELD_MAX], *s;
	int64_t ready = k->cursor, both;
	unsigned nr_late = 0;

	if (k->nr_open) {
		int ret = run_to(k, p->start);

		if (ret)
			return ret;
		ready = k->cursor;
	} else if (k->is_idle && k->r->nr_steps - k->idle_step < WAY_MAX) {
		ready = k->idle_since;
		cut_way(k, k->idle_step, late, &nr_late);
	}
	both = q->start > ready ? q->start : ready;
	s = add_step(k, STEP_TAKE, p->item, p->start > both ? p->start - both : 0);
	if (!s)
		return -ENOMEM;
	if (q->start >= ready)
		s->flags = STEP_F_IDLE;
	k->r->takes[p->item] = k->r->nr_steps - 1;
	for (unsigned i = 0; i < nr_late; i++) {
		s = add_step(k, STEP_ACQUIRE, late[i].object, 0);
		if (!s)
			return -ENOMEM;
		*s = late[i];
		s->flags &= STEP_F_SHARED;
	}
	if (p->start > k->cursor)
		k->cursor = p->start;
	k->interval = SIZE_MAX;
	k->has_takes = true;
	return 0;
}

static int on_part(struct maker *k, const struct item *i)
{
	const struct replay_part *p = &k->r->parts[i->object];
	int ret = p->item != NONE ? take(k, p) : run_to(k, i->start);

	if (!ret && p->is_first && !add_step(k, STEP_BEGIN, p->life, 0))
		ret = -ENOMEM;
	k->nr_open++;
	k->is_idle = false;
	return ret;
}

static int on_part_end(struct maker *k, const struct item *i)
{
	const struct replay_part *p = &k->r->parts[i->object];
	int ret = run_to(k, i->end);

	if (!ret && !add_step(k, STEP_END, p->life, 0))
		ret = -ENOMEM;
	k->nr_open--;
	k->is_idle = false;
	return ret;
}

static int on_put(struct maker *k, const struct item *i)
{
	const struct replay_part *p = &k->r->parts[i->object];
	int ret = run_to(k, i->start);

	if (!ret && p->is_first && !add_step(k, STEP_BEGIN, p->life, 0))
		ret = -ENOMEM;
	if (!ret && p->pool != NONE && !add_step(k, STEP_PUT, i->object, 0))
		ret = -ENOMEM;
	return ret;
}

static int on_hold_end(struct maker *k, const struct item *i)
{
	int ret = run_to(k, i->end);

	if (i->end - i->start >= SOLID_NS)
		k->is_idle = false;
	return ret ? ret : release(k, i->object);
}

static int on_edge(struct maker *k, const struct edge *e, const struct item *i)
{
	int ret;

	switch (i->kind) {
	case ITEM_PART:
		return e->is_end ? on_part_end(k, i) : on_part(k, i);
	case ITEM_PUT:
		return on_put(k, i);
	case ITEM_HOLD:
		if (e->is_end)
			return on_hold_end(k, i);
		if (i->flags & ITEM_F_PAIRED)
			return 0;
		ret = run_to(k, i->start);
		return ret ? ret : acquire(k, i, 0, 0);
	case ITEM_POST:
		ret = run_to(k, i->start);
		return ret ? ret : add_step(k, STEP_POST, i->object, 0) ? 0 : -ENOMEM;
	case ITEM_RUNNABLE:
	case ITEM_PREEMPTED:
		return on_cpu(k, i);
	default:
		return on_wait(k, i);
	}
}

/* Edges */

static uint8_t rank_of(const struct item *i, bool is_end)
{
	if (is_end)	/* not before its own begin */
		return i->start == i->end ? 7 : i->kind == ITEM_HOLD ? 0 : 1;
	switch (i->kind) {
	case ITEM_PUT: return 2;
	case ITEM_POST: return 3;
	case ITEM_PART: return 4;
	case ITEM_HOLD: return 5;
	default: return 6;
	}
}

COMPARE(edge_compare, struct edge, UP(time) UP(rank) UP(item))

static int add_edge(struct maker *k, const struct item *items, uint32_t nr, bool is_end)
{
	struct edge *at = replay_grow(k->edges, k->nr_edges, &k->room_edges, sizeof(*at));

	if (!at)
		return -ENOMEM;
	k->edges = at;
	at[k->nr_edges++] = (struct edge){ is_end ? items[nr].end : items[nr].start, nr,
					   rank_of(&items[nr], is_end), is_end };
	return 0;
}

static int make_edges(struct maker *k, const struct item *items, size_t nr)
{
	k->nr_edges = 0;
	for (size_t i = 0; i < nr; i++) {
		bool has_end = items[i].kind == ITEM_HOLD || items[i].kind == ITEM_PART;

		if (add_edge(k, items, i, false) || (has_end && add_edge(k, items, i, true)))
			return -ENOMEM;
	}
	qsort(k->edges, k->nr_edges, sizeof(*k->edges), edge_compare);
	return 0;
}

/* A pause that ends at a time ends then, whatever comes before. */
static void set_clocks(struct maker *k)
{
	int64_t min_ns;

	/* Who waits for work has no pauses of its own. */
	if (k->has_takes || !k->nr_gaps || !replay_is_clocked(k->gaps, k->nr_gaps, &min_ns))
		return;
	for (size_t i = 0; i < k->nr_gaps; i++) {
		const struct replay_gap *g = &k->gaps[i];
		struct step *s = &k->r->steps[g->step];

		if (g->end - g->start < min_ns)
			continue;
		s->kind = STEP_UNTIL;
		s->base = g->end;
		s->scaled = g->end;
	}
}

static void start_actor(struct maker *k, uint32_t actor, const struct item *first)
{
	const struct model *m = k->r->m;
	int64_t start = actor < m->nr_threads ?
			ticks_time_ns(m->reader, m->threads[actor].start) : first->start;

	k->actor = &k->r->actors[actor];
	k->nr_actor = actor;
	k->nr_gaps = 0;
	k->nr_open = 0;
	k->nr_held = 0;
	k->has_takes = false;
	k->is_idle = false;
	k->interval = SIZE_MAX;
	if (start < 0)
		start = 0;
	k->cursor = start < first->start ? start : first->start;
	k->actor->first_step = k->r->nr_steps;
	while (k->piece < k->r->nr_pieces && k->r->pieces[k->piece].actor < actor)
		k->piece++;
	k->end_pieces = k->piece;
	while (k->end_pieces < k->r->nr_pieces && k->r->pieces[k->end_pieces].actor == actor)
		k->end_pieces++;
}

static int make_actor(struct maker *k, uint32_t actor, const struct item *items, size_t nr)
{
	int ret = 0;

	start_actor(k, actor, items);
	if (!add_step(k, STEP_UNTIL, NONE, k->cursor))
		return -ENOMEM;
	ret = make_edges(k, items, nr);
	for (size_t i = 0; i < k->nr_edges && !ret; i++)
		ret = on_edge(k, &k->edges[i], &items[k->edges[i].item]);
	while (k->nr_held && !ret)
		ret = release(k, k->held[k->nr_held - 1].lock);
	set_clocks(k);
	if (!ret && !add_step(k, STEP_EXIT, NONE, 0))
		ret = -ENOMEM;
	k->actor->nr_steps = k->r->nr_steps - k->actor->first_step;
	return ret;
}

COMPARE(piece_compare, struct replay_piece, UP(actor) UP(start))

int replay_make_steps(struct replay *r)
{
	struct maker k = { .r = r };
	size_t end;
	int ret = 0;

	if (r->nr_pieces)
		qsort(r->pieces, r->nr_pieces, sizeof(*r->pieces), piece_compare);
	for (size_t i = 0; i < r->nr_items && !ret; i = end) {
		for (end = i; end < r->nr_items && r->items[end].actor == r->items[i].actor; end++)
			;
		ret = make_actor(&k, r->items[i].actor, &r->items[i], end - i);
	}
	free(k.edges);
	free(k.gaps);
	replay_sort_passes(r);
	return ret;
}
