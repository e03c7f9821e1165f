// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the request on which a thread worked longest while another request was behind it.  The
 * partition has only sums by class, because a row for each request in a queue would be too many.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/partition/partition-private.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "facts/instances.h"
#include "facts/ticks.h"
#include "why-private.h"

#define NEAR_MAX	20000	/* how many requests before and after are searched */
#define OTHERS_MAX	40000	/* if more requests were open, none is named */
#define TOO_MANY	1
/* tolerance of is_all_behind(): 1/10 of the time, and this many ns */
#define MARGIN_PART	10
#define MARGIN_NS	10000
#define GAP_NS		10000	/* a shorter time between two requests is not idle time */

struct other {			/* a request that was open in the time of r */
	uint64_t id;
	int64_t start, ns;
	bool is_of_class;
};

/*
 * A time in which the request was in the thread's queue, or open on the thread: what the thread
 * does for other requests in this time delays it.
 */
struct window {
	int64_t start, end;
	bool is_upstream;	/* the request waited for another server */
};

struct search_ahead {
	const struct request *r;
	const char *class;
	struct other *others;
	size_t nr_others, room_others;
	struct work *works;
	size_t nr_works, room_works;
	struct window *windows;
	size_t nr_windows, room_windows;
};

static int add_window(struct search_ahead *s, const struct instance_part *part)
{
	if ((part->is_queue ? part->to_tid : part->tid) != s->r->tid)
		return 0;
	return array_push(s->windows, s->nr_windows, s->room_windows, {
		.start = part->start, .end = part->end,
		.is_upstream = part->is_queue && partition_is_upstream(part->queue),
	});
}

/*
 * Collects all work of the thread, also on the request itself, which is needed to find out on which
 * request the thread worked at each time.
 */
static int on_instance(void *arg, struct instance *instance)
{
	struct search_ahead *s = arg;
	const struct request *r = s->r;
	bool is_own = instance->id == r->id && instance->start == r->start;
	int ret = s->nr_others < OTHERS_MAX ? 0 : TOO_MANY;

	for (size_t i = 0; i < instance->nr_parts && !ret; i++) {
		const struct instance_part *part = &instance->parts[i];
		int64_t start = max(part->start, r->start), end = min(part->end, r->end);

		if (is_own)
			ret = add_window(s, part);
		if (!ret && !part->is_queue && part->tid == r->tid && start < end)
			ret = array_push(s->works, s->nr_works, s->room_works, {
				.start = start, .end = part->end, .tid = part->tid, .request = s->nr_others,
			});
	}
	return ret ? ret : array_push(s->others, s->nr_others, s->room_others, {
		.id = instance->id, .start = instance->start, .is_of_class = !is_own &&
			!strcmp(instance->class, s->class),
	});
}

COMPARE(by_start, struct work, UP(start) UP(end))
COMPARE(by_window, struct window, UP(start) UP(end))

/*
 * Returns when the thread could have worked on the request.  A request may wait for the answer of
 * another server, which may come while the thread is busy.  So only the thread's work without a
 * break until it reads the answer delays the request.
 */
static int64_t start_of(const struct partition_build *b, const struct window *w)
{
	size_t n = search(b->nr_active, i, b->active[i].start < w->end);
	int64_t start = w->end;

	if (!w->is_upstream)
		return w->start;
	while (n && start > w->start && ticks_ns(b->m->reader, start - b->active[n - 1].end) <= GAP_NS)
		start = b->active[--n].start;
	return max(start, w->start);
}

static void add_window_times(struct search_ahead *s, const struct partition_build *b, const struct window *w)
{
	int64_t from = start_of(b, w);

	for (size_t i = search(b->nr_active, n, b->active[n].end <= from); i < b->nr_active; i++) {
		const struct active *o = &b->active[i];
		int64_t start = max(o->start, from), end = min(o->end, w->end);

		if (o->start >= w->end)
			break;
		if (start < end)
			s->others[o->work->request].ns += ticks_ns(b->m->reader, end - start);
	}
}

