// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cuts request instances into pieces that do not overlap and leave no time out.  It goes backward
 * from the end of the request, to the start of the span that ended last, then to the span that
 * handed the request over, and so on.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/order.h"
#include "facts/ticks.h"
#include "partition-private.h"

#define LOOK_BACK	64	/* spans that are searched for the queue from which a span came */

/* Spans that reach to the cursor or beyond it are in a heap; the one that began last is first. */
struct walk {
	struct partition_build *b;
	const struct instance *instance;
	uint32_t request;
	size_t first_work;		/* where the spans are in b->works, in their order */
	uint32_t *by_end;		/* spans, latest end first */
	uint32_t *heap;			/* spans that reach to the cursor, latest start first */
	size_t nr_heap, next;
};

static bool begins_later(const struct walk *w, const uint32_t *a, const uint32_t *b)
{
	const struct instance_part *pa = &w->instance->parts[*a], *pb = &w->instance->parts[*b];

	return pa->start != pb->start ? pa->start > pb->start : *a > *b;
}

HEAP(parts, uint32_t, const struct walk *, begins_later, heap_moved_none)

static int by_end(const void *pa, const void *pb, void *arg)
{
	const struct instance *instance = arg;
	const struct instance_part *a = &instance->parts[*(const uint32_t *)pa];
	const struct instance_part *b = &instance->parts[*(const uint32_t *)pb];

	return a->end > b->end ? -1 : a->end < b->end;
}

/* Returns the time in the queue from which the thread of this span took the request; NULL: none. */
static const struct instance_part *queue_of(const struct walk *w, const struct instance_part *part)
{
	size_t at = part - w->instance->parts;

	if (part->is_queue || !part->was_queued)
		return NULL;
	for (size_t n = 0; at-- > 0 && n < LOOK_BACK; n++) {
		const struct instance_part *q = &w->instance->parts[at];

		if (q->is_queue && q->to_tid == part->tid && q->end == part->start && q->start < q->end)
			return q;
	}
	return NULL;
}

static void add_gap(struct walk *w, int64_t start, int64_t end)
{
	partition_add_time(w->b, w->request, LEAF_UNKNOWN, 0, PARTITION_BETWEEN,
			   partition_ns(w->b, end) - partition_ns(w->b, start), 1);
}

static void add_queued(struct walk *w, const struct instance_part *part, int64_t start, int64_t end)
{
	struct partition_build *b = w->b;
	uint32_t path = partition_queue_path(b->p, part->queue, part->start);

	if (path == UINT32_MAX || array_push(b->queued, b->nr_queued, b->room_queued, {
			.start = start, .end = end, .server = part->to_tid, .request = w->request,
			.path = path }))
		b->ret = -ENOMEM;
}

/* Adds a piece; part is NULL if there is no span at that time. */
static void add_piece(struct walk *w, const struct instance_part *part, int64_t start, int64_t end)
{
	struct work *work;

	if (!part || (!part->is_queue && !part->tid)) {
		add_gap(w, start, end);
	} else if (part->is_queue) {
		add_queued(w, part, start, end);
	} else {
		work = &w->b->works[w->first_work + (part - w->instance->parts)];
		work->piece_start = start;
		work->piece_end = end;
	}
}

/*
 * Returns the span to which the time before `cursor` belongs; NULL: there is none between *until
 * and `cursor`.
 */
static const struct instance_part *part_before(struct walk *w, const struct instance_part *later,
					   int64_t cursor, int64_t *until)
{
	const struct instance_part *from = later ? queue_of(w, later) : NULL;
	size_t nr = w->instance->nr_parts;

	if (from && from->start < cursor)
		return from;
	while (w->next < nr && w->instance->parts[w->by_end[w->next]].end >= cursor)
		parts_up(w, w->heap, w->nr_heap++, w->by_end[w->next++]);
	while (w->nr_heap && w->instance->parts[w->heap[0]].start >= cursor) {
		w->nr_heap--;
		parts_down(w, w->heap, w->nr_heap, 0, w->heap[w->nr_heap]);
	}
	if (w->nr_heap)
		return &w->instance->parts[w->heap[0]];
	*until = w->next < nr ? w->instance->parts[w->by_end[w->next]].end : w->instance->start;
	return NULL;
}

static void walk_back(struct walk *w)
{
	const struct instance_part *part = NULL;
	int64_t cursor = w->instance->end;

	while (cursor > w->instance->start && !w->b->ret) {
		int64_t until = w->instance->start;

		part = part_before(w, part, cursor, &until);
		if (part)
			until = part->start;
		if (until < w->instance->start)
			until = w->instance->start;
		if (until < cursor)
			add_piece(w, part, until, cursor);
		cursor = until;
	}
}

