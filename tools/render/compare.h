/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares two runs, or two slices of one: from the options to the report and the exit status. */
#ifndef RENDER_COMPARE_H
#define RENDER_COMPARE_H

#include "analysis/why/categories.h"
#include "render/differential.h"
#include "render/open.h"

struct compare_slice {
	double lo, hi;			/* percentiles */
};

struct compare_options {
	struct compare_slice target, reference; /* runs: the same */
	const struct cli_list *fail_if;	/* runs: conditions of gate.h; NULL: none */
	struct categories *categories;
	size_t nr_shown;		/* text: parts of each class */
	/* Selects the requests to compare; ends the program if it fails. */
	void (*build)(const struct opened *opened, struct partition *p);
};

/* Parses "p99,p50", "90-99,40-60": target and reference.  Ends the program with a usage error. */
void compare_parse_slices(const char *text, struct compare_options *o);

/*
 * Shows the difference: after minus before.  Returns the exit status: CLI_SLOWER if a
 * condition holds, after a message that says which.
 */
int compare_files(const struct open_options *open, const char *before, const char *after,
		  const struct compare_options *o);

/* Shows the difference: target minus reference.  Returns false after a message. */
bool compare_slices(const struct opened *opened, const struct partition *p,
		    const struct compare_options *o);

/* Lists the names that no category matches, by time over all requests.  Returns true. */
bool text_uncategorised(const struct render *r, const struct partition *p,
			struct categories *categories, size_t nr_shown);

#endif
