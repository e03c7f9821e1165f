// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes steps of items, thread by thread.
 *
 * A cursor goes through the starts and ends of a thread's items.  An item that takes time moves the
 * cursor to its end; from the cursor to the next item the thread runs.
 *
 * If a thread waits for work between two requests that it takes from queues, all that it does in
 * between becomes one STEP_TAKE.  Its delay begins when both the thread and the request are ready,
 * and includes the locks of the queue.
 */
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "replay-private.h"

#define HELD_MAX	64
#define SERIALS		1024
#define SERIAL_TIME_MAX	((int64_t)1 << 52)	/* 52 days */
#define WAY_MAX		4096	/* steps */
#define SOLID_NS	50000	/* a lock held for longer does not only protect a queue */
#define GAPS_MIN	4
#define SHORT_PART	20	/* pauses below 1/20 of the long ones are ignored */

struct edge {
	int64_t time;
	uint32_t item;		/* counted from the actor's first */
	uint8_t rank, is_end;
};

struct held {
	uint32_t lock;
	int64_t serial;
};

struct pause {
	int64_t start, end;
	size_t step;
};

struct maker {
	struct replay *r;
	struct replay_actor *actor;
	struct edge *edges;
	size_t nr_edges, room_edges;
	struct pause *gaps;
	size_t nr_gaps, room_gaps;
	int64_t cursor;
	/* the step that moved the cursor last, if it was a wait; else SIZE_MAX */
	size_t interval;
	unsigned nr_open;	/* spans of requests on the thread */
	bool has_takes;
	struct held held[HELD_MAX];
	unsigned nr_held;
	unsigned nr_serials;
	/* pieces of the thread's time with a factor: the one at the cursor; their end */
	size_t piece, end_pieces;
	bool is_idle;		/* the thread has been waiting for work since idle_since */
	int64_t idle_since;
	size_t idle_step;
};

static struct step *add_step(struct maker *k, enum step_kind kind, uint32_t object, int64_t base)
{
	return replay_add_step(k->r, kind, object, base);
}

/* Returns the length of [from, to] with the changes applied. */
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

/* Records that the last step is a pause. */
static void add_gap(struct maker *k, int64_t start, int64_t end)
{
	*replay_add(k->r, k, gaps) = (struct pause){ start, end, k->r->nr_steps - 1 };
}

static void run_to(struct maker *k, int64_t to)
{
	int64_t from = k->cursor;

	if (to <= from)
		return;
	add_step(k, STEP_RUN, NONE, to - from)->scaled = scale(k, from, to);
	k->cursor = to;
	k->interval = SIZE_MAX;
	/* Without kernel events, a pause cannot be distinguished from work. */
	if (!k->r->m->has_sched && !is_busy(k))
		add_gap(k, from, to);
}

/* Locks */

/*
 * Returns the serial number of an acquisition: in the order of the recording, and different for all
 * acquisitions of a thread.
 */
static int64_t serial_of(struct maker *k, const struct item *i)
{
	int64_t at = i->kind == ITEM_WAIT ? i->end : i->start;

	at = max(at, 0);
	at = min(at, SERIAL_TIME_MAX);
	k->nr_serials = (k->nr_serials + 1) % SERIALS;
	return at * SERIALS + k->nr_serials;
}

static void acquire(struct maker *k, const struct item *i, int64_t delay, unsigned flags)
{
	struct step *s = add_step(k, STEP_ACQUIRE, i->object, delay);

	s->flags = flags | (i->flags & ITEM_F_SHARED ? STEP_F_SHARED : 0);
	s->scaled = serial_of(k, i);
	if (k->nr_held < HELD_MAX)
		k->held[k->nr_held++] = (struct held){ i->object, s->scaled };
}

static void release(struct maker *k, uint32_t lock)
{
	unsigned i = k->nr_held;

	while (i && k->held[i - 1].lock != lock)
		i--;
	if (!i--)
		return;
	add_step(k, STEP_RELEASE, lock, 0)->scaled = k->held[i].serial;
	memmove(&k->held[i], &k->held[i + 1], (--k->nr_held - i) * sizeof(k->held[0]));
}

static void wait_for_lock(struct maker *k, const struct item *i)
{
	bool is_blind = i->flags & ITEM_F_BLIND;
	struct replay *r = k->r;

	if (is_blind)
		add_step(k, STEP_DELAY, NONE, i->end - i->start);
	acquire(k, i, is_blind ? 0 : i->end - i->mid, is_blind ? 0 : STEP_F_WAITED);
	k->interval = is_blind ? SIZE_MAX : r->nr_steps - 1;
	/* Other threads took the lock while this thread waited, because it took long to wake up. */
	if (i->nr_passes && !is_blind && !r->ret)
		*replay_add(r, r, passes) = (struct replay_pass){ r->steps[r->nr_steps - 1].scaled,
								  i->pass_ns, i->nr_passes };
	if (!(i->flags & ITEM_F_PAIRED)) {
		release(k, i->object);
		k->interval = SIZE_MAX;
	}
}

