/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds request instances (struct instance) and their spans on threads and in queues (struct
 * instance_part).  They are aggregated from the REQ rows, which mean the following.  tid is a
 * thread and q a queue:
 *
 *	START(tid, q)	a span on tid begins; a pending span in queue q (or, if
 *			there is none there, the oldest pending one) ends
 *	BLOCK(tid, q)	the span on tid ends, a span in q begins
 *	ARRIVED(tid, q)	a span in q begins, in the past
 *	END(tid)	the span on tid ends; if the request has no span on tid,
 *			all spans of the request end
 *	END_ALL(tid)	END of every request tid works on
 *	CUT		all open requests end, incomplete, because the recording was
 *			paused; if the row has a range of ids, only those with such ids
 *	INEXACT		start and end of the open request are estimates
 *
 * An instance is over when there was an END and no span is left open.  If the same id appears after
 * that, it is a new instance.  A START on a thread that already works on the request changes
 * nothing.  A consumer's START may be recorded before the producer's BLOCK: then the span in the
 * queue is empty and not pending.  ARRIVED is recorded by the thread that takes the request from
 * the queue, just before its START.  The thread that put the request there is not known, so tid of
 * the span is the thread that takes the request.  ARRIVED changes nothing if that thread works on
 * the request already, or if the request is known to be in q.
 */
#ifndef FACTS_INSTANCES_H
#define FACTS_INSTANCES_H

#include "model.h"

#define INSTANCES_OPEN_MAX	(4U << 20)	/* requests followed at the same time */

struct instances_result {
	uint64_t nr_events;
	/* ENDs of ids that were not open: the requests may have begun before the recording */
	uint64_t nr_stray;
	/* how often an instance could not begin, because INSTANCES_OPEN_MAX were open */
	uint64_t nr_dropped;
};

/*
 * Calls the callback for each instance when it is over, and at the end for those that are still
 * open.  The instance is valid until the callback returns, which may take over the array `parts` by
 * setting `parts`, nr_parts and `room` to 0.  If the callback returns a value that is not 0,
 * reading stops.  Returns that value, 0 or -ENOMEM.
 */
int instances_each(struct model *m, int (*instance)(void *arg, struct instance *instance), void *arg,
	       struct instances_result *result);

/*
 * As instances_each(), for nr ids only, which may be in any order.  This is faster; the callback
 * may also be called for a few other ids.
 */
int instances_some(struct model *m, const uint64_t *ids, size_t nr,
	       int (*instance)(void *arg, struct instance *instance), void *arg, struct instances_result *result);

/*
 * As instances_each(), but uses only the events in [from, to] (ticks): an instance that ends in
 * this range and began earlier is reported to begin at `from`.  The result only shows which
 * requests threads worked on in that time.
 */
int instances_within(struct model *m, int64_t from, int64_t to, int (*instance)(void *arg, struct instance *instance),
		 void *arg, struct instances_result *result);

/*
 * Finds the last instance of the id that began at the tick or before it, in the table of requests;
 * sets *row to NULL if there is none.  Returns 0 or -errno.
 */
int instances_last(struct model *m, uint64_t id, int64_t tick, const struct ldb_row_reqtab **row);

void instance_free(struct instance *instance);

#endif
