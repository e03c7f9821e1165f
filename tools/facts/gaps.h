/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads observation gaps of threads: the scanner did not run, or did not sample one of them.
 * What they did in a gap is not known, unlike time in uninstrumented code.
 */
#ifndef FACTS_GAPS_H
#define FACTS_GAPS_H

#include <stdbool.h>

#include "intervals.h"
#include "trace/reader.h"

/*
 * Calls gap() for each, in the order of the file; tid 0: of all threads.  Returns 0, -ENOMEM, or
 * what gap() returned to stop.
 */
int gaps_each(struct reader *r, const struct reader_filter *filter,
	      int (*gap)(void *arg, const struct thread_interval *gap), void *arg);

/*
 * Was the thread in a gap at tick?  *until is reduced to where that changes.  The gaps are
 * merged ones.
 */
bool gaps_cover(const struct intervals *gaps, uint32_t tid, int64_t tick, int64_t *until);

#endif
