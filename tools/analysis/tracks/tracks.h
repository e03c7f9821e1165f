/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emits all segments of a recording, or of a range of time, thread by thread.  The partition, pages
 * and exports use this.
 *
 * Segments are those of timeline.h, with the same estimates and names, but not clipped to a
 * request.  FUNCTIONs are clipped to their callers, so that they nest.  A thread's segments come in
 * order of their starts; if several start together the outer one comes first.  So a writer of start
 * and end events only needs a stack: before each segment, it ends those that have ended.  Each
 * segment is emitted once.
 *
 * duration_ns and duration_resolution_ns of a segment are not clipped, so that their sums are those
 * of ldb-report.
 *
 * The members blocks_req and level of segments are not set.
 *
 * Memory is bounded by tracks_options.memory, whatever the length of the trace: the rest is sorted
 * in temporary files (spill.h).
 */
#ifndef TRACKS_TRACKS_H
#define TRACKS_TRACKS_H

#include "facts/model.h"
#include "facts/samples.h"
#include "facts/sched.h"

struct tracks_options {
	int64_t from, to;	/* ticks: segments that overlap this range */
	const char *thread;	/* tid or glob of the name; NULL: all */
	uint64_t max_functions;	/* at most this many functions, the longest ones; 0: all */
	int64_t min_ns;		/* shorter invocations are left out */
	size_t memory;		/* bytes, about; 0: 192 MiB */
	void (*progress)(void *arg, const char *what, double done); /* 0..1; may be NULL */
	void *progress_arg;
	/*
	 * May be NULL.  Returns whether segments of that thread in [start, end] are needed; if not,
	 * functions, locks, times off the CPU, calls and samples there are left out.
	 */
	bool (*wants)(void *arg, uint32_t tid, int64_t start, int64_t end);
	void *wants_arg;
	bool no_requests;	/* leave out REQUEST, QUEUE and request() */
	bool with_irqs, with_faults;	/* add these to the segments */
	bool with_marks;	/* EVENTs of the program */
	/* system calls as segments; also without this, sleeps have the name of their call */
	bool with_calls;
	bool no_functions;
	/* functions have no site: finding it may need much debug information */
	bool no_call_sites;
	/*
	 * Only segments and samples that overlap this range, or whose error reaches into it, are
	 * emitted.  Events in the rest of from...to only bound the estimates.
	 */
	int64_t emit_from, emit_to;
	/*
	 * In ticks, to read a short range of a long trace faster.  Times off the CPU are found if
	 * they began at most `before` before the emitted range, or somewhat more; holds if they end
	 * at most `after` after the range; 0: all are found.
	 */
	int64_t before, after;
};
#define TRACKS_OPTIONS_ALL { \
	.from = INT64_MIN, .to = INT64_MAX, .emit_from = INT64_MIN, .emit_to = INT64_MAX \
}

/* A task made a sleeping thread runnable. */
struct tracks_wakeup {
	int64_t tick;
	uint32_t tid;		/* the thread that was woken */
	const struct thread *thread; /* the woken thread; NULL: not in the trace */
	struct context waker;	/* context_identify() was called; CONTEXT_NONE: not known */
	uint32_t cpu;		/* where it was to run; CPU_UNKNOWN */
	uint32_t waker_cpu;	/* where the waker was; CPU_UNKNOWN */
};

/* A task ran on a CPU.  The running task is not known at all times. */
struct tracks_run {
	uint32_t cpu;
	struct context who;	/* context_identify() was called; never CONTEXT_NONE */
	int64_t start, end;	/* ticks */
	bool has_start, has_end; /* false: it may also have run before start, or after end */
	unsigned state;		/* enum ldb_sched_state when switched out; has_end only */
};

/*
 * The functions may be NULL.  A return value other than 0 ends tracks_each(), and is returned.
 * Runs, wake-ups and migrations come first, for all threads together, in the order of time in which
 * each is known: a run's end, the time a woken thread came to run.  Then come the threads by tid,
 * each with its segments; then the requests by start.  Pointers are valid until the call returns;
 * symbols, names and threads of the model as long as the model.
 */
struct tracks_sink {
	int (*thread)(void *arg, const struct thread *t);	/* its segments follow */
	int (*segment)(void *arg, const struct segment *s);
	/* Samples up to the start of a segment come before it, as interrupts do. */
	int (*sample)(void *arg, const struct sample *s);
	int (*migration)(void *arg, const struct sched_migration *m);
	int (*wakeup)(void *arg, const struct tracks_wakeup *w);
	int (*run)(void *arg, const struct tracks_run *r);
	int (*request)(void *arg, const struct instance *instance);
	/*
	 * The thread has been off the CPU since an unknown time before the range.  Ordered with
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
	uint64_t nr_not_kept;		/* sleeps on futexes, see futexes.h */
	uint64_t nr_broken;		/* switches without their counterpart, see sched.h */
	uint64_t nr_shifted;		/* functions that were moved so that they nest */
};

/*
 * Returns the range of kernel events that is read for an emitted range: see `before` and `after`.
 */
struct reader_range tracks_sched_range(const struct model *m, int64_t start, int64_t end, int64_t before,
				       int64_t after);

/* Adapts a segment that was cut: its running tasks become those of [start, end). */
void segment_cut(const struct model *m, struct segment *s);

/* Replaces the segment's sched by a copy, or frees the copy.  Returns 0 or -ENOMEM. */
int segment_copy_sched(struct segment *s);
void segment_free_sched(struct segment *s);

/*
 * Widens a range until its functions are estimated as in the whole trace: events outside of it may
 * bound the start or end of a function.  Returns 0 or -ENOMEM.
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
