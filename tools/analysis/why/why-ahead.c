// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the request on which a thread worked longest while another one was behind it.  The partition
 * has the sums of each class only: which requests they were would be as many rows as there are
 * requests in a queue.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/partition/partition-private.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "facts/lives.h"
#include "facts/ticks.h"
#include "why-private.h"

#define NEAR_MAX	20000	/* requests that are searched, before and after */
#define OTHERS_MAX	40000	/* if more were open, which one it was is not said */
#define TOO_MANY	1

struct other {			/* a request that was open meanwhile */
	uint64_t id;
	int64_t start, ns;
	bool is_of_class;
};

struct search_ahead {
	const struct request *r;
	const char *class;
	struct other *others;
	size_t nr_others, room_others;
	struct work *works;
	size_t nr_works, room_works;
};

/* All of the thread's work counts, also on the request itself: it shows what was not for others. */
static int on_life(void *arg, struct life *life)
{
	struct search_ahead *s = arg;
	const struct request *r = s->r;
	bool is_own = life->id == r->id && life->start == r->start;
	int ret = s->nr_others < OTHERS_MAX ? 0 : TOO_MANY;

	for (size_t i = 0; i < life->nr_parts && !ret; i++) {
		const struct life_part *part = &life->parts[i];
		int64_t start = max(part->start, r->start), end = min(part->end, r->end);

		if (!part->is_queue && part->tid == r->tid && start < end)
			ret = array_push(s->works, s->nr_works, s->room_works, {
				.start = start, .end = part->end, .tid = part->tid, .request = s->nr_others,
			});
	}
	return ret ? ret : array_push(s->others, s->nr_others, s->room_others, {
		.id = life->id, .start = life->start, .is_of_class = !is_own && !strcmp(life->class, s->class),
	});
}

COMPARE(by_start, struct work, UP(start) UP(end))

/* Adds to each request the time in which the thread worked on it. */
static int add_times(struct search_ahead *s, const struct partition *p)
{
	struct partition_build b = { .p = (struct partition *)p, .m = p->m };

	if (s->nr_works)
		qsort(s->works, s->nr_works, sizeof(*s->works), by_start);
	b.thread_works = s->works;
	b.nr_thread_works = s->nr_works;
	partition_own(&b);
	for (size_t i = 0; i < b.nr_owned && !b.ret; i++) {
		const struct owned *o = &b.owned[i];
		int64_t end = min(o->end, s->r->end);

		if (o->start < end)
			s->others[o->work->request].ns += ticks_ns(p->m->reader, end - o->start);
	}
	free(b.owned);
	free(b.by_class);
	free(b.class_at);
	return b.ret;
}

/*
 * Only the end of a request that began earlier, or came from a queue, is in the time that was read: so its
 * start is looked up.  Of several with that id it is the one that was open when its part began.
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
	ret = lives_last(p->m, ahead->id, ahead->start, &row);
	if (!ret && row)
		ahead->start = row->start;
	return ret;
}

int ahead_find(const struct partition *p, const struct request *r, const char *class, struct ahead *ahead)
{
	struct search_ahead s = { .r = r, .class = class };
	struct lives_result result;
	int ret = lives_within(p->m, r->start, r->end, on_life, &s, &result);

	*ahead = (struct ahead){ .ns = 0 };
	if (!ret)
		ret = add_times(&s, p);
	for (size_t i = 0; i < s.nr_others && !ret; i++)
		if (s.others[i].is_of_class && s.others[i].ns > ahead->ns)
			*ahead = (struct ahead){ s.others[i].id, s.others[i].start, s.others[i].ns };
	if (!ret && ahead->ns)
		ret = set_start(p, r, ahead);
	free(s.others);
	free(s.works);
	return ret == TOO_MANY ? 0 : ret;
}
