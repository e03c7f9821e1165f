/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums what the selected requests spent their time on.  Of the trace only the blocks that concern
 * these requests are read, but all REQ rows if requests are identified by threads.
 */
#ifndef PARTITION_PARTS_H
#define PARTITION_PARTS_H

#include "partition.h"

struct part {
	enum leaf_kind kind;
	/* the function, or the label of the leaf: a lock, a system call, a task; "": none */
	const char *name;
	int64_t ns;
};

/*
 * A request, identified by its id and the tick at which it ended or, if tid is not 0, as the
 * request whose first span is on thread tid, and which was open in the middle of [start, end].  All
 * requests of a call must be identified in the same way.
 */
struct parts_request {
	uint64_t id;
	int64_t end;
	uint32_t tid;
	int64_t start;
};

/*
 * Calls the callback for each of the requests of which the trace has start and end.  The parts are
 * sorted, longest first, and add up to its latency.  Returns 0 or -errno.
 */
int parts_each(struct model *m, const struct parts_request *requests, size_t nr,
	       void (*parts)(void *arg, size_t request, const struct part *parts, size_t nr), void *arg);

#endif
