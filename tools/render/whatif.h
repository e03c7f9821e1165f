/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the predictions of a replay, in all formats; see render.h. */
#ifndef RENDER_WHATIF_H
#define RENDER_WHATIF_H

#include "analysis/whatif/replay.h"
#include "render/open.h"
#include "render/render.h"

extern const struct printer whatif_printer;	/* prints a report on a struct whatif */

/* The options of --what-if. */
struct whatif_show {
	const struct cli_list *expressions;
	const char *class;		/* NULL: all */
	size_t nr_requests;
};

/* Implements --what-if, from opening to closing the trace; returns the exit status. */
int whatif_show(const struct open_options *open, const struct whatif_show *s);

#endif
