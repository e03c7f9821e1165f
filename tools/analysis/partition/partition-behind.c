// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Head-of-line blocking: what a thread did for other requests while a request was in
 * its queue, or in its hands.
 *
 * A thread with several requests open works on that which it ends next.  That is right
 * for batches that are worked off in order, and for requests inside requests.
 *
 * Times of each class are summed up along the thread, so that a long stretch costs no
 * more than a short one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/search.h"
#include "facts/ticks.h"
#include "partition-private.h"

#define LOOKED_AT	256	/* stretches of a server's time, per piece */

/* Open works, the one that ends next first */

/* Of those that end together the one that began last: the others had their time before. */
static bool is_sooner(void *none, const struct work *const *a, const struct work *const *b)
{
	return (*a)->end != (*b)->end ? (*a)->end < (*b)->end : (*a)->start > (*b)->start;
}

HEAP(open, const struct work *, void *, is_sooner, heap_moved_none)

static int add_owned(struct partition_build *b, const struct work *w, int64_t start, int64_t end)
{
	struct owned *last = b->nr_owned ? &b->owned[b->nr_owned - 1] : NULL;

	if (start >= end)
		return 0;
	if (last && last->work == w && last->end == start) {
		last->end = end;
		last->end_ns = partition_ns(b, end);
		return 0;
	}
	if (!array_room(&b->owned, &b->room_owned, b->nr_owned, sizeof(*b->owned)))
		return -ENOMEM;
	b->owned[b->nr_owned++] = (struct owned){
		start, end, partition_ns(b, start), partition_ns(b, end), w,
	};
	return 0;
}

/* Sums by class: class_at[c] .. class_at[c + 1] are its intervals, with sums before each. */
static int sum_up(struct partition_build *b)
{
	size_t nr_classes = b->p->nr_classes, at = 0;
	size_t *next;

	free(b->sums);
	free(b->class_at);
	free(b->class_first);
	free(b->nr_ended);
	b->nr_ended = calloc(b->nr_owned + 1, sizeof(*b->nr_ended));
	b->sums = calloc(b->nr_owned + 1, sizeof(*b->sums));
	b->class_first = calloc(b->nr_owned + 1, sizeof(*b->class_first));
	b->class_at = calloc(nr_classes + 2, sizeof(*b->class_at));
	next = calloc(nr_classes + 1, sizeof(*next));
	if (!b->sums || !b->class_first || !b->nr_ended || !b->class_at || !next) {
		free(next);
		return -ENOMEM;
	}
	for (size_t i = 0; i < b->nr_owned; i++)
		b->class_at[b->owned[i].work->class + 1]++;
	for (size_t c = 0; c < nr_classes; c++) {
		b->class_at[c + 1] += b->class_at[c];
		next[c] = b->class_at[c];
	}
	for (size_t i = 0; i < b->nr_owned; i++) {
		const struct owned *o = &b->owned[i];
		uint32_t c = o->work->class;

		at = next[c]++;
		b->class_first[at] = i;
		b->sums[at] = at > b->class_at[c] ? b->sums[at - 1] : 0;
		ticks_add(&b->sums[at], o->end_ns - o->start_ns);
		b->nr_ended[i + 1] = b->nr_ended[i] + (o->end == o->work->end);
	}
	free(next);
	return 0;
}

int partition_own(struct partition_build *b)
{
	const struct work **heap = calloc(b->nr_thread_works + 1, sizeof(*heap));
	int64_t cursor = INT64_MIN;
	size_t nr = 0, next = 0;
	int ret = heap ? 0 : -ENOMEM;

	b->nr_owned = 0;
	while (!ret && (nr || next < b->nr_thread_works)) {
		const struct work *starts = next < b->nr_thread_works ? &b->thread_works[next] : NULL;

		if (starts && (!nr || starts->start < heap[0]->end)) {
			if (nr)
				ret = add_owned(b, heap[0], cursor, starts->start);
			cursor = starts->start;
			open_up(NULL, heap, nr++, starts);
			next++;
			continue;
		}
		ret = add_owned(b, heap[0], cursor, heap[0]->end);
		if (heap[0]->end > cursor)
			cursor = heap[0]->end;
		nr--;
		open_down(NULL, heap, nr, 0, heap[nr]);
	}
	free(heap);
	return ret ? ret : sum_up(b);
}

