// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gathers the input of a timeline: finds the threads that are needed, then the events on them.
 *
 * The needed threads are those of the request, threads that ended a sleep of a needed thread or ran
 * while it waited for a CPU, threads that may hold a lock for which a needed thread waits, and so
 * on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tracks/tracks.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "timeline-private.h"

#define OFFS_MAX	(1U << 17)	/* at least this many of the longest are retained */
#define MIGRATIONS_MAX	(1U << 16)
#define SAMPLES_MAX	(1U << 16)
#define BEFORE_NS	20000000	/* a holder may have been preempted before the request */
#define BEFORE_MAX_NS	10000000000
/* Margins before and after a request: rows beyond them are rarely needed. */
#define FUNC_MARGIN_NS	300000
#define MARGIN_NS	2100000
/* LOCK rows are read up to this late: an unlock is stamped after the waiter may have continued. */
#define AFTER_NS	10000000

static int64_t ticks_of(struct model *m, int64_t ns)
{
	return ticks_sane(ticks_sane(reader_tick(m->reader, ns)) - ticks_sane(reader_tick(m->reader, 0)));
}

static struct tracks_options options_of(const struct timeline_build *b)
{
	struct tracks_options o = TRACKS_OPTIONS_ALL;

	o.from = b->from;
	o.to = b->to;
	o.emit_from = b->instance->start;
	o.emit_to = b->instance->end;
	o.before = b->before;
	o.after = b->after;
	o.no_requests = true;
	return o;
}

/* Which threads are needed */

/*
 * tid holds the lock; or tid waits for it, and `other` holds or released it; or `other` woke tid,
 * or ran while tid waited for a CPU.
 */
struct link {
	uint32_t tid, other;
	uint64_t lock;		/* 0: the link is not about a lock */
	bool is_hold;
	bool is_open;		/* it is not known when tid left the CPU */
};

struct links {
	const struct timeline_build *b;
	struct link *at;
	size_t nr, room;
};

static int add_link(struct links *l, const struct link *link)
{
	return array_push(l->at, l->nr, l->room, *link);
}

static int on_link(void *arg, const struct segment *s)
{
	struct links *l = arg;
	struct link link = { .tid = s->tid };

	if (s->kind == SEGMENT_LOCK_HOLD || s->kind == SEGMENT_LOCK_WAIT || s->kind == SEGMENT_FUTEX_WAIT) {
		link.lock = s->lock;
		link.is_hold = s->kind == SEGMENT_LOCK_HOLD;
		link.other = link.is_hold ? 0 : blame_owner(l->b->m, s);
	} else {
		link.other = s->kind == SEGMENT_BLOCKED ? blame_waker(l->b->m, s) : blame_running(l->b, s);
	}
	if (s->kind == SEGMENT_LOCK_WAIT) {
		struct link released = { .tid = s->tid, .other = blame_releaser(l->b->m, s), .lock = s->lock };

		if (released.other && released.other != link.other && add_link(l, &released))
			return -ENOMEM;
	}
	return link.lock || link.other ? add_link(l, &link) : 0;
}

static int on_off_before(void *arg, uint32_t tid)
{
	return add_link(arg, &(struct link){ .tid = tid, .is_open = true });
}

COMPARE_NUMBERS(tid_compare, uint32_t)

static bool has_tid(const struct timeline_build *b, uint32_t tid)
{
	size_t at = search(b->nr_tids, i, b->tids[i] < tid);

	return at < b->nr_tids && b->tids[at] == tid;
}

static size_t unique_tids(uint32_t *tids, size_t nr)
{
	size_t out = 0;

	sort_by(tids, nr, tid_compare);
	for (size_t i = 0; i < nr; i++)
		if (!out || tids[out - 1] != tids[i])
			tids[out++] = tids[i];
	return out;
}

COMPARE(link_compare, struct link, UP(lock) DOWN(is_hold))

/*
 * Adds to `tids` the threads that may have delayed the needed ones: the other thread of each link,
 * and the holders of each lock for which a needed thread waits.  Links are sorted by lock, with
 * each lock's holds first.
 */
