/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what the files that read kernel events share, grouped by file. */
#ifndef FACTS_SCHED_PRIVATE_H
#define FACTS_SCHED_PRIVATE_H

#include "base/keyed.h"
#include "sched.h"

#define SCHED_NO_CPU		UINT32_MAX

enum sched_phase {
	SCHED_UNKNOWN,		/* rows are missing, or there was none yet */
	SCHED_ON,
	SCHED_OFF,
	SCHED_GONE,		/* it has exited */
};

/* This is one of the program's threads. */
struct sched_thread {
	uint32_t tid;
	enum sched_phase phase;
	bool is_known;			/* there was a switch or wake-up of it */
	bool has_on_since;
	int64_t on_since;
	int64_t last_seen;		/* the last time at which it was off the CPU */
	struct sched_off off;
	struct sched_span spans[SCHED_SPANS_MAX];
	/* the last WAKING */
	bool has_waking, has_woken_futex;
	int64_t waking;
	struct party waker;
	uint32_t cpu_waker;
	uint64_t woken_futex;
	/* a WAKEUP while it was on the CPU */
	bool has_early;
	int64_t early;
	/* the last FUTEX_WAIT that no sleep has followed yet */
	unsigned nr_futexes, futex_op;
	uint64_t futexes[SCHED_FUTEXES_MAX];
	int64_t futex_tick, futex_since, futex_ran;
	uint64_t asleep_on[SCHED_FUTEXES_MAX]; /* nr_futexes of off */
	bool is_futex_late;		/* of the sleep: it may belong to another one */
	uint32_t owner;
	/* its last FUTEX_WAKE */
	bool has_wake;
	uint64_t wake_futex;
	/* the CPU it is runnable on */
	struct sched_cpu *waits_on;
	struct sched_thread *next_waiter, **prev_waiter;
	int64_t charged;		/* the running tasks are known up to here */
};

struct sched_cpu {
	struct sched_thread *waiters;
	struct party has;		/* PARTY_NONE: not known */
	int64_t since;			/* when that became the running task */
	bool has_since;			/* it was switched in then */
};

struct sched {
	struct model *m;
	const struct sched_sink *sink;
	struct sched_result *result;
	int64_t from;
	int64_t futex_ticks, futex_late_ticks, loss_slack, race_ticks;
	int ret;			/* of the sink, for a CPU, or -ENOMEM */
	unsigned left_state;		/* of the task that is switched out now */
	struct keyed threads;		/* struct sched_thread, by tid */
	struct sched_cpu *cpus;		/* nr_cpus of them */
	size_t nr_cpus;
};

/* sched-cpu.c */

/* Returns the state of a thread; NULL if it is not the program's, or there is no room. */
struct sched_thread *sched_thread(struct sched *s, uint32_t tid, bool is_own);
void sched_free(struct sched *s);

/* left: the task that is switched out, which was the running task until now. */
void cpu_switch(struct sched *s, uint32_t cpu, const struct party *left, int64_t tick);

/* has: the running task from now on.  is_own: its switch out will have a row.  came: it came just now. */
void cpu_set(struct sched *s, uint32_t cpu, const struct party *has, bool is_own, int64_t tick,
	     bool came);

/* Ends all runs, as the rows end. */
void cpu_end_all(struct sched *s, int64_t tick);

/* From now on t waits for this CPU, and for no other. */
void cpu_enter(struct sched *s, struct sched_thread *t, uint32_t cpu, int64_t tick);
void cpu_leave(struct sched *s, struct sched_thread *t, int64_t tick);

#endif
