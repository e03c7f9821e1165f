// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds which thread released a lock to a waiter; see handover.h.  All events of a lock come in the
 * order of their ends.  Usually the thread whose hold ended last during the wait has released the
 * lock.  The recorded time of an unlock may be after the waiter has continued; so if no hold ended
 * during the wait, the next hold to end is used, if it began before the wait ended and ends at most
 * LATE_NS later.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "facts/lock-events.h"
#include "facts/ticks.h"
#include "export/handover.h"

#define LATE_NS		10000000	/* greatest delay of the recorded time of an unlock */
#define PENDING_MAX	64		/* most unmatched waits for a lock; others are dropped */

struct matcher {
	struct handover *h;
	struct model *m;
	const struct export_options *o;
	int64_t late;
	uint64_t lock;			/* the lock whose events are being read */
	struct lock_event hold, hold_before; /* last hold, and last hold of another thread */
	struct lock_event pending[PENDING_MAX];
	size_t nr_pending;
};

static int add_event(void *arg, const struct lock_event *e)
{
	struct spill *s = arg;

	return spill_add(s, e->lock, e->end, e, sizeof(*e));
}

static int add_end(struct matcher *x, const struct lock_event *e, bool is_wait, int64_t at)
{
	struct handover_end end = {
		.nr = x->h->nr_flows, .is_wait = is_wait, .lock = e->lock, .begin = e->begin,
		.end = e->end, .at = at,
	};

	return spill_add(&x->h->spill, model_thread_order(x->m, e->tid, e->begin), e->begin, &end,
			 sizeof(end));
}

static bool is_reader(const struct lock_event *e)
{
	return LDB_LOCK_KIND(e->flags) == LDB_LOCK_RWLOCK_RD;
}

static bool is_possible(const struct matcher *x, const struct lock_event *hold,
			const struct lock_event *wait)
{
	return hold->op == LDB_LOCK_OP_HOLD && hold->tid != wait->tid &&
	       hold->begin < wait->end && hold->end > wait->begin &&
	       hold->end <= wait->end + x->late && !(is_reader(hold) && is_reader(wait)) &&
	       export_wants_time(x->o, hold->begin, hold->end) &&
	       export_wants_time(x->o, wait->begin, wait->end);
}

static int join(struct matcher *x, const struct lock_event *hold, const struct lock_event *wait)
{
	int ret;

	x->h->nr_flows++;
	ret = add_end(x, hold, false, hold->end < wait->end ? hold->end : wait->end);
	return ret ? ret : add_end(x, wait, true, wait->end);
}

static int on_hold(struct matcher *x, const struct lock_event *hold)
{
	size_t nr = 0;
	int ret = 0;

	for (size_t i = 0; i < x->nr_pending && !ret; i++) {
		if (is_possible(x, hold, &x->pending[i]))
			ret = join(x, hold, &x->pending[i]);
		else if (hold->end <= x->pending[i].end + x->late)
			x->pending[nr++] = x->pending[i];
	}
	x->nr_pending = nr;
	if (x->hold.tid != hold->tid)
		x->hold_before = x->hold;
	x->hold = *hold;
	return ret;
}

static int on_wait(struct matcher *x, const struct lock_event *wait)
{
	if (wait->flags & LDB_LOCK_F_FAILED)
		return 0;
	if (is_possible(x, &x->hold, wait))
		return join(x, &x->hold, wait);
	/* The last hold may be one by the waiter; then the hold before it is used. */
	if (x->hold.tid == wait->tid && is_possible(x, &x->hold_before, wait))
		return join(x, &x->hold_before, wait);
	if (x->nr_pending < PENDING_MAX)
		x->pending[x->nr_pending++] = *wait;
	return 0;
}

static int match_all(struct matcher *x, struct spill *events)
{
	int ret = spill_sort(events);

	while (!ret && events->has_head) {
		const struct lock_event *e = events->head.data;

		if (e->lock != x->lock) {
			x->lock = e->lock;
			x->hold = x->hold_before = (struct lock_event){ 0 };
			x->nr_pending = 0;
		}
		ret = e->op == LDB_LOCK_OP_HOLD ? on_hold(x, e) : on_wait(x, e);
		if (!ret)
			ret = spill_next(events);
	}
	return ret;
}

int handover_open(struct handover *h, struct model *m, const struct export_options *o)
{
	struct lock_events_options wanted = { .from = o->from, .to = o->to, .thread = o->thread };
	struct matcher x = { .h = h, .m = m, .o = o };
	struct spill events;
	struct lock_events_sink sink = { .event = add_event, .arg = &events };
	uint64_t nr_not_kept;
	int ret;

	*h = (struct handover){ 0 };
	x.late = ticks_sane(reader_tick(m->reader, LATE_NS)) - ticks_sane(reader_tick(m->reader, 0));
	spill_open(&events, 32 << 20);
	spill_open(&h->spill, 16 << 20);
	ret = lock_events_each(m, &wanted, &sink, &nr_not_kept);
	if (!ret)
		ret = match_all(&x, &events);
	spill_close(&events);
	if (!ret)
		ret = spill_sort(&h->spill);
	return ret;
}

void handover_close(struct handover *h)
{
	spill_close(&h->spill);
	free(h->at);
}

/*
 * Sets h->at to the ends that belong to segments of thread `major` that begin at `tick`.  Ends of
 * earlier segments, which were left out, are skipped.
 */
static int read_until(struct handover *h, uint64_t major, int64_t tick)
{
	const struct spill_item *head = &h->spill.head;
	size_t nr = 0;
	int ret = 0;

	for (size_t i = 0; i < h->nr && h->thread == major; i++)
		if (h->at[i].begin == tick)
			h->at[nr++] = h->at[i];
	h->nr = nr;
	h->thread = major;
	while (!ret && h->spill.has_head &&
	       (head->major < major || (head->major == major && head->minor <= tick))) {
		if (head->major == major && head->minor == tick) {
			if (!array_room(&h->at, &h->room, h->nr, sizeof(*h->at)))
				return -ENOMEM;
			memcpy(&h->at[h->nr++], head->data, sizeof(*h->at));
		}
		ret = spill_next(&h->spill);
	}
	return ret;
}

int handover_each(struct handover *h, struct model *m, const struct segment *s,
		  int (*end)(void *arg, const struct handover_end *e), void *arg)
{
	bool is_wait = s->kind == SEGMENT_LOCK_WAIT || s->kind == SEGMENT_FUTEX_WAIT;
	int ret;

	if (!is_wait && s->kind != SEGMENT_LOCK_HOLD)
		return 0;
	ret = read_until(h, model_thread_order(m, s->tid, s->start), s->start);
	for (size_t i = 0; i < h->nr && !ret; i++) {
		struct handover_end *e = &h->at[i];

		if (e->is_wait != is_wait || e->lock != s->lock || e->begin != s->start ||
		    e->end != s->end)
			continue;
		ret = end(arg, e);
		/* Marks the end as reported, so that it is reported only once. */
		e->lock = ~s->lock;
	}
	return ret;
}