static size_t add_linked(const struct timeline_build *b, const struct links *l, uint32_t *tids)
{
	size_t nr = b->nr_tids;

	for (size_t i = 0, first; i < l->nr; i = first) {
		bool is_wanted = false;

		for (first = i; first < l->nr && l->at[first].lock == l->at[i].lock; first++) {
			const struct link *link = &l->at[first];

			if (link->is_hold || !has_tid(b, link->tid))
				continue;
			is_wanted = true;
			if (link->other)
				tids[nr++] = link->other;
		}
		for (size_t k = i; is_wanted && k < first && l->at[k].is_hold; k++)
			tids[nr++] = l->at[k].tid;
	}
	return nr;
}

static int find_tids(struct timeline_build *b, const struct links *l)
{
	uint32_t *tids = calloc(b->own.nr + 2 * l->nr + 1, sizeof(*tids));
	size_t before = 0;

	if (!tids)
		return -ENOMEM;
	sort_by(l->at, l->nr, link_compare);
	for (size_t i = 0; i < b->own.nr; i++)
		tids[i] = b->own.at[i].tid;
	free(b->tids);
	b->tids = tids;
	b->nr_tids = unique_tids(tids, b->own.nr);
	while (b->nr_tids != before) {
		uint32_t *more = calloc(b->nr_tids + 2 * l->nr + 1, sizeof(*more));

		if (!more)
			return -ENOMEM;
		before = b->nr_tids;
		memcpy(more, b->tids, before * sizeof(*more));
		b->nr_tids = unique_tids(more, add_linked(b, l, more));
		free(b->tids);
		b->tids = more;
	}
	return 0;
}

static int read_links(struct timeline_build *b, bool *is_open)
{
	struct links l = { .b = b };
	struct tracks_options o = options_of(b);
	struct tracks_sink sink = { .segment = on_link, .off_before = on_off_before, .arg = &l };
	struct tracks_result result;
	int ret;

	o.no_functions = true;
	ret = tracks_each(b->m, &o, &sink, &result);
	if (!ret)
		ret = find_tids(b, &l);
	*is_open = false;
	for (size_t i = 0; i < l.nr && !ret; i++)
		*is_open |= l.at[i].is_open && has_tid(b, l.at[i].tid);
	free(l.at);
	return ret;
}

int gather_retain(struct model *m, const struct instance *instances, size_t nr)
{
	static const unsigned kinds[] = {
		LDB_BLK_FUNC, LDB_BLK_LOCK, LDB_BLK_SCHED, LDB_BLK_REQ, LDB_BLK_FAULT, LDB_BLK_IRQ,
	};
	int64_t before = ticks_of(m, BEFORE_NS), after = ticks_of(m, AFTER_NS);
	struct reader_range *ranges = calloc(nr + 1, sizeof(*ranges));
	int ret = ranges ? 0 : -ENOMEM;

	for (size_t n = 0; n < sizeof(kinds) / sizeof(kinds[0]) && !ret; n++) {
		bool is_sched = kinds[n] == LDB_BLK_SCHED;

		for (size_t i = 0; i < nr; i++) {
			int64_t start = ticks_sane(instances[i].start), end = ticks_sane(instances[i].end);
			int64_t margin = ticks_of(m, kinds[n] == LDB_BLK_FUNC ? FUNC_MARGIN_NS : MARGIN_NS);

			ranges[i].from = start - margin;
			ranges[i].to = end + margin + (kinds[n] == LDB_BLK_LOCK ? after : 0);
			if (is_sched)
				ranges[i] = tracks_sched_range(m, start, end, before, after);
		}
		ret = reader_retain(m->reader, kinds[n], ranges, nr);
	}
	free(ranges);
	return ret;
}

int gather_start(struct timeline_build *b)
{
	b->from = b->instance->start;
	b->to = b->instance->end;
	b->before = ticks_of(b->m, BEFORE_NS);
	b->after = ticks_of(b->m, AFTER_NS);
	return gather_retain(b->m, b->instance, 1);
}

