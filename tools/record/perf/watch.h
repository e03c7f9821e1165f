/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares the state of CPUs and threads.  watch.c updates it with each event; rows.c
 * makes rows from it.
 */
#ifndef RECORD_PERF_WATCH_H
#define RECORD_PERF_WATCH_H

#include "record/perf/private.h"
#include "record/perf/task.h"

struct cpu {
	int32_t current;	/* key of the running task */
	bool is_known;
	bool is_deaf;		/* a task ran on this CPU without an event */
	bool heard_idle;
	unsigned nr_waiting;	/* number of recorded threads that wait for this CPU */
	struct perf_nest irqs;
};

struct perf_watch {
	const struct perf_tids *tids;
	const struct perf_sink *sink;
	enum perf_mode mode;
	struct task_table tasks;
	struct cpu *cpus;
	unsigned nr_cpus, nr_members;
	uint64_t call_min_ns;
	struct perf_disks disks;
};

static inline bool task_is_observed(const struct task *t)
{
	return t && t->observed;
}

/* Returns NULL if there is no such CPU. */
struct cpu *watch_cpu(struct perf_watch *w, uint64_t cpu);

/* Returns NULL for the idle thread (key 0), for an unknown one (-1), and if there is no memory. */
struct task *watch_task(struct perf_watch *w, int32_t key);

/* Returns the tid to write into rows; 0: hidden. */
uint32_t watch_shown_tid(struct perf_watch *w, struct task *t);

/* Says that the thread waits for this CPU (-1: for none). */
void watch_wait_for(struct perf_watch *w, struct task *t, int cpu);

void watch_set(struct perf_watch *w, struct task *t, bool observed);
void watch_set_identity(struct perf_watch *w, struct task *t, int32_t tgid, int32_t tid);

/*
 * Stores the tgid and tid of the event's thread, and that it runs on the CPU; events must come in
 * order of time.
 */
void watch_identify(struct perf_watch *w, const struct perf_event *e);

/* Forgets a thread that has ended, or whose key belongs to another thread now. */
void watch_forget(struct perf_watch *w, int32_t key);

/* Forgets all threads of other programs, because events were lost, perhaps those of many exits. */
void watch_forget_foreign(struct perf_watch *w);

#endif
