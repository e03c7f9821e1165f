/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emits all segments, thread by thread: for pages and exports, which need all of a recording and
 * not one request.
 *
 * Segments are those of timeline.h, with the same estimates and names, but not clipped to a
 * request.  FUNCTIONs are clipped to their callers, so that they nest.  A thread's segments come by
 * start; of those that start together the outer one comes first.  A writer of start and end
 * events only needs a stack: it ends the segments that have ended by the start of the next.
 * Each segment is emitted once.
 *
 * duration_ns and duration_resolution_ns of a segment are what ldb-report counts
 * for it; they were not clipped, and their sums are those of the report.
 *
 * Blockers are not set: there is no blocks_req, no level.
 *
 * Memory is bounded by tracks_options.memory, whatever the length of the trace:  the rest is
 * sorted in temporary files (spill.h).
 */
#ifndef TRACKS_TRACKS_H
#define TRACKS_TRACKS_H

#include "facts/model.h"
#include "facts/samples.h"
#include "facts/sched.h"

struct tracks_options {
	int64_t from, to;	/* ticks: what overlaps */
	const char *thread;	/* tid or glob of the name; NULL: all */
	uint64_t max_functions;	/* how many, the longest; 0: all */
	int64_t min_ns;		/* shorter invocations are left out */
	size_t memory;		/* bytes, about; 0: 192 MiB */
	void (*progress)(void *arg, const char *what, double done); /* 0..1; may be NULL */
	void *progress_arg;
	/*
	 * This may be NULL.  Is anything of that thread needed in [start, end]?  If not, its
	 * functions, locks and times off the CPU there are left out.
	 */
	bool (*wants)(void *arg, uint32_t tid, int64_t start, int64_t end);
	void *wants_arg;
	bool no_requests;	/* the caller knows them: no REQUEST, QUEUE or request() */
	bool with_irqs, with_faults;	/* among the segments */
	bool with_marks;	/* EVENTs of the program */
	bool with_calls;	/* system calls as segments; those in which a thread slept are always named */
	bool no_functions;
	/*
	 * In ticks, for a short range of a long trace.  Times off the CPU are known if they began
	 * at most this long before it, holds if they end at most this long after it; 0: all are
	 * known.
	 */
	int64_t before, after;
};
#define TRACKS_OPTIONS_ALL { .from = INT64_MIN, .to = INT64_MAX }

/* A task made a sleeping thread runnable. */
struct tracks_wakeup {
	int64_t tick;
	uint32_t tid;		/* of the woken thread */
	const struct thread *thread; /* the same; NULL: not in the trace */
	struct party waker;	/* identified; PARTY_NONE: not known */
	uint32_t cpu;		/* where it was to run; CPU_UNKNOWN */
	uint32_t waker_cpu;	/* where the waker was; CPU_UNKNOWN */
};

/* A task ran on a CPU.  Kernel events do not name the running task at all times. */
struct tracks_run {
	uint32_t cpu;
	struct party who;	/* identified; never PARTY_NONE */
	int64_t start, end;	/* ticks */
	bool has_start, has_end; /* false: it ran before, or later, too */
	unsigned state;		/* enum ldb_sched_state when switched out; has_end only */
};

/*
 * These may be NULL.  Non-zero stops, and is returned.  Runs, wake-ups and migrations come
 * first, for all threads together, in the order of time in which each is known: a run's end, the
 * time a woken thread came to run.  Then the threads by tid, each with its segments; then the
 * requests by start.  Pointers are valid until the call returns; symbols, names and threads of
 * the model as long as the model.
 */
struct tracks_sink {
	int (*thread)(void *arg, const struct thread *t);	/* its segments follow */
	int (*segment)(void *arg, const struct segment *s);
	/* Those up to a segment come before it, as interrupts do. */
	int (*sample)(void *arg, const struct sample *s);
	int (*migration)(void *arg, const struct sched_migration *m);
	int (*wakeup)(void *arg, const struct tracks_wakeup *w);
	int (*run)(void *arg, const struct tracks_run *r);
	int (*request)(void *arg, const struct life *life);
	/*
	 * The thread is off the CPU since an unknown time before the range.  It is in order with
	 * runs.
	 */
	int (*off_before)(void *arg, uint32_t tid);
	void *arg;
};

struct tracks_result {
	uint64_t nr[NR_SEGMENT_KINDS];	/* segments emitted */
	uint64_t nr_threads;
	uint64_t nr_left_out;		/* invocations shorter than min_ns */
	int64_t min_ns;			/* 0: none was left out for its length */
	uint64_t nr_open_functions;	/* of those emitted: is_truncated */
	uint64_t nr_not_kept;		/* sleeps on futexes, see futexes.h */
	uint64_t nr_broken;		/* switches without their counterpart, see sched.h */
	uint64_t nr_shifted;		/* functions moved to nest, by less than their resolution mostly */
};

/* Adapts a segment that was cut: its running tasks become those of [start, end). */
void segment_cut(const struct model *m, struct segment *s);

/* Makes a copy of what the kernel events say, or frees it.  Returns 0 or -ENOMEM. */
int segment_copy_sched(struct segment *s);
void segment_free_sched(struct segment *s);

/*
 * Makes a range so wide that its functions are estimated as in all of the trace: events at the
 * time when one of them may have begun, or ended, bound that time.  Returns 0 or -ENOMEM.
 */
int tracks_widen(struct model *m, bool (*wants)(void *arg, uint32_t tid, int64_t start, int64_t end),
		 void *arg, int64_t *from, int64_t *to);

/*
 * Returns 0, -ENOMEM, another -errno of a temporary file, or what a function of the sink
 * returned.
 */
int tracks_each(struct model *m, const struct tracks_options *o, const struct tracks_sink *sink,
		struct tracks_result *result);

#endif
