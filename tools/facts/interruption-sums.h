/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the page faults and interrupts of threads in given ranges of time. */
#ifndef FACTS_INTERRUPTION_SUMS_H
#define FACTS_INTERRUPTION_SUMS_H

#include "model.h"

struct interruptions {
	uint64_t nr_faults, nr_major;	/* nr_major: how many of them are known to be major ones */
	/* including those that are too short for a row of their own */
	uint64_t nr_irqs;
	/* time of those that have a row; nested ones are not counted twice */
	int64_t irq_ns;
};

struct interruptions_part {
	uint32_t tid;
	int64_t start, end;		/* ticks */
	struct interruptions *to;
};

/*
 * Adds the interruptions in each range of time to the sums in `to`.  Ranges of one thread may not
 * overlap.  Returns 0 or -ENOMEM.
 */
int interruptions_count(struct model *m, const struct interruptions_part *parts, size_t nr);

#endif