static int64_t clipped_ns(struct partition_build *b, const struct owned *o, int64_t start,
			  int64_t end)
{
	int64_t from = o->start > start ? o->start_ns : partition_ns(b, start);
	int64_t to = o->end < end ? o->end_ns : partition_ns(b, end);

	return o->end > start && o->start < end && to > from ? to - from : 0;
}

/* The first interval of the class that ends after tick: index into class_first[]. */
static size_t first_of_class(const struct partition_build *b, uint32_t class, int64_t tick)
{
	return search_range(b->class_at[class], b->class_at[class + 1], i,
			    b->owned[b->class_first[i]].end <= tick);
}

/* What the thread worked on requests of the class in [start, end). */
static int64_t class_ns(struct partition_build *b, uint32_t class, int64_t start, int64_t end)
{
	size_t first = first_of_class(b, class, start), last = first_of_class(b, class, end);
	size_t limit = b->class_at[class + 1];
	int64_t ns = 0;

	if (first == limit)
		return 0;
	if (last < limit && first != last)
		ns = clipped_ns(b, &b->owned[b->class_first[last]], start, end);
	ns += clipped_ns(b, &b->owned[b->class_first[first]], start, end);
	if (last > first + 1)
		ns += b->sums[last - 1] - b->sums[first];
	return ns;
}

static size_t first_owned(const struct partition_build *b, int64_t tick)
{
	return search(b->nr_owned, i, b->owned[i].end <= tick);
}

/* How many works the thread ended in (start, end]. */
static uint32_t count_ended(const struct partition_build *b, int64_t start, int64_t end)
{
	size_t first = first_owned(b, start), last = first_owned(b, end);

	/* What ends exactly then counts, what merely gives way does not. */
	if (last < b->nr_owned && b->owned[last].end == end)
		last++;
	return b->nr_ended[last] - b->nr_ended[first];
}

/*
 * The time of a piece that the thread gave to others, by class; *all: the sum.  nr_own: works
 * of the request itself that ended in it.
 */
static int add_classes(struct partition_build *b, uint32_t request, uint32_t path, int64_t start,
		       int64_t end, int64_t own_ns, uint32_t nr_own, int64_t *all)
{
	struct request *r = &b->p->requests[request];
	uint32_t nr = count_ended(b, start, end) - nr_own;
	int ret = 0;

	*all = 0;
	for (uint32_t c = 0; c < b->p->nr_classes && !ret; c++) {
		int64_t ns = class_ns(b, c, start, end) - (c == r->class ? own_ns : 0);
		uint32_t leaf;

		if (ns <= 0)
			continue;
		leaf = partition_leaf(b->p, LEAF_BEHIND, path, b->p->classes[c], 0, NULL);
		if (leaf == NO_LEAF)
			return -ENOMEM;
		ret = partition_add_share(b, request, leaf, ns, nr ? nr : 1, 0);
		*all += ns;
	}
	if (*all)
		r->nr_ahead += nr ? nr : 1;
	return ret;
}

/* What of each piece on this thread was spent on it. */
static int64_t *own_times(struct partition_build *b)
{
	int64_t *own = calloc(b->nr_thread_works + 1, sizeof(*own));

	for (size_t i = 0; own && i < b->nr_owned; i++) {
		const struct work *w = b->owned[i].work;

		if (w->request != NO_REQUEST && w->piece_start < w->piece_end)
			own[w - b->thread_works] += clipped_ns(b, &b->owned[i], w->piece_start,
							       w->piece_end);
	}
	return own;
}

