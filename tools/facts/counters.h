/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out when threads were off the CPU from the counters that the kernel has for each thread.
 * This is used where there are no kernel events.
 *
 * The counters say how long a thread ran between two readings, how long it waited for a CPU, and
 * how many times it came to one; it slept for the rest.  If the thread left its CPU and came back
 * once, and was read in between, the times are exact up to the error of the readings: the thread
 * first ran for as long as its CPU clock shows, then slept, then waited for a CPU, and then ran
 * again.  If it left its CPU several times between two readings, or was read only on the CPU, these
 * times are reported as one interval: the length is right, but the interval may be anywhere between
 * the readings.  If it is too uncertain where the interval was, its length is counted, but the
 * timeline does not show it.  The counters do not say which task ran meanwhile, nor what ended a
 * sleep.
 */
#ifndef FACTS_COUNTERS_H
#define FACTS_COUNTERS_H

#include "sched.h"

/* Returns 0 or -ENOMEM; *c is NULL if there are no rows. */
int counters_open(struct counters **c, struct reader *r);
void counters_close(struct counters *c);

/* Does what sched_each() of sched.h does, with counters instead of kernel events. */
int counters_each(const struct counters *c, int64_t from, int64_t to, const struct sched_sink *sink,
		  struct sched_result *result);

/* Returns how long threads were off the CPU at times that are not known. */
int64_t counters_unplaced_ns(const struct counters *c);

#endif
