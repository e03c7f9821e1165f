/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that make tracks, grouped by file. */
#ifndef TRACKS_TRACKS_PRIVATE_H
#define TRACKS_TRACKS_PRIVATE_H

#include "base/spill.h"
#include "facts/futexes.h"
#include "facts/lockset.h"
#include "tracks.h"

#define TRACKS_WINDOW	32768	/* functions in a window, about */
#define TRACKS_EVENTS	8192	/* other things of a kind; a segment of them is larger than a frame */

/* One invocation.  Times are ticks. */
struct frame {
	uint32_t tid;
	uint32_t nr_thread;	/* which thread of that tid */
	uint32_t depth;
	bool is_truncated;
	bool is_resumed;	/* a later part of an invocation that a switch of stacks left */
	uint64_t pc, ret, gen, parent_gen;
	int64_t start, end;		/* estimated; after frames_nest() inside the parent's */
	int64_t full_start, full_end;	/* estimated */
	int64_t length;			/* estimated from its row alone, as is its error: */
	uint64_t length_resolution;
	int64_t start_min, start_max, end_min, end_max;
	int64_t row_start, row_end;	/* of its row, as filters by time compare it */
	uint64_t resolution;
	bool is_given;		/* start and end were told and are fixed */
	uint32_t parent, last_child; /* index + 1; 0: none */
};

struct frames {
	struct model *m;
	struct frame *at;	/* sorted by thread and gen */
	size_t nr, room;
	bool has_resumed;	/* some have several parts */
};

/* Things sorted by thread and time, read with one item in advance. */
struct tracks_source {
	struct spill spill;
	struct spill_item head;
	bool has_head;
};

/* A time off the CPU that is at hand. */
struct tracks_off {
	struct sched_off off;
	struct sched_span *spans;	/* of its own */
	bool is_event;			/* its sleep is itself a wait among the lock events */
	bool is_asleep_told;		/* its sleep is part of a wait that has a segment */
	unsigned depth;			/* at least: of that wait, and one */
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
	struct frames frames;
	struct lockset set;		/* lock events */
	struct segment *others;		/* segments that are no functions */
	size_t nr_others, room_others;
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

/* frames.c */
int frames_add(struct frames *fs, const struct ldb_row_func *row);
int frames_sort(struct frames *fs);
void frames_tighten(struct frames *fs, const struct lockset *locks);
void frames_nest(struct frames *fs);
/* The frame and those it was called from had begun then, had not ended before then. */
void frames_began_by(struct frames *fs, const struct frame *found, int64_t tick);
void frames_lasted_to(struct frames *fs, const struct frame *found, int64_t tick);
/*
 * The innermost frame that had begun at one time and lasted to the other, the thread
 * being off the CPU between: what may have ended just before has not slept.
 */
const struct frame *frames_through(const struct frames *fs, uint32_t tid, int64_t from, int64_t to);
/* The innermost frame at that time, after frames_nest(). */
const struct frame *frames_by_time(const struct frames *fs, uint32_t tid, int64_t tick);
const struct frame *frames_at(const struct frames *fs, uint32_t tid, uint64_t gen, int64_t tick);

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

/*
 * segments.c: one of each kind.  The segment is the last of k->others, and NULL says that
 * memory is out.
 */
struct segment *segment_of_part(struct tracks *k, const struct tracks_part *part);
struct segment *segment_of_lock(struct tracks *k, const struct lock_event *e);
/* asleep: the time until it was woken, else that from there on. */
struct segment *segment_of_off(struct tracks *k, const struct tracks_off *at, bool asleep);
void segment_of_frame(struct tracks *k, struct segment *s, const struct frame *f, int64_t start,
		      int64_t end);
/* Is the sleep a part of the wait?  The wait then says so. */
bool segment_has_sleep(const struct segment *wait, const struct tracks_off *at);
int segment_add_sleep(struct tracks *k, struct segment *wait, const struct tracks_off *at);

#endif
