// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The segments that kernel events add to a timeline: of the request's threads
 * while they work on it, and of those in its way while they are.
 *
 * A sleep in a wait that has a segment already only adds what the kernel knows
 * of it; the time it then waits for a CPU is a segment of its own, in it.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "facts/futexes.h"
#include "facts/tasks.h"
#include "facts/ticks.h"
#include "timeline-private.h"

#define IDLE_NS_MIN	50000	/* less: clocks and rows are not that exact */

/* Numbers of segments, by thread and time. */
struct index {
	size_t *at;
	size_t nr;
};

struct emitter {
	struct timeline_build *b;
	struct index waits, holds;
	int64_t resolution_ns;
	bool blocks;		/* what is emitted now is not the request's own */
};

int segment_by_end(const void *pa, const void *pb, void *arg)
{
	const struct timeline *t = arg;
	const struct segment *a = &t->segments[*(const size_t *)pa];
	const struct segment *b = &t->segments[*(const size_t *)pb];

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

static int index_make(struct index *x, struct timeline *t, enum segment_kind kind,
		      enum segment_kind or)
{
	x->at = calloc(t->nr_segments + 1, sizeof(*x->at));
	if (!x->at)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_segments; i++)
		if (t->segments[i].kind == kind || t->segments[i].kind == or)
			x->at[x->nr++] = i;
	if (x->nr)
		qsort_r(x->at, x->nr, sizeof(*x->at), segment_by_end, t);
	return 0;
}

/* The first of the thread's that ends after tick. */
static size_t index_find(const struct index *x, const struct timeline *t, uint32_t tid,
			 int64_t tick)
{
	return search(x->nr, i,
		      t->segments[x->at[i]].tid < tid ||
		      (t->segments[x->at[i]].tid == tid && t->segments[x->at[i]].end <= tick));
}

static struct segment_sched *get_sched(struct segment *s)
{
	if (!s->sched)
		s->sched = calloc(1, sizeof(*s->sched));
	return s->sched;
}

/*
 * Nobody came, or the CPU was idle later, and yet the thread had to wait: its group has no
 * time left.  A CPU is never idle while it has a thread to run.
 */
static bool is_throttled(const struct model *m, const struct sched_off *off)
{
	int64_t idle = 0;

	if (off->nr_migrations)
		return false;
	for (unsigned i = 0; i < off->nr_spans; i++)
		if (off->spans[i].kind == PARTY_IDLE)
			idle += off->spans[i].end - off->spans[i].start;
	return off->next.kind == PARTY_IDLE || ticks_ns(m->reader, idle) > IDLE_NS_MIN;
}

int offcpu_describe(const struct model *m, struct segment *s, const struct sched_off *off)
{
	struct segment_sched *k = get_sched(s);

	if (!k)
		return -ENOMEM;
	k->state = off->state;
	k->waker = off->waker;
	party_identify(m, &k->waker, off->woken);
	if (off->is_preempted) {
		k->preempted_by = off->next;
		party_identify(m, &k->preempted_by, off->out);
		k->is_throttled = is_throttled(m, off);
	}
	k->cpu = off->cpu_wait;
	k->from_cpu = off->cpu_out;
	k->to_cpu = off->cpu_in;
	k->has_lost |= off->has_lost;
	if (off->nr_futexes) {
		k->has_futex = true;
		k->futex = off->futex;
		k->is_futex_woken = off->is_futex_woken;
	}
	return 0;
}

COMPARE(occupant_compare, struct segment_occupant, DOWN(ns))

/* Whoever had the CPU in [start, end). */
int offcpu_add_occupants(const struct model *m, struct segment_sched *k,
			 const struct sched_off *off, int64_t start, int64_t end)
{
	k->occupants = calloc(off->nr_spans + 1, sizeof(*k->occupants));
	if (!k->occupants)
		return -ENOMEM;
	for (unsigned i = 0; i < off->nr_spans; i++) {
		const struct sched_span *span = &off->spans[i];
		int64_t from = span->start > start ? span->start : start;
		int64_t to = span->end < end ? span->end : end;
		struct party who = { .kind = span->kind, .tid = span->tid };
		size_t n = 0;

		if (from >= to)
			continue;
		while (n < k->nr_occupants && !party_is(&k->occupants[n].who, &who))
			n++;
		if (n == k->nr_occupants) {
			party_identify(m, &who, span->start);
			k->occupants[k->nr_occupants++].who = who;
		}
		ticks_add(&k->occupants[n].ns, ticks_ns(m->reader, to - from));
	}
	qsort(k->occupants, k->nr_occupants, sizeof(*k->occupants), occupant_compare);
	return 0;
}

