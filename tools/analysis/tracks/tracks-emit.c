// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes waits, holds, times off the CPU and requests of a thread, window by window, and
 * finds the requests that its other segments belong to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tracks-private.h"

/* Returns a new element of off_at[]; NULL: out of memory. */
static struct tracks_off *new_off(struct tracks *k)
{
	if (!array_room(&k->off_at, &k->room_off_at, k->nr_off_at, sizeof(*k->off_at)))
		return NULL;
	k->off_at[k->nr_off_at] = (struct tracks_off){ .depth = 0 };
	return &k->off_at[k->nr_off_at++];
}

void tracks_lower_border(struct tracks *k, int64_t border)
{
	if (border >= k->border && !k->is_last)
		return;
	k->border = border;
	k->is_last = false;
	k->is_full = false;
}

bool tracks_is_enough(struct tracks *k, size_t nr, int64_t first, const struct spill *s)
{
	if (nr < TRACKS_EVENTS || s->head.minor <= first)
		return false;
	tracks_lower_border(k, s->head.minor);
	return true;
}

static int read_off(struct tracks *k)
{
	const char *data = k->offs.head.data;
	struct tracks_off *at = new_off(k);
	unsigned nr;

	if (!at)
		return -ENOMEM;
	memcpy(&at->off, data, sizeof(at->off));
	nr = at->off.nr_spans;
	at->spans = calloc(nr + 1, sizeof(*at->spans));
	if (!at->spans) {
		k->nr_off_at--;
		return -ENOMEM;
	}
	memcpy(at->spans, data + sizeof(at->off), nr * sizeof(*at->spans));
	at->off.spans = at->spans;
	if (k->m->has_calls && tracks_call_of(k, &at->off, &at->call))
		return -ENOMEM;
	return spill_next(&k->offs);
}

static bool has_off_before(const struct tracks *k, int64_t before)
{
	return spill_is_at(&k->offs, k->major) && k->offs.head.minor < before;
}

int tracks_read_offs(struct tracks *k, int64_t before)
{
	int ret = 0;

	while (!ret && has_off_before(k, before) &&
	       !(k->nr_off_at &&
		 tracks_is_enough(k, k->nr_off_at, k->off_at[0].off.out, &k->offs)))
		ret = read_off(k);
	return ret;
}

void tracks_free_offs(struct tracks *k, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(k->off_at[i].spans);
	if (nr)
		memmove(k->off_at, k->off_at + nr, (k->nr_off_at - nr) * sizeof(*k->off_at));
	k->nr_off_at -= nr;
}

int tracks_read_locks(struct tracks *k, int64_t before)
{
	struct lockset *set = &k->set;
	int ret = 0;

	while (spill_is_at(&k->locks, k->major) && k->locks.head.minor < before && !ret) {
		const struct lock_event *e = k->locks.head.data;
		unsigned op = e->op;

		if (set->nr && tracks_is_enough(k, set->nr, set->events[0].begin, &k->locks))
			break;
		ret = lockset_add_wait(set, e);
		if (ret)
			break;
		set->events[set->nr - 1].op = op;
		ret = spill_next(&k->locks);
	}
	return ret;
}

/* Waits, with their kernel events */

/* *first: index of the first time off the CPU that did not end before the previous wait. */
static int add_wait(struct tracks *k, const struct lock_event *e, size_t *first)
{
	struct segment *s = segment_of_lock(k, e);
	int ret = s ? 0 : -ENOMEM;

	/*
	 * All sleeps of the wait are read, even those after the window's border, because the
	 * segment is emitted now.
	 */
	while (!ret && has_off_before(k, e->end))
		ret = read_off(k);
	while (!ret && *first < k->nr_off_at && k->off_at[*first].off.in <= e->begin)
		(*first)++;
	for (size_t i = *first; !ret && i < k->nr_off_at && k->off_at[i].off.out < e->end; i++) {
		struct tracks_off *at = &k->off_at[i];

		at->depth = s->depth + 1;
		/* A sleep on a futex may itself be the wait. */
		at->is_event = at->off.nr_futexes && at->off.out == e->begin &&
			       at->off.woken == e->end;
		if (!segment_has_sleep(s, at))
			continue;
		ret = segment_add_sleep(k, s, at);
		at->is_sleep_shown = true;
	}
	return ret;
}

static int add_locks(struct tracks *k)
{
	struct lockset *set = &k->set;
	size_t nr = 0, first = 0;
	int ret = 0;

	/* Events are in order of their begins. */
	for (; nr < set->nr && !ret; nr++) {
		const struct lock_event *e = &set->events[nr];

		if (!k->is_last && e->begin >= k->border)
			break;
		if (e->op == LDB_LOCK_OP_WAIT)
			ret = add_wait(k, e, &first);
		else if (!segment_of_lock(k, e))
			ret = -ENOMEM;
	}
	if (nr)
		memmove(set->events, set->events + nr, (set->nr - nr) * sizeof(*set->events));
	set->nr -= nr;
	return ret;
}

