/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files that sum calls between components, grouped by file. */
#ifndef FLOWS_FLOWSTATS_PRIVATE_H
#define FLOWS_FLOWSTATS_PRIVATE_H

#include "flowstats.h"

/* flowstats.c */

/* What a sum says of all of its calls. */
struct estimate {
	double factor;		/* calls for each that was timed */
	int64_t ns, shared_ns, back_ns;
	double variance;	/* of ns */
	uint64_t unknown;	/* calls without any time */
};

struct estimate flow_estimate(const struct flows *f, const struct flow_sum *sum);
int64_t flow_error(double variance);

/* flowthreads.c */

/* Finds the threads that match, how long they existed, and where they began. */
int flow_threads_begin(struct flowstats *s, const struct flowstats_options *o);
/* NULL: it does not match. */
struct flow_thread *flow_thread_find(struct flowstats *s, const struct thread *thread);
void flow_thread_add(struct flowstats *s, struct flow_thread *t, const struct flow_api *api,
		     const struct flow_sum *sum, const struct estimate *x);
int flow_threads_finish(struct flowstats *s);

#endif
