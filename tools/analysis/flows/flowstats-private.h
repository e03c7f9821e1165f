/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files that sum calls between components, grouped by file. */
#ifndef FLOWS_FLOWSTATS_PRIVATE_H
#define FLOWS_FLOWSTATS_PRIVATE_H

#include "flowstats.h"

/* flowthreads.c */

/*
 * Finds the threads that the options select, how long they existed, and in which component they
 * began.
 */
int flow_threads_begin(struct flowstats *s, const struct flowstats_options *o);
/* Returns NULL if the options do not select the thread. */
struct flow_thread *flow_thread_find(struct flowstats *s, const struct thread *thread);
void flow_thread_add(struct flowstats *s, struct flow_thread *t, const struct flow_api *api,
		     const struct flow_sum *sum, const struct flow_estimate *x);
int flow_threads_finish(struct flowstats *s);

#endif
