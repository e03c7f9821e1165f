/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions whose calls may be what the user calls a request: they are called many times,
 * near the bottom of the stack, and take a large part of the time.
 */
#ifndef REPORT_CANDIDATES_H
#define REPORT_CANDIDATES_H

#include "facts/model.h"

#define CANDIDATES_MAX		5
#define CANDIDATE_CALLS_MIN	5	/* functions with fewer calls are not candidates */

struct candidate {
	const struct symbol *func;
	uint64_t nr;		/* observed calls that began and ended during the recording */
	int64_t total_ns, max_ns;
	/* average depth of its calls: the number of direct and indirect callers on the stack */
	double depth;
};

struct candidates {
	struct candidate at[CANDIDATES_MAX];	/* the best first */
	size_t nr;
	bool has_loop;		/* a thread waits for events as event loops do */
};

/* Returns 0 or -ENOMEM. */
int candidates_find(struct model *m, struct candidates *c);

#endif
