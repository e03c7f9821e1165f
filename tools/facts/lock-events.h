/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passes waits for locks and holds of locks to a callback, one by one, completed by lockset.h.  If
 * the trace has kernel events, sleeps on futexes that belong to no recorded wait are passed, too.
 * Such a sleep is a wait for the lock in whose object the futex lies.  If the futex lies in no
 * lock, the futex is treated as a lock of kind LOCK_KIND_FUTEX.
 */
#ifndef FACTS_LOCK_EVENTS_H
#define FACTS_LOCK_EVENTS_H

#include "futexes.h"
#include "lockset.h"
#include "model.h"

struct lock_events_options {
	int64_t from, to;	/* ticks: events that overlap this range are reported */
	/* only events of this thread, given as a tid or a glob; NULL: all */
	const char *thread;
	/* the sleeps of [from, to], if the caller has read them; they are freed here */
	struct futexes *futexes;
	bool no_funcs;		/* FUNC rows are not read: the starts of holds are less exact */
	/*
	 * in ticks: LOCK rows that begin more than this after `to` are not read; 0: no limit.  For
	 * this test, a hold whose start was not recorded begins at its end.
	 */
	int64_t after;
};

/* `sleep` and `funcs` may be NULL.  If one returns a value that is not 0, reading stops. */
struct lock_events_sink {
	/* the events are in no particular order */
	int (*event)(void *arg, const struct lock_event *e);
	/* Called for each sleep that is part of a wait. */
	int (*sleep)(void *arg, const struct lock_event *wait, const struct futex_wait *w);
	/*
	 * Called with all FUNC rows of [from, to], so that the caller need not read the trace
	 * again; not called with no_funcs.
	 */
	int (*funcs)(void *arg, const struct reader_rows *rows);
	void *arg;
};

/*
 * Returns 0, -ENOMEM, or what the sink returned.  *nr_not_kept is set to the number of sleeps on
 * futexes that were left out: see FUTEXES_MAX.
 */
int lock_events_each(struct model *m, const struct lock_events_options *options,
		     const struct lock_events_sink *sink, uint64_t *nr_not_kept);

/*
 * Returns the kind of the lock: events of readers and of writers of an rwlock have different kinds,
 * but concern the same lock.
 */
unsigned lock_kind_group(unsigned kind);

#endif
