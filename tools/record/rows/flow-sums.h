/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the sums of calls between modules (ldb/flows.h) and writes them as rows. */
#ifndef RECORD_ROWS_FLOW_SUMS_H
#define RECORD_ROWS_FLOW_SUMS_H

#include <stdbool.h>
#include <stdint.h>
#include "trace/writer.h"

struct flow_sums;

/* Allocates the memory that is shared with the program.  Returns NULL with errno on failure. */
struct flow_sums *flow_sums_open(struct writer *w, uint64_t t0);
void flow_sums_close(struct flow_sums *f);

int flow_sums_fd(const struct flow_sums *f);

bool flow_sums_began(const struct flow_sums *f);	/* true: the program follows calls */

/*
 * Writes rows of newly called functions, and the sums of threads that have exited.  Must be called
 * before the calls in the rings are written, because these refer to the functions.
 */
void flow_sums_poll(struct flow_sums *f);

/* Writes the current sums of existing threads, and what was lost. */
void flow_sums_write(struct flow_sums *f, int64_t tick);

/*
 * Called at the end of the recording: does what the two functions above do, and writes rows of long
 * calls that have not returned.
 */
void flow_sums_finish(struct flow_sums *f, int64_t tick);

#endif
