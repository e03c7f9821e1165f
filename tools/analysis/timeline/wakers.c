// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits that end because somebody says so: for conditions, semaphores, barriers and the ends
 * of threads there is no holder.  The kernel saw who woke the thread from the last sleep in
 * such a wait; without kernel events, the shim saw who signalled last.
 *
 * A thread that does not sleep in its wait, or is woken by an interrupt (a timeout), has no
 * waker.
 */
#include "base/search.h"
#include "timeline-private.h"

size_t wakers_first(const struct timeline_build *b, uint32_t tid, int64_t tick)
{
	return search(b->nr_offs, i,
		      b->offs[i].off.tid < tid ||
		      (b->offs[i].off.tid == tid && b->offs[i].off.in <= tick));
}

static uint32_t waker_of(const struct timeline_build *b, const struct lock_event *wait)
{
	const struct party *waker = NULL;

	for (size_t i = wakers_first(b, wait->tid, wait->begin); i < b->nr_offs; i++) {
		const struct sched_off *off = &b->offs[i].off;

		if (off->tid != wait->tid || off->out >= wait->end)
			break;
		/* One that went on after the wait is another one's. */
		if (!off->is_preempted && off->has_woken && off->woken <= wait->end)
			waker = &off->waker;
	}
	if (!waker || waker->kind != PARTY_TASK || waker->tid == wait->tid ||
	    !model_thread(b->m, waker->tid, wait->end))
		return 0;
	return waker->tid;
}

/* Other sleeps: a byte in a pipe, a message, an event.  Of a disk nobody is in the way. */
uint32_t wakers_of_sleep(const struct timeline_build *b, const struct offcpu *o)
{
	const struct sched_off *off = &o->off;

	if (o->is_event || off->is_preempted || off->state == LDB_STATE_DISK || !off->has_woken ||
	    off->waker.kind != PARTY_TASK || off->waker.tid == off->tid || off->woken - off->out < b->min_off ||
	    !model_thread(b->m, off->waker.tid, off->woken))
		return 0;
	return off->waker.tid;
}

static void set_waker(const struct timeline_build *b, struct lock_event *e)
{
	uint32_t waker = waker_of(b, e);

	if (waker)
		e->waker = waker;
	else if (e->waker == e->tid || !model_thread(b->m, e->waker, e->end))
		e->waker = 0;
}

void wakers_find(struct timeline_build *b)
{
	for (size_t i = 0; i < b->locks.nr; i++) {
		struct lock_event *e = &b->locks.events[i];

		if (e->op == LDB_LOCK_OP_WAIT && !e->owner &&
		    !lock_kind_is_held(LDB_LOCK_KIND(e->flags)))
			set_waker(b, e);
	}
}
