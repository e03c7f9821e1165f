/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the times of two recordings.  Entries match if function, calling component and called
 * component have the same names.  The version of a library and the file name of the program are
 * ignored.
 */
#ifndef FLOWS_FLOWDIFF_H
#define FLOWS_FLOWDIFF_H

#include "flowstats.h"

struct flow_change {
	/* entry of a component: caller and function are "" */
	const char *caller, *callee, *function;
	uint64_t calls_before, calls_after;
	int64_t before_ns, after_ns;	/* of a component: self time */
	int64_t delta_ns, err_ns;	/* after - before; half-width of its 95 % interval */
	bool is_beyond_error;		/* the absolute value of delta_ns exceeds err_ns */
};

struct flowdiff {
	struct flow_change *entries, *parts;	/* greatest difference first */
	size_t nr_entries, nr_parts;
	int64_t lifetime_before_ns, lifetime_after_ns, wait_before_ns, wait_after_ns;
};

/* Returns 0 or -ENOMEM. */
int flowdiff_build(const struct flowstats *before, const struct flowstats *after, struct flowdiff *d);
void flowdiff_free(struct flowdiff *d);

#endif
