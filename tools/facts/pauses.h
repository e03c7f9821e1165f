/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds pauses of a recording, in which nothing was recorded except which tasks existed.  At both
 * ends of a pause all requests are cut.  What a thread did in a pause is not known, even if it did
 * the same before and after.
 *
 * Each process has its own pauses: pid is that of struct thread, which is 0 if there is only one
 * process.
 */
#ifndef FACTS_PAUSES_H
#define FACTS_PAUSES_H

#include "model.h"

/* Returns the first pause that ends after tick; NULL: none does. */
const struct thread_interval *pauses_after(const struct model *m, uint32_t pid, int64_t tick);

/* Returns the first pause that overlaps or touches [start, end]; NULL: none does. */
const struct thread_interval *pauses_within(const struct model *m, uint32_t pid, int64_t start, int64_t end);

/* Returns the first pause that overlaps the open interval (start, end); NULL: none does. */
const struct thread_interval *pauses_between(const struct model *m, uint32_t pid, int64_t start, int64_t end);

/* Returns when requests were last cut by a pause, at tick or before it; INT64_MIN: never. */
int64_t pauses_cut(const struct model *m, uint32_t pid, int64_t tick);

/*
 * Returns the pid of the process to which the thread belonged at that time; 0: there is only one
 * process, there are no pauses, or the thread is not known.
 */
uint32_t pauses_process(const struct model *m, uint32_t tid, int64_t tick);

#endif
