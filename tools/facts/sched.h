/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aggregates kernel events: for each of the program's threads, when it was on a CPU and why it
 * was not.
 *
 *	SWITCH out, runnable	preempted, by the next task; runnable until SWITCH in
 *	SWITCH out, asleep	blocked until WAKEUP (waker: of the WAKING before
 *				it), then runnable until SWITCH in
 *
 * While a thread is runnable, the running tasks of the CPU it waits for are recorded.
 * The CPU is that of the SWITCH or WAKEUP, and follows MIGRATE.  A running task is
 * known from the SWITCH to it and from the SWITCH away from it; where the two
 * disagree, rows are missing and no task is named.
 *
 * A FUTEX_WAIT belongs to the sleep that directly follows it, at most
 * SCHED_FUTEX_NS later; a preemption may lie between the two.  It may come up to
 * SCHED_FUTEX_LATE_NS later (a virtual CPU had to wait for a real one), if a
 * FUTEX_WAKE of that address ended the sleep.
 *
 * Where there are counters instead of events (counters.h), times off the CPU are made of those;
 * CPUs, wakers and other tasks are not known then.
 *
 * Rows need be in order of time only within a window.  Memory is bounded by the
 * number of threads, not of rows.
 */
#ifndef FACTS_SCHED_H
#define FACTS_SCHED_H

#include "model.h"

#define SCHED_THREADS_MAX	(1U << 16)	/* at a time; a tid used again counts once */
#define SCHED_CPUS_MAX		8192
#define SCHED_SPANS_MAX		48	/* of one wait; later ones have no running task */
#define SCHED_FUTEX_NS		200000
#define SCHED_FUTEX_LATE_NS	50000000
#define SCHED_STATE_UNKNOWN	LDB_STATE_UNKNOWN
#define SCHED_FUTEXES_MAX	8	/* addresses of one futex_waitv() */

/* A task ran on the CPU that a thread waited for; it is not identified. */
struct sched_span {
	enum party_kind kind;	/* PARTY_NONE: not known */
	uint32_t tid;
	int64_t start, end;
};

/* A thread was off the CPU: in [out, in), of which it was runnable in [woken, in). */
struct sched_off {
	uint32_t tid;
	int64_t out, woken, in;		/* ticks; out <= woken <= in; preempted: woken == out */
	bool has_out;			/* false: before the rows began */
	bool has_woken;			/* false: the wake-up is missing; woken == in */
	bool has_in;			/* false: it is missing; in is the time up to which anything is known */
	bool is_preempted;
	bool is_new;			/* a new thread that had not run yet */
	bool has_lost;			/* kernel events were lost about then */
	bool is_counted;		/* made of counters: of what follows only state is known */
	int64_t resolution;		/* ticks: the times may be off by this much, but the lengths are right */
	unsigned state;			/* enum ldb_sched_state, or SCHED_STATE_UNKNOWN */
	uint32_t cpu_out, cpu_wait, cpu_in; /* UINT32_MAX: not known */
	uint64_t gen, pc;		/* of the innermost frame; 0: not known */
	struct party next;		/* the task switched to */
	struct party waker;
	uint32_t cpu_waker;		/* UINT32_MAX: not known */
	unsigned nr_futexes;		/* 0: it did not sleep on a futex */
	uint64_t futex;			/* the address that was woken, or the first one */
	int64_t futex_tick;		/* when it called */
	uint32_t owner;			/* tid in the word at the futex, or after it; 0: none */
	bool is_futex_woken;		/* the waker had just woken that address */
	unsigned nr_migrations;
	const struct sched_span *spans;	/* while runnable; in order; valid until the call returns */
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

/* A task ran on a CPU, as far as is known: while no thread waits, others run without a row. */
struct sched_cpu_run {
	uint32_t cpu;
	struct party who;		/* not identified; never PARTY_NONE */
	int64_t start, end;		/* ticks */
	bool has_start, has_end;	/* it was switched in, out then */
	unsigned state;			/* enum ldb_sched_state when switched out; has_end only */
};

/*
 * Each function is called for an interval or event when it has ended; it may be NULL.  A return
 * that is not 0 stops.
 */
struct sched_sink {
	int (*off)(void *arg, const struct sched_off *off);
	int (*run)(void *arg, const struct sched_run *run);
	int (*migration)(void *arg, const struct sched_migration *migration);
	int (*cpu)(void *arg, const struct sched_cpu_run *run);
	/* The next thread of this tid begins: the previous one was another thread. */
	int (*born)(void *arg, uint32_t tid, int64_t tick);
	void *arg;
};

struct sched_result {
	uint64_t nr_rows, nr_switches;
	uint64_t nr_broken;		/* a switch in or out is missing */
	uint64_t nr_dropped;		/* rows over SCHED_THREADS_MAX */
	int64_t first, last;		/* ticks of the rows; first > last: none */
};

/* Reads rows of [from, to] (ticks).  Returns 0, -ENOMEM, or what a function of sink returned. */
int sched_each(struct model *m, int64_t from, int64_t to, const struct sched_sink *sink,
	       struct sched_result *result);

/* Returns by how much a time between two kernel events can be wrong. */
int64_t sched_resolution_ns(const struct model *m);

/* "sleeping", "disk", ... */
const char *sched_state_name(unsigned state);

/* These are the names of kinds of tasks, for tasks that have no name of their own. */
extern const struct party_words {
	const char *json;	/* "hardirq" */
	const char *label;	/* of a cause: "interrupt" */
	const char *words;	/* of a sentence: "an interrupt" */
	const char *cell;	/* of a table: "(interrupt)" */
	const char *task;	/* among the names of tasks: "[interrupt]" */
	const char *share;	/* of a CPU's time: "interrupts" */
} party_kinds[];

/* Returns the task that a row of LDB_BLK_SCHED names. */
struct party party_of(uint32_t tid, unsigned flags);
bool party_is(const struct party *a, const struct party *b);

#endif
