/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The oracle says whether the events in a trace can have happened.
 *
 * Five automata read the rows, each for itself, through the common reader and with none of the
 * analysis code, so that a mistake in the analysis is not repeated here:
 *
 *	calls.c		nesting of invocations, their bounds, their generations
 *	locks.c		request, wait, own, release
 *	requests.c	start, block, end; the request table
 *	threads.c	born, runs, sleeps, dies: the kernel's events, and which thread may have
 *			written a record at that time
 *	flows.c		calls between components: sums, and long calls
 *
 * Some things are permitted by the format and are no violation: events from before the recording or
 * after it may be missing, records may be lost, and clocks may differ by a stated amount.  Each
 * such exception is in the automaton that makes it, with its reason.  There is no general
 * tolerance:
 *
 * - A loss is a number of records.  If something is missing that a lost record explains, one of the
 *   lost records is used up (oracle_excused()).  When all are used up, a missing row is a
 *   violation.
 * - The trace itself states the error of a clock.
 *
 * Memory is bounded: rows pass through windows (sorted.h), and states are stored only for
 * threads, locks and requests that exist.
 */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <linux/ldb.h>
#include "trace/reader.h"

enum automaton { ORACLE_TRACE, ORACLE_THREADS, ORACLE_LOCKS, ORACLE_REQUESTS, ORACLE_CALLS,
		 ORACLE_FLOWS, ORACLE_NR };

#define TICK_UNKNOWN	INT64_MIN	/* marks a lower bound that is not known */

struct instance {				/* a thread instance, from its THREAD rows */
	uint32_t tid, creator;
	/* start is TICK_UNKNOWN if the thread is older than the recording */
	int64_t start, end;
	bool exited, unobserved;
	uint64_t made, seen, below;
	/* numbers of FUNC rows: ended; open; running when the recording began */
	uint64_t rows, open_rows, old_rows;
};

struct oracle {
	struct reader *r;
	FILE *out;			/* NULL: silent */

	int64_t end;			/* ticks: nothing was stamped later */
	/* ticks: greatest difference between the kernel's stamps and the program's */
	int64_t kernel_err;
	bool knows_err;			/* kernel_err is in the trace */
	/* ticks: by how much a stamp of a lock may be early, see locks.c */
	int64_t stamp_err;
	/* ticks: how late another CPU may observe a store, see witness.c */
	int64_t store_err;
	int64_t lock_threshold;		/* ticks */
	unsigned nr_cpus, nr_scanners;
	bool is_cut;			/* the recorder was killed, so the trace has no end */
	/* the trace is a dump of a flight recorder, which has dropped older events */
	bool is_dump;
	/* the disk was full, so tables that can be made again were not written */
	bool disk_full;
	bool attached;			/* the program ran before the recorder attached */
	bool kernel_module;		/* kernel events are from ldb.ko */
	uint64_t nr_unobserved;		/* threads that have no row */
	uint64_t nr_lost, lost_left;	/* see oracle_excused() */
	uint64_t nr_left_out;		/* invocations that were left out at the user's request */
	uint64_t nr_excused;

	struct instance *instances;		/* by tid and start */
	size_t nr_instances;
	struct witness *witnesses;	/* witness.c */
	size_t nr_witnesses;

	uint64_t nr_violations, of[ORACLE_NR];
	const char *first_rule;		/* rule of the first violation */
	uint64_t sigreturn;		/* sigreturn.c: the last address that was found, or 0 */
};

struct oracle_options {
	bool may_be_cut;	/* the recorder was killed on purpose */
	FILE *out;
};

/* Returns the number of violations; < 0: the file cannot be read. */
int64_t oracle_check(const char *path, const struct oracle_options *options);
/* Does what oracle_check() does, and stores the rule of the first violation, or "", in rule. */
int64_t oracle_first(const char *path, const struct oracle_options *options, char *rule, size_t size);

/* rule: a short name, which no other rule of the automaton has. */
void oracle_violation(struct oracle *o, enum automaton a, const char *rule, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Prints how much was checked. */
void oracle_counts(struct oracle *o, enum automaton a, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Returns true if a lost record can explain what is missing.  Each lost record explains two rows:
 * one in the events of its thread, and one in those of its CPU, lock or request.
 */
bool oracle_excused(struct oracle *o);

/*
 * Returns the instance of thread tid at tick: the last one that had begun, or the first one;
 * NULL: none.
 */
struct instance *oracle_instance(struct oracle *o, uint32_t tid, int64_t tick);

/* Checks a record that tid itself wrote at tick; returns false if it was reported as impossible. */
bool oracle_alive(struct oracle *o, enum automaton a, const char *what, uint32_t tid, int64_t tick);

/* Reads the generations of the lock rows, for witness_find(). */
void witness_read(struct oracle *o);

/*
 * Finds when an invocation of that generation had certainly not begun yet, and when it had,
 * according to the thread's locks.  Returns false if the locks do not show it.
 */
bool witness_find(const struct oracle *o, const struct instance *l, uint64_t gen, int64_t *before,
		  int64_t *after);

/*
 * Returns true if a function that returns to `ret` returns from a signal; false if it does not, or
 * if that is not known.
 */
bool oracle_is_handler(struct oracle *o, uint64_t ret);

void oracle_out_of_memory(void) __attribute__((noreturn));

void check_trace(struct oracle *o);	/* context.c: checks the context, and fills it in */
void check_calls(struct oracle *o);
void check_locks(struct oracle *o);
void check_requests(struct oracle *o);
void check_threads(struct oracle *o);
void check_flows(struct oracle *o);

#endif
