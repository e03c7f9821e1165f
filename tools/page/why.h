/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a page about why requests are slow: the pictures of analysis/why/pictures.h, the causes,
 * the slowest targets with their chains, and the segments of some of them.
 *
 * The page has up to WHY_PAGE_TARGETS targets, and shows how many were left out.
 */
#ifndef PAGE_WHY_H
#define PAGE_WHY_H

#include <stdio.h>
#include "analysis/why/traits.h"
#include "analysis/why/why.h"

/* the slowest targets are in the page; the box plots and the blame graph are for all targets */
#define WHY_PAGE_TARGETS	20000
#define WHY_PAGE_CHAINS		500	/* targets whose chains can be read */
#define WHY_PAGE_INSTANCES		24	/* targets whose segments are shown */
#define WHY_PAGE_SEGMENTS	1500	/* segments of each of those targets; the longest ones */
#define WHY_PAGE_BINS		1600

struct why_page_options {
	const char *title;
	const struct why_options *why;	/* the options with which `why` was built */
	const struct traits *traits;	/* NULL: not requested */
	const char *against_title;	/* the other recording; NULL: none */
};

/* Returns 0 or -errno; errors of writing to out are found when out is closed. */
int why_page(const struct why *w, const struct why_page_options *o, FILE *out);

#endif
