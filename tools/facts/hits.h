/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts interruptions: the page faults and interrupts of threads in given times. */
#ifndef FACTS_HITS_H
#define FACTS_HITS_H

#include "model.h"

struct hits {
	uint64_t nr_faults, nr_major;	/* nr_major: how many of them, as far as known */
	uint64_t nr_irqs;		/* with those that are too short for a row */
	int64_t irq_ns;			/* of those with a row; nested ones count once */
};

struct hits_part {
	uint32_t tid;
	int64_t start, end;		/* ticks */
	struct hits *to;
};

/* Adds to the sums.  Parts of one thread may not overlap.  Returns 0 or -ENOMEM. */
int hits_count(struct model *m, const struct hits_part *parts, size_t nr);

#endif
