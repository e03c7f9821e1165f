/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions that may be what the user calls a request: called again and again, near the bottom
 * of their threads' stacks, and together long.
 */
#ifndef REPORT_CANDIDATES_H
#define REPORT_CANDIDATES_H

#include "facts/model.h"

#define CANDIDATES_MAX		5
#define CANDIDATE_CALLS_MIN	5	/* what was called less often is not called again and again */

struct candidate {
	const struct symbol *func;
	uint64_t nr;		/* observed calls that ended */
	int64_t total_ns, max_ns;
	double depth;		/* of its calls, on the average: how many functions were around them */
};

struct candidates {
	struct candidate at[CANDIDATES_MAX];	/* the best first */
	size_t nr;
	bool has_loop;		/* a thread waits as event loops do */
};

/* 0 or -ENOMEM. */
int candidates_find(struct model *m, struct candidates *c);

#endif
