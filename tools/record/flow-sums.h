/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the sums of calls between modules (ldb/flows.h) and writes them as rows. */
#ifndef RECORD_FLOW_SUMS_H
#define RECORD_FLOW_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "trace/writer.h"

struct flow_sums;

/* Makes the memory.  Returns NULL with errno if that is not possible. */
struct flow_sums *flow_sums_open(struct writer *w, uint64_t t0);
void flow_sums_close(struct flow_sums *f);

int flow_sums_fd(const struct flow_sums *f);

bool flow_sums_began(const struct flow_sums *f);	/* the program follows its calls */

/*
 * Writes functions that were called for the first time, and the sums of threads that have exited.
 * Call it before the calls that are in the rings are written: they name these functions.
 */
void flow_sums_poll(struct flow_sums *f);

/* Writes the sums of threads that exist, as of now, and what was lost. */
void flow_sums_write(struct flow_sums *f, int64_t tick);

/* Does both, at the end. */
void flow_sums_finish(struct flow_sums *f, int64_t tick);

#endif
