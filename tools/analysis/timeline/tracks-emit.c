// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits, holds, times off the CPU and requests of a thread, window by window, and
 * which request its other segments belong to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "facts/ticks.h"
#include "tracks-private.h"

/* The next one at hand; NULL: out of memory. */
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

/*
 * Enough for a window: the rest comes in the next ones.  Things that begin together
 * are not torn apart, so each window gets on.
 */
static bool is_enough(struct tracks *k, size_t nr, int64_t first, const struct tracks_source *s)
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
	memcpy(&at->o.off, data, sizeof(at->o.off));
	nr = at->o.off.nr_spans;
	at->o.spans = calloc(nr + 1, sizeof(*at->o.spans));
	if (!at->o.spans) {
		k->nr_off_at--;
		return -ENOMEM;
	}
	memcpy(at->o.spans, data + sizeof(at->o.off), nr * sizeof(*at->o.spans));
	at->o.off.spans = at->o.spans;
	return source_next(&k->offs);
}

static bool has_off_before(const struct tracks *k, int64_t before)
{
	return source_is_at(&k->offs, k->major) && k->offs.head.minor < before;
}

int tracks_read_offs(struct tracks *k, int64_t before)
{
	int ret = 0;

	while (!ret && has_off_before(k, before) &&
	       !(k->nr_off_at &&
		 is_enough(k, k->nr_off_at, k->off_at[0].o.off.out, &k->offs)))
		ret = read_off(k);
	return ret;
}

void tracks_free_offs(struct tracks *k, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(k->off_at[i].o.spans);
	if (nr)
		memmove(k->off_at, k->off_at + nr, (k->nr_off_at - nr) * sizeof(*k->off_at));
	k->nr_off_at -= nr;
}

int tracks_read_locks(struct tracks *k, int64_t before)
{
	struct lockset *set = &k->b.locks;
	int ret = 0;

	while (source_is_at(&k->locks, k->major) && k->locks.head.minor < before && !ret) {
		const struct lock_event *e = k->locks.head.data;
		unsigned op = e->op;

		if (set->nr && is_enough(k, set->nr, set->events[0].begin, &k->locks))
			break;
		ret = lockset_add_wait(set, e);
		if (ret)
			break;
		set->events[set->nr - 1].op = op;
		ret = source_next(&k->locks);
	}
	return ret;
}

/* Waits and what the kernel knows of them */

static int add_sleep(struct tracks *k, struct segment *s, struct tracks_off *at)
{
	const struct sched_off *off = &at->o.off;
	int64_t start = off->out > s->start ? off->out : s->start;
	int64_t end = off->woken < s->end ? off->woken : s->end;

	if (offcpu_describe(k->m, s, off))
		return -ENOMEM;
	ticks_add(&s->sched->asleep_ns, ticks_ns(k->m->reader, end - start));
	if (s->kind == SEGMENT_FUTEX_WAIT) {
		offcpu_set_place(&k->b, s, off);
		s->resolution_ns = k->off_resolution_ns;
	}
	at->is_asleep_told = true;
	return 0;
}

static int add_wait(struct tracks *k, const struct lock_event *e)
{
	struct segment *s = blame_wait_segment(&k->b, e, e->begin, e->end, 0);
	size_t i = 0;
	int ret = s ? 0 : -ENOMEM;

	/* All of them, also those behind the border: the segment is given now. */
	while (!ret && has_off_before(k, e->end))
		ret = read_off(k);
	while (!ret && i < k->nr_off_at && k->off_at[i].o.off.in <= e->begin)
		i++;
	for (; !ret && i < k->nr_off_at && k->off_at[i].o.off.out < e->end; i++) {
		struct tracks_off *at = &k->off_at[i];

		at->depth = s->depth + 1;
		/* A sleep that is itself the wait. */
		at->o.is_event = at->o.off.nr_futexes && at->o.off.out == e->begin &&
				 at->o.off.woken == e->end;
		if (at->o.off.out < at->o.off.woken && at->o.off.woken > e->begin &&
		    offcpu_is_of_wait(&at->o, s))
			ret = add_sleep(k, s, at);
	}
	return ret;
}

static int add_locks(struct tracks *k)
{
	struct lockset *set = &k->b.locks;
	size_t nr = 0;
	int ret = 0;

	for (; nr < set->nr && !ret; nr++) {
		const struct lock_event *e = &set->events[nr];

		if (!k->is_last && e->begin >= k->border)
			break;
		if (e->op == LDB_LOCK_OP_WAIT)
			ret = add_wait(k, e);
		else if (!blame_hold_segment(&k->b, e, e->begin, e->end, 0))
			ret = -ENOMEM;
	}
	if (nr)
		memmove(set->events, set->events + nr, (set->nr - nr) * sizeof(*set->events));
	set->nr -= nr;
	return ret;
}

/* Off the CPU */

static struct segment *add_off(struct tracks *k, const struct tracks_off *at,
			       enum segment_kind kind, int64_t start, int64_t end)
{
	const struct sched_off *off = &at->o.off;
	struct segment *s = timeline_add(&k->b, kind, off->tid, start, end);
	const struct frame *f;

	if (!s || offcpu_describe(k->m, s, off))
		return NULL;
	if ((kind == SEGMENT_RUNNABLE || kind == SEGMENT_PREEMPTED) &&
	    offcpu_add_occupants(k->m, s->sched, off, start, end))
		return NULL;
	f = offcpu_set_place(&k->b, s, off);
	s->depth = at->depth ? at->depth : f ? f->depth + 1 : 0;
	s->is_truncated = (!off->has_out && start == off->out) ||
			  (!off->has_in && end == off->in);
	s->resolution_ns = k->off_resolution_ns;
	s->duration_ns = ticks_ns(k->m->reader, end - start);
	s->duration_resolution_ns = k->off_resolution_ns;
	return s;
}

