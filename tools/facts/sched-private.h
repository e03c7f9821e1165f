/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what the files that read kernel events share, grouped by file. */
#ifndef FACTS_SCHED_PRIVATE_H
#define FACTS_SCHED_PRIVATE_H

#include "base/keyed.h"
#include "sched.h"

#define SCHED_NO_CPU		UINT32_MAX
#define SCHED_CPUS_CHUNK	64	/* divides SCHED_CPUS_MAX */

enum sched_phase {
	SCHED_UNKNOWN,		/* rows of the thread are missing, or there was none yet */
	SCHED_ON,
	SCHED_OFF,
	SCHED_GONE,		/* the thread has exited */
};

/* A thread of the program. */
struct sched_thread {
	uint32_t tid;
	enum sched_phase phase;
	bool is_known;			/* there was a switch or a wake-up of this thread */
	bool has_on_since;
	int64_t on_since;
	int64_t last_seen;		/* tick of the last row of its interval off the CPU */
	struct sched_off off;
	struct sched_span spans[SCHED_SPANS_MAX];
	/* Describe the thread's last WAKING row. */
	bool has_waking, has_woken_futex;
	int64_t waking;
	struct context waker;
	uint32_t cpu_waker;
	uint64_t woken_futex;
	/* Describe a WAKEUP row that came while the thread was on a CPU. */
	bool has_early;
	int64_t early;
	/* Describe the last FUTEX_WAIT row, if no sleep has followed it yet. */
	unsigned nr_futexes, futex_op;
	uint64_t futexes[SCHED_FUTEXES_MAX];
	int64_t futex_tick, futex_since, futex_ran;
	uint64_t asleep_on[SCHED_FUTEXES_MAX]; /* off.nr_futexes addresses */
	bool is_futex_late;		/* the futex may belong to another sleep than `off` */
	uint32_t owner;
	/* Describe the thread's last FUTEX_WAKE row. */
	bool has_wake;
	uint64_t wake_futex;
	/* Describe the CPU for which the thread waits. */
	struct sched_cpu *waits_on;
	struct sched_thread *next_waiter, **prev_waiter;
	int64_t charged;		/* ticks: off.spans has the running tasks up to this time */
};

struct sched_cpu {
	uint32_t cpu;
	struct sched_thread *waiters;
	struct context has;		/* CONTEXT_NONE: not known */
	int64_t since;			/* ticks: since when this task has been running */
	/* true: the task was switched in at `since`; false: it ran before that, too */
	bool has_since;
};

struct sched {
	struct model *m;
	const struct sched_sink *sink;
	struct sched_result *result;
	int64_t from;			/* nothing is known of earlier times */
	const struct thread_interval *pause;	/* the next pause; NULL: there is no other */
	/*
	 * used instead if there are several processes: the pauses of all of them, by start, and the
	 * index of the next one
	 */
	struct thread_interval *of_processes;
	size_t nr_of_processes, next;
	int64_t futex_ticks, futex_late_ticks, loss_slack, race_ticks;
	/* the sink's return value when it was called for a CPU, or -ENOMEM */
	int ret;
	unsigned left_state;		/* state of the task that is switched out now */
	struct keyed threads;		/* struct sched_thread, by tid */
	/* NULL: no row has named a CPU of this chunk */
	struct sched_cpu *cpus[SCHED_CPUS_MAX / SCHED_CPUS_CHUNK];
};

/* sched-cpu.c */

/*
 * Returns the state of a thread; NULL if the thread is not the program's, or if there is no room.
 */
struct sched_thread *sched_thread(struct sched *s, uint32_t tid, bool is_own);
void sched_free(struct sched *s);

/* Records a switch on the CPU; `left` is the task that is switched out. */
void cpu_switch(struct sched *s, uint32_t cpu, const struct context *left, int64_t tick);

/*
 * Sets the running task of the CPU.  is_own: there will be a row when it is switched out.  `came`:
 * it was switched in at tick, and did not run before.
 */
void cpu_set(struct sched *s, uint32_t cpu, const struct context *has, bool is_own, int64_t tick,
	     bool came);

/* Ends all runs, because the rows have ended or a pause has begun. */
void cpu_end_all(struct sched *s, int64_t tick);

/* Records that the running tasks of all CPUs are not known any more. */
void cpu_forget_all(struct sched *s);

/* Records that from now on t waits for this CPU, and for no other. */
void cpu_enter(struct sched *s, struct sched_thread *t, uint32_t cpu, int64_t tick);
void cpu_leave(struct sched *s, struct sched_thread *t, int64_t tick);

#endif
