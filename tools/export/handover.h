/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds locks that passed from one thread to another: which thread released the lock for which
 * another one waited.
 *
 * Handovers are reported thread by thread, in the order in which tracks.h emits waits and holds.
 */
#ifndef EXPORT_HANDOVER_H
#define EXPORT_HANDOVER_H

#include "base/spill.h"
#include "export/export.h"

struct handover_end {
	uint64_t nr;		/* number of the handover, from 1; the same at both ends */
	/* this end is at the wait; otherwise it is at the hold of the releasing thread */
	bool is_wait;
	uint64_t lock;
	int64_t begin, end;	/* ticks: of the wait or the hold */
	/* ticks: the end of the wait; at the hold: the end of the hold, if that is earlier */
	int64_t at;
};

struct handover {
	struct spill spill;
	/*
	 * ends that begin at the start of the current segment; `lock` is changed in those that were
	 * reported
	 */
	struct handover_end *at;
	size_t nr, room;
	uint64_t thread;	/* the thread of these ends: model_thread_order() */
	uint64_t nr_flows;
};

/* Returns 0 or -errno. */
int handover_open(struct handover *h, struct model *m, const struct export_options *o);
void handover_close(struct handover *h);

/*
 * Calls end() for each end of a handover that belongs to the segment.  Segments must come in the
 * order of tracks.h.
 */
int handover_each(struct handover *h, struct model *m, const struct segment *s,
		  int (*end)(void *arg, const struct handover_end *e), void *arg);

#endif
