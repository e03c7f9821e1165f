/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delivers waits and holds, one by one, whole and resolved (lockset.h).  With kernel events it
 * also delivers the sleeps on futexes that belong to no recorded wait: they are waits for the
 * lock in whose object the futex is, else for the futex itself, a lock of kind LOCK_KIND_FUTEX.
 */
#ifndef FACTS_LOCK_EVENTS_H
#define FACTS_LOCK_EVENTS_H

#include "futexes.h"
#include "lockset.h"
#include "model.h"

struct lock_events_options {
	int64_t from, to;	/* ticks: events that overlap */
	const char *thread;	/* that waits or holds: tid or glob; NULL: all */
	struct futexes *futexes; /* of [from, to]; they belong to this module then; NULL: it reads them */
	bool no_funcs;		/* FUNC rows are not read: the starts of holds are less exact */
	int64_t after;		/* ticks: what ends more than this after to is not read; 0: no limit */
};

/* These may be NULL.  Non-zero stops. */
struct lock_events_sink {
	int (*event)(void *arg, const struct lock_event *e);	/* in no order */
	/* The sleep w belongs to the wait. */
	int (*sleep)(void *arg, const struct lock_event *wait, const struct futex_wait *w);
	/* This gets all FUNC rows of [from, to], which saves the caller a pass over the trace. */
	int (*funcs)(void *arg, const struct reader_rows *rows);
	void *arg;
};

/* Returns 0, -ENOMEM, or what the sink returned. */
int lock_events_each(struct model *m, const struct lock_events_options *options,
		     const struct lock_events_sink *sink, uint64_t *nr_not_kept);

/* Returns the kind that stands for both sides of a lock: readers and writers use the same one. */
unsigned lock_kind_group(unsigned kind);

#endif
