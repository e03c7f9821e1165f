// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Handles interrupts: two tracepoints become one row at the end of the interrupt.  Interrupts nest,
 * so each CPU has a stack of them.  Events may be lost, so an exit searches for its entry, and
 * entries above it are dropped.
 */
#include <string.h>
#include "record/perf/private.h"

void perf_nest_enter(struct perf_nest *n, const struct perf_event *e, int64_t tick)
{
	struct perf_inside *in;

	if (n->depth == PERF_NEST_MAX)
		n->depth = 0;	/* exits were lost, so the entries are obsolete */
	in = &n->at[n->depth++];
	*in = (struct perf_inside){ .start = tick, .by = e->by, .kind = e->flags, .nr = e->value };
	memcpy(in->name, e->name_a, sizeof(e->name_a));
	memcpy(in->name + sizeof(e->name_a), e->name_b, sizeof(e->name_b));
}

const struct perf_inside *perf_nest_leave(struct perf_nest *n, const struct perf_event *e)
{
	for (unsigned i = n->depth; i--;) {
		const struct perf_inside *in = &n->at[i];

		if (in->by != e->by || in->kind != e->flags || in->nr != e->value)
			continue;
		n->depth = i;
		return in;
	}
	return NULL;
}