/* Items that take time */

static void sleep_step(struct maker *k, const struct item *i)
{
	add_step(k, STEP_SLEEP, NONE, i->end - i->start)->scaled = scale(k, i->start, i->end);
	if (i->kind == ITEM_SLEEP && !is_busy(k))
		add_gap(k, i->start, i->end);
}

static void wait_step(struct maker *k, const struct item *i)
{
	switch (i->kind) {
	case ITEM_EVENT:
		add_step(k, STEP_AWAIT, i->object, i->end - i->mid);
		break;
	case ITEM_JOIN:
		add_step(k, STEP_JOIN, i->object, 0);
		break;
	case ITEM_FAILED:
		add_step(k, STEP_DELAY, NONE, i->end - i->start);
		break;
	case ITEM_FIXED:
		k->r->w->nr_fixed++;
		ticks_add(&k->r->w->fixed_ns, i->end - i->start);
		add_step(k, STEP_UNTIL, NONE, i->end);
		break;
	case ITEM_WAIT:
		wait_for_lock(k, i);
		break;
	default:
		sleep_step(k, i);
		break;
	}
}

static void on_wait(struct maker *k, const struct item *from)
{
	struct item cut = *from, *i = &cut;

	if (i->end <= k->cursor && i->kind != ITEM_WAIT)
		return;
	i->start = max(i->start, k->cursor);
	if (i->end < i->start)
		i->end = i->mid = i->start;
	run_to(k, i->start);
	if (i->flags & ITEM_F_IDLE && !k->nr_open && !k->is_idle) {
		k->is_idle = true;
		k->idle_since = k->cursor;
		k->idle_step = k->r->nr_steps;
	}
	k->interval = k->r->nr_steps;
	wait_step(k, i);
	k->cursor = max(k->cursor, i->end);
}

/*
 * Adds a wait for a CPU.  It may overlap the end of a wait that has a step already, which then
 * becomes shorter.
 */
static void on_cpu(struct maker *k, const struct item *i)
{
	struct step *wait = k->interval < k->r->nr_steps ? &k->r->steps[k->interval] : NULL;
	int64_t ns = 0;

	if (i->start >= k->cursor) {
		run_to(k, i->start);
	} else if (wait && (wait->kind == STEP_ACQUIRE || wait->kind == STEP_AWAIT)) {
		ns = (i->end < k->cursor ? i->end : k->cursor) - i->start;
		ns = min(ns, wait->base);
		wait->base -= ns;
	}
	if (i->end > k->cursor) {
		ns += i->end - k->cursor;
		k->cursor = i->end;
		k->interval = SIZE_MAX;
	}
	if (ns)
		add_step(k, STEP_CPU, NONE, ns)->flags = i->kind == ITEM_PREEMPTED ? STEP_F_PREEMPTED : 0;
}

/* Taking from a queue */

static bool has_serial(const struct step *steps, size_t nr, enum step_kind kind, int64_t serial)
{
	for (size_t i = 0; i < nr; i++)
		if (steps[i].kind == kind && steps[i].scaled == serial)
			return true;
	return false;
}

/*
 * Removes the steps with which the thread accessed the queue, except those for which others may
 * wait.  The thread may still hold some of the locks: stores their acquisitions in late[]; they
 * come after the STEP_TAKE.
 */
static void cut_way(struct maker *k, size_t from, struct step *late, unsigned *nr_late)
{
	struct step *steps = k->r->steps + from;
	size_t nr = k->r->nr_steps - from, kept = 0;

	*nr_late = 0;
	for (size_t i = 0; i < nr; i++) {
		struct step s = steps[i];

		if (s.kind == STEP_ACQUIRE) {
			if (!has_serial(steps + i, nr - i, STEP_RELEASE, s.scaled) && *nr_late < HELD_MAX)
				late[(*nr_late)++] = s;
			continue;
		}
		if (s.kind == STEP_END || s.kind == STEP_BEGIN || s.kind == STEP_PUT ||
		    s.kind == STEP_POST ||
		    (s.kind == STEP_RELEASE && !has_serial(steps, i, STEP_ACQUIRE, s.scaled)))
			steps[kept++] = s;
	}
	k->r->nr_steps = from + kept;
}

