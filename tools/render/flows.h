/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Presents calls between components. */
#ifndef RENDER_FLOWS_H
#define RENDER_FLOWS_H

#include "analysis/flows/flowdiff.h"
#include "render/render.h"

enum flow_view { FLOWS_ALL, FLOWS_COMPONENTS, FLOWS_APIS, FLOWS_WAITS, FLOWS_MATRIX, FLOWS_THREADS,
		 FLOWS_POOLS, NR_FLOW_VIEWS };

struct render_flows {
	const struct model *model;
	const struct flowstats *stats;
	enum flow_view view;
	size_t top;		/* rows of each table; for JSON and CSV, SIZE_MAX */
};

/* Returns the printer of a view.  Text and CSV contain only this view, JSON contains all. */
const struct printer *flows_printer(enum flow_view view, enum render_form form);

struct render_flowdiff {
	const struct model *model;
	const struct flowdiff *diff;
	const char *before;	/* name of the other file */
	size_t top;
};

extern const struct printer flowdiff_printer;

#endif
