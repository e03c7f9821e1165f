/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that build a timeline, grouped by file. */
#ifndef TIMELINE_TIMELINE_PRIVATE_H
#define TIMELINE_TIMELINE_PRIVATE_H

#include "facts/lockset.h"
#include "facts/sched.h"
#include "timeline.h"

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
	bool is_given;		/* tracks.c: start and end were told and are fixed */
	int64_t own;		/* ticks inside the request's own times, see story.c */
	uint32_t parent, last_child; /* index + 1; 0: none */
};

/* Times of a thread, in ticks. */
struct interval {
	uint32_t tid;
	int64_t start, end;
};

struct interval_list {
	struct interval *at;
	size_t nr, room;
};

/* A time off the CPU that falls into the life. */
struct offcpu {
	struct sched_off off;
	struct sched_span *spans;	/* of its own */
	bool is_event;			/* its sleep is a wait among the lock events */
};

struct timeline_build {
	struct model *m;
	const struct life *life;
	struct timeline *t;
	struct lockset locks;
	struct frame *frames;		/* sorted by thread and gen */
	size_t nr_frames, room_frames;
	bool has_resumed;	/* some have several parts */
	int64_t min_ticks;		/* shorter frames are left out */
	uint32_t *tids;			/* whose frames are wanted; sorted */
	size_t nr_tids;
	struct interval_list own;	/* threads at work on the request; by tid, start; disjoint */
	struct interval_list blamed;	/* threads that held it up; the same */
	size_t room_segments;
	struct lock_event **waits;	/* all waits, by tid and begin */
	size_t nr_waits;
	bool *is_followed;		/* of waits */
	struct offcpu *offs;		/* by tid, out; of a thread: disjoint */
	size_t nr_offs, room_offs;
	int64_t min_off;		/* shorter ones are left out; ticks */
	struct sched_migration *migrations;
	size_t nr_migrations, room_migrations;
	size_t *own_offs;		/* numbers of segments: the request's own, by tid and end */
	size_t nr_own_offs;
};

/* timeline.c */
struct segment *timeline_add(struct timeline_build *b, enum segment_kind kind, uint32_t tid,
			     int64_t start, int64_t end);
int interval_add(struct interval_list *list, uint32_t tid, int64_t start, int64_t end);
void interval_merge(struct interval_list *list);

/* frames.c */
int frames_add(struct timeline_build *b, const struct ldb_row_func *row);
int frames_sort(struct timeline_build *b);
void frames_tighten(struct timeline_build *b);
void frames_nest(struct timeline_build *b);
/* The frame and those it was called from had begun then, had not ended before then. */
void frames_began_by(struct timeline_build *b, const struct frame *found, int64_t tick);
void frames_lasted_to(struct timeline_build *b, const struct frame *found, int64_t tick);
/*
 * The innermost frame that had begun at one time and lasted to the other, the thread
 * being off the CPU between: what may have ended just before has not slept.
 */
const struct frame *frames_through(const struct timeline_build *b, uint32_t tid, int64_t from,
				   int64_t to);
/* The innermost frame at that time, after frames_nest(); the next one begins at *next. */
const struct frame *frames_by_time(const struct timeline_build *b, uint32_t tid, int64_t tick,
				   int64_t *next);
const struct frame *frames_at(const struct timeline_build *b, uint32_t tid, uint64_t gen,
			      int64_t tick);
int frames_emit(struct timeline_build *b);
/* A segment for [start, end) of it; NULL: out of memory. */
struct segment *frames_segment(struct timeline_build *b, const struct frame *f, int64_t start,
			       int64_t end);

/* blame.c */
int blame_prepare(struct timeline_build *b);
int blame_own(struct timeline_build *b);
/* Of a wait, or of a hold whatever the event says; NULL: out of memory. */
struct segment *blame_wait_segment(struct timeline_build *b, const struct lock_event *wait,
				   int64_t start, int64_t end, unsigned level);
struct segment *blame_hold_segment(struct timeline_build *b, const struct lock_event *hold,
				   int64_t start, int64_t end, unsigned level);

/* offcpu.c: kernel events */
int offcpu_read(struct timeline_build *b);
int offcpu_add_futexes(struct timeline_build *b);
int offcpu_read_more(struct timeline_build *b);
void offcpu_tighten(struct timeline_build *b);
void offcpu_free(struct timeline_build *b);

/* wakers.c: after offcpu_read(), before anybody is blamed */
void wakers_find(struct timeline_build *b);
/* The first time off the CPU of tid that ends after tick. */
size_t wakers_first(const struct timeline_build *b, uint32_t tid, int64_t tick);
/* The thread of the program that ended this sleep, which is no lock event; 0: none. */
uint32_t wakers_of_sleep(const struct timeline_build *b, const struct offcpu *o);

/* offcpu-emit.c */
int offcpu_emit(struct timeline_build *b);
/* Into s->sched; 0 or -ENOMEM. */
int offcpu_describe(const struct model *m, struct segment *s, const struct sched_off *off);
int offcpu_add_occupants(const struct model *m, struct segment_sched *k,
			 const struct sched_off *off, int64_t start, int64_t end);
/* The function that was being executed: site and gen; the frame, if it is known. */
const struct frame *offcpu_set_place(struct timeline_build *b, struct segment *s,
				     const struct sched_off *off);
/* Is the sleep part of the wait? */
bool offcpu_is_of_wait(const struct offcpu *o, const struct segment *wait);
/* For qsort_r() of indices into the segments of a struct timeline: by tid, end. */
int segment_by_end(const void *pa, const void *pb, void *arg);

/* culprits.c */
int culprits_add(struct timeline_build *b);
bool segment_is_off(const struct segment *s);
/* The first of the request's own times off the CPU that ends after tick. */
size_t offs_find(const struct timeline_build *b, uint32_t tid, int64_t tick);

/* story.c */
int story_build(struct timeline_build *b);
int story_add_cause(struct timeline *t, const struct timeline_cause *cause);

#endif
