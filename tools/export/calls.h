/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows which functions call which, with counts and times: as a tree of text, and as a graph for
 * Graphviz.  Both are sums of the stacks of stacks.h, so they count observed calls; the graph also
 * shows how many calls the threads of each name made in the whole recording.
 */
#ifndef EXPORT_CALLS_H
#define EXPORT_CALLS_H

#include "export/export.h"

struct calls_options {
	/* glob: only matching functions, their callers and callees; NULL: all */
	const char *function;
	/* greatest number of lines (tree), or of functions and threads (graph); 0: no limit */
	uint64_t top;
	unsigned width;		/* columns of a line of the tree; 0: no limit */
};

/* Both return 0 or -errno, and use o->from, o->to and o->thread. */
int calls_tree(struct model *m, const struct export_options *o, const struct calls_options *c, FILE *out);
int calls_graph(struct model *m, const struct export_options *o, const struct calls_options *c, FILE *out);

#endif
