/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Iterates over the segments that the options select, thread by thread: for a time, those of
 * tracks.h; for requests, those of the threads that worked on each, one request after the other.
 */
#ifndef EXPORT_WALK_H
#define EXPORT_WALK_H

#include "analysis/timeline/timeline.h"
#include "export/export.h"
#include "export/stacks.h"

struct walk_sink {
	/* The thread's segments follow, by start, the outer ones first.  NULL without requests. */
	int (*thread)(void *arg, const struct thread *t, const struct life *life);
	int (*segment)(void *arg, const struct segment *s);
	bool with_irqs;		/* with the interrupts of the thread */
	void *arg;
};

/* Returns 0, -errno, or what a function of the sink returned that was not 0. */
int walk(struct model *m, const struct export_options *o, const struct walk_sink *sink);

/* Fills stacks with the selected segments. */
int stacks_walk(struct stacks *s, struct model *m, const struct export_options *o);

#endif
