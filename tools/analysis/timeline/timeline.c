// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The timeline of one request; see timeline.h.  Reads LOCK rows of its time,
 * finds the threads that matter, then reads FUNC rows of its time.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "timeline-private.h"

/* An unlock is stamped after the waiter may have gone on. */
#define AFTER_NS	10000000

struct segment *timeline_add(struct timeline_build *b, enum segment_kind kind, uint32_t tid,
			     int64_t start, int64_t end)
{
	struct timeline *t = b->t;
	struct segment *s;

	if (!array_room(&t->segments, &b->room_segments, t->nr_segments, sizeof(*t->segments)))
		return NULL;
	s = &t->segments[t->nr_segments++];
	*s = (struct segment){
		.kind = kind, .tid = tid, .thread = model_thread(b->m, tid, start),
		.start = start, .end = end,
		.start_ns = ticks_time_ns(b->m->reader, start),
		.end_ns = ticks_time_ns(b->m->reader, end),
	};
	s->full_start_ns = s->start_ns;
	s->full_end_ns = s->end_ns;
	return s;
}

int interval_add(struct interval_list *list, uint32_t tid, int64_t start, int64_t end)
{
	if (!array_room(&list->at, &list->room, list->nr, sizeof(*list->at)))
		return -ENOMEM;
	list->at[list->nr++] = (struct interval){ tid, start, end };
	return 0;
}

COMPARE(interval_compare, struct interval, UP(tid) UP(start))

/* Sorted, and overlapping ones joined. */
void interval_merge(struct interval_list *list)
{
	size_t nr = 0;

	if (!list->nr)
		return;
	qsort(list->at, list->nr, sizeof(*list->at), interval_compare);
	for (size_t i = 0; i < list->nr; i++) {
		struct interval *last = nr ? &list->at[nr - 1] : NULL;

		if (last && last->tid == list->at[i].tid && list->at[i].start <= last->end) {
			if (list->at[i].end > last->end)
				last->end = list->at[i].end;
		} else {
			list->at[nr++] = list->at[i];
		}
	}
	list->nr = nr;
}

/* The parts of the life: bars of their own, and the times of its threads. */
static int add_parts(struct timeline_build *b)
{
	const struct life *life = b->life;
	struct timeline *t = b->t;

	t->tids = calloc(life->nr_parts + 1, sizeof(*t->tids));
	if (!t->tids)
		return -ENOMEM;
	for (size_t i = 0; i < life->nr_parts; i++) {
		const struct life_part *p = &life->parts[i];
		int64_t end = p->end < life->end ? p->end : life->end;
		struct segment *s;
		size_t k = 0;

		if (end < p->start)
			continue;
		s = timeline_add(b, p->is_queue ? SEGMENT_QUEUE : SEGMENT_REQUEST, p->tid, p->start,
				 end);
		if (!s)
			return -ENOMEM;
		s->site = p->site ? symtab_lookup_call(b->m->symtab, p->site, p->start) : NULL;
		s->is_truncated = p->is_open;
		if (p->is_queue) {
			s->lock = p->queue;
			s->lock_symbol = p->queue ? symtab_lookup_data(b->m->symtab, p->queue,
								       p->start) : NULL;
			s->to_tid = p->to_tid;
			ticks_add(&t->queue_ns, s->end_ns - s->start_ns);
			continue;
		}
		if (interval_add(&b->own, p->tid, p->start, end))
			return -ENOMEM;
		while (k < t->nr_tids && t->tids[k] != p->tid)
			k++;
		if (k == t->nr_tids)
			t->tids[t->nr_tids++] = p->tid;
	}
	interval_merge(&b->own);
	return 0;
}

static int add_locks(void *arg, const struct reader_rows *rows)
{
	struct timeline_build *b = arg;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++)
		ret = lockset_add(&b->locks, &rows->lock[i]);
	return ret;
}

