/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares a query for what slow requests spent their time on, which another part of the tools
 * answers.
 */
#ifndef RECORD_METRICS_EXPLAIN_H
#define RECORD_METRICS_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

/*
 * Finds out what requests spent their time on, from the caller's blocks of the last minute, in a
 * separate process.
 */
struct record_explain {
	const uint64_t *ids;
	/*
	 * if tids[i] is not 0: the request has no id, and is the one on which this thread worked
	 * from starts[i] to ends[i]
	 */
	const uint32_t *tids;
	const int64_t *starts, *ends;	/* ticks */
	size_t nr;
	/* returns the name of a function or variable; NULL or "": not known */
	const char *(*known)(void *arg, uint64_t addr);
	void *known_arg;
	/* Called for each state of request i; the durations add up to its latency. */
	void (*part)(void *arg, size_t i, const char *state, const char *name, int64_t ns);
	void *arg;
};

#endif