/* Off the CPU */

static int add_offs(struct tracks *k)
{
	size_t nr = 0;

	for (; nr < k->nr_off_at; nr++) {
		const struct tracks_off *at = &k->off_at[nr];
		const struct sched_off *off = &at->off;

		if (!k->is_last && off->out >= k->border)
			break;
		/* Errors of counters may reach into the emitted range. */
		if (!k->m->counters && !tracks_emits(k, off->out, off->in))
			continue;
		/* If neither the start nor the wake-up is known, the kind is not known. */
		if (off->out < off->woken && !at->is_sleep_shown &&
		    (off->has_out || off->has_woken) && !segment_of_off(k, at, true))
			return -ENOMEM;
		if (off->woken < off->in && !segment_of_off(k, at, false))
			return -ENOMEM;
	}
	tracks_free_offs(k, nr);
	return 0;
}

/* Requests */

/* Reads one more span; returns false if there is none, or *ret is an error. */
static bool read_part(struct tracks *k, int *ret)
{
	if (!spill_is_at(&k->parts, k->major))
		return false;
	if (!array_room(&k->part_at, &k->room_part_at, k->nr_part_at, sizeof(*k->part_at))) {
		*ret = -ENOMEM;
		return false;
	}
	memcpy(&k->part_at[k->nr_part_at++], k->parts.head.data, sizeof(*k->part_at));
	*ret = spill_next(&k->parts);
	return !*ret;
}

static int add_parts(struct tracks *k)
{
	int64_t first = 0;
	int ret = 0;

	for (size_t nr = 0; !ret; nr++) {
		const struct tracks_part *p;

		if (k->nr_parts_done == k->nr_part_at && !read_part(k, &ret))
			break;
		p = &k->part_at[k->nr_parts_done];
		if (!nr)
			first = p->part.start;
		if (nr >= TRACKS_EVENTS && p->part.start > first)
			tracks_lower_border(k, p->part.start);
		if (!k->is_last && p->part.start >= k->border)
			break;
		ret = segment_of_part(k, p) ? 0 : -ENOMEM;
		k->nr_parts_done++;
	}
	return ret;
}

static int add_queues(struct tracks *k)
{
	int64_t first = k->queues.head.minor;
	int ret = 0;

	for (size_t nr = 0; !ret && spill_is_at(&k->queues, k->major); nr++) {
		struct tracks_part p;

		if (nr >= TRACKS_EVENTS && k->queues.head.minor > first)
			tracks_lower_border(k, k->queues.head.minor);
		if (!k->is_last && k->queues.head.minor >= k->border)
			break;
		memcpy(&p, k->queues.head.data, sizeof(p));
		ret = segment_of_part(k, &p) ? 0 : -ENOMEM;
		if (!ret)
			ret = spill_next(&k->queues);
	}
	return ret;
}

/* Drops spans that ended before all remaining segments. */
static void drop_ended_parts(struct tracks *k, int64_t tick)
{
	size_t nr = 0, done = 0;

	for (size_t i = 0; i < k->nr_part_at; i++) {
		bool is_done = i < k->nr_parts_done;

		if (is_done && k->part_at[i].part.end < tick)
			continue;
		done += is_done;
		k->part_at[nr++] = k->part_at[i];
	}
	k->nr_part_at = nr;
	k->nr_parts_done = done;
	k->first_part = 0;
}

int tracks_set_request(struct tracks *k, struct segment *s)
{
	size_t nr = 0, nr_ended = 0;
	int ret = 0;

	if (s->kind == SEGMENT_QUEUE || s->kind == SEGMENT_REQUEST)
		return 0;
	while (k->first_part < k->nr_parts_done &&
	       k->part_at[k->first_part].part.end < s->start)
		k->first_part++;
	for (size_t i = k->first_part; nr < 2; i++) {
		const struct instance_part *p;

		if (i == k->nr_part_at && !read_part(k, &ret))
			break;
		p = &k->part_at[i].part;
		if (p->start >= s->end && p->start > s->start)
			break;
		/* A segment that begins at the end of a span does not belong to it. */
		if (p->end < s->start || (p->end == s->start && s->end > s->start)) {
			nr_ended++;
			continue;
		}
		if (nr && s->req == k->part_at[i].req)
			continue;
		s->req = k->part_at[i].req;
		nr++;
	}
	if (nr_ended > 64 + (k->nr_part_at - k->first_part) / 8 || k->first_part > TRACKS_EVENTS)
		drop_ended_parts(k, s->start);
	s->has_req = nr == 1;
	if (!s->has_req)
		s->req = 0;
	return ret;
}

int tracks_add_requests(struct tracks *k)
{
	int ret = add_parts(k);

	return ret ? ret : add_queues(k);
}

int tracks_add_others(struct tracks *k)
{
	int ret = add_locks(k);

	if (!ret)
		ret = add_offs(k);
	if (!ret)
		ret = tracks_add_calls(k);
	return ret ? ret : tracks_add_flows(k);
}