/* Adds to each request the time for which the thread worked on it in the windows. */
static int add_times(struct search_ahead *s, const struct partition *p)
{
	struct partition_build b = { .p = (struct partition *)p, .m = p->m };
	int64_t done = INT64_MIN;

	if (s->nr_works)
		qsort(s->works, s->nr_works, sizeof(*s->works), by_start);
	b.thread_works = s->works;
	b.nr_thread_works = s->nr_works;
	partition_own(&b);
	if (s->nr_windows)
		qsort(s->windows, s->nr_windows, sizeof(*s->windows), by_window);
	for (size_t i = 0; i < s->nr_windows && !b.ret; i++) {
		struct window *w = &s->windows[i];

		/* a window may begin before the last one has ended */
		w->start = max(w->start, done);
		if (w->start < w->end) {
			add_window_times(s, &b, w);
			done = w->end;
		}
	}
	free(b.active);
	free(b.by_class);
	free(b.class_at);
	return b.ret;
}

/*
 * Sets the start of the request ahead.  If it began before the time that was read, or was in a
 * queue first, only its later part was read, so its start is looked up.  Of several requests with
 * that id, it is the one that was open when that part began.
 */
static int set_start(const struct partition *p, const struct request *r, struct ahead *ahead)
{
	size_t own = r - p->requests, i = own > NEAR_MAX ? own - NEAR_MAX : 0;
	const struct ldb_row_reqtab *row;
	int ret;

	for (; i < p->nr_requests && i < own + NEAR_MAX; i++) {
		const struct request *at = &p->requests[i];

		if (at->id == ahead->id && at->start <= ahead->start && at->end > ahead->start) {
			ahead->start = at->start;
			return 0;
		}
	}
	ret = instances_last(p->m, ahead->id, ahead->start, &row);
	if (!ret && row)
		ahead->start = row->start;
	return ret;
}

/*
 * Returns true if the thread's work on requests of the class was at most about as long as the
 * request was behind them, according to the partition.  If it was longer, some of it did not delay
 * the request, for example because another thread worked on that request meanwhile.  It is not
 * known here which part this was, so no request is named.
 */
static bool is_all_behind(const struct search_ahead *s, const struct partition *p)
{
	int64_t ns = 0, behind_ns = 0;

	for (const struct share *at = &p->shares[s->r->first]; at < &p->shares[s->r->first + s->r->nr_shares]; at++) {
		const struct leaf *leaf = &p->leaves[at->leaf];

		if (leaf->kind == LEAF_BEHIND && !strcmp(leaf->label, s->class))
			behind_ns += at->ns;
	}
	for (size_t i = 0; i < s->nr_others; i++)
		if (s->others[i].is_of_class)
			ns += s->others[i].ns;
	return ns <= behind_ns + behind_ns / MARGIN_PART + MARGIN_NS;
}

int ahead_find(const struct partition *p, const struct request *r, const char *class, struct ahead *ahead)
{
	struct search_ahead s = { .r = r, .class = class };
	struct instances_result result;
	bool is_behind;
	int ret = instances_within(p->m, r->start, r->end, on_instance, &s, &result);

	*ahead = (struct ahead){ .ns = 0 };
	if (!ret)
		ret = add_times(&s, p);
	is_behind = !ret && is_all_behind(&s, p);
	for (size_t i = 0; i < s.nr_others && !ret && is_behind; i++)
		if (s.others[i].is_of_class && s.others[i].ns > ahead->ns)
			*ahead = (struct ahead){ s.others[i].id, s.others[i].start, s.others[i].ns };
	if (!ret && ahead->ns)
		ret = set_start(p, r, ahead);
	free(s.others);
	free(s.works);
	free(s.windows);
	return ret == TOO_MANY ? 0 : ret;
}
