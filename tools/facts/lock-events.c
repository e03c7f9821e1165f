// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads waits and holds; see lock-events.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/keyed.h"
#include "base/search.h"
#include "base/sort.h"
#include "lock-events.h"
#include "sched.h"
#include "ticks.h"

#define CHUNK_EVENTS	(2U << 20)

/* A lock that the runtime has recorded; futexes may be words of its object. */
struct object {
	uint64_t lock;
	unsigned kind, group;
};

struct builder {
	struct model *m;
	const struct lock_events_options *options;
	const struct lock_events_sink *sink;
	struct lockset set;
	int64_t t_min, t_max;		/* the range of time of the current chunk of events */
	struct keyed objects;		/* the locks of selected events */
	struct futexes futexes;
	int64_t futex_resolution;	/* ticks */
	/* sink->funcs is called in this pass over the rows; it was called in an earlier pass */
	bool wants_funcs, has_emitted;
};

unsigned lock_kind_group(unsigned kind)
{
	return kind == LDB_LOCK_RWLOCK_WR ? LDB_LOCK_RWLOCK_RD : kind;
}

static int add_object(struct builder *b, const struct lock_event *e)
{
	unsigned kind = LDB_LOCK_KIND(e->flags), group = lock_kind_group(kind);
	uint64_t hash = hash_mix(group, e->lock);
	struct object *o;

	keyed_each(&b->objects, hash, o)
		if (o->lock == e->lock && o->group == group)
			return 0;
	o = keyed_add(&b->objects, hash, sizeof(*o));
	if (!o)
		return -ENOMEM;
	*o = (struct object){ e->lock, kind, group };
	return 0;
}

static bool is_selected(const struct builder *b, const struct lock_event *e)
{
	const char *thread = b->options->thread;

	return e->end >= b->options->from && e->begin <= b->options->to &&
	       (!thread || model_thread_matches(thread, e->tid, model_thread(b->m, e->tid, e->begin)));
}

/* Reports to the sink that the sleep belongs to the wait. */
static int emit_sleep(struct builder *b, const struct lock_event *wait, const struct futex_wait *w)
{
	return b->sink->sleep && is_selected(b, wait) ? b->sink->sleep(b->sink->arg, wait, w) : 0;
}

struct waking {
	struct builder *b;
	const struct lock_event *wait;
};

static int on_sleep(void *arg, const struct futex_wait *w)
{
	struct waking *k = arg;

	return emit_sleep(k->b, k->wait, w);
}

/* Emits an event.  The sleeps on futexes show more exactly when a wait for a condition ended. */
static int add_event(struct builder *b, struct lock_event *e)
{
	struct waking waking = { b, e };
	int ret = 0;

	if (e->op == LDB_LOCK_OP_WAIT && b->futexes.nr)
		ret = futexes_match(&b->futexes, e, on_sleep, &waking);
	if (ret || !is_selected(b, e))
		return ret;
	ret = b->futexes.nr ? add_object(b, e) : 0;
	return ret ? ret : b->sink->event(b->sink->arg, e);
}

COMPARE(object_compare, struct object, UP(lock))

/* Returns the lock whose object contains the futex; NULL: none. */
static const struct object *find_object(const struct object *objects, size_t nr, uint64_t futex)
{
	size_t lo = search(nr, i, objects[i].lock <= futex);

	return lo && futex_is_inside(futex, objects[lo - 1].lock, objects[lo - 1].kind) ?
	       &objects[lo - 1] : NULL;
}

static int add_futex(struct builder *b, const struct object *object, const struct futex_wait *w)
{
	struct lock_event e = {
		.op = LDB_LOCK_OP_WAIT, .flags = object ? object->kind : LOCK_KIND_FUTEX,
		.tid = w->tid, .owner = w->owner, .lock = object ? object->lock : w->futex,
		.gen = w->gen, .begin = w->out, .end = w->woken,
		.resolution = b->futex_resolution,
		.where = w->pc ? symtab_lookup(b->m->symtab, w->pc, w->out) : NULL,
	};
	int ret = is_selected(b, &e) ? b->sink->event(b->sink->arg, &e) : 0;

	return ret ? ret : emit_sleep(b, &e, w);
}

/*
 * Adds the remaining sleeps on futexes.  All recorded waits have been added before, so these belong
 * to none of them.
 */
static int add_futexes(struct builder *b)
{
	size_t nr = b->objects.nr;
	struct object *objects = calloc(nr + 1, sizeof(*objects));
	int ret = 0;

	if (!objects)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		objects[i] = *(const struct object *)b->objects.at[i];
	sort_by(objects, nr, object_compare);
	for (size_t i = 0; i < b->futexes.nr && !ret; i++) {
		const struct futex_wait *w = &b->futexes.at[i];

		if (!w->is_known)
			ret = add_futex(b, find_object(objects, nr, w->futex), w);
	}
	free(objects);
	return ret;
}

