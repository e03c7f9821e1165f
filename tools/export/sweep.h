/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread's segments, which come by their starts, played as begins and ends and
 * the times between: what ends is ended before what comes later begins, the
 * innermost first.
 */
#ifndef EXPORT_SWEEP_H
#define EXPORT_SWEEP_H

#include "facts/model.h"

/* A segment that has begun and not ended. */
struct sweep_open {
	struct segment s;	/* sched is NULL but in begin() */
	/* The user's own. */
	const void *node;
	const char *text;
	uint64_t nr;
	int64_t ns;
	bool flag;
};

struct sweep {
	/* NULL: not wanted.  Non-zero stops. */
	int (*begin)(void *arg, struct sweep_open *o);
	int (*end)(void *arg, struct sweep_open *o);	/* still among the open ones */
	int (*pass)(void *arg, int64_t from_ns, int64_t to_ns); /* nothing begins or ends meanwhile */
	void *arg;
	struct sweep_open *open;	/* in order of their begins */
	size_t nr_open, room_open;
	int64_t now;			/* ns */
};

/* 0, -ENOMEM, or what a function of the user's returned, here and below. */
int sweep_segment(struct sweep *w, const struct segment *s);

/* Ends all: the next segment is of another thread. */
int sweep_finish(struct sweep *w);

void sweep_free(struct sweep *w);

/* The innermost function; NULL: none. */
struct sweep_open *sweep_function(const struct sweep *w);

#endif
