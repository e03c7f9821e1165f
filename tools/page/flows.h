/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a page of calls between components: self times, the time in calls between each pair of
 * components (as bands and as a matrix), functions, pools and threads.
 */
#ifndef PAGE_FLOWS_H
#define PAGE_FLOWS_H

#include <stdio.h>
#include "analysis/flows/flowdiff.h"

/*
 * title comes from the trace and may be hostile.  Errors of writing to out are found when out is
 * closed.
 */
void flows_page(const struct model *m, const struct flowstats *s, const char *title, FILE *out);

/* Writes a page of what has changed since another recording, which is in the file `before`. */
void flows_diff_page(const struct model *m, const struct flowdiff *d, const char *before, const char *title, FILE *out);

#endif
