/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that only the files that make the page of ldb-why use, grouped by file. */
#ifndef PAGE_WHY_PRIVATE_H
#define PAGE_WHY_PRIVATE_H

#include "analysis/why/why.h"
#include "page/store.h"
#include "page/why.h"

/* Writes the segments of some targets, as two elements of the page. */
int why_instances_write(const struct why *w, struct page *p);

#endif
