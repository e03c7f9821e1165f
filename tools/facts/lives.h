/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lives of requests, folded from the REQ rows.
 *
 *	START(tid, q)	a part on tid begins; a pending part in queue q (or, if
 *			there is none there, the oldest pending one) ends
 *	BLOCK(tid, q)	the part on tid ends, a part in q begins
 *	ARRIVED(tid, q)	a part in q begins, in the past
 *	END(tid)	the part on tid ends; on a thread that did not work on it,
 *			everything ends
 *	END_ALL(tid)	END of every request tid works on
 *
 * A life is over when an END was seen and no part is left open.  An id seen
 * again after that has a new life.  START on a thread that works on the request
 * already changes nothing.  A consumer may START before the producer's BLOCK:
 * that queue part is empty and not pending.  ARRIVED is said by the thread whose
 * START is next: nobody knows who put the request there, so the part has its tid.  It
 * changes nothing if that thread works on it already, or if it is known to be in q.
 */
#ifndef FACTS_LIVES_H
#define FACTS_LIVES_H

#include "model.h"

#define LIVES_OPEN_MAX	(4U << 20)	/* requests followed at the same time */

struct lives_result {
	uint64_t nr_events;
	uint64_t nr_stray;	/* BLOCK or END of an id that was not open: begun before the recording? */
	uint64_t nr_dropped;	/* over LIVES_OPEN_MAX */
};

/*
 * Calls life for each one: when it is over, and at the end for those still
 * open.  The life is the callee's until it returns; it may take over the parts
 * by setting them to NULL.  Non-zero stops.  Returns that, 0 or -ENOMEM.
 */
int lives_each(struct model *m, int (*life)(void *arg, struct life *life), void *arg,
	       struct lives_result *result);

/*
 * Those of some requests: of nr ids, in any order.  Costs less than all; lives of a few others
 * may be among them.
 */
int lives_some(struct model *m, const uint64_t *ids, size_t nr,
	       int (*life)(void *arg, struct life *life), void *arg, struct lives_result *result);

/*
 * As far as their events in [from, to] (ticks) tell: what ends there and began before, began at
 * from.  Enough to know what threads worked on meanwhile, not to know the lives.
 */
int lives_within(struct model *m, int64_t from, int64_t to, int (*life)(void *arg, struct life *life),
		 void *arg, struct lives_result *result);

void life_free(struct life *life);

#endif
