/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a recording as a page: all segments, by thread, by request and by CPU.
 *
 * The page contains at most a million invocations, the longest ones, and other segments are
 * limited, too.  It shows how many were left out.
 */
#ifndef PAGE_TIMELINE_H
#define PAGE_TIMELINE_H

#include "analysis/report/requests.h"

struct timeline_page_options {
	int64_t from, to;		/* ticks: segments that overlap */
	const struct requests *requests; /* the causes of these instances are shown, .. */
	const struct life *first;	/* .. and of this one, when the page opens; NULL: 1st */
	uint64_t max_functions;		/* 0: TIMELINE_PAGE_FUNCTIONS */
};

#define TIMELINE_PAGE_FUNCTIONS	1000000
#define TIMELINE_PAGE_OTHERS	400000	/* waits, holds, times off the CPU */
#define TIMELINE_PAGE_REQUESTS	500000
#define TIMELINE_PAGE_NOTES	200000	/* the first requests, whose notes are in it */
#define TIMELINE_PAGE_RUNS	500000
#define TIMELINE_PAGE_GAPS	20000

/* Returns 0, or one line in err; errors of out are found when it is closed. */
int timeline_page(struct model *m, const struct timeline_page_options *o, FILE *out, char *err,
		  size_t err_size);

#endif
