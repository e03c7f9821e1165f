/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads page faults, interrupts, times that a hypervisor took, and events that the program marked.
 */
#ifndef FACTS_INTERRUPTIONS_H
#define FACTS_INTERRUPTIONS_H

#include "model.h"

/*
 * Call a function for each row that the filter selects, in the order of the file; the ids of the
 * filter are tids.  If the function returns a value that is not 0, reading stops.  Returns 0,
 * -ENOMEM, or that value.
 */
int faults_each(struct model *m, const struct reader_filter *filter,
		int (*fault)(void *arg, const struct fault *f), void *arg);
int irqs_each(struct model *m, const struct reader_filter *filter,
	      int (*irq)(void *arg, const struct irq *i), void *arg);
int marks_each(struct model *m, const struct reader_filter *filter,
	       int (*mark)(void *arg, const struct marked *k), void *arg);
/*
 * Calls turn() for each turn of an event loop: `tick` is when the turn began, `value` for how many
 * ns the loop had waited before it.
 */
int turns_each(struct model *m, int (*turn)(void *arg, const struct marked *k), void *arg);
/*
 * Calls id() for each call of a function that had the id of a request as an argument: see
 * REQUEST_ID_EVENT.
 */
int ids_each(struct model *m, int (*id)(void *arg, const struct marked *k), void *arg);

#endif
