// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writes an event for a long call. */
#include "flows.h"
#include "runtime/runtime.h"

/*
 * Writes the event.  is_open: the call, maybe of another thread, has not returned when counting
 * ends.
 */
void flow_event_c(const struct flow_slot *s, uint64_t now, uint64_t start, bool is_open)
{
	const struct thread *t = is_open ? NULL : thread_self();
	struct ldb_rec rec[2] = { { 0 } };
	struct ldb_flow_rec *r = (struct ldb_flow_rec *)rec;
	uint32_t nr_later = 0;

	/* a coroutine may have made the call on a thread that has exited since */
	if (!s->owner || s->owner >= LDB_FLOW_THREADS)
		return;
	r->end = now;
	r->tid = flow_tids[s->owner];
	r->type = LDB_EV_FLOW_CALL;
	r->flags = is_open ? LDB_FLOW_OPEN : 0;
	r->start = start;
	r->api = s->entry->cell;
	r->site = s->ret;
	r->cont1 = LDB_EV_CONT + 1;
	/*
	 * the functions that the called function entered have returned, so the innermost one is the
	 * caller
	 */
	if (t)
		r->gen = thread_innermost(t, &nr_later);
	r->nr_later = nr_later;
	ring_write(rec, 2);
}