static void add_take(struct maker *k, const struct replay_part *p)
{
	const struct replay_part *q = &k->r->parts[p->item];
	struct step late[HELD_MAX];
	int64_t ready, both;
	unsigned nr_late = 0;
	bool is_idle = false;

	if (k->nr_open)
		run_to(k, p->start);
	else
		is_idle = k->is_idle && k->r->nr_steps - k->idle_step < WAY_MAX;
	ready = is_idle ? k->idle_since : k->cursor;
	if (is_idle)
		cut_way(k, k->idle_step, late, &nr_late);
	both = max(q->start, ready);
	add_step(k, STEP_TAKE, p->item, p->start > both ? p->start - both : 0)->flags =
		q->start >= ready ? STEP_F_IDLE : 0;
	k->r->takes[p->item] = k->r->nr_steps - 1;
	for (unsigned i = 0; i < nr_late; i++) {
		struct step *s = add_step(k, STEP_ACQUIRE, late[i].object, 0);

		*s = late[i];
		s->flags &= STEP_F_SHARED;
	}
	k->cursor = max(k->cursor, p->start);
	k->interval = SIZE_MAX;
	k->has_takes = true;
}

static void on_part(struct maker *k, const struct item *i)
{
	const struct replay_part *p = &k->r->parts[i->object];

	if (p->item != NONE)
		add_take(k, p);
	else
		run_to(k, i->start);
	if (p->is_first)
		add_step(k, STEP_BEGIN, p->instance, 0);
	k->nr_open++;
	k->is_idle = false;
}

static void on_part_end(struct maker *k, const struct item *i)
{
	run_to(k, i->end);
	add_step(k, STEP_END, k->r->parts[i->object].instance, 0);
	k->nr_open--;
	k->is_idle = false;
}

static void on_put(struct maker *k, const struct item *i)
{
	const struct replay_part *p = &k->r->parts[i->object];

	run_to(k, i->start);
	if (p->is_first)
		add_step(k, STEP_BEGIN, p->instance, 0);
	if (p->pool != NONE)
		add_step(k, STEP_PUT, i->object, 0);
}

static void on_hold(struct maker *k, const struct item *i)
{
	if (i->flags & ITEM_F_PAIRED)
		return;
	run_to(k, i->start);
	acquire(k, i, 0, 0);
}

static void on_hold_end(struct maker *k, const struct item *i)
{
	run_to(k, i->end);
	if (i->end - i->start >= SOLID_NS)
		k->is_idle = false;
	release(k, i->object);
}

static void on_post(struct maker *k, const struct item *i)
{
	run_to(k, i->start);
	add_step(k, STEP_POST, i->object, 0);
}

static const struct kind {
	/*
	 * Of edges at the same time, the one with the lower rank comes first.  An item without
	 * on_end() has no edge at its end.
	 */
	uint8_t rank, end_rank;
	void (*on_begin)(struct maker *k, const struct item *i);
	void (*on_end)(struct maker *k, const struct item *i);
} kinds[] = {
	[ITEM_HOLD] = { 5, 0, on_hold, on_hold_end },
	[ITEM_PART] = { 4, 1, on_part, on_part_end },
	[ITEM_PUT] = { 2, 0, on_put, NULL },
	[ITEM_POST] = { 3, 0, on_post, NULL },
	[ITEM_RUNNABLE] = { 6, 0, on_cpu, NULL },
	[ITEM_PREEMPTED] = { 6, 0, on_cpu, NULL },
	[ITEM_WAIT] = { 6, 0, on_wait, NULL },
	[ITEM_FAILED] = { 6, 0, on_wait, NULL },
	[ITEM_EVENT] = { 6, 0, on_wait, NULL },
	[ITEM_FIXED] = { 6, 0, on_wait, NULL },
	[ITEM_JOIN] = { 6, 0, on_wait, NULL },
	[ITEM_IO] = { 6, 0, on_wait, NULL },
	[ITEM_SLEEP] = { 6, 0, on_wait, NULL },
};

#define RANK_LAST	7	/* the end of an item does not come before its start */

/* Edges */

COMPARE(edge_compare, struct edge, UP(time) UP(rank) UP(item))

static void make_edges(struct maker *k, const struct item *items, size_t nr)
{
	k->nr_edges = 0;
	for (size_t n = 0; n < nr; n++) {
		const struct item *i = &items[n];
		const struct kind *kind = &kinds[i->kind];

		*replay_add(k->r, k, edges) = (struct edge){ i->start, n, kind->rank, false };
		if (kind->on_end)
			*replay_add(k->r, k, edges) = (struct edge){
				i->end, n, i->start == i->end ? RANK_LAST : kind->end_rank, true,
			};
	}
	qsort(k->edges, k->nr_edges, sizeof(*k->edges), edge_compare);
}

