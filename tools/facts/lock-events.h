/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delivers waits and holds one by one, completed by lockset.h.  With kernel events it also delivers
 * the sleeps on futexes that belong to no recorded wait.  These are waits for the lock in whose
 * object the futex lies, or else for the futex itself, which is then a lock of kind
 * LOCK_KIND_FUTEX.
 */
#ifndef FACTS_LOCK_EVENTS_H
#define FACTS_LOCK_EVENTS_H

#include "futexes.h"
#include "lockset.h"
#include "model.h"

struct lock_events_options {
	int64_t from, to;	/* ticks: events that overlap this range are delivered */
	/* only events of this thread, given as a tid or a glob; NULL: all */
	const char *thread;
	/* those of [from, to], which become property of this module; NULL: it reads them */
	struct futexes *futexes;
	bool no_funcs;		/* FUNC rows are not read: the starts of holds are less exact */
	/* ticks: rows that end later than this after `to` are not read; 0: no limit */
	int64_t after;
};

/* Each function may be NULL.  A return value that is not 0 stops. */
struct lock_events_sink {
	/* the events are in no particular order */
	int (*event)(void *arg, const struct lock_event *e);
	/* Reports that the sleep belongs to the wait. */
	int (*sleep)(void *arg, const struct lock_event *wait, const struct futex_wait *w);
	/* Receives all FUNC rows of [from, to], which saves the caller a pass over the trace. */
	int (*funcs)(void *arg, const struct reader_rows *rows);
	void *arg;
};

/* Returns 0, -ENOMEM, or what the sink returned. */
int lock_events_each(struct model *m, const struct lock_events_options *options,
		     const struct lock_events_sink *sink, uint64_t *nr_not_kept);

/*
 * Returns the kind of the lock itself: readers and writers of an rwlock have kinds of their own,
 * but use the same lock.
 */
unsigned lock_kind_group(unsigned kind);

#endif