/* The function that was being executed: the kernel saw it, or it is the one of that time. */
const struct frame *offcpu_set_place(struct timeline_build *b, struct segment *s,
				     const struct sched_off *off)
{
	const struct frame *f = off->gen ? frames_at(b, off->tid, off->gen, off->out) :
				frames_through(b, off->tid, off->out, off->in);

	if (off->pc)
		s->site = symtab_lookup(b->m->symtab, off->pc, off->out);
	else if (f)
		s->site = symtab_lookup(b->m->symtab, f->pc, f->full_start);
	s->gen = off->gen;
	return f;
}

static unsigned hold_level(const struct emitter *e, uint32_t tid, int64_t start, int64_t end)
{
	const struct timeline *t = e->b->t;
	unsigned level = 0;

	for (size_t i = index_find(&e->holds, t, tid, start); i < e->holds.nr; i++) {
		const struct segment *s = &t->segments[e->holds.at[i]];

		if (s->tid != tid)
			break;
		if (s->start < end && (!level || s->level < level))
			level = s->level;
	}
	return level;
}

/* The part [start, end) of [full_start, full_end). */
struct part {
	int64_t start, end, full_start, full_end;
};

static struct segment *emit(struct emitter *e, const struct sched_off *off, enum segment_kind kind,
			    const struct part *p)
{
	struct timeline_build *b = e->b;
	struct segment *s = timeline_add(b, kind, off->tid, p->start, p->end), *wait;
	const struct frame *f;
	size_t i;

	if (!s || offcpu_describe(b->m, s, off))
		return NULL;
	if ((kind == SEGMENT_RUNNABLE || kind == SEGMENT_PREEMPTED) &&
	    offcpu_add_occupants(b->m, s->sched, off, p->start, p->end))
		return NULL;
	f = offcpu_set_place(b, s, off);
	s->depth = f ? f->depth + 1 : 0;
	i = index_find(&e->waits, b->t, off->tid, p->start);
	wait = i < e->waits.nr ? &b->t->segments[e->waits.at[i]] : NULL;
	if (wait && wait->tid == off->tid && wait->start <= p->start)
		s->depth = wait->depth + 1;
	s->full_start_ns = ticks_time_ns(b->m->reader, p->full_start);
	s->full_end_ns = ticks_time_ns(b->m->reader, p->full_end);
	s->is_clipped = p->full_start < p->start || p->full_end > p->end;
	s->is_truncated = (!off->has_out && p->full_start == off->out) ||
			  (!off->has_in && p->full_end == off->in && off->in <= p->end);
	s->resolution_ns = e->resolution_ns;
	s->blocks_req = e->blocks;
	if (e->blocks)
		s->level = hold_level(e, off->tid, p->start, p->end);
	return s;
}

/*
 * A sleep inside the wait for a lock: the lock's, or at least none of another
 * lock.  The disk is a reason of its own, wherever it strikes.
 */
bool offcpu_is_of_wait(const struct offcpu *o, const struct segment *wait)
{
	const struct sched_off *off = &o->off;

	if (off->state == LDB_STATE_DISK)
		return false;
	if (o->is_event || !off->nr_futexes)
		return true;
	return futex_is_inside(off->futex, wait->lock, wait->lock_kind);
}

/* True if a wait has it; -ENOMEM. */
static int add_to_waits(struct emitter *e, const struct offcpu *o, const struct part *p)
{
	struct timeline *t = e->b->t;
	int found = 0;

	for (size_t i = index_find(&e->waits, t, o->off.tid, p->start); i < e->waits.nr; i++) {
		struct segment *s = &t->segments[e->waits.at[i]];
		int64_t start = s->start > p->start ? s->start : p->start;
		int64_t end = s->end < p->end ? s->end : p->end;

		if (s->tid != o->off.tid || s->start >= p->end)
			break;
		if (!offcpu_is_of_wait(o, s))
			continue;
		if (offcpu_describe(e->b->m, s, &o->off))
			return -ENOMEM;
		ticks_add(&s->sched->asleep_ns, ticks_ns(e->b->m->reader, end - start));
		if (s->kind == SEGMENT_FUTEX_WAIT) {
			offcpu_set_place(e->b, s, &o->off);
			s->resolution_ns = e->resolution_ns;
		}
		found = 1;
	}
	return found;
}

static int emit_sleep(struct emitter *e, const struct offcpu *o, const struct part *p)
{
	struct model *m = e->b->m;
	int found = add_to_waits(e, o, p);
	struct segment *s;

	if (found)
		return found < 0 ? found : 0;
	s = emit(e, &o->off, o->off.nr_futexes ? SEGMENT_FUTEX_WAIT : SEGMENT_BLOCKED, p);
	if (!s)
		return -ENOMEM;
	if (o->off.nr_futexes) {
		s->lock = o->off.futex;
		s->lock_symbol = symtab_lookup_data(m->symtab, o->off.futex, o->off.out);
		s->lock_kind = LOCK_KIND_FUTEX;
	}
	return 0;
}

