// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes head-of-line blocking: how long a thread worked on other requests while a request
 * was in the thread's queue, or was open on the thread.
 *
 * A thread with several requests open works on the one that it ends next.  That is right
 * for batches that are processed in order, and for requests inside requests.
 *
 * Times of each class are accumulated along the thread, so that a long interval costs no more
 * than a short one.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/minmax.h"
#include "base/search.h"
#include "facts/ticks.h"
#include "partition-private.h"

#define IDLE_MAX	256	/* intervals of a server that are processed for a piece */

/* Open spans are in a heap; the one that ends next is first */

/* If several spans end together, the one that began last comes first, as an inner request does. */
static bool is_sooner(void *none, const struct work *const *a, const struct work *const *b)
{
	return (*a)->end != (*b)->end ? (*a)->end < (*b)->end : (*a)->start > (*b)->start;
}

HEAP(open, const struct work *, void *, is_sooner, heap_moved_none)

static void add_active(struct partition_build *b, const struct work *w, int64_t start, int64_t end)
{
	struct active *last = b->nr_active ? &b->active[b->nr_active - 1] : NULL;

	if (start >= end)
		return;
	if (last && last->work == w && last->end == start) {
		last->end = end;
		last->end_ns = partition_ns(b, end);
	} else if (array_push(b->active, b->nr_active, b->room_active, {
			start, end, partition_ns(b, start), partition_ns(b, end), w })) {
		b->ret = -ENOMEM;
	}
}

static void sum_up(struct partition_build *b)
{
	size_t nr_classes = b->p->nr_classes;

	free(b->by_class);
	free(b->class_at);
	b->by_class = calloc(b->nr_active + 1, sizeof(*b->by_class));
	b->class_at = calloc(nr_classes + 2, sizeof(*b->class_at));
	if (!b->by_class || !b->class_at) {
		b->ret = -ENOMEM;
		return;
	}
	/*
	 * A counting sort by class.  At first class_at[c + 2] is the number of elements of class c.
	 * After the sums class_at[c + 1] is the start of class c, and after the elements are
	 * placed, its end.
	 */
	for (size_t i = 0; i < b->nr_active; i++)
		b->class_at[b->active[i].work->class + 2]++;
	for (size_t c = 2; c <= nr_classes; c++)
		b->class_at[c] += b->class_at[c - 1];
	for (size_t i = 0; i < b->nr_active; i++)
		b->by_class[b->class_at[b->active[i].work->class + 1]++].active = i;
	for (size_t i = 0; i < b->nr_active; i++) {
		const struct active *o = &b->active[b->by_class[i].active];
		struct class_active *at = &b->by_class[i];

		if (i > b->class_at[o->work->class]) {
			at->sum_ns = at[-1].sum_ns;
			at->nr_ended = at[-1].nr_ended;
		}
		ticks_add(&at->sum_ns, o->end_ns - o->start_ns);
		/* Spans that are only interrupted do not count. */
		at->nr_ended += o->end == o->work->end;
	}
}

void partition_own(struct partition_build *b)
{
	const struct work **heap = calloc(b->nr_thread_works + 1, sizeof(*heap));
	int64_t cursor = INT64_MIN;
	size_t nr = 0, next = 0;

	if (!heap)
		b->ret = -ENOMEM;
	b->nr_active = 0;
	while (!b->ret && (nr || next < b->nr_thread_works)) {
		const struct work *starts = next < b->nr_thread_works ? &b->thread_works[next] : NULL;

		if (starts && (!nr || starts->start < heap[0]->end)) {
			if (nr)
				add_active(b, heap[0], cursor, starts->start);
			cursor = starts->start;
			open_up(NULL, heap, nr++, starts);
			next++;
			continue;
		}
		add_active(b, heap[0], cursor, heap[0]->end);
		cursor = max(cursor, heap[0]->end);
		nr--;
		open_down(NULL, heap, nr, 0, heap[nr]);
	}
	free(heap);
	sum_up(b);
}

static int64_t clipped_ns(struct partition_build *b, const struct active *o, int64_t start,
			  int64_t end)
{
	int64_t from = o->start > start ? o->start_ns : partition_ns(b, start);
	int64_t to = o->end < end ? o->end_ns : partition_ns(b, end);

	return o->end > start && o->start < end && to > from ? to - from : 0;
}

