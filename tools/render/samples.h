/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says how a time is divided between places in the code, according to the samples in that time. */
#ifndef RENDER_SAMPLES_H
#define RENDER_SAMPLES_H

#include "analysis/tracks/sampled.h"
#include "render/columns.h"
#include "render/text.h"

/*
 * Returns the name of a place, such as "deflate() in libz.so.1", "app.c:41" or "clear_page() in the
 * kernel"; buf has TEXT_ROOM bytes.
 */
char *samples_place(const struct sample_place *p, char *buf);

/*
 * Returns the biggest shares with their 95 % intervals, such as "53 % (41..64) deflate() in
 * libz.so.1, 40 % (29..52) app.c:41; 66 samples of cpu-clock"; "" if there are no samples.  buf has
 * SAMPLES_ROOM bytes.
 */
#define SAMPLES_ROOM	(4 * TEXT_ROOM)
char *samples_say(const struct model *m, const struct split *s, char *buf);

/* Says which samples are missing: "no samples in the kernel: ...", "3 samples were lost", or "". */
char *samples_missing(const struct model *m, char *buf);

/* ldb-report --samples: shows the first nr functions. */
struct render_sampled {
	const struct model *model;
	const struct sampled *sampled;
	size_t nr;
};

extern const struct printer sampled_printer;

extern const struct column samples_columns[];	/* columns of struct split */

/* Returns the rows of a split for PART_AT(); no row if it has no samples. */
struct rows samples_rows(const struct split *s);

#endif
