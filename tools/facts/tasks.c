// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores TASK rows, sorted by (tid, tick), and their names, each once. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/search.h"
#include "base/sort.h"
#include "rows.h"
#include "tasks.h"
#include "ticks.h"

struct tasks {
	struct task *at;
	size_t nr, room;
	struct intern names;
};

static int add_row(void *arg, const void *at)
{
	const struct ldb_row_task *row = at;
	struct tasks *t = arg;
	const char *name = row->name && *row->name ? intern_text(&t->names, row->name) : "";

	if (t->nr == TASKS_MAX)
		return 0;
	if (!name || !array_room(&t->at, &t->room, t->nr, sizeof(*t->at)))
		return -ENOMEM;
	t->at[t->nr++] = (struct task){
		.tid = row->tid, .pid = row->pid, .tick = ticks_sane(row->tick), .name = name,
	};
	return 0;
}

COMPARE(compare, struct task, UP(tid) UP(tick))

struct tasks *tasks_open(struct model *m)
{
	struct tasks *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	if (rows_each(m->reader, LDB_BLK_TASK, NULL, add_row, t)) {
		tasks_close(t);
		return NULL;
	}
	sort_by(t->at, t->nr, compare);
	return t;
}

void tasks_close(struct tasks *t)
{
	if (!t)
		return;
	intern_free(&t->names);
	free(t->at);
	free(t);
}

const struct task *tasks_find(const struct tasks *t, uint32_t tid, int64_t tick)
{
	size_t lo = search_by(t->at, t ? t->nr : 0, k,
			      k->tid < tid || (k->tid == tid && k->tick <= tick));

	if (lo && t->at[lo - 1].tid == tid)
		return &t->at[lo - 1];
	/*
	 * A row may be written after the first event that names the tid; then the first later row
	 * counts.
	 */
	return t && lo < t->nr && t->at[lo].tid == tid ? &t->at[lo] : NULL;
}

bool tasks_is_ldb(const struct model *m, uint32_t tid)
{
	/*
	 * A thread that ldb runs in the program has the program's name at first, so the last name
	 * is tested.
	 */
	const struct task *last = tasks_find(m->tasks, tid, INT64_MAX);

	return last && (!strcmp(last->name, "ldb-scan") || !strcmp(last->name, "ldb-control")) &&
	       !model_thread(m, tid, INT64_MAX);
}

void context_identify(const struct model *m, struct context *p, int64_t tick)
{
	const struct task *task;
	const struct thread *thread;

	p->name = "";
	if (p->kind != CONTEXT_TASK)
		return;
	task = tasks_find(m->tasks, p->tid, tick);
	if (task) {
		p->name = task->name;
		p->pid = task->pid;
	}
	/* A thread of the program gets the name that the model has for it, as in all outputs. */
	thread = model_thread(m, p->tid, tick);
	if (thread && *thread->name)
		p->name = thread->name;
	if (thread && !task)
		p->pid = m->pid;
}

size_t tasks_stem(const char *name)
{
	size_t len = strlen(name), stem = len;

	while (stem && isdigit((unsigned char)name[stem - 1]))
		stem--;
	while (stem && stem < len && strchr("-_ #:/.", name[stem - 1]))
		stem--;
	return stem ? stem : len;
}