static int tid_compare(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static int u64_compare(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static bool wants_tid(const struct timeline_build *b, uint32_t tid)
{
	return b->nr_tids && bsearch(&tid, b->tids, b->nr_tids, sizeof(tid), tid_compare);
}

static size_t unique_tids(uint32_t *tids, size_t nr)
{
	size_t out = 0;

	if (nr)
		qsort(tids, nr, sizeof(*tids), tid_compare);
	for (size_t i = 0; i < nr; i++)
		if (!out || tids[out - 1] != tids[i])
			tids[out++] = tids[i];
	return out;
}

static void add_wakers(struct timeline_build *b)
{
	size_t nr = b->nr_tids;

	for (size_t i = 0; i < b->nr_offs; i++) {
		uint32_t waker = wants_tid(b, b->offs[i].off.tid) ? wakers_of_sleep(b, &b->offs[i]) : 0;

		if (waker)
			b->tids[nr++] = waker;
	}
	b->nr_tids = unique_tids(b->tids, nr);
}

/*
 * Whose functions are wanted: the request's threads, whoever ended a sleep of theirs, whoever
 * may hold a lock they wait for, whoever may hold a lock those wait for, ...
 */
static int find_tids(struct timeline_build *b)
{
	size_t nr_events = b->locks.nr, nr_locks, before = 0;
	uint64_t *locks = calloc(nr_events + 1, sizeof(*locks));
	int ret = -ENOMEM;

	free(b->tids);
	b->nr_tids = 0;
	b->tids = calloc(b->own.nr + 2 * nr_events + b->nr_offs + 1, sizeof(*b->tids));
	if (!locks || !b->tids)
		goto out;
	for (size_t i = 0; i < b->own.nr; i++)
		b->tids[b->nr_tids++] = b->own.at[i].tid;
	b->nr_tids = unique_tids(b->tids, b->nr_tids);
	add_wakers(b);
	for (unsigned level = 0; level <= TIMELINE_LEVELS_MAX && b->nr_tids > before; level++) {
		size_t nr = b->nr_tids;

		before = nr;
		nr_locks = 0;
		for (size_t i = 0; i < nr_events; i++) {
			const struct lock_event *e = &b->locks.events[i];

			if (e->op != LDB_LOCK_OP_WAIT || !wants_tid(b, e->tid))
				continue;
			locks[nr_locks++] = e->lock;
			if (e->owner || e->waker)
				b->tids[nr++] = e->owner ? e->owner : e->waker;
		}
		if (nr_locks)
			qsort(locks, nr_locks, sizeof(*locks), u64_compare);
		for (size_t i = 0; i < nr_events && nr_locks; i++) {
			const struct lock_event *e = &b->locks.events[i];

			if (e->op == LDB_LOCK_OP_HOLD &&
			    bsearch(&e->lock, locks, nr_locks, sizeof(*locks), u64_compare))
				b->tids[nr++] = e->tid;
		}
		b->nr_tids = unique_tids(b->tids, nr);
	}
	ret = 0;
out:
	free(locks);
	return ret;
}

static int add_funcs(void *arg, const struct reader_rows *rows)
{
	struct timeline_build *b = arg;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		lockset_feed(&b->locks, &rows->func[i]);
		if (wants_tid(b, rows->func[i].tid))
			ret = frames_add(b, &rows->func[i]);
	}
	return ret;
}

static int segment_compare(const void *pa, const void *pb)
{
	const struct segment *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->blocks_req != b->blocks_req)
		return a->blocks_req ? 1 : -1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->end_ns > b->end_ns ? -1 : a->end_ns < b->end_ns;
}

/* Waits that only the kernel knows, or knows who ended them. */
static int find_futexes(struct timeline_build *b)
{
	int ret = offcpu_add_futexes(b);

	if (ret)
		return ret;
	wakers_find(b);
	return find_tids(b);
}

