/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a replay predicts, in all formats; conventions as in render.h. */
#ifndef RENDER_WHATIF_H
#define RENDER_WHATIF_H

#include "analysis/whatif/replay.h"
#include "render/open.h"
#include "render/render.h"

void text_whatif(const struct render *r, const struct whatif *w);
void json_whatif(const struct render *r, const struct whatif *w);
void csv_whatif(const struct render *r, const struct whatif *w);

/* All of --what-if: from the expressions to the output. */
struct whatif_show {
	const struct cli_list *expressions;
	const char *class;		/* NULL: all */
	bool has_from, has_to;
	uint64_t from_ns, to_ns;
	size_t nr_requests;
	bool is_json, is_csv, is_quiet;
};

/* Opens the trace and closes it; the exit status. */
int whatif_show(const struct open_options *open, const struct whatif_show *s);

#endif
