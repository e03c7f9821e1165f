/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page faults and interrupts of threads, and time that a hypervisor took: each is made here. */
#ifndef FACTS_INTERRUPTIONS_H
#define FACTS_INTERRUPTIONS_H

#include "model.h"

/*
 * Calls the function for what filter selects (ids are tids), in the order of the file; what it
 * returns stops, unless it is 0.  0, -ENOMEM, or that.
 */
int faults_each(struct model *m, const struct reader_filter *filter,
		int (*fault)(void *arg, const struct fault *f), void *arg);
int irqs_each(struct model *m, const struct reader_filter *filter,
	      int (*irq)(void *arg, const struct irq *i), void *arg);

#endif
