/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes facts of the rows of page faults and interrupts, of the time that a hypervisor took, and of
 * the events that the program marked.
 */
#ifndef FACTS_INTERRUPTIONS_H
#define FACTS_INTERRUPTIONS_H

#include "model.h"

/*
 * Each calls the function for the rows that filter selects (its ids are tids), in the order of the
 * file.  If the function returns a value that is not 0, reading stops.  Returns 0, -ENOMEM, or that
 * value.
 */
int faults_each(struct model *m, const struct reader_filter *filter,
		int (*fault)(void *arg, const struct fault *f), void *arg);
int irqs_each(struct model *m, const struct reader_filter *filter,
	      int (*irq)(void *arg, const struct irq *i), void *arg);
int marks_each(struct model *m, const struct reader_filter *filter,
	       int (*mark)(void *arg, const struct marked *k), void *arg);
/* The beginnings of turns of event loops; the value says for how many ns the loop waited before. */
int turns_each(struct model *m, int (*turn)(void *arg, const struct marked *k), void *arg);
/* Calls that had an id as an argument: REQUEST_ID_EVENT. */
int ids_each(struct model *m, int (*id)(void *arg, const struct marked *k), void *arg);

#endif
