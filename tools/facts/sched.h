/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aggregates kernel events: for each thread of the program, when it was on a CPU, and why it was
 * not at other times.
 *
 *	SWITCH out, runnable	preempted by the next task; runnable until SWITCH in
 *	SWITCH out, asleep	blocked until WAKEUP (waker: of the WAKING before
 *				it), then runnable until SWITCH in
 *
 * While a thread is runnable, the running tasks of the CPU it waits for are recorded.  That CPU is
 * named by the SWITCH or WAKEUP, and changes with each MIGRATE.  A running task is known from the
 * SWITCH to it and from the SWITCH away from it; where the two disagree, rows are missing and no
 * task is named.
 *
 * A FUTEX_WAIT belongs to the sleep that directly follows it, if the thread has run for at most
 * SCHED_FUTEX_NS in between; a preemption may lie between the two.  If a FUTEX_WAKE of that address
 * ended the sleep, the thread may have run for up to SCHED_FUTEX_LATE_NS, because a virtual CPU may
 * have had to wait for a real one.
 *
 * If a trace has counters instead of events (counters.h), the times off the CPU are computed from
 * the counters; then CPUs, wakers and other tasks are not known.
 *
 * Rows need to be in order of time only approximately, within a window.  Memory is bounded by the
 * number of threads, not of rows.
 */
#ifndef FACTS_SCHED_H
#define FACTS_SCHED_H

#include "model.h"

#define SCHED_THREADS_MAX	(1U << 16)	/* threads; a tid that is used again counts once */
#define SCHED_CPUS_MAX		8192
/* tasks that are recorded for one wait; tasks that ran after these are not */
#define SCHED_SPANS_MAX		48
#define SCHED_FUTEX_NS		200000
#define SCHED_FUTEX_LATE_NS	50000000
#define SCHED_STATE_UNKNOWN	LDB_STATE_UNKNOWN
#define SCHED_FUTEXES_MAX	8	/* addresses of one futex_waitv() that are retained */

/*
 * A task ran on the CPU for which a thread waited.  Its name and pid are not known yet: see
 * context_identify().
 */
struct sched_span {
	enum context_kind kind;	/* CONTEXT_NONE: not known */
	uint32_t tid;
	int64_t start, end;
};

/* A thread was off the CPU in [out, in); in [woken, in) of that it was runnable. */
struct sched_off {
	uint32_t tid;
	int64_t out, woken, in;		/* ticks; out <= woken <= in; preempted: woken == out */
	bool has_out;			/* false: the thread left its CPU before the rows began */
	bool has_woken;			/* false: the wake-up is missing; woken == in */
	/* false: the switch in is missing; `in` is the time up to which anything is known */
	bool has_in;
	bool is_preempted;
	bool is_new;			/* the thread is new and had not run yet */
	bool has_lost;			/* kernel events were lost at about this time */
	/*
	 * computed from counters: of the members that follow, only resolution and state are known
	 */
	bool is_counted;
	int64_t resolution;		/* ticks: the times may be off by this; lengths are right */
	unsigned state;			/* enum ldb_sched_state, or SCHED_STATE_UNKNOWN */
	uint32_t cpu_out, cpu_wait, cpu_in; /* UINT32_MAX: not known */
	uint64_t gen, pc;		/* the innermost frame; 0: not known */
	struct context next;		/* the task to which the CPU switched */
	struct context waker;
	uint32_t cpu_waker;		/* UINT32_MAX: not known */
	unsigned nr_futexes;		/* 0: the thread did not sleep on a futex */
	uint64_t futex;			/* the address that was woken, or the first one */
	int64_t futex_tick;		/* the time at which the thread made the futex call */
	/* the tid in the futex word, or in the word after it; 0: none */
	uint32_t owner;
	bool is_futex_woken;		/* the waker had just called FUTEX_WAKE for that address */
	unsigned nr_migrations;
	/* what ran while the thread was runnable, in order; valid until the callback returns */
	const struct sched_span *spans;
	unsigned nr_spans;
};

struct sched_migration {
	uint32_t tid, from, to;
	int64_t tick;
};

struct sched_run {
	uint32_t tid;
	int64_t start, end;		/* ticks */
	bool has_start, has_end;
};

/*
 * A run of a task on a CPU.  There are rows of tasks of other programs only while a thread of this
 * program waits for the CPU.
 */
struct sched_cpu_run {
	uint32_t cpu;
	/* without name and pid, see context_identify(); never CONTEXT_NONE */
	struct context who;
	int64_t start, end;		/* ticks */
	/*
	 * the task was switched in at `start`, and out at `end`; otherwise it may have run before,
	 * or after
	 */
	bool has_start, has_end;
	/* enum ldb_sched_state of the task when it was switched out; set only if has_end */
	unsigned state;
};

/*
 * Each function is called for an interval or event when it has ended; it may be NULL.  If it
 * returns a value that is not 0, reading stops.
 */
struct sched_sink {
	int (*off)(void *arg, const struct sched_off *off);
	int (*run)(void *arg, const struct sched_run *run);
	int (*migration)(void *arg, const struct sched_migration *migration);
	int (*cpu)(void *arg, const struct sched_cpu_run *run);
	/*
	 * A new thread with this tid begins; earlier events with the tid were those of another
	 * thread.
	 */
	int (*born)(void *arg, uint32_t tid, int64_t tick);
	void *arg;
};

struct sched_result {
	uint64_t nr_rows, nr_switches;
	uint64_t nr_broken;		/* how often a switch in or out was missing */
	uint64_t nr_dropped;		/* rows of threads beyond SCHED_THREADS_MAX */
	/* ticks of the first and last row; first > last: there was none */
	int64_t first, last;
};

/* Reads rows of [from, to] (ticks).  Returns 0, -ENOMEM, or what a function of sink returned. */
int sched_each(struct model *m, int64_t from, int64_t to, const struct sched_sink *sink,
	       struct sched_result *result);

/* Returns by how much a time between two kernel events can be wrong. */
int64_t sched_resolution_ns(const struct model *m);

/* Returns the name of a state: "sleeping", "disk", ... */
const char *sched_state_name(unsigned state);

/* The names of kinds of tasks, for tasks that have no name of their own. */
extern const struct context_words {
	const char *json;	/* "hardirq" */
	const char *label;	/* as a cause: "interrupt" */
	const char *words;	/* in a sentence: "an interrupt" */
	const char *cell;	/* in a table: "(interrupt)" */
	const char *task;	/* among the names of tasks: "[interrupt]" */
	const char *share;	/* as a part of a CPU's time: "interrupts" */
} context_kinds[];

/* Returns the task that a row of LDB_BLK_SCHED names. */
struct context context_of(uint32_t tid, unsigned flags);
bool context_is(const struct context *a, const struct context *b);

#endif
