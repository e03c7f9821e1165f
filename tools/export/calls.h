/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows which functions call which, with counts and times: as a tree of text, and as a graph for
 * Graphviz.  Both are sums of the stacks of stacks.h, so they count observed calls.
 */
#ifndef EXPORT_CALLS_H
#define EXPORT_CALLS_H

#include "export/export.h"

struct calls_options {
	const char *function;	/* glob: these, their callers and callees; NULL: all */
	uint64_t top;		/* tree: at most so many lines; graph: functions; 0: all */
	unsigned width;		/* tree: of a line; 0: any */
};

/* These return 0 or -errno.  They use o->from, o->to and o->thread. */
int calls_tree(struct model *m, const struct export_options *o, const struct calls_options *c, FILE *out);
int calls_graph(struct model *m, const struct export_options *o, const struct calls_options *c, FILE *out);

#endif
