// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The events of several rings, in order of time: one queue for each ring, sorted
 * on the way in (an event is rarely out of place, and then by little), and a heap
 * of the queues by their first event.
 */
#include <stdlib.h>
#include <string.h>
#include "base/heap.h"
#include "record/perf-private.h"

#define QUEUE_FIRST	256

struct queue {
	struct perf_event *events;	/* circular; a power of two */
	size_t room, head, nr;
	unsigned place;			/* in the heap; only with nr > 0 */
};

struct perf_order {
	struct queue *queues;
	unsigned nr_queues;
	unsigned *heap, nr_heap;	/* queue numbers */
	struct perf_event taken;
};

struct perf_order *perf_order_alloc(unsigned nr_rings)
{
	struct perf_order *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->nr_queues = nr_rings;
	o->queues = calloc(nr_rings, sizeof(*o->queues));
	o->heap = calloc(nr_rings, sizeof(*o->heap));
	if (o->queues && o->heap)
		return o;
	perf_order_free(o);
	return NULL;
}

void perf_order_free(struct perf_order *o)
{
	if (!o)
		return;
	for (unsigned i = 0; o->queues && i < o->nr_queues; i++)
		free(o->queues[i].events);
	free(o->queues);
	free(o->heap);
	free(o);
}

static struct perf_event *queue_at(const struct queue *q, size_t i)
{
	return &q->events[(q->head + i) & (q->room - 1)];
}

static bool queue_grow(struct queue *q)
{
	size_t room = q->room ? 2 * q->room : QUEUE_FIRST;
	struct perf_event *events = malloc(room * sizeof(*events));

	if (!events)
		return false;
	for (size_t i = 0; i < q->nr; i++)
		events[i] = *queue_at(q, i);
	free(q->events);
	q->events = events;
	q->room = room;
	q->head = 0;
	return true;
}

/* Of equal times the lower ring first: the order does not depend on who was read when. */
static bool is_before(const struct perf_order *o, const unsigned *a, const unsigned *b)
{
	uint64_t ta = queue_at(&o->queues[*a], 0)->time, tb = queue_at(&o->queues[*b], 0)->time;

	return ta < tb || (ta == tb && *a < *b);
}

static void moved(struct perf_order *o, const unsigned *queue, size_t place)
{
	o->queues[*queue].place = place;
}

HEAP(queues, unsigned, struct perf_order *, is_before, moved)

bool perf_order_put(struct perf_order *o, unsigned ring, const struct perf_event *e)
{
	struct queue *q = &o->queues[ring];
	size_t i;

	if (q->nr == q->room && !queue_grow(q))
		return false;
	for (i = q->nr++; i && queue_at(q, i - 1)->time > e->time; i--)
		*queue_at(q, i) = *queue_at(q, i - 1);
	*queue_at(q, i) = *e;
	if (!i)
		queues_up(o, o->heap, q->nr == 1 ? o->nr_heap++ : q->place, ring);
	return true;
}

const struct perf_event *perf_order_take(struct perf_order *o, uint64_t limit)
{
	struct queue *q;

	if (!o->nr_heap)
		return NULL;
	q = &o->queues[o->heap[0]];
	if (queue_at(q, 0)->time > limit)
		return NULL;
	o->taken = *queue_at(q, 0);
	q->head = (q->head + 1) & (q->room - 1);
	if (!--q->nr)
		o->heap[0] = o->heap[--o->nr_heap];
	if (o->nr_heap)
		queues_down(o, o->heap, o->nr_heap, 0, o->heap[0]);
	return &o->taken;
}
