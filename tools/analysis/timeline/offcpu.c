// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel events of a timeline: reading the times off the CPU that fall into the
 * life, and joining what the kernel and the shim know of the same wait.
 *
 * A sleep on a futex inside the object of a lock that the same thread waited
 * for at that time is that wait.  Any other sleep on a futex is a lock that the
 * shim does not see: it becomes a wait among the lock events, so that its owner
 * is followed like any other.
 *
 * Rows from a little before the life are read, too: a holder may have lost its
 * CPU before the request came.  Where that does not say what a thread that
 * matters was doing when the life began, more is read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "facts/futexes.h"
#include "facts/ticks.h"
#include "timeline-private.h"

#define OFFS_MAX	(1U << 17)	/* longest ones kept */
#define MIGRATIONS_MAX	(1U << 16)
#define BEFORE_NS	20000000
#define BEFORE_MAX_NS	10000000000
#define AFTER_NS	10000000	/* threads that are off the CPU at the end of the life */

static int64_t ticks_of(const struct timeline_build *b, int64_t ns)
{
	struct reader *r = b->m->reader;

	return ticks_sane(ticks_sane(reader_tick(r, ns)) - ticks_sane(reader_tick(r, 0)));
}

static int compare_i64(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* Leaves out the shorter half. */
static int prune(struct timeline_build *b)
{
	int64_t *lengths = calloc(b->nr_offs, sizeof(*lengths));
	size_t nr = 0;

	if (!lengths)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr_offs; i++)
		lengths[i] = b->offs[i].off.in - b->offs[i].off.out;
	qsort(lengths, b->nr_offs, sizeof(*lengths), compare_i64);
	b->min_off = lengths[b->nr_offs / 2] + 1;
	free(lengths);
	for (size_t i = 0; i < b->nr_offs; i++) {
		if (b->offs[i].off.in - b->offs[i].off.out >= b->min_off)
			b->offs[nr++] = b->offs[i];
		else
			free(b->offs[i].spans);
	}
	b->nr_offs = nr;
	return 0;
}

static int copy_off(struct offcpu *to, const struct sched_off *off)
{
	*to = (struct offcpu){ .off = *off };
	if (!off->nr_spans)
		return 0;
	to->spans = calloc(off->nr_spans, sizeof(*to->spans));
	if (!to->spans)
		return -ENOMEM;
	memcpy(to->spans, off->spans, off->nr_spans * sizeof(*to->spans));
	to->off.spans = to->spans;
	return 0;
}

static int on_off(void *arg, const struct sched_off *off)
{
	struct timeline_build *b = arg;
	int ret = 0;

	if (off->in <= b->life->start || off->out >= b->life->end || off->in <= off->out ||
	    off->in - off->out < b->min_off)
		return 0;
	if (b->nr_offs == 2 * OFFS_MAX)
		ret = prune(b);
	if (ret)
		return ret;
	if (!array_room(&b->offs, &b->room_offs, b->nr_offs, sizeof(*b->offs)))
		return -ENOMEM;
	return copy_off(&b->offs[b->nr_offs++], off);
}

static int on_migration(void *arg, const struct sched_migration *migration)
{
	struct timeline_build *b = arg;

	if (migration->tick < b->life->start || migration->tick > b->life->end ||
	    b->nr_migrations == MIGRATIONS_MAX)
		return 0;
	if (!array_room(&b->migrations, &b->room_migrations, b->nr_migrations, sizeof(*b->migrations)))
		return -ENOMEM;
	b->migrations[b->nr_migrations++] = *migration;
	return 0;
}

COMPARE(off_compare, struct offcpu, UP(off.tid) UP(off.out))

static int64_t read_from(const struct timeline_build *b, int64_t before_ns)
{
	return ticks_sane(b->life->start) - ticks_of(b, before_ns);
}

static int64_t read_to(const struct timeline_build *b)
{
	return ticks_sane(b->life->end) + ticks_of(b, AFTER_NS);
}

int offcpu_read(struct timeline_build *b)
{
	struct sched_sink sink = { .off = on_off, .migration = on_migration, .arg = b };
	struct sched_result result;
	int ret;

	if (!b->m->has_sched)
		return 0;
	ret = sched_each(b->m, read_from(b, BEFORE_NS), read_to(b), &sink, &result);
	if (!ret && b->nr_offs)
		qsort(b->offs, b->nr_offs, sizeof(*b->offs), off_compare);
	return ret;
}

/* Reading further back */

/* What a thread did when the life began is not known. */
static bool is_open(const struct offcpu *o)
{
	return !o->off.has_out;
}

static int on_more(void *arg, const struct sched_off *off)
{
	struct timeline_build *b = arg;
	struct offcpu key = { .off = { .tid = off->tid } };
	size_t lo;

	if (off->in <= b->life->start || off->out > b->life->start || !off->has_out)
		return 0;
	/* Its first one: if any, that is the one whose begin was not known. */
	key.off.out = INT64_MIN;
	lo = search(b->nr_offs, i, off_compare(&b->offs[i], &key) < 0);
	if (lo == b->nr_offs || b->offs[lo].off.tid != off->tid || !is_open(&b->offs[lo]))
		return 0;
	free(b->offs[lo].spans);
	return copy_off(&b->offs[lo], off);
}

static bool wants(const struct timeline_build *b, uint32_t tid)
{
	for (size_t i = 0; i < b->nr_tids; i++)
		if (b->tids[i] == tid)
			return true;
	return false;
}

