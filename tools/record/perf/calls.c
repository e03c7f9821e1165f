// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes rows of the system calls of a thread: those in which it sleeps, and complete ones. */
#include "record/names/calls.h"
#include "record/perf/private.h"
#include "record/perf/task.h"

static struct task_call call_of(const struct perf_event *e, int64_t tick)
{
	return (struct task_call){
		.is_known = true, .nr = e->value, .how = e->flags, .tick = tick, .time = e->time,
		.arg0 = e->addr, .arg = e->pc, .file = e->file,
	};
}

static struct ldb_row_syscall row_of(const struct task_call *c)
{
	return (struct ldb_row_syscall){
		.flags = LDB_SYSCALL_ARG(c->how), .nr = c->nr, .arg0 = c->arg0, .arg = c->arg,
		.name = calls_name(c->nr), .file = c->file ? c->file : "",
	};
}

/* Called for both events, the switch and the system call, because either may come first. */
static bool sleeps_in(struct task *t, struct ldb_row_syscall *row)
{
	if (!t->slept_at || !t->in.is_known)
		return false;
	*row = row_of(&t->in);
	row->flags |= LDB_SYSCALL_F_SLEEP;
	row->start = row->end = t->slept_at;
	perf_calls_back(t);
	return true;
}

bool perf_calls_sleep(struct task *t, int64_t tick, struct ldb_row_syscall *row)
{
	t->slept_at = tick;
	return sleeps_in(t, row);
}

bool perf_calls_in(struct task *t, const struct perf_event *e, int64_t tick,
		   struct ldb_row_syscall *row)
{
	t->in = call_of(e, tick);
	/* Descriptors of other system calls are not looked up, because many are closed by now. */
	if (t->begun.is_known && t->begun.nr == t->in.nr)
		t->begun.file = t->in.file;
	return sleeps_in(t, row);
}

void perf_calls_back(struct task *t)
{
	t->slept_at = 0;
	t->in.is_known = false;
}

void perf_calls_enter(struct task *t, const struct perf_event *e, int64_t tick)
{
	t->begun = call_of(e, tick);
}

bool perf_calls_leave(struct task *t, const struct perf_event *e, int64_t tick, uint64_t min_ns,
		      struct ldb_row_syscall *row)
{
	if (!t->begun.is_known || t->begun.nr != e->value)
		return false;
	t->begun.is_known = false;
	if (e->time - t->begun.time < min_ns) {
		t->nr_short++;
		return false;
	}
	*row = row_of(&t->begun);
	row->start = t->begun.tick;
	row->end = tick;
	row->result = e->addr;
	row->nr_short = t->nr_short;
	t->nr_short = 0;
	return true;
}
