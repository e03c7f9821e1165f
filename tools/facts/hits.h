/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of the page faults and interrupts that hit threads in given times. */
#ifndef FACTS_HITS_H
#define FACTS_HITS_H

#include "model.h"

struct hits {
	uint64_t nr_faults, nr_major;	/* nr_major: of them, as far as it is known */
	uint64_t nr_irqs;		/* also those too short for a row */
	int64_t irq_ns;			/* of those that are not; nested ones count once */
};

struct hits_part {
	uint32_t tid;
	int64_t start, end;		/* ticks */
	struct hits *to;
};

/* Adds up.  Parts of one thread do not overlap.  0 or -ENOMEM. */
int hits_count(struct model *m, const struct hits_part *parts, size_t nr);

#endif