/* Returns the first interval of the class that ends after tick: index into by_class[]. */
static size_t first_of_class(const struct partition_build *b, uint32_t class, int64_t tick)
{
	return search_range(b->class_at[class], b->class_at[class + 1], i,
			    b->active[b->by_class[i].active].end <= tick);
}

/* Returns how long the thread worked on requests of the class in [start, end). */
static int64_t time_on_class(struct partition_build *b, uint32_t class, int64_t start, int64_t end)
{
	size_t first = first_of_class(b, class, start), last = first_of_class(b, class, end);
	size_t limit = b->class_at[class + 1];
	int64_t ns = 0;

	if (first == limit)
		return 0;
	if (last < limit && first != last)
		ns = clipped_ns(b, &b->active[b->by_class[last].active], start, end);
	ns += clipped_ns(b, &b->active[b->by_class[first].active], start, end);
	if (last > first + 1)
		ns += b->by_class[last - 1].sum_ns - b->by_class[first].sum_ns;
	return ns;
}

static size_t first_active(const struct partition_build *b, int64_t tick)
{
	return search(b->nr_active, i, b->active[i].end <= tick);
}

/* Returns how many spans of requests of the class ended on the thread in (start, end]. */
static uint32_t count_ended(const struct partition_build *b, uint32_t class, int64_t start, int64_t end)
{
	size_t first = first_of_class(b, class, start), last = first_of_class(b, class, end);

	if (first == last)
		return 0;
	return b->by_class[last - 1].nr_ended -
	       (first > b->class_at[class] ? b->by_class[first - 1].nr_ended : 0);
}

/*
 * Adds the time of a piece in which the thread worked on other requests, by class; returns the sum.
 * nr_own is the number of spans of the request itself that ended in the piece.
 */
static int64_t add_classes(struct partition_build *b, uint32_t request, uint32_t path, int64_t start,
			   int64_t end, int64_t own_ns, uint32_t nr_own)
{
	struct request *r = &b->p->requests[request];
	uint32_t nr_all = 0;
	int64_t all = 0;

	for (uint32_t c = 0; c < b->p->nr_classes; c++) {
		int64_t ns = time_on_class(b, c, start, end) - (c == r->class ? own_ns : 0);
		uint32_t nr;

		if (ns <= 0)
			continue;
		nr = count_ended(b, c, start, end);
		if (c == r->class)
			nr -= min(nr, nr_own);
		nr = max(nr, 1U);
		partition_add_time(b, request, LEAF_BEHIND, path, b->p->classes[c], ns, nr);
		nr_all += nr;
		all += ns;
	}
	r->nr_ahead += nr_all;
	return all;
}

/* Returns for each piece on the thread how long the thread worked on the request of the piece. */
static int64_t *own_times(struct partition_build *b)
{
	int64_t *own = calloc(b->nr_thread_works + 1, sizeof(*own));

	for (size_t i = 0; own && i < b->nr_active; i++) {
		const struct work *w = b->active[i].work;

		if (w->request != NO_REQUEST && w->piece_start < w->piece_end)
			own[w - b->thread_works] += clipped_ns(b, &b->active[i], w->piece_start,
							       w->piece_end);
	}
	return own;
}

/*
 * Adds to each piece on the current thread the time that the thread spent on other requests
 * (BEHIND).
 */
void partition_add_behind(struct partition_build *b)
{
	int64_t *own = own_times(b);

	if (!own)
		b->ret = -ENOMEM;
	for (size_t i = 0; i < b->nr_thread_works && !b->ret; i++) {
		const struct work *w = &b->thread_works[i];

		if (w->request != NO_REQUEST && !b->p->requests[w->request].is_left_out &&
		    w->piece_start < w->piece_end &&
		    own[i] < partition_ns(b, w->piece_end) - partition_ns(b, w->piece_start))
			add_classes(b, w->request, 0, w->piece_start, w->piece_end, own[i],
				    w->end == w->piece_end);
	}
	free(own);
}

/*
 * Returns the leaf for a time that a request spent in a queue while its server, the thread that
 * takes requests out, worked on no request.
 */