static void cut_instance(struct partition_build *b, const struct instance *instance, uint32_t request,
		     size_t first_work)
{
	struct walk w = { b, instance, request, first_work, NULL, NULL, 0, 0 };
	uint32_t few[2 * 16];

	w.by_end = instance->nr_parts <= 16 ? few : calloc(2 * instance->nr_parts, sizeof(*few));
	if (!w.by_end) {
		b->ret = -ENOMEM;
		return;
	}
	w.heap = w.by_end + instance->nr_parts;
	for (size_t i = 0; i < instance->nr_parts; i++)
		w.by_end[i] = i;
	if (instance->nr_parts > 1)
		qsort_r(w.by_end, instance->nr_parts, sizeof(*w.by_end), by_end, (void *)instance);
	walk_back(&w);
	if (w.by_end != few)
		free(w.by_end);
}

/*
 * Adds a struct work for each span.  A time in a queue gets one, too, so that spans and works have
 * the same indices; drop_queue_works() removes it later.
 */
static void add_works(struct partition_build *b, const struct instance *instance, uint32_t request,
		      uint32_t class)
{
	for (size_t i = 0; i < instance->nr_parts && !b->ret; i++) {
		const struct instance_part *part = &instance->parts[i];

		b->ret = array_push(b->works, b->nr_works, b->room_works, {
			.start = part->start, .end = part->end,
			.tid = part->is_queue ? 0 : part->tid, .request = request, .class = class,
		});
	}
}

static void drop_queue_works(struct partition_build *b, size_t first)
{
	size_t nr = first;

	for (size_t i = first; i < b->nr_works; i++)
		if (b->works[i].tid)
			b->works[nr++] = b->works[i];
	b->nr_works = nr;
}

static uint32_t last_tid(const struct instance *instance)
{
	const struct instance_part *last = NULL;

	for (size_t i = 0; i < instance->nr_parts; i++)
		if (!instance->parts[i].is_queue && (!last || instance->parts[i].end >= last->end))
			last = &instance->parts[i];
	return last ? last->tid : 0;
}

/* Adds the request and returns its number. */
static uint32_t add_request(struct partition_build *b, const struct instance *instance, uint32_t class)
{
	struct partition *p = b->p;
	int64_t start_ns = ticks_time_ns(b->m->reader, instance->start);

	if (p->nr_requests == NO_REQUEST || array_push(p->requests, p->nr_requests, b->room_requests, {
			.id = instance->id, .start = instance->start, .end = instance->end, .class = class,
			.start_ns = start_ns, .tid = last_tid(instance),
			.latency_resolution_ns = ticks_ns(b->m->reader, instance->resolution),
			.latency_ns = ticks_time_ns(b->m->reader, instance->end) - start_ns }))
		b->ret = -ENOMEM;
	return p->nr_requests - 1;
}

static int add_instance(struct partition_build *b, const struct instance *instance, bool is_request)
{
	uint32_t class = partition_class(b->p, instance->class);
	uint32_t request = NO_REQUEST;
	size_t first_work = b->nr_works;

	if (class == UINT32_MAX)
		return -ENOMEM;
	if (is_request)
		request = add_request(b, instance, class);
	add_works(b, instance, request, class);
	if (is_request && !b->ret)
		cut_instance(b, instance, request, first_work);
	drop_queue_works(b, first_work);
	return b->ret;
}

static int on_instance(void *arg, struct instance *instance)
{
	struct partition_build *b = arg;
	bool is_selected = instance->start >= b->o->from && instance->start <= b->o->to &&
			   (!b->o->class || !fnmatch(b->o->class, instance->class, 0));

	if (is_selected) {
		b->p->nr_incomplete += !instance->is_complete;
		b->p->nr_lost_handoffs += instance->has_lost_handoff;
	}
	if (b->o->instance)
		b->ret = b->o->instance(b->o->arg, instance);
	return b->ret ? b->ret : add_instance(b, instance, is_selected && instance->is_complete);
}

/*
 * Adds a request, unless it has the id of the selected one, which is added later from exact data.
 */
static int on_other(void *arg, struct instance *instance)
{
	struct partition_build *b = arg;

	return instance->id == b->o->only->id ? 0 : add_instance(b, instance, false);
}

ORDER_KEY(work_tid, struct work, tid)
ORDER_KEY(work_start, struct work, start)
ORDER_KEY(work_end, struct work, end)
ORDER_KEY(queued_server, struct queued, server)
ORDER_KEY(queued_start, struct queued, start)

void partition_read_instances(struct partition_build *b)
{
	static const order_key of_work[] = { work_tid, work_start, work_end };
	static const order_key of_queued[] = { queued_server, queued_start };
	const struct instance *only = b->o->only;
	struct instances_result result;

	if (!only) {
		b->ret = instances_each(b->m, on_instance, b, &result);
	} else {
		b->ret = instances_within(b->m, only->start, only->end, on_other, b, &result);
		b->ret = b->ret ? b->ret : add_instance(b, only, true);
	}
	if (!b->ret)
		b->ret = order_sort(&b->works, b->nr_works, sizeof(*b->works), of_work, 3);
	b->room_works = b->nr_works;
	if (!b->ret)
		b->ret = order_sort(&b->queued, b->nr_queued, sizeof(*b->queued), of_queued, 2);
	b->room_queued = b->nr_queued;
}
