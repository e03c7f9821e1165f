/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Iterates over the segments that the options select, thread by thread.  Without requests, these
 * are the segments of tracks.h; otherwise those of the threads that worked on a request, cut to the
 * times at which they did so, one request after another.
 */
#ifndef EXPORT_WALK_H
#define EXPORT_WALK_H

#include "analysis/timeline/timeline.h"
#include "export/export.h"
#include "export/stacks.h"

struct walk_sink {
	/*
	 * Begins a thread.  Its segments follow in order of start, the outer ones first.  The
	 * instance is NULL if no requests are selected.
	 */
	int (*thread)(void *arg, const struct thread *t, const struct instance *instance);
	int (*segment)(void *arg, const struct segment *s);
	bool with_irqs;		/* interrupts are also passed to segment() */
	void *arg;
};

/* Returns 0, -errno, or the first result of a sink's function that is not 0. */
int walk(struct model *m, const struct export_options *o, const struct walk_sink *sink);

/* Fills stacks with the selected segments.  Returns 0 or -errno. */
int stacks_walk(struct stacks *s, struct model *m, const struct export_options *o);

#endif