/* Of the pieces on this thread. */
int partition_add_behind(struct partition_build *b)
{
	int64_t *own = own_times(b), all;
	int ret = own ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->nr_thread_works && !ret; i++) {
		const struct work *w = &b->thread_works[i];

		if (w->request != NO_REQUEST && !b->p->requests[w->request].is_left_out &&
		    w->piece_start < w->piece_end &&
		    own[i] < partition_ns(b, w->piece_end) - partition_ns(b, w->piece_start))
			ret = add_classes(b, w->request, 0, w->piece_start, w->piece_end, own[i],
					  w->end == w->piece_end, &all);
	}
	free(own);
	return ret;
}

/* What the server did for nobody, as the request in its queue sees it. */
static uint32_t idle_leaf(struct partition_build *b, const struct idle *idle, uint32_t path)
{
	struct partition *p = b->p;
	struct leaf at = idle->leaf == NO_LEAF ? (struct leaf){ .kind = LEAF_UNKNOWN } : p->leaves[idle->leaf];

	switch (at.kind) {
	case LEAF_FUNCTION:
		if (!p->paths[at.path].func)
			break;
		return partition_function(p, path, p->paths[at.path].func);
	case LEAF_SLEEP:
		/* The request that was put in would have woken it, had it waited for one. */
		if (!idle->is_nap || !p->paths[at.path].func)
			break;
		path = partition_path(p, path, p->paths[at.path].func);
		return path == UINT32_MAX ? NO_LEAF : partition_leaf(p, at.kind, path, "", 0, NULL);
	case LEAF_RUNNABLE:
	case LEAF_PREEMPTED:
	case LEAF_THROTTLED:
	case LEAF_IO:
	case LEAF_IRQ:
		return partition_leaf(p, at.kind, path, at.label, at.lock, at.site);
	default:
		break;
	}
	/* It was asleep until somebody told it, or nobody knows. */
	return partition_leaf(p, LEAF_QUEUE, path, "hand-over", 0, NULL);
}

static size_t first_idle(const struct partition_build *b, int64_t tick)
{
	return search(b->nr_idle, i, b->idle[i].end <= tick);
}

static int add_idle(struct partition_build *b, const struct queued *q, int64_t *rest)
{
	int ret = 0;

	for (size_t i = first_idle(b, q->start), n = 0;
	     i < b->nr_idle && b->idle[i].start < q->end && n < LOOKED_AT && !ret; i++, n++) {
		const struct idle *idle = &b->idle[i];
		int64_t start = idle->start > q->start ? idle->start : q->start;
		int64_t end = idle->end < q->end ? idle->end : q->end;
		int64_t ns = partition_ns(b, end) - partition_ns(b, start);
		uint32_t leaf;

		if (ns > *rest)
			ns = *rest;
		if (ns <= 0)
			continue;
		leaf = idle_leaf(b, idle, q->path);
		ret = leaf == NO_LEAF ? -ENOMEM : partition_add_share(b, q->request, leaf, ns, 1, 0);
		*rest -= ns;
	}
	return ret;
}

int partition_add_queued(struct partition_build *b, const struct queued *first, size_t nr)
{
	int ret = 0;

	for (const struct queued *q = first; q < first + nr && !ret; q++) {
		int64_t rest = partition_ns(b, q->end) - partition_ns(b, q->start), own = 0, behind = 0;
		uint32_t leaf;

		if (b->p->requests[q->request].is_left_out)
			continue;
		if (q->server && b->nr_owned) {
			/* Rare: in a queue and on the thread at the same time. */
			for (size_t n = first_owned(b, q->start), looked = 0;
			     n < b->nr_owned && b->owned[n].start < q->end && looked < LOOKED_AT;
			     n++, looked++)
				if (b->owned[n].work->request == q->request)
					own += clipped_ns(b, &b->owned[n], q->start, q->end);
			ret = add_classes(b, q->request, q->path, q->start, q->end, own, 0, &behind);
		}
		rest -= behind;
		if (q->server && !ret && rest > 0)
			ret = add_idle(b, q, &rest);
		if (ret || rest <= 0)
			continue;
		leaf = partition_leaf(b->p, LEAF_QUEUE, q->path, "", 0, NULL);
		ret = leaf == NO_LEAF ? -ENOMEM : partition_add_share(b, q->request, leaf, rest, 1, 0);
	}
	return ret;
}
