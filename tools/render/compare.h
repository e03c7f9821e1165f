/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares two runs, or two slices of one run: from the options to the report and the exit status.
 */
#ifndef RENDER_COMPARE_H
#define RENDER_COMPARE_H

#include "analysis/why/categories.h"
#include "render/differential.h"
#include "render/open.h"

struct compare_slice {
	double lo, hi;			/* percentiles */
};

struct compare_options {
	/* if two runs are compared, target and reference are the same percentiles */
	struct compare_slice target, reference;
	/* if two runs are compared: conditions as in gate.h; NULL: none */
	const struct cli_list *fail_if;
	struct categories *categories;
	size_t nr_shown;		/* text: greatest number of rows for each class */
	/* Selects the requests to compare; ends the program on failure. */
	void (*build)(const struct opened *opened, struct partition *p);
};

/*
 * Parses target and reference: "p99,p50", "90-99,40-60".  Ends the program with a usage error if
 * they are invalid.
 */
void compare_parse_slices(const char *text, struct compare_options *o);

/*
 * Shows the difference between two runs, after minus before.  Returns the exit status: CLI_SLOWER
 * if a condition is true, after printing which.
 */
int compare_files(const struct open_options *open, const char *before, const char *after,
		  const struct compare_options *o);

/*
 * Shows the difference between two slices, target minus reference.  Returns false on failure, after
 * printing why.
 */
bool compare_slices(const struct opened *opened, const struct partition *p,
		    const struct compare_options *o);

/*
 * Lists the names that no category matches, sorted by their time over all requests.  Returns true.
 */
bool text_uncategorised(const struct render *r, const struct partition *p,
			struct categories *categories, size_t nr_shown);

#endif
