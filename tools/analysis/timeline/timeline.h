/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the timeline of one request: what its threads did, what they waited for, and what the
 * threads for which it waited did.
 *
 * Functions are clipped to the times in which their thread worked on the request or blocked it, and
 * to the function that called them: estimates of a function and its caller may disagree by their
 * resolution.  A wait of 1 us or more leads to all holders of the lock during the wait; if a holder
 * waited for another lock, to the holders of that, and so on, for 8 levels at most.  No wait is
 * followed twice.
 */
#ifndef TIMELINE_TIMELINE_H
#define TIMELINE_TIMELINE_H

#include "chain.h"
#include "facts/interruption-sums.h"
#include "facts/intervals.h"
#include "facts/model.h"
#include "facts/notes.h"
#include "facts/samples.h"

#define TIMELINE_FRAMES_MAX	(1U << 20)	/* longest invocations retained */
#define TIMELINE_WAIT_MIN_NS	1000		/* shorter waits are not followed */
#define TIMELINE_LEVELS_MAX	8

/*
 * A cause is a state that the request was in: the sum of the leaves of the partition (partition.h)
 * that have the same name.  The causes of a request that has ended sum to its latency exactly.
 */
struct timeline_cause {
	enum leaf_kind kind;
	/* as in ldb-why: of the lock, task, interrupt, class, system call or library call; "" */
	const char *label;
	/* FUNCTION: the function; SLEEP, IO: the function that slept; NULL: not known */
	const struct symbol *func;
	/* the request was in a queue; the thread that later took it out was in this state */
	bool in_queue;
	int64_t ns;
	int64_t resolution_ns;		/* greatest resolution of its invocations, or intervals */
	int64_t unobserved_ns;		/* UNKNOWN: how much of it was in observation gaps */
	uint64_t nr;			/* waits, invocations, interrupts, or requests ahead */
	struct split split;		/* FUNCTION, UNKNOWN: its parts, by samples */
	/* FUNCTION, UNKNOWN: time on the CPU in system calls, and the number of these. */
	int64_t syscall_ns;
	uint64_t nr_syscalls;
	bool has_syscalls;		/* syscall_ns and nr_syscalls are known */
	/* The following are NULL, or 0, if they are not known. */
	const struct segment *wait;	/* LOCK, FUTEX, or in a queue: the longest wait */
	const struct segment *hold;	/* LOCK, FUTEX: the longest hold during that wait */
	const struct segment *hold_func; /* the function that its holder was executing */
	const struct segment *hold_off;	/* longest time off the CPU of the holder during the hold */
	/* sum of all times off the CPU of the holder for this reason */
	int64_t hold_off_ns;
	struct segment_disk disk;	/* IO: the device, and the sum of all sleeps for it */
	/* RUNNABLE, PREEMPTED, THROTTLED, SLEEP, IO: the longest interval */
	const struct segment *off;
	/* RUNNABLE, PREEMPTED: the task that ran longest in the interval `off`; else its waker */
	struct context blocker;
	/* the sum over all intervals: for how long such a task ran, or how long the thread slept */
	int64_t blocker_ns;
	struct chain *chain;		/* from wait or off, from thread to thread */
};

struct timeline_migration {
	uint32_t tid, from_cpu, to_cpu;
	const struct thread *thread;
	int64_t at_ns;
	bool blocks_req;		/* a migration of a thread that blocked the request */
};

/* In [start, end) ticks a thread on the request's path was blocked by another one. */
struct timeline_edge {
	uint32_t tid, by;
	int64_t start, end;
	/* tid waited for a lock or the like; else it was asleep, or runnable */
	bool is_wait;
	bool is_held;		/* `by` is the thread of a hold that is among the segments */
};

struct timeline {
	uint64_t req;
	const char *class;
	int64_t start_ns, end_ns, latency_ns;
	int64_t latency_resolution_ns;	/* by how much the latency may be off; 0: it was tagged */
	bool is_complete, has_lost_handoff;
	struct segment *segments;	/* sorted by start_ns, blocks_req, tid, depth */
	size_t nr_segments;
	/*
	 * The times that the partition attributes to each thread, sorted.  They do not overlap, and
	 * sum to the time in which the request was on a thread.
	 */
	struct intervals pieces;
	/* threads that worked on the request, by their first spans */
	uint32_t *tids;
	size_t nr_tids;
	int64_t lock_wait_ns, queue_ns;	/* sums */
	/*
	 * times off the CPU of the request's threads; blocked_ns does not include waits for locks
	 */
	int64_t runnable_ns, preempted_ns, blocked_ns, futex_wait_ns;
	struct timeline_migration *migrations; /* sorted by time */
	size_t nr_migrations;
	/* events that these threads, or threads that blocked the request, marked; by time */
	struct marked *marks;
	size_t nr_marks;
	const struct note *notes[NOTES_KEYS_MAX];
	size_t nr_notes;
	struct timeline_cause *causes;	/* biggest first */
	size_t nr_causes;
	struct timeline_edge *edges;	/* longest first: all delays, of all levels */
	size_t nr_edges;
	int64_t left_out_ns;		/* invocations shorter than this were left out; 0: none */
};

/* Returns 0, -ENOMEM or another -errno of a temporary file. */
int timeline_build(struct model *m, const struct instance *instance, struct timeline *t);

/*
 * As timeline_build(), but functions have no call site, because finding these takes time.  A caller
 * that shows call sites sets them with timeline_set_sites(), after timelines_end().
 */
int timeline_build_siteless(struct model *m, const struct instance *instance, struct timeline *t);
void timeline_set_sites(struct model *m, struct timeline *t);

void timeline_free(struct timeline *t);

/*
 * Merges the timelines of several requests into one, as that of the longest request.  It has the
 * segments of all of them, and lasts from the first start to the last end.  The segments point to
 * data of these timelines; only the array of segments is to be freed.  Returns 0 or -ENOMEM.
 */
int timeline_merge(const struct timeline *timelines, size_t nr, struct timeline *t);

/*
 * Returns the length in ns of the nr-th longest segment.  INT64_MIN: there are not more than nr
 * segments; INT64_MAX: nr is 0.
 */
int64_t timeline_longest(const struct timeline *t, size_t nr);

/* Frees the segments, but not the sums; the pointers of causes to segments become NULL. */
void timeline_forget_segments(struct timeline *t);

/*
 * Returns the indices of the requests in order of time, in which timeline_build() of all of them
 * is fastest: until timelines_end(), rows that several of them need are retained.  The caller
 * frees the array; NULL: out of memory.
 */
uint32_t *timelines_begin(struct model *m, const struct instance *instances, size_t nr);
void timelines_end(struct model *m);

/* Builds a timeline without segments for each request; *timelines is NULL if that fails. */
int timelines_build(struct model *m, const struct instance *instances, size_t nr, struct timeline **timelines);
void timelines_free(struct timeline *timelines, size_t nr);

/* Counts page faults and interrupts while threads worked on the request.  Returns 0 or -ENOMEM. */
int timeline_interruptions(struct model *m, const struct timeline *t, struct interruptions *h);

#endif
