/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the report as a page: the tables of ldb-report (functions, requests, locks, kernel events,
 * summary), distributions, flame graphs, and a heat map of the requests in which the user can
 * select a part.  The page computes the tables of that part from its data.
 *
 * Time is divided into at most REPORT_BINS bins, and a choice consists of whole bins.  So only the
 * bins in which an invocation begins and ends are stored, compared as --from and --to compare
 * ticks: the tables of a choice are those that ldb-report shows with these two options.
 *
 * Up to REPORT_CALLS_MAX invocations are in the page individually, and percentiles are exact.  If
 * there are more, invocations with the same function, call site, bins, and (in a separate table)
 * the same cell of the heat map for their request are one row.  Its count, sum, least and greatest
 * value are exact; its values are counted in buckets of 1/16 of a power of two.  Bins are widened
 * until there are few enough rows.  Requests and the cells of flame graphs are limited in the same
 * way.  So the size of the page and the memory to make it are limited, except for call sites, and
 * for 40 bytes for each piece of a request (pieces.h) and what it takes to find these.  There are
 * 48 bytes for each of up to REPORT_INSTANCES_MAX requests.  The page says which limits apply.
 */
#ifndef PAGE_REPORT_H
#define PAGE_REPORT_H

#include <stdio.h>
#include "facts/model.h"

#define REPORT_BINS		512
#define REPORT_CALLS_MAX	262144	/* invocations that are in the page individually */
#define REPORT_REQUESTS_MAX	131072	/* requests that are in the page individually */
#define REPORT_ROWS_MAX		163840	/* summed rows of a table */
#define REPORT_VALUES_MAX	(1U << 20) /* filled buckets of all rows of a table */
#define REPORT_INSTANCES_MAX	(4U << 20) /* requests to which invocations are assigned */
#define REPORT_NODES_MAX	32768	/* frames of the flame graph; the thinnest are merged */
/* with more frames than this, the thinnest are merged before bins are widened */
#define REPORT_NODES_MIN	2048
#define REPORT_NAMES_MAX	65536	/* different names of frames */
#define REPORT_LOCKS		2000
#define REPORT_THREADS		4000	/* threads with kernel events */
#define REPORT_CONTEXTS		100
/* slowest requests that are in the page with their causes */
#define REPORT_SLOWEST		50

struct report_options {
	const char *title;
	int64_t from, to;		/* ticks */
	const char *thread;		/* tid, or glob of names; NULL: all */
	/* another trace, with which the first one is compared; NULL: none */
	struct model *other;
	const char *other_title;
	uint64_t calls_max;		/* 0: REPORT_CALLS_MAX */
	uint64_t requests_max;		/* 0: REPORT_REQUESTS_MAX */
};

/* Returns 0 or -errno; errors of writing to out are found when out is closed. */
int report_page(struct model *m, const struct report_options *o, FILE *out);

#endif
