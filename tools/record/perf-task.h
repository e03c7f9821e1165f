/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What perf-watch.c knows of the threads of the machine. */
#ifndef RECORD_PERF_TASK_H
#define RECORD_PERF_TASK_H

#include <stdbool.h>
#include <stdint.h>

struct task {
	struct task *next;	/* of the table */
	int32_t key;		/* see perf-private.h */
	int32_t tgid, tid;	/* as the recorder sees them; 0: not known */
	uint32_t shown;		/* tid as the program sees it; 0: it does not */
	int waits_for;		/* CPU; -1: it runs, sleeps, or is not watched */
	bool is_shown_known;
	bool watched;
	bool is_exiting;
	bool has_name;
	bool is_named;		/* by a row */
	bool told;		/* a TASK row was written with this name */
	int64_t named_tick;	/* the first such row */
	char name[16];		/* maybe without a NUL */
};

struct task_table;

struct task_table *task_table_alloc(void);
void task_table_free(struct task_table *t);

struct task *task_find(struct task_table *t, int32_t key);

/* Makes it if there is none.  NULL: no memory. */
struct task *task_get(struct task_table *t, int32_t key);

void task_remove(struct task_table *t, int32_t key);
void task_remove_if(struct task_table *t, bool (*fn)(const struct task *task));
uint32_t task_count(const struct task_table *t);

/* fn must not add or remove. */
void task_each(struct task_table *t, void (*fn)(void *arg, struct task *task), void *arg);

#endif