/*
 * Returns true if the row overlaps the time of the chunk of events.  The first condition is cheap,
 * and mostly true.
 */
static bool is_in_chunk(const struct builder *b, const struct ldb_row_func *row)
{
	return (row->start_max <= b->t_max && row->end_max >= b->t_min) ||
	       reader_overlaps(LDB_BLK_FUNC, row, b->t_min, b->t_max);
}

static int on_funcs(void *arg, const struct reader_rows *rows)
{
	struct builder *b = arg;

	if (lockset_wants_funcs(&b->set))
		for (size_t i = 0; i < rows->nr; i++)
			if (is_in_chunk(b, &rows->func[i]))
				lockset_feed(&b->set, &rows->func[i]);
	return b->wants_funcs ? b->sink->funcs(b->sink->arg, rows) : 0;
}

/*
 * Reads FUNC rows: those in the time of the chunk of events, or at the end those that the caller
 * wants; both in one pass if the caller wants all rows.
 */
static int read_funcs(struct builder *b, bool is_end)
{
	const struct lock_events_options *o = b->options;
	struct reader_filter filter = READER_FILTER_ALL;
	bool is_all = o->from == INT64_MIN && o->to == INT64_MAX;

	if (o->no_funcs)
		return 0;
	b->wants_funcs = b->sink->funcs && !b->has_emitted && (is_end || is_all);
	if (is_end && !b->wants_funcs)
		return 0;
	b->has_emitted |= b->wants_funcs;
	filter.t_min = b->wants_funcs ? o->from : b->t_min;
	filter.t_max = b->wants_funcs || (o->after && b->t_max > o->to) ? o->to : b->t_max;
	return reader_each(b->m->reader, LDB_BLK_FUNC, &filter, on_funcs, b);
}

static int end_chunk(struct builder *b)
{
	int ret = lockset_prepare(&b->set);

	if (!ret && lockset_wants_funcs(&b->set))
		ret = read_funcs(b, false);
	if (!ret) {
		lockset_resolve(&b->set);
		for (size_t i = 0; i < b->set.nr && !ret; i++)
			ret = add_event(b, &b->set.events[i]);
	}
	lockset_free(&b->set);
	b->t_min = INT64_MAX;
	b->t_max = INT64_MIN;
	return ret;
}

static int add_rows(void *arg, const struct reader_rows *rows)
{
	struct builder *b = arg;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		const struct ldb_row_lock *row = &rows->lock[i];

		ret = lockset_add(&b->set, row);
		if (row->begin < b->t_min)
			b->t_min = row->begin;
		if (row->end > b->t_max)
			b->t_max = row->end;
	}
	if (!ret && b->set.nr >= CHUNK_EVENTS)
		ret = end_chunk(b);
	return ret;
}

static int read_futexes(struct builder *b)
{
	struct futexes *known = b->options->futexes;

	if (!known)
		return futexes_read(b->m, b->options->from, b->options->to, &b->futexes);
	b->futexes = *known;
	*known = (struct futexes){ 0 };
	return 0;
}

/* Emits the events of the LOCK rows first, and then those of the remaining futexes. */
static int each_event(struct builder *b)
{
	struct reader_filter filter = READER_FILTER_ALL;
	int ret = read_futexes(b);

	/*
	 * By default events are not filtered by their start, because that of a hold may not have
	 * been recorded.
	 */
	filter.t_min = b->options->from;
	if (b->options->after)
		filter.t_max = ticks_sane(b->options->to) + b->options->after;
	if (!ret)
		ret = reader_each(b->m->reader, LDB_BLK_LOCK, &filter, add_rows, b);
	if (!ret && b->set.nr)
		ret = end_chunk(b);
	if (!ret)
		ret = read_funcs(b, true);
	return ret ? ret : add_futexes(b);
}

int lock_events_each(struct model *m, const struct lock_events_options *options,
		     const struct lock_events_sink *sink, uint64_t *nr_not_kept)
{
	struct builder b = {
		.m = m, .options = options, .sink = sink, .t_min = INT64_MAX, .t_max = INT64_MIN,
		.futex_resolution = ticks_sane(reader_tick(m->reader, sched_resolution_ns(m))) -
				    ticks_sane(reader_tick(m->reader, 0)),
	};
	int ret;

	lockset_init(&b.set, m);
	ret = each_event(&b);
	*nr_not_kept = b.futexes.nr_not_kept;
	lockset_free(&b.set);
	futexes_free(&b.futexes);
	keyed_free(&b.objects);
	return ret;
}