/* Pauses */

COMPARE_NUMBERS(compare_ns, int64_t)

/* Returns the least length of a pause; shorter ones are just times between two steps. */
static int64_t shortest(const struct pause *gaps, size_t nr)
{
	int64_t *lengths = calloc(nr + 1, sizeof(*lengths)), min;

	if (!lengths)
		return 0;
	for (size_t i = 0; i < nr; i++)
		lengths[i] = gaps[i].end - gaps[i].start;
	qsort(lengths, nr, sizeof(*lengths), compare_ns);
	min = lengths[nr - 1 - nr / 10] / SHORT_PART;
	free(lengths);
	return min;
}

struct sums {
	double n, x, y, xx, xy;
};

static void add_sums(struct sums *s, double x, double y)
{
	s->n++;
	s->x += x;
	s->y += y;
	s->xx += x * x;
	s->xy += x * y;
}

/*
 * Returns true if the thread pauses until a time (by a clock), false if it pauses for a duration.
 * If it worked for longer before a pause, a pause by a clock ends at the same time, and a pause for
 * a duration ends later.  No record says which it is, but a pause by a clock is shorter by the
 * additional work before it, so the slope of pauses over work is -1; that of pauses for a duration
 * is 0.
 */
static bool is_clocked(const struct pause *gaps, size_t nr, int64_t *min_ns)
{
	struct sums s = { 0 };
	const struct pause *last = NULL;
	double var;

	*min_ns = 0;
	if (nr < GAPS_MIN)
		return true;
	*min_ns = shortest(gaps, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct pause *g = &gaps[i];

		if (g->end - g->start < *min_ns)
			continue;
		if (last)
			add_sums(&s, g->start - last->end, g->end - g->start);
		last = g;
	}
	var = s.n * s.xx - s.x * s.x;
	/*
	 * If the work is always equally long, both kinds of pause end at the same times; a clock is
	 * assumed, which is more usual.
	 */
	if (s.n < GAPS_MIN || var <= 0)
		return true;
	return (s.n * s.xy - s.x * s.y) / var < -0.5;
}

/* Pauses by a clock end at their recorded ends, whatever comes before them. */
static void set_clocks(struct maker *k)
{
	int64_t min_ns;

	/* The pauses of a thread that takes from queues are waits for work. */
	if (k->has_takes || !k->nr_gaps || !is_clocked(k->gaps, k->nr_gaps, &min_ns))
		return;
	for (size_t i = 0; i < k->nr_gaps; i++) {
		const struct pause *g = &k->gaps[i];
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
	k->nr_gaps = 0;
	k->nr_open = 0;
	k->nr_held = 0;
	k->has_takes = false;
	k->is_idle = false;
	k->interval = SIZE_MAX;
	start = max(start, 0);
	k->cursor = min(start, first->start);
	k->actor->first_step = k->r->nr_steps;
	while (k->piece < k->r->nr_pieces && k->r->pieces[k->piece].actor < actor)
		k->piece++;
	k->end_pieces = k->piece;
	while (k->end_pieces < k->r->nr_pieces && k->r->pieces[k->end_pieces].actor == actor)
		k->end_pieces++;
}

static void make_actor(struct maker *k, uint32_t actor, const struct item *items, size_t nr)
{
	start_actor(k, actor, items);
	add_step(k, STEP_UNTIL, NONE, k->cursor);
	make_edges(k, items, nr);
	for (size_t n = 0; n < k->nr_edges && !k->r->ret; n++) {
		const struct item *i = &items[k->edges[n].item];

		(k->edges[n].is_end ? kinds[i->kind].on_end : kinds[i->kind].on_begin)(k, i);
	}
	while (k->nr_held && !k->r->ret)
		release(k, k->held[k->nr_held - 1].lock);
	if (!k->r->ret)
		set_clocks(k);
	add_step(k, STEP_EXIT, NONE, 0);
	k->actor->nr_steps = k->r->nr_steps - k->actor->first_step;
}

COMPARE(piece_compare, struct replay_piece, UP(actor) UP(start))

COMPARE(pass_compare, struct replay_pass, UP(serial))

void replay_make_steps(struct replay *r)
{
	struct maker k = { .r = r };

	sort_by(r->pieces, r->nr_pieces, piece_compare);
	for (size_t i = 0, end; i < r->nr_items && !r->ret; i = end) {
		for (end = i; end < r->nr_items && r->items[end].actor == r->items[i].actor; end++)
			;
		make_actor(&k, r->items[i].actor, &r->items[i], end - i);
	}
	free(k.edges);
	free(k.gaps);
	sort_by(r->passes, r->nr_passes, pass_compare);
}