static uint32_t idle_leaf(struct partition_build *b, const struct idle *idle, uint32_t path)
{
	struct partition *p = b->p;
	struct leaf at = idle->leaf == NO_LEAF ? (struct leaf){ .kind = LEAF_UNKNOWN } : p->leaves[idle->leaf];

	switch (at.kind) {
	case LEAF_FUNCTION:
		if (!p->paths[at.path].func)
			break;
		return partition_function(p, partition_path(p, path, p->paths[at.path].func));
	case LEAF_SLEEP:
		/*
		 * A server that was waiting for requests would have been woken when the request was
		 * put into the queue.  So a sleep delays the request only if an interrupt (such as
		 * that of a timer) ended it, and not a thread.
		 */
		if (!idle->is_nap || !p->paths[at.path].func)
			break;
		path = partition_path(p, path, p->paths[at.path].func);
		return path == UINT32_MAX ? NO_LEAF : partition_leaf(p, at.kind, path, "", NULL);
	case LEAF_LOCK:
	case LEAF_FUTEX:
	case LEAF_UNKNOWN:
		break;
	default:
		return partition_leaf(p, at.kind, path, at.label, NULL);
	}
	/* The server waited until another thread woke it, or its state is not known. */
	return partition_leaf(p, LEAF_QUEUE, path, "hand-over", NULL);
}

/* Adds the time in which the server worked on no request; returns how much of `rest` remains. */
static int64_t add_idle(struct partition_build *b, const struct queued *q, int64_t rest)
{
	size_t first = search(b->nr_idle, i, b->idle[i].end <= q->start), n = first;

	for (; n < b->nr_idle && b->idle[n].start < q->end && n < first + IDLE_MAX; n++) {
		const struct idle *idle = &b->idle[n];
		int64_t start = max(idle->start, q->start);
		int64_t end = min(idle->end, q->end);
		int64_t ns = partition_ns(b, end) - partition_ns(b, start);

		ns = min(ns, rest);
		if (ns <= 0)
			continue;
		partition_add_share(b, q->request, idle_leaf(b, idle, q->path),
				    &(struct spent){ .ns = ns, .nr = 1 });
		rest -= ns;
	}
	return rest;
}

/*
 * Returns how long the server worked on the request itself while the request was in the queue,
 * which is rare.
 */
static int64_t own_while_queued(struct partition_build *b, const struct queued *q)
{
	size_t first = first_active(b, q->start), n = first;
	int64_t own = 0;

	for (; n < b->nr_active && b->active[n].start < q->end && n < first + IDLE_MAX; n++)
		if (b->active[n].work->request == q->request)
			own += clipped_ns(b, &b->active[n], q->start, q->end);
	return own;
}

/*
 * A request in an "upstream" queue waits for the answer of another server.  The answer may have
 * come while the request's thread was busy; then the thread's work delayed the request.  So only
 * work counts that the thread did without a sleep until it read the answer.  Returns when this work
 * began.
 */
static int64_t upstream_end(const struct partition_build *b, const struct queued *q)
{
	size_t n = search(b->nr_idle, i, b->idle[i].start < q->end), last = n;

	while (n && n + IDLE_MAX > last && b->idle[n - 1].end > q->start) {
		const struct idle *idle = &b->idle[--n];

		if (idle->leaf != NO_LEAF && b->p->leaves[idle->leaf].kind == LEAF_SLEEP)
			return min(idle->end, q->end);
	}
	/*
	 * No sleep of the thread was recorded: assume that the thread has been busy since it was
	 * last idle.
	 */
	return last && b->idle[last - 1].end > q->start ? min(b->idle[last - 1].end, q->end) : q->start;
}

static void add_queued(struct partition_build *b, const struct queued *q)
{
	int64_t rest = partition_ns(b, q->end) - partition_ns(b, q->start);

	if (q->server && b->nr_active)
		rest -= add_classes(b, q->request, q->path, q->start, q->end, own_while_queued(b, q), 0);
	if (q->server && rest > 0)
		rest = add_idle(b, q, rest);
	if (rest > 0)
		partition_add_time(b, q->request, LEAF_QUEUE, q->path, "", rest, 1);
}

void partition_add_queued(struct partition_build *b, const struct queued *first, size_t nr)
{
	for (const struct queued *q = first; q < first + nr && !b->ret; q++) {
		struct queued last = *q;

		if (b->p->requests[q->request].is_left_out)
			continue;
		if (partition_is_upstream(b->p->queues[b->p->paths[q->path].queue - 1].address)) {
			last.start = upstream_end(b, q);
			if (last.start > q->start)
				partition_add_time(b, q->request, LEAF_QUEUE, q->path, "",
						   partition_ns(b, last.start) - partition_ns(b, q->start), 1);
		}
		if (last.start < last.end)
			add_queued(b, &last);
	}
}
