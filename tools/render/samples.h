/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Presents how a time divides into places, as its samples say. */
#ifndef RENDER_SAMPLES_H
#define RENDER_SAMPLES_H

#include "analysis/tracks/sampled.h"
#include "render/columns.h"
#include "render/text.h"

/* "deflate() in libz.so.1", "app.c:41", "clear_page() in the kernel"; buf: TEXT_ROOM. */
char *samples_place(const struct sample_place *p, char *buf);

/*
 * "53 % (41..64) deflate() in libz.so.1, 40 % (29..52) app.c:41; 66 samples of cpu-clock": the
 * biggest parts; the interval has the share with 95 %.  buf: SAMPLES_ROOM.  "": there are none.
 */
#define SAMPLES_ROOM	(4 * TEXT_ROOM)
char *samples_say(const struct model *m, const struct split *s, char *buf);

/* "not sampled in the kernel", "3 samples were lost": what is missing; "" if nothing is. */
char *samples_missing(const struct model *m, char *buf);

/* ldb-report --samples: the first nr functions. */
struct render_sampled {
	const struct model *model;
	const struct sampled *sampled;
	size_t nr;
};

extern const struct printer sampled_printer;

extern const struct column samples_columns[];	/* of struct split */

/* Rows of a split for PART_AT(): none if it has no samples. */
struct rows samples_rows(const struct split *s);

#endif
