// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds the timeline of one request; see timeline.h.  The events in its time (gather.c) are cut
 * to the times in which threads worked on it, or blocked it (blame.c).
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "analysis/tracks/tracks.h"
#include "base/array.h"
#include "base/order.h"
#include "base/sort.h"
#include "facts/interruptions.h"
#include "facts/rows.h"
#include "facts/sched-log.h"
#include "facts/ticks.h"
#include "timeline-private.h"

#define MARKS_MAX	(1U << 16)

/* Segments */

static struct segment *new_segment(struct timeline_build *b)
{
	struct timeline *t = b->t;

	if (!array_room(&t->segments, &b->room_segments, t->nr_segments, sizeof(*t->segments)))
		return NULL;
	return &t->segments[t->nr_segments++];
}

static void set_times(const struct timeline_build *b, struct segment *s, int64_t start, int64_t end)
{
	s->start = start;
	s->end = end;
	s->start_ns = ticks_time_ns(b->m->reader, start);
	s->end_ns = ticks_time_ns(b->m->reader, end);
}

struct segment *timeline_add(struct timeline_build *b, enum segment_kind kind, uint32_t tid,
			     int64_t start, int64_t end)
{
	struct segment *s = new_segment(b);

	if (!s)
		return NULL;
	*s = (struct segment){ .kind = kind, .tid = tid, .thread = model_thread(b->m, tid, start) };
	set_times(b, s, start, end);
	s->full_start_ns = s->start_ns;
	s->full_end_ns = s->end_ns;
	return s;
}

struct segment *timeline_add_part(struct timeline_build *b, const struct segment *from, int64_t start,
				  int64_t end)
{
	struct segment *s = new_segment(b);
	int64_t margin = from->kind == SEGMENT_FUNCTION ? from->resolution_ns : 0;

	if (!s)
		return NULL;
	*s = *from;
	set_times(b, s, start, end);
	s->is_clipped = s->start_ns - s->full_start_ns > margin || s->full_end_ns - s->end_ns > margin;
	if (segment_copy_sched(s))
		return NULL;
	if (s->sched && s->sched->asleep_ns > s->end_ns - s->start_ns)
		s->sched->asleep_ns = s->end_ns - s->start_ns;
	segment_cut(b->m, s);
	return s;
}

/* Adds a span of the request as a segment and, if it is on a thread, to the thread's own times. */
static int add_part(struct timeline_build *b, const struct instance_part *p, int64_t end)
{
	struct symtab *st = b->m->symtab;
	struct timeline *t = b->t;
	struct segment *s = timeline_add(b, p->is_queue ? SEGMENT_QUEUE : SEGMENT_REQUEST, p->tid,
					 p->start, end);
	size_t k = 0;

	if (!s)
		return -ENOMEM;
	s->site = p->site ? symtab_lookup_call(st, p->site, p->start) : NULL;
	s->is_truncated = p->is_open;
	if (p->is_queue) {
		s->lock = p->queue;
		s->lock_symbol = p->queue ? symtab_lookup_data(st, p->queue, p->start) : NULL;
		s->to_tid = p->to_tid;
		ticks_add(&t->queue_ns, s->end_ns - s->start_ns);
		return 0;
	}
	while (k < t->nr_tids && t->tids[k] != p->tid)
		k++;
	if (k == t->nr_tids)
		t->tids[t->nr_tids++] = p->tid;
	return intervals_add(&b->own, p->tid, p->start, end);
}

static int add_parts(struct timeline_build *b)
{
	const struct instance *instance = b->instance;
	int ret = 0;

	b->t->tids = calloc(instance->nr_parts + 1, sizeof(*b->t->tids));
	if (!b->t->tids)
		return -ENOMEM;
	for (size_t i = 0; i < instance->nr_parts && !ret; i++) {
		const struct instance_part *p = &instance->parts[i];
		int64_t end = p->end < instance->end ? p->end : instance->end;

		if (end >= p->start)
			ret = add_part(b, p, end);
	}
	return ret ? ret : intervals_merge(&b->own);
}

/* Returns the level of the thread during the segment: the lowest of its holds; 0: it has none. */
static unsigned level_of(const struct index *holds, const struct segment *of)
{
	unsigned level = 0;

	for (size_t n = index_first(holds, of->tid, of->start); n < holds->nr; n++) {
		const struct segment *s = index_at(holds, n);

		if (s->tid != of->tid)
			break;
		if (s->start < of->end && (!level || s->level < level))
			level = s->level;
	}
	return level;
}

/*
 * Adds the parts of a segment that are in the intervals of `list`, in which its thread worked on
 * the request or, if holds is not NULL, blocked it.
 */
