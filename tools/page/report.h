/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the report as a page: all tables of ldb-report, distributions, flame graphs, and a heat
 * map of the requests from which a part can be chosen.  The page computes the tables of that
 * part itself, from the data in it.
 *
 * Time is divided into at most REPORT_BINS bins, and whole bins are chosen.  So it is enough to
 * store in which bins an invocation begins and ends, in the sense of --from and --to: the tables
 * of a choice are those that ldb-report shows with these two options.
 *
 * Up to REPORT_CALLS_MAX invocations are put in one by one; percentiles are exact.  If there are
 * more, those with the same function, call site, bins and (in a separate table) the same cell of
 * the heat map of their request are one row: count, sum, least and greatest stay exact, values
 * are counted in buckets of 1/16 of a power of two.  Bins are made wider until the rows are few
 * enough.  Requests, and the cells of flame graphs, are bounded the same way.  So the page's
 * size and the memory to make it are bounded, except for call sites, and 56 bytes for each
 * request; the page says from what it was made.
 */
#ifndef PAGE_REPORT_H
#define PAGE_REPORT_H

#include <stdio.h>
#include "facts/model.h"

#define REPORT_BINS		512
#define REPORT_CALLS_MAX	262144	/* invocations one by one */
#define REPORT_REQUESTS_MAX	131072	/* requests one by one */
#define REPORT_ROWS_MAX		163840	/* summed rows of a table */
#define REPORT_VALUES_MAX	(1U << 20) /* filled buckets of all rows of a table */
#define REPORT_LIVES_MAX	(4U << 20) /* requests whose invocations are known as theirs */
#define REPORT_NODES_MAX	32768	/* frames of the flame graph; the thinnest are aggregated */
#define REPORT_NODES_MIN	2048	/* this many stay, even if bins must be wider for that */
#define REPORT_NAMES_MAX	65536	/* of them */
#define REPORT_LOCKS		2000
#define REPORT_THREADS		4000	/* of the kernel's events */
#define REPORT_PARTIES		100
#define REPORT_SLOWEST		50	/* requests with their causes */

struct report_options {
	const char *title;
	int64_t from, to;		/* ticks */
	const char *thread;		/* tid or glob; NULL: all */
	struct model *other;		/* to compare with; NULL: none */
	const char *other_title;
	uint64_t calls_max;		/* 0: REPORT_CALLS_MAX */
	uint64_t requests_max;		/* 0: REPORT_REQUESTS_MAX */
};

/* Returns 0 or -errno; errors of out are found when it is closed. */
int report_page(struct model *m, const struct report_options *o, FILE *out);

#endif
