/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums up what single requests spent their time on, from the parts of a trace with those alone. */
#ifndef PARTITION_PARTS_H
#define PARTITION_PARTS_H

#include "partition.h"

struct part {
	enum leaf_kind kind;
	const char *name;	/* the function's; or the label: a lock, a system call, a task; "" */
	int64_t ns;
};

/*
 * A request instance: its id, and the tick at which it ended.  Or, if tid is not 0, what the thread worked on in the middle of
 * [start, end].
 */
struct parts_request {
	uint64_t id;
	int64_t end;
	uint32_t tid;
	int64_t start;
};

/*
 * Calls the callback for each of the requests that is in the trace as a whole.  The parts are sorted,
 * longest first, and add up to its latency.  Returns 0 or -errno.
 */
int parts_each(struct model *m, const struct parts_request *requests, size_t nr,
	       void (*parts)(void *arg, size_t request, const struct part *parts, size_t nr), void *arg);

#endif