static int read_rows(struct timeline_build *b)
{
	struct reader *reader = b->m->reader;
	struct reader_filter filter = READER_FILTER_ALL;
	int64_t after = ticks_sane(reader_tick(reader, AFTER_NS)) - ticks_sane(reader_tick(reader, 0));
	int ret;

	filter.t_min = b->life->start;
	filter.t_max = b->life->end < INT64_MAX - after ? b->life->end + after : INT64_MAX;
	ret = reader_each(reader, LDB_BLK_LOCK, &filter, add_locks, b);
	if (!ret)
		ret = offcpu_read(b);
	if (!ret)
		ret = find_futexes(b);
	/* Sleeps that began earlier may lead to more threads. */
	if (!ret && b->nr_offs)
		ret = offcpu_read_more(b);
	if (!ret && b->nr_offs)
		ret = find_futexes(b);
	if (!ret)
		ret = lockset_prepare(&b->locks);
	filter.t_max = b->life->end;
	if (!ret)
		ret = reader_each(reader, LDB_BLK_FUNC, &filter, add_funcs, b);
	if (!ret)
		lockset_resolve(&b->locks);
	return ret;
}

static void free_build(struct timeline_build *b)
{
	lockset_free(&b->locks);
	offcpu_free(b);
	free(b->frames);
	free(b->tids);
	free(b->own.at);
	free(b->blamed.at);
	free(b->waits);
	free(b->is_followed);
	free(b->own_offs);
}

int timeline_build(struct model *m, const struct life *life, struct timeline *t)
{
	struct timeline_build b = { .m = m, .life = life, .t = t };
	int ret;

	*t = (struct timeline){
		.req = life->id, .class = life->class,
		.start_ns = ticks_time_ns(m->reader, life->start),
		.end_ns = ticks_time_ns(m->reader, life->end),
		.is_complete = life->is_complete, .has_lost_handoff = life->has_lost_handoff,
	};
	t->latency_ns = t->end_ns - t->start_ns;
	lockset_init(&b.locks, m);
	ret = add_parts(&b);
	if (!ret)
		ret = read_rows(&b);
	if (!ret)
		ret = frames_sort(&b);
	if (!ret) {
		frames_tighten(&b);
		offcpu_tighten(&b);
		frames_nest(&b);
		ret = blame_prepare(&b);
	}
	if (!ret)
		ret = blame_own(&b);
	if (!ret)
		ret = frames_emit(&b);
	if (!ret)
		ret = offcpu_emit(&b);
	if (!ret) {
		if (b.min_ticks)
			t->left_out_ns = ticks_ns(m->reader, b.min_ticks);
		qsort(t->segments, t->nr_segments, sizeof(*t->segments), segment_compare);
		ret = story_build(&b);
	}
	free_build(&b);
	if (ret)
		timeline_free(t);
	return ret;
}

static void free_segments(struct timeline *t)
{
	for (size_t i = 0; i < t->nr_segments; i++) {
		if (t->segments[i].sched)
			free(t->segments[i].sched->occupants);
		free(t->segments[i].sched);
	}
	free(t->segments);
}

void timeline_free(struct timeline *t)
{
	free_segments(t);
	free(t->tids);
	free(t->causes);
	free(t->migrations);
	*t = (struct timeline){ 0 };
}

void timeline_forget_segments(struct timeline *t)
{
	free_segments(t);
	t->segments = NULL;
	t->nr_segments = 0;
	for (size_t i = 0; i < t->nr_causes; i++) {
		t->causes[i].wait = NULL;
		t->causes[i].hold = NULL;
		t->causes[i].hold_func = NULL;
		t->causes[i].hold_off = NULL;
		t->causes[i].off = NULL;
		t->causes[i].nr_links = 0;
	}
}

int timeline_hits(struct model *m, const struct timeline *t, struct hits *h)
{
	struct hits_part *parts = calloc(t->nr_segments + 1, sizeof(*parts));
	size_t nr = 0;
	int ret;

	*h = (struct hits){ 0 };
	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];

		if (s->kind == SEGMENT_REQUEST)
			parts[nr++] = (struct hits_part){ s->tid, s->start, s->end, h };
	}
	ret = hits_count(m, parts, nr);
	free(parts);
	return ret;
}
