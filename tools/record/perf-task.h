/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores the state of the machine's threads, for perf-watch.h. */
#ifndef RECORD_PERF_TASK_H
#define RECORD_PERF_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"

struct task {
	int32_t key;		/* see perf-private.h */
	uint32_t number;	/* in the table */
	int32_t tgid, tid;	/* as the recorder sees them; 0: not known */
	uint32_t shown;		/* tid as the program sees it; 0: it does not */
	int waits_for;		/* CPU; -1: it runs, sleeps, or is of another program */
	bool is_shown_known;
	bool watched;
	bool is_exiting;
	bool has_name;
	bool is_named;		/* by a row */
	bool is_emitted;	/* a TASK row was written with this name */
	int64_t named_tick;	/* the first such row */
	char name[16];		/* maybe without a NUL */
	int64_t slept_at;	/* when it left to sleep in a call that is not known yet; 0: none */
	/* System calls without rows: that in which it leaves its CPU, and one that has begun. */
	struct task_call {
		bool is_known;
		uint32_t nr, how;
		int64_t tick;
		uint64_t time, arg0, arg;
		const char *file;
	} in, begun;
	uint32_t nr_short;	/* calls that were too short for a row, since the last one */
};

/* A struct of zeros is an empty one. */
struct task_table {
	struct task **tasks;	/* they do not move */
	size_t nr, room;
	struct hash by_key;
};

void task_table_free(struct task_table *t);

struct task *task_find(const struct task_table *t, int32_t key);

/* Returns the task of a key, which is made if there is none; NULL: out of memory. */
struct task *task_get(struct task_table *t, int32_t key);

void task_remove(struct task_table *t, struct task *task);

#endif
