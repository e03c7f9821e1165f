/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes statistics of the kernel events: how long each thread was in each state, how long it
 * waited for a CPU, which tasks ran meanwhile, and which tasks woke it.
 *
 * The times that a thread was on a CPU, runnable, preempted and blocked add up to the time during
 * which its state was known.
 */
#ifndef REPORT_SCHEDSTATS_H
#define REPORT_SCHEDSTATS_H

#include "base/dist.h"
#include "facts/interruption-sums.h"
#include "facts/sched.h"

#define SCHEDSTATS_CONTEXTS_MAX	65536	/* antagonists, wakers; further ones are counted as one */

struct schedstats_options {
	int64_t from, to;		/* ticks */
	const char *thread;		/* tid or glob; NULL: all */
};
#define SCHEDSTATS_OPTIONS_ALL { INT64_MIN, INT64_MAX, NULL }

struct sched_entry {
	uint32_t tid;
	const struct thread *thread;	/* NULL: not in the trace */
	struct context self;		/* name and pid */
	int64_t on_cpu_ns, runnable_ns, preempted_ns, blocked_ns;
	int64_t disk_ns, futex_ns;	/* parts of blocked_ns */
	uint64_t voluntary, involuntary; /* switches */
	uint64_t migrations;
	struct interruptions interruptions;		/* page faults, interrupts */
	struct dist_times delays;	/* waits for a CPU: after a wake-up, and preempted */
	struct dist_times wakeups;	/* times from a wake-up until the thread ran */
	/* a thread of ldb: not in the sums, and without antagonists */
	bool is_ldb;
	uint64_t has_lost;		/* times off the CPU during which events were lost */
};

/* A task that ran on a CPU that a thread waited for, or that woke a thread. */
struct sched_context {
	struct context who;
	uint64_t count;			/* number of waits, or of wake-ups */
	/* how long it ran during these waits, or how long the sleeps lasted that it ended */
	int64_t total_ns;
	int64_t max_ns;			/* in one of them */
};

struct schedstats {
	struct sched_entry *entries;	/* longest total delay first, threads of ldb last */
	size_t nr;
	struct sched_entry all;		/* the sum of the entries, without those of ldb */
	struct sched_context *antagonists; /* greatest total first */
	size_t nr_antagonists;
	struct sched_context *wakers;
	size_t nr_wakers;
	struct sched_result result;
	int64_t resolution_ns;		/* by how much each duration may be off */
};

/* Returns 0 or -ENOMEM. */
int schedstats_build(struct model *m, const struct schedstats_options *options,
		     struct schedstats *s);
void schedstats_free(struct schedstats *s);

/*
 * Sorts by "total", "max", "p999", "p99", "p50", "mean" or "count" of the delays; -EINVAL: another
 * key.
 */
int schedstats_sort(struct schedstats *s, const char *key);

#endif
