/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads rows that are nearly in order of time in their order: see base/window.h. */
#ifndef FACTS_ORDERED_H
#define FACTS_ORDERED_H

#include "model.h"

/*
 * Calls row() for rows of LDB_BLK_REQ or LDB_BLK_SCHED, with sane ticks; filter NULL: all.
 * 0, -ENOMEM, or what row() returned that was not 0.
 */
int ordered_each(struct model *m, unsigned kind, const struct reader_filter *filter,
		 int (*row)(void *arg, const void *row), void *arg);

#endif