static int add_offs(struct tracks *k)
{
	size_t nr = 0;

	for (; nr < k->nr_off_at; nr++) {
		const struct tracks_off *at = &k->off_at[nr];
		const struct sched_off *off = &at->o.off;
		struct segment *s;

		if (!k->is_last && off->out >= k->border)
			break;
		/* Without begin and wake-up it is not known what it was. */
		if (off->out < off->woken && !at->is_asleep_told &&
		    (off->has_out || off->has_woken)) {
			s = add_off(k, at, off->nr_futexes ? SEGMENT_FUTEX_WAIT : SEGMENT_BLOCKED,
				    off->out, off->woken);
			if (!s)
				return -ENOMEM;
			if (off->nr_futexes) {
				s->lock = off->futex;
				s->lock_symbol = symtab_lookup_data(k->m->symtab, off->futex,
								    off->out);
				s->lock_kind = LOCK_KIND_FUTEX;
			}
		}
		if (off->woken < off->in &&
		    !add_off(k, at, off->is_preempted ? SEGMENT_PREEMPTED : SEGMENT_RUNNABLE,
			     off->woken, off->in))
			return -ENOMEM;
	}
	tracks_free_offs(k, nr);
	return 0;
}

/* Requests */

/* Reads one more; false: there is none, or an error in *ret. */
static bool read_part(struct tracks *k, int *ret)
{
	if (!source_is_at(&k->parts, k->major))
		return false;
	if (!array_room(&k->part_at, &k->room_part_at, k->nr_part_at, sizeof(*k->part_at))) {
		*ret = -ENOMEM;
		return false;
	}
	memcpy(&k->part_at[k->nr_part_at++], k->parts.head.data, sizeof(*k->part_at));
	*ret = source_next(&k->parts);
	return !*ret;
}

static int add_part(struct tracks *k, const struct tracks_part *from)
{
	const struct life_part *p = &from->part;
	struct symtab *st = k->m->symtab;
	struct segment *s = timeline_add(&k->b, p->is_queue ? SEGMENT_QUEUE : SEGMENT_REQUEST,
					 p->tid, p->start, p->end);

	if (!s)
		return -ENOMEM;
	s->site = p->site ? symtab_lookup_call(st, p->site, p->start) : NULL;
	s->is_truncated = p->is_open;
	s->duration_ns = s->end_ns - s->start_ns;
	s->req = from->req;
	s->has_req = true;
	if (p->is_queue) {
		s->lock = p->queue;
		s->lock_symbol = p->queue ? symtab_lookup_data(st, p->queue, p->start) : NULL;
	}
	if (p->is_queue || p->was_queued)
		s->to_tid = p->to_tid;
	return 0;
}

static int add_parts(struct tracks *k)
{
	int64_t first = 0;
	int ret = 0;

	for (size_t nr = 0; !ret; nr++) {
		const struct tracks_part *p;

		if (k->nr_parts_told == k->nr_part_at && !read_part(k, &ret))
			break;
		p = &k->part_at[k->nr_parts_told];
		if (!nr)
			first = p->part.start;
		if (nr >= TRACKS_EVENTS && p->part.start > first)
			tracks_lower_border(k, p->part.start);
		if (!k->is_last && p->part.start >= k->border)
			break;
		ret = add_part(k, p);
		k->nr_parts_told++;
	}
	return ret;
}

static int add_queues(struct tracks *k)
{
	int64_t first = k->queues.head.minor;
	int ret = 0;

	for (size_t nr = 0; !ret && source_is_at(&k->queues, k->major); nr++) {
		struct tracks_part p;

		if (nr >= TRACKS_EVENTS && k->queues.head.minor > first)
			tracks_lower_border(k, k->queues.head.minor);
		if (!k->is_last && k->queues.head.minor >= k->border)
			break;
		memcpy(&p, k->queues.head.data, sizeof(p));
		ret = add_part(k, &p);
		if (!ret)
			ret = source_next(&k->queues);
	}
	return ret;
}

/* Those that ended before anything that comes. */
static void forget_parts(struct tracks *k, int64_t tick)
{
	size_t nr = 0, told = 0;

	for (size_t i = 0; i < k->nr_part_at; i++) {
		bool is_told = i < k->nr_parts_told;

		if (is_told && k->part_at[i].part.end < tick)
			continue;
		told += is_told;
		k->part_at[nr++] = k->part_at[i];
	}
	k->nr_part_at = nr;
	k->nr_parts_told = told;
	k->first_part = 0;
}

int tracks_set_request(struct tracks *k, struct segment *s)
{
	size_t nr = 0, nr_ended = 0;
	int ret = 0;

	if (s->kind == SEGMENT_QUEUE || s->kind == SEGMENT_REQUEST)
		return 0;
	while (k->first_part < k->nr_parts_told &&
	       k->part_at[k->first_part].part.end < s->start)
		k->first_part++;
	for (size_t i = k->first_part; nr < 2; i++) {
		const struct life_part *p;

		if (i == k->nr_part_at && !read_part(k, &ret))
			break;
		p = &k->part_at[i].part;
		if (p->start >= s->end && p->start > s->start)
			break;
		/* The end of a part is the begin of nothing. */
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
		forget_parts(k, s->start);
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

	return ret ? ret : add_offs(k);
}
