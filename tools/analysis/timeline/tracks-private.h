/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that make tracks, grouped by file. */
#ifndef TIMELINE_TRACKS_PRIVATE_H
#define TIMELINE_TRACKS_PRIVATE_H

#include "base/spill.h"
#include "facts/futexes.h"
#include "timeline-private.h"
#include "tracks.h"

#define TRACKS_WINDOW	32768	/* functions in a window, about */
#define TRACKS_EVENTS	8192	/* other things of a kind; a segment of them is larger than a frame */

/* Things sorted by thread and time, read with one item in advance. */
struct tracks_source {
	struct spill spill;
	struct spill_item head;
	bool has_head;
};

/* A time off the CPU that is at hand. */
struct tracks_off {
	struct offcpu o;
	bool is_asleep_told;	/* its sleep is part of a wait that has a segment */
	unsigned depth;		/* at least: of that wait, and one */
};

/* A part of a request's life. */
struct tracks_part {
	struct life_part part;
	uint64_t req;
};

struct tracks {
	struct model *m;
	const struct tracks_options *o;
	const struct tracks_sink *sink;
	struct tracks_result *result;
	int64_t min_ticks;
	struct futexes futexes;		/* until the locks are read */
	struct tracks_source funcs, locks, offs, parts, queues, faults, irqs, lives;
	int64_t off_resolution_ns;
	uint64_t nr_read;		/* FUNC rows */

	/* The thread at hand, from window to window. */
	uint64_t major;
	uint32_t tid;
	int64_t border;			/* what starts before it is given in this window */
	bool is_last;			/* it is the last window: everything is */
	bool is_full;			/* there was room for no more frames: all are */
	struct timeline_build b;	/* its frames and lock events */
	struct timeline t;		/* segments that are no functions */
	struct tracks_off *off_at;	/* in order of out */
	size_t nr_off_at, room_off_at;
	struct segment *functions;	/* not given yet, in order */
	size_t nr_functions, room_functions;
	struct segment *open;		/* those given last, one in another: what they must nest in */
	size_t nr_open, room_open;
	int64_t last_start;
	struct tracks_part *part_at;	/* parts that may overlap what comes, by start */
	size_t nr_part_at, room_part_at, nr_parts_told, first_part;
};

/* tracks-read.c: all passes over the trace */
int tracks_read(struct tracks *k);
/* Tids that the trace has no thread for come behind all others. */
uint64_t tracks_major(const struct model *m, uint32_t tid, int64_t tick);
int source_next(struct tracks_source *s);
bool source_is_at(const struct tracks_source *s, uint64_t major);

/* tracks-events.c: page faults and interrupts */
int tracks_read_events(struct tracks *k);
/* All of the thread's, before its segments. */
int tracks_tell_events(struct tracks *k);
/* As segments: those that begin by then. */
int tracks_tell_events_until(struct tracks *k, int64_t tick);

/* tracks-frames.c */
int tracks_read_frames(struct tracks *k);
int tracks_add_functions(struct tracks *k);
void tracks_keep_frames(struct tracks *k);

/* tracks-emit.c: what is no function */
int tracks_read_offs(struct tracks *k, int64_t before);
int tracks_read_locks(struct tracks *k, int64_t before);
int tracks_add_requests(struct tracks *k);
int tracks_add_others(struct tracks *k);
/* Nothing that starts there or later is given in this window. */
void tracks_lower_border(struct tracks *k, int64_t border);
/* tracks.c: gives a segment, and frees its sched. */
int tracks_tell(struct tracks *k, struct segment *s);
/* Which request the thread worked on during the segment. */
int tracks_set_request(struct tracks *k, struct segment *s);
void tracks_free_offs(struct tracks *k, size_t nr);

#endif
