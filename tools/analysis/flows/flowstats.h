/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes in which component, and in which of its functions, a program's threads spent their time,
 * by calling component, working or waiting.
 *
 * The self time of a component is the time of all calls into it minus the time of the calls out of
 * it; the time of a thread outside of all calls belongs to the component in which the thread began.
 * Time begins with the first recorded call.  Calls of functions that wait belong to no component,
 * but count as waiting.  So self times and waiting add up, to the nanosecond, to the time during
 * which the threads existed and recording was not paused.
 *
 * Self times are differences of estimates: a small one may be negative, within its error.  A
 * component has too little self time if its functions are called through pointers that it has
 * passed to others, as plugins do.
 */
#ifndef FLOWS_FLOWSTATS_H
#define FLOWS_FLOWSTATS_H

#include "facts/flows.h"

/* Calls and their total times. */
struct flow_times {
	uint64_t calls;
	uint64_t timed;		/* how many of them were timed */
	/* how many have no time: the function may return twice or never, or memory was lacking */
	uint64_t unknown;
	int64_t ns;		/* the time of all calls, estimated from the timed ones */
	int64_t err_ns;		/* half-width of the 95 % interval; 0: exact */
	/* as ns, but each call is divided by the number of active threads at its end */
	int64_t shared_ns;
	int64_t min_ns, max_ns;	/* the shortest and the longest timed call */
	int64_t p50_ns, p99_ns;	/* may be off by an eighth, unless very short; 0: not known */
};

/* The calls of one function by one component. */
struct flow_entry {
	const struct flow_api *api;
	const struct flow_component *caller, *callee;
	struct flow_times times;
	/*
	 * estimated number of calls for each bucket of durations; only until the percentiles are
	 * known
	 */
	double *lengths;
	double variance;
};

/* The calls from one component to another; calls of functions that wait have cells of their own. */
struct flow_cell {
	uint32_t from, to;	/* components */
	bool is_wait;
	uint64_t calls;
	int64_t ns, err_ns;
	double variance;
};

struct flow_part {
	const struct flow_component *component;	/* NULL: waiting */
	uint64_t calls;		/* calls from other components into this one */
	int64_t in_ns, out_ns;	/* time in calls into it, and in calls out of it */
	int64_t begun_ns;	/* time of threads that began in this component */
	int64_t self_ns, err_ns;
	int64_t self_shared_ns;
	double share;		/* self_ns / lifetime_ns of all threads */
	double variance;
};

struct flow_thread {
	const struct thread *thread;
	uint32_t component;	/* the component in which the thread began */
	const char *pool;	/* name of the thread's pool */
	uint64_t calls;
	int64_t lifetime_ns, wait_ns, effective_ns;	/* effective: not waiting */
	int64_t err_ns;
	/* as lifetime_ns, but with 1/n of the time in which n threads existed */
	int64_t shared_ns;
	const struct flow_api *longest;	/* the API in which it spent most time; NULL: none */
	int64_t longest_ns;
	double variance;
};

/* Threads that begin with the same function and have the same name, apart from a number. */
struct flow_pool {
	const char *name;	/* "worker*" */
	const struct symbol *routine; /* NULL: the first thread, or not known */
	uint64_t routine_address;
	uint32_t nr_threads;
	uint64_t calls;
	int64_t lifetime_ns, wait_ns, effective_ns;
	int64_t min_ns, mean_ns, max_ns; /* effective times of its threads */
	double busy;		/* effective_ns / lifetime_ns */
	double imbalance;	/* max_ns / mean_ns; 1: balanced; 0: nothing to compare */
};

/* An estimate for all calls that a struct flow_sum counts. */
struct flow_estimate {
	double factor;		/* number of calls / number of timed calls */
	int64_t ns, shared_ns, back_ns;
	double variance;	/* of ns */
	uint64_t unknown;	/* calls without any time */
};

struct flow_estimate flow_estimate(const struct flows *f, const struct flow_sum *sum);
/* Returns the half-width of the 95 % interval of an estimate with this variance. */
int64_t flow_error(double variance);

struct flowstats_options {
	const char *thread;	/* tid or glob of the name; NULL: all */
	const char *component;	/* glob: entries from or to it; NULL: all */
};

struct flowstats {
	struct flows *flows;
	struct flow_entry *entries;	/* longest first */
	size_t nr_entries;
	struct flow_cell *cells;	/* longest first */
	size_t nr_cells;
	/* most self time first; components without calls and without time are left out */
	struct flow_part *parts;
	size_t nr_parts;
	struct flow_thread *threads;	/* longest effective time first */
	size_t nr_threads;
	struct flow_pool *pools;	/* longest effective time first */
	size_t nr_pools;
	int64_t lifetime_ns, shared_ns;	/* the sums over the selected threads: 100 % */
	int64_t wait_ns;
	uint64_t calls, timed, unknown;
};

/* Returns 0 or -ENOMEM. */
int flowstats_build(struct flows *f, const struct flowstats_options *o, struct flowstats *s);
void flowstats_free(struct flowstats *s);

#endif
