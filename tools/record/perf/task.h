/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores the state of each known thread on the machine, for watch.h. */
#ifndef RECORD_PERF_TASK_H
#define RECORD_PERF_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"

struct task {
	int32_t key;		/* key of the thread; see private.h */
	uint32_t number;	/* index in the table */
	int32_t tgid, tid;	/* in the recorder's namespace; 0: not known */
	uint32_t shown;		/* tid as the program sees it; 0: not in its namespace */
	/*
	 * number of the CPU for which the task waits; -1: it runs, sleeps, or is of another program
	 */
	int waits_for;
	bool is_shown_known;
	bool observed;
	bool is_exiting;
	bool has_name;
	bool is_named;		/* a row refers to the task */
	bool is_emitted;	/* a TASK row was written with this name */
	int64_t named_tick;	/* tick of the first such row */
	char name[16];		/* maybe without a NUL */
	/* when it went to sleep in a system call that is not known yet; 0: no such sleep */
	int64_t slept_at;
	/*
	 * System calls without a row yet: the one in which the thread leaves its CPU, and the one
	 * that has begun.
	 */
	struct task_call {
		bool is_known;
		uint32_t nr, how;
		int64_t tick;
		uint64_t time, arg0, arg;
		const char *file;
	} in, begun;
	uint32_t nr_short;	/* system calls since the last row that were too short for one */
};

/* A struct of zeros is an empty table. */
struct task_table {
	struct task **tasks;	/* separate allocations, so pointers stay valid */
	size_t nr, room;
	struct hash by_key;
};

void task_table_free(struct task_table *t);

struct task *task_find(const struct task_table *t, int32_t key);

/* Returns the task with this key, which is created if necessary; NULL: out of memory. */
struct task *task_get(struct task_table *t, int32_t key);

void task_remove(struct task_table *t, struct task *task);

#endif