static int cut(struct timeline_build *b, const struct segment *s, const struct intervals *list,
	       const struct index *holds)
{
	for (size_t n = intervals_first(list, s->tid, s->start); n < list->nr; n++) {
		const struct thread_interval *in = &list->at[n];
		int64_t start = s->start > in->start ? s->start : in->start;
		int64_t end = s->end < in->end ? s->end : in->end;
		struct segment *part;

		if (in->tid != s->tid || in->start > s->end)
			break;
		if (start >= end && !(start == end && s->start == s->end && end < in->end))
			continue;
		part = timeline_add_part(b, s, start, end);
		if (!part)
			return -ENOMEM;
		part->blocks_req = holds;
		if (holds && segment_is_off(part))
			part->level = level_of(holds, part);
	}
	return 0;
}

static int cut_all(struct timeline_build *b)
{
	struct timeline *t = b->t;
	struct index holds;
	int ret = index_make(&holds, &t->segments, t->nr_segments, segment_is_hold, index_by_thread);

	for (size_t i = 0; i < b->nr_all && !ret; i++) {
		const struct segment *s = &b->all[i];

		if (s->kind != SEGMENT_FUNCTION && s->kind != SEGMENT_SYSCALL && s->kind != SEGMENT_LIBCALL &&
		    (!segment_is_off(s) || s->kind == SEGMENT_FUTEX_WAIT))
			continue;
		ret = cut(b, s, &b->own, NULL);
		if (!ret)
			ret = cut(b, s, &b->blamed, &holds);
	}
	free(holds.at);
	return ret;
}

/* Sums */

static bool is_in(const struct intervals *list, uint32_t tid, int64_t tick)
{
	size_t n = intervals_first(list, tid, tick - 1);

	return n < list->nr && list->at[n].tid == tid && list->at[n].start <= tick;
}

