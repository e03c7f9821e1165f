/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the kernel events of a short range of time several times: the first pass records what it
 * passes to its sink, and later passes over the same range replay that.
 */
#ifndef FACTS_SCHED_LOG_H
#define FACTS_SCHED_LOG_H

#include "sched.h"

/*
 * Does what sched_each() does, for a sink with the function `off` and perhaps `migration` only.  If
 * the range is not that of the last call, its events replace those in the model's log.
 */
int sched_log_each(struct model *m, int64_t from, int64_t to, const struct sched_sink *sink,
		   struct sched_result *result);

/* Frees the model's log. */
void sched_log_end(struct model *m);

#endif