int offcpu_read_more(struct timeline_build *b)
{
	struct sched_sink sink = { .off = on_more, .arg = b };
	struct sched_result result;
	bool is_needed = false;

	for (size_t i = 0; i < b->nr_offs && !is_needed; i++)
		is_needed = is_open(&b->offs[i]) && wants(b, b->offs[i].off.tid);
	if (!is_needed || read_from(b, BEFORE_NS) <= 0)
		return 0;
	return sched_each(b->m, read_from(b, BEFORE_MAX_NS), read_to(b), &sink, &result);
}

/* Futexes */

struct wait_index {
	const struct lockset *set;
	uint32_t *waits;	/* numbers of events, by tid and end */
	size_t nr;
	uint32_t *objects;	/* numbers of events, one for each lock, by address */
	size_t nr_objects;
};

static int wait_compare(const void *pa, const void *pb, void *arg)
{
	const struct lockset *set = arg;
	const struct lock_event *a = &set->events[*(const uint32_t *)pa];
	const struct lock_event *b = &set->events[*(const uint32_t *)pb];

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

static int object_compare(const void *pa, const void *pb, void *arg)
{
	const struct lockset *set = arg;
	const struct lock_event *a = &set->events[*(const uint32_t *)pa];
	const struct lock_event *b = &set->events[*(const uint32_t *)pb];

	return a->lock < b->lock ? -1 : a->lock > b->lock;
}

static int make_index(struct wait_index *x, struct lockset *set)
{
	*x = (struct wait_index){ .set = set };
	x->waits = calloc(set->nr + 1, sizeof(*x->waits));
	x->objects = calloc(set->nr + 1, sizeof(*x->objects));
	if (!x->waits || !x->objects)
		return -ENOMEM;
	for (size_t i = 0; i < set->nr; i++) {
		if (set->events[i].op == LDB_LOCK_OP_WAIT)
			x->waits[x->nr++] = i;
		x->objects[x->nr_objects++] = i;
	}
	qsort_r(x->waits, x->nr, sizeof(*x->waits), wait_compare, set);
	qsort_r(x->objects, x->nr_objects, sizeof(*x->objects), object_compare, set);
	return 0;
}

static bool is_inside(uint64_t futex, const struct lock_event *e)
{
	return futex_is_inside(futex, e->lock, LDB_LOCK_KIND(e->flags));
}

/* A wait of the thread around that time; of several, one for the futex. */
static struct lock_event *find_wait(const struct wait_index *x, struct lockset *set,
				    const struct sched_off *off)
{
	struct lock_event *found = NULL;
	size_t lo = search(x->nr, i,
			   set->events[x->waits[i]].tid < off->tid ||
			   (set->events[x->waits[i]].tid == off->tid && set->events[x->waits[i]].end <= off->out));

	for (; lo < x->nr; lo++) {
		struct lock_event *w = &set->events[x->waits[lo]];

		if (w->tid != off->tid || w->begin >= off->woken)
			break;
		if (is_inside(off->futex, w))
			return w;
		found = w;
	}
	return found;
}

/* The lock that the shim knows and in which the futex lies. */
static const struct lock_event *find_object(const struct wait_index *x, const struct lockset *set,
					    uint64_t futex)
{
	size_t lo = search(x->nr_objects, i, set->events[x->objects[i]].lock <= futex);

	if (!lo || !is_inside(futex, &set->events[x->objects[lo - 1]]))
		return NULL;
	return &set->events[x->objects[lo - 1]];
}

static int add_futex(struct timeline_build *b, const struct wait_index *x, struct offcpu *o)
{
	struct lock_event *wait = find_wait(x, &b->locks, &o->off);
	const struct lock_event *object;
	struct lock_event e = {
		.flags = LOCK_KIND_FUTEX, .tid = o->off.tid, .lock = o->off.futex,
		.gen = o->off.gen, .begin = o->off.out, .end = o->off.woken,
	};

	if (wait && is_inside(o->off.futex, wait))
		return 0;
	if (wait && LDB_LOCK_KIND(wait->flags) != LDB_LOCK_COND)
		return 0;
	/* pthread_cond_wait() that was signalled and waits for its mutex. */
	if (wait && wait->begin < e.begin && wait->end > e.begin)
		wait->end = e.begin;
	e.owner = futex_owner(b->m, o->off.owner, o->off.out, o->off.woken);
	object = find_object(x, &b->locks, o->off.futex);
	if (object) {
		e.lock = object->lock;
		e.flags = LDB_LOCK_KIND(object->flags);
	}
	o->is_event = true;
	return lockset_add_wait(&b->locks, &e);
}

int offcpu_add_futexes(struct timeline_build *b)
{
	struct wait_index x;
	int ret;

	if (!b->nr_offs)
		return 0;
	ret = make_index(&x, &b->locks);
	for (size_t i = 0; i < b->nr_offs && !ret; i++) {
		struct offcpu *o = &b->offs[i];

		if (o->off.nr_futexes && !o->is_event && o->off.woken > o->off.out)
			ret = add_futex(b, &x, o);
	}
	free(x.waits);
	free(x.objects);
	return ret;
}

/* The innermost frame had begun when its thread lost the CPU, and lasted until it ran again. */
void offcpu_tighten(struct timeline_build *b)
{
	for (size_t i = 0; i < b->nr_offs; i++) {
		const struct sched_off *off = &b->offs[i].off;
		const struct frame *f;

		if (!off->gen || !off->has_out)
			continue;
		f = frames_at(b, off->tid, off->gen, off->out);
		frames_began_by(b, f, off->out);
		if (f && f->gen == off->gen && off->has_in)
			frames_lasted_to(b, f, off->in);
	}
}

void offcpu_free(struct timeline_build *b)
{
	for (size_t i = 0; i < b->nr_offs; i++)
		free(b->offs[i].spans);
	free(b->offs);
	free(b->migrations);
}
