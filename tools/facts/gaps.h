/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads observation gaps of threads: times in which the scanner did not run, or could not read the
 * stack of one of the threads.  What a thread did in an observation gap is not known; in
 * uninstrumented code, by contrast, it is known that no instrumented function ran.
 */
#ifndef FACTS_GAPS_H
#define FACTS_GAPS_H

#include <stdbool.h>

#include "intervals.h"
#include "trace/reader.h"

/*
 * Calls gap() for each observation gap, in the order of the file.  One with tid 0 concerns all
 * threads.  Returns 0, -ENOMEM, or the value other than 0 with which gap() has stopped reading.
 */
int gaps_each(struct reader *r, const struct reader_filter *filter,
	      int (*gap)(void *arg, const struct thread_interval *gap), void *arg);

/*
 * Returns true if the thread was unobserved at the tick.  Reduces *until to the next tick at which
 * this may change, if that is earlier.  The gaps must be merged ones (intervals_merge()).
 */
bool gaps_cover(const struct intervals *gaps, uint32_t tid, int64_t tick, int64_t *until);

#endif
