/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a recording as a page: all segments, by thread, by request and by CPU.
 *
 * The page contains up to a million invocations, the longest ones; other segments are limited, too.
 * The page shows how many were left out.
 */
#ifndef PAGE_TIMELINE_H
#define PAGE_TIMELINE_H

#include "analysis/report/requests.h"

struct timeline_page_options {
	/* ticks: segments that overlap this range are in the page */
	int64_t from, to;
	const struct requests *requests; /* request instances whose causes are in the page */
	/* instance that is shown first; NULL: the first of requests */
	const struct instance *first;
	uint64_t max_functions;		/* 0: TIMELINE_PAGE_FUNCTIONS */
};

#define TIMELINE_PAGE_FUNCTIONS	1000000
#define TIMELINE_PAGE_OTHERS	400000	/* segments that are no functions: waits, holds, ... */
#define TIMELINE_PAGE_REQUESTS	500000
#define TIMELINE_PAGE_NOTES	200000	/* requests with notes: the first ones */
#define TIMELINE_PAGE_RUNS	500000
#define TIMELINE_PAGE_GAPS	20000

/*
 * Returns 0; or -errno, with one line in err.  Errors of writing to out are found when out is
 * closed.
 */
int timeline_page(struct model *m, const struct timeline_page_options *o, FILE *out, char *err,
		  size_t err_size);

#endif
