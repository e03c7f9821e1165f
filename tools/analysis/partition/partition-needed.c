// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * If only some requests are selected, finds the times of their threads that are needed.  Most rows
 * of a large trace are outside of these times, and are dropped before they are sorted.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "partition-private.h"

#define GAPS_MAX	64	/* intervals between spans of a server, for each request */

static void add(struct partition_build *b, uint32_t tid, int64_t start, int64_t end)
{
	if (start < end && intervals_add(&b->needed, tid, start, end))
		b->ret = -ENOMEM;
}

/*
 * Adds the previous and the next span of the thread, too: the start of a function is known better
 * if the end of the previous one is known.
 */
static void add_work(struct partition_build *b, size_t i)
{
	const struct work *w = &b->works[i];
	int64_t start = w->piece_start, end = w->piece_end;

	if (i && w[-1].tid == w->tid && w[-1].start < start)
		start = w[-1].start;
	if (i + 1 < b->nr_works && w[1].tid == w->tid && w[1].end > end)
		end = w[1].end;
	add(b, w->tid, start, end);
}

size_t partition_first_work(const struct partition_build *b, uint32_t tid, int64_t tick)
{
	return search(b->nr_works, i,
		      b->works[i].tid < tid ||
		      (b->works[i].tid == tid && b->works[i].start <= tick));
}

/* Adds the times in which a server worked on no request while the queued request waited. */
static void add_queued(struct partition_build *b, const struct queued *q)
{
	size_t first = partition_first_work(b, q->server, q->start);
	int64_t at = q->start;

	if (first && b->works[first - 1].tid == q->server && b->works[first - 1].end > at)
		at = b->works[first - 1].end;
	for (size_t i = first; i < first + GAPS_MAX; i++) {
		const struct work *w = i < b->nr_works ? &b->works[i] : NULL;

		if (!w || w->tid != q->server || w->start >= q->end) {
			add(b, q->server, at, q->end);
			return;
		}
		add(b, q->server, at, w->start);
		if (w->end > at)
			at = w->end;
	}
}

void partition_find_needed(struct partition_build *b)
{
	const struct request *requests = b->p->requests;

	for (size_t i = 0; i < b->nr_works; i++) {
		const struct work *w = &b->works[i];

		if (w->request != NO_REQUEST && !requests[w->request].is_left_out &&
		    w->piece_start < w->piece_end)
			add_work(b, i);
	}
	for (size_t i = 0; i < b->nr_queued; i++)
		if (!requests[b->queued[i].request].is_left_out && b->queued[i].server)
			add_queued(b, &b->queued[i]);
	if (!b->ret)
		b->ret = intervals_merge(&b->needed);
}

bool partition_is_needed(void *arg, uint32_t tid, int64_t start, int64_t end)
{
	struct partition_build *b = arg;
	/* Rows of a thread come nearly in order. */
	size_t *last = &b->last_needed[tid % NEEDED_LAST];
	size_t at = intervals_near(&b->needed, tid, start, *last);
	const struct thread_interval *in = &b->needed.at[at];

	*last = at;
	return at < b->needed.nr && in->tid == tid && in->start < end;
}