int gather_threads(struct timeline_build *b)
{
	bool is_open;
	int ret = read_links(b, &is_open);

	/* Reads sleeps that began before the range as well: they may lead to more threads. */
	if (!ret && is_open && ticks_sane(b->instance->start) > b->before) {
		b->before = ticks_of(b->m, BEFORE_MAX_NS);
		ret = read_links(b, &is_open);
	}
	return ret;
}

/* Events on these threads */

COMPARE_NUMBERS(length_compare, int64_t)

/* Returns true if the segment counts against OFFS_MAX. Functions have a limit of their own. */
static bool is_limited(const struct segment *s)
{
	return segment_is_off(s) || s->kind == SEGMENT_SYSCALL || s->kind == SEGMENT_LIBCALL;
}

/*
 * Drops the shorter half of the functions or, if `functions` is false, of the segments that count
 * against OFFS_MAX.
 */
static int prune(struct timeline_build *b, bool functions, size_t *nr_left, int64_t *min)
{
	int64_t *lengths = calloc(*nr_left + 1, sizeof(*lengths));
	size_t nr = 0, out = 0;

	if (!lengths)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr_all; i++)
		if (functions ? b->all[i].kind == SEGMENT_FUNCTION : is_limited(&b->all[i]))
			lengths[nr++] = b->all[i].end - b->all[i].start;
	qsort(lengths, nr, sizeof(*lengths), length_compare);
	*min = lengths[nr / 2] + 1;
	free(lengths);
	for (size_t i = 0; i < b->nr_all; i++) {
		struct segment *s = &b->all[i];
		bool is_one = functions ? s->kind == SEGMENT_FUNCTION : is_limited(s);

		if (is_one && s->end - s->start < *min) {
			segment_free_sched(s);
			(*nr_left)--;
		} else {
			b->all[out++] = *s;
		}
	}
	b->nr_all = out;
	return 0;
}

int gather_segment(void *build, const struct segment *s)
{
	struct timeline_build *b = build;
	bool is_function = s->kind == SEGMENT_FUNCTION, is_off = is_limited(s);
	int64_t length = s->end - s->start;
	int ret = 0;

	if (s->end < b->instance->start || s->start > b->instance->end)
		return 0;
	if ((is_function && length < b->min_function) || (is_off && length < b->min_off))
		return 0;
	if (is_function && b->nr_functions == 2 * TIMELINE_FRAMES_MAX)
		ret = prune(b, true, &b->nr_functions, &b->min_function);
	else if (is_off && b->nr_offs == 2 * OFFS_MAX)
		ret = prune(b, false, &b->nr_offs, &b->min_off);
	if (ret || !array_room(&b->all, &b->room_all, b->nr_all, sizeof(*b->all)))
		return -ENOMEM;
	b->nr_functions += is_function;
	b->nr_offs += is_off;
	b->all[b->nr_all] = *s;
	return segment_copy_sched(&b->all[b->nr_all++]);
}

int gather_sample(void *build, const struct sample *s)
{
	struct timeline_build *b = build;

	if (!s->pc || s->tick < b->instance->start || s->tick > b->instance->end || b->nr_samples == SAMPLES_MAX)
		return 0;
	return array_push(b->samples, b->nr_samples, b->room_samples, *s);
}

int gather_migration(void *build, const struct sched_migration *m)
{
	struct timeline_build *b = build;

	if (m->tick < b->instance->start || m->tick > b->instance->end || b->nr_migrations == MIGRATIONS_MAX)
		return 0;
	return array_push(b->migrations, b->nr_migrations, b->room_migrations, *m);
}

bool gather_wants(void *build, uint32_t tid, int64_t start, int64_t end)
{
	return has_tid(build, tid);
}

int gather_range(struct timeline_build *b)
{
	int64_t margin = ticks_of(b->m, FUNC_MARGIN_NS);
	int ret = tracks_widen(b->m, gather_wants, b, &b->from, &b->to);

	if (ret || (b->from >= b->instance->start - margin && b->to <= b->instance->end + margin))
		return ret;
	return reader_retain_also(b->m->reader, LDB_BLK_FUNC, &(struct reader_range){ b->from, b->to });
}