/* What of one time off the CPU falls into in. */
static int emit_off(struct emitter *e, const struct offcpu *o, const struct interval *in)
{
	const struct sched_off *off = &o->off;
	struct part p = { .full_start = off->out, .full_end = off->woken };
	int ret = 0;

	p.start = p.full_start > in->start ? p.full_start : in->start;
	p.end = p.full_end < in->end ? p.full_end : in->end;
	if (p.start < p.end)
		ret = emit_sleep(e, o, &p);
	p.full_start = off->woken;
	p.full_end = off->in;
	p.start = p.full_start > in->start ? p.full_start : in->start;
	p.end = p.full_end < in->end ? p.full_end : in->end;
	if (!ret && p.start < p.end &&
	    !emit(e, off, off->is_preempted ? SEGMENT_PREEMPTED : SEGMENT_RUNNABLE, &p))
		ret = -ENOMEM;
	return ret;
}

static int emit_list(struct emitter *e, const struct interval_list *list, bool blocks)
{
	const struct timeline_build *b = e->b;
	int ret = 0;

	e->blocks = blocks;
	for (size_t i = 0; i < list->nr && !ret; i++) {
		const struct interval *in = &list->at[i];
		size_t lo = search(b->nr_offs, k,
				   b->offs[k].off.tid < in->tid ||
				   (b->offs[k].off.tid == in->tid && b->offs[k].off.in <= in->start));

		for (; lo < b->nr_offs && !ret; lo++) {
			const struct sched_off *off = &b->offs[lo].off;

			if (off->tid != in->tid || off->out >= in->end)
				break;
			ret = emit_off(e, &b->offs[lo], in);
		}
	}
	return ret;
}

/* The interval of the thread around tick. */
static bool is_in(const struct interval_list *list, uint32_t tid, int64_t tick)
{
	size_t lo = search_by(list->at, list->nr, in,
			      in->tid < tid || (in->tid == tid && in->end < tick));

	return lo < list->nr && list->at[lo].tid == tid && list->at[lo].start <= tick;
}

static int add_migrations(struct timeline_build *b)
{
	struct timeline *t = b->t;

	t->migrations = calloc(b->nr_migrations + 1, sizeof(*t->migrations));
	if (!t->migrations)
		return -ENOMEM;
	/* They come in order of time. */
	for (size_t i = 0; i < b->nr_migrations; i++) {
		const struct sched_migration *m = &b->migrations[i];
		bool is_own = is_in(&b->own, m->tid, m->tick);

		if (!is_own && !is_in(&b->blamed, m->tid, m->tick))
			continue;
		t->migrations[t->nr_migrations++] = (struct timeline_migration){
			.tid = m->tid, .from_cpu = m->from, .to_cpu = m->to,
			.thread = model_thread(b->m, m->tid, m->tick),
			.at_ns = ticks_time_ns(b->m->reader, m->tick), .blocks_req = !is_own,
		};
	}
	return 0;
}

static void add_sums(struct timeline *t)
{
	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];
		int64_t *sum = s->kind == SEGMENT_RUNNABLE ? &t->runnable_ns :
			       s->kind == SEGMENT_PREEMPTED ? &t->preempted_ns :
			       s->kind == SEGMENT_BLOCKED ? &t->blocked_ns :
			       s->kind == SEGMENT_FUTEX_WAIT ? &t->futex_wait_ns : NULL;

		if (sum && !s->blocks_req)
			ticks_add(sum, s->end_ns - s->start_ns);
	}
}

int offcpu_emit(struct timeline_build *b)
{
	struct emitter e = { .b = b };
	int ret;

	if (!b->m->has_sched)
		return 0;
	e.resolution_ns = sched_resolution_ns(b->m);
	ret = index_make(&e.waits, b->t, SEGMENT_LOCK_WAIT, SEGMENT_FUTEX_WAIT);
	if (!ret)
		ret = index_make(&e.holds, b->t, SEGMENT_LOCK_HOLD, SEGMENT_LOCK_HOLD);
	if (!ret)
		ret = emit_list(&e, &b->own, false);
	if (!ret)
		ret = emit_list(&e, &b->blamed, true);
	if (!ret)
		ret = add_migrations(b);
	if (!ret)
		add_sums(b->t);
	free(e.waits.at);
	free(e.holds.at);
	return ret;
}
