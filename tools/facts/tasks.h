/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Identifies tids of the kernel events by the TASK rows. */
#ifndef FACTS_TASKS_H
#define FACTS_TASKS_H

#include "model.h"

#define TASKS_MAX	(1U << 20)	/* retained rows; tasks beyond this have no name */

struct task {
	uint32_t tid, pid;	/* pid: the pid of its process */
	int64_t tick;		/* the row is valid from this tick on */
	const char *name;
};

struct tasks;

/* Returns NULL if there is no memory. */
struct tasks *tasks_open(struct model *m);
void tasks_close(struct tasks *t);

/*
 * Returns the task that had this tid at that time, or the first one that had it later; NULL if none
 * is known.
 */
const struct task *tasks_find(const struct tasks *t, uint32_t tid, int64_t tick);

/* Returns true if this is a thread that ldb itself runs in the program. */
bool tasks_is_ldb(const struct model *m, uint32_t tid);

/*
 * Sets the name and pid of a task: the name that the model has for a thread of the program, or else
 * that of the TASK row; the name is "" if it is not known, or if this is not a task.
 */
void context_identify(const struct model *m, struct context *p, int64_t tick);

/*
 * Returns the length of a name without its number, and without the punctuation before that: the
 * length of "worker" for "worker-12" and "worker-3".  For a name of digits alone, returns its whole
 * length.
 */
size_t tasks_stem(const char *name);

#endif