static int add_migrations(struct timeline_build *b)
{
	struct timeline *t = b->t;

	t->migrations = calloc(b->nr_migrations + 1, sizeof(*t->migrations));
	if (!t->migrations)
		return -ENOMEM;
	/* Migrations are in order of time. */
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

static int add_mark(void *arg, const struct marked *mark)
{
	struct timeline_build *b = arg;
	struct timeline *t = b->t;

	if (t->nr_marks == MARKS_MAX || (!is_in(&b->own, mark->tid, mark->tick) &&
					 !is_in(&b->blamed, mark->tid, mark->tick)))
		return 0;
	return array_push(t->marks, t->nr_marks, b->room_marks, *mark);
}

COMPARE(mark_compare, struct marked, UP(tick) UP(tid))

static int add_marks(struct timeline_build *b)
{
	struct reader_filter filter = ROWS_WITHIN(b->instance->start, b->instance->end);
	int ret = marks_each(b->m, &filter, add_mark, b);

	sort_by(b->t->marks, b->t->nr_marks, mark_compare);
	return ret;
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

COMPARE(segment_compare, struct segment,
	UP(start_ns) UP(blocks_req) UP(tid) UP(depth) DOWN(end_ns))

static int edge_compare(const void *pa, const void *pb)
{
	const struct timeline_edge *a = pa, *b = pb;
	int64_t length_a = a->end - a->start, length_b = b->end - b->start;

	if (length_a != length_b)
		return length_a > length_b ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->tid != b->tid ? (a->tid < b->tid ? -1 : 1) : a->by < b->by ? -1 : a->by > b->by;
}

static int add_edges(struct timeline_build *b)
{
	struct timeline *t = b->t;

	t->edges = calloc(b->nr_edges + 1, sizeof(*t->edges));
	if (!t->edges)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr_edges; i++) {
		const struct edge *e = &b->edges[i];

		t->edges[t->nr_edges++] = (struct timeline_edge){
			.tid = e->tid, .by = e->by, .start = e->start, .end = e->end,
			.is_wait = e->is_wait, .is_held = e->source != EDGE_WAKER && e->source != EDGE_RUNNING,
		};
	}
	sort_by(t->edges, t->nr_edges, edge_compare);
	return 0;
}

static int finish(struct timeline_build *b)
{
	struct timeline *t = b->t;

	if (b->min_function)
		t->left_out_ns = ticks_ns(b->m->reader, b->min_function);
	qsort(t->segments, t->nr_segments, sizeof(*t->segments), segment_compare);
	add_sums(t);
	if (add_edges(b) || add_marks(b))
		return -ENOMEM;
	return add_migrations(b);
}

static void free_build(struct timeline_build *b)
{
	for (size_t i = 0; i < b->nr_all; i++)
		segment_free_sched(&b->all[i]);
	causes_free(b);
	free(b->all);
	free(b->tids);
	free(b->migrations);
	free(b->samples);
	free(b->edges);
	intervals_free(&b->own);
	intervals_free(&b->blamed);
}

int timeline_build_siteless(struct model *m, const struct instance *instance, struct timeline *t)
{
	struct timeline_build b = { .m = m, .instance = instance, .t = t };
	bool is_one_of_several = reader_retains(m->reader);
	int ret;

	*t = (struct timeline){
		.req = instance->id, .class = instance->class,
		.start_ns = ticks_time_ns(m->reader, instance->start),
		.end_ns = ticks_time_ns(m->reader, instance->end),
		.is_complete = instance->is_complete, .has_lost_handoff = instance->has_lost_handoff,
		.latency_resolution_ns = ticks_ns(m->reader, instance->resolution),
	};
	t->latency_ns = t->end_ns - t->start_ns;
	t->nr_notes = notes_of(m, instance->id, instance->start, instance->end, t->notes);
	ret = add_parts(&b);
	if (!ret)
		ret = gather_start(&b);
	if (!ret)
		ret = gather_threads(&b);
	if (!ret)
		ret = gather_range(&b);
	if (!ret)
		ret = causes_read(&b);
	if (!ret)
		ret = blame_own(&b);
	if (!ret)
		ret = cut_all(&b);
	if (!ret)
		ret = finish(&b);
	if (!ret)
		ret = disk_find(&b);
	if (!ret)
		ret = causes_build(&b);
	if (!is_one_of_several)
		timelines_end(m);
	free_build(&b);
	/*
	 * Returns freed memory to the system: debug information, which is read next, would not fit
	 * into it.
	 */
	if (!is_one_of_several)
		malloc_trim(0);
	if (ret)
		timeline_free(t);
	return ret;
}

void timeline_set_sites(struct model *m, struct timeline *t)
{
	for (size_t i = 0; i < t->nr_segments; i++) {
		struct segment *s = &t->segments[i];

		if (s->kind == SEGMENT_FUNCTION)
			s->site = symtab_lookup_call(m->symtab, s->ret, s->start);
	}
}

int timeline_build(struct model *m, const struct instance *instance, struct timeline *t)
{
	int ret = timeline_build_siteless(m, instance, t);

	if (!ret)
		timeline_set_sites(m, t);
	return ret;
}

static void free_segments(struct timeline *t)
{
	for (size_t i = 0; i < t->nr_segments; i++)
		segment_free_sched(&t->segments[i]);
	free(t->segments);
}

int64_t timeline_longest(const struct timeline *t, size_t nr)
{
	if (t->nr_segments <= nr)
		return INT64_MIN;
	return !nr ? INT64_MAX : nth_greatest(t->nr_segments, nr - 1, i,
					      t->segments[i].end_ns - t->segments[i].start_ns);
}

void timeline_free(struct timeline *t)
{
	free_segments(t);
	for (size_t i = 0; i < t->nr_causes; i++) {
		if (*t->causes[i].label)
			free((char *)t->causes[i].label);
		free(t->causes[i].chain);
	}
	free(t->tids);
	intervals_free(&t->pieces);
	free(t->causes);
	free(t->migrations);
	free(t->marks);
	free(t->edges);
	*t = (struct timeline){ 0 };
}

void timeline_forget_segments(struct timeline *t)
{
	free_segments(t);
	t->segments = NULL;
	t->nr_segments = 0;
	for (size_t i = 0; i < t->nr_causes; i++) {
		struct timeline_cause *c = &t->causes[i];

		c->wait = c->hold = c->hold_func = c->hold_off = c->off = NULL;
	}
}

void timelines_free(struct timeline *timelines, size_t nr)
{
	for (size_t i = 0; i < nr && timelines; i++)
		timeline_free(&timelines[i]);
	free(timelines);
}

ORDER_KEY(instance_start, struct instance, start)

uint32_t *timelines_begin(struct model *m, const struct instance *instances, size_t nr)
{
	static const order_key keys[] = { instance_start };

	return gather_retain(m, instances, nr) ? NULL : order_of(instances, nr, sizeof(*instances), keys, 1);
}

void timelines_end(struct model *m)
{
	reader_retain_end(m->reader);
	sched_log_end(m);
}

int timelines_build(struct model *m, const struct instance *instances, size_t nr, struct timeline **timelines)
{
	struct timeline *t = calloc(nr + 1, sizeof(*t));
	uint32_t *order = timelines_begin(m, instances, nr);
	int ret = t && order ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !ret; i++) {
		ret = timeline_build_siteless(m, &instances[order[i]], &t[order[i]]);
		if (!ret)
			timeline_forget_segments(&t[order[i]]);
	}
	timelines_end(m);
	free(order);
	if (ret) {
		timelines_free(t, nr);
		t = NULL;
	}
	*timelines = t;
	return ret;
}

int timeline_interruptions(struct model *m, const struct timeline *t, struct interruptions *h)
{
	struct interruptions_part *parts = calloc(t->nr_segments + 1, sizeof(*parts));
	size_t nr = 0;
	int ret;

	*h = (struct interruptions){ 0 };
	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];

		if (s->kind == SEGMENT_REQUEST)
			parts[nr++] = (struct interruptions_part){ s->tid, s->start, s->end, h };
	}
	ret = interruptions_count(m, parts, nr);
	free(parts);
	return ret;
}
