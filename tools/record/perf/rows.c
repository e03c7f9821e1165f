// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes rows from events, by the same rules as the kernel module (linux/ldb.h):
 *
 *	SWITCH		one of the two threads is recorded
 *	OP_RUNNING	a switch between two others, on a CPU for which a recorded
 *			thread waits: it is runnable there and does not run
 *	WAKING		the waker or the woken thread is recorded
 *	WAKEUP		the woken thread is recorded
 *	MIGRATE		the thread is recorded
 *	FORK		the parent is recorded; for threads and processes
 *	EXEC, EXIT	the thread is recorded
 *	SYSCALL		the thread is recorded
 *	FAULT, IRQ	the thread is recorded
 *	DISK		the thread that makes the request is recorded, or a kernel thread
 *	TASK		for each tid in a row
 */
#include <string.h>
#include "record/perf/watch.h"

#ifndef TASKS_MAX		/* tests/fuzz defines a smaller number */
#define TASKS_MAX	(1U << 18)	/* more threads than this: the exits of many were lost */
#endif

static void set_name(struct task *t, const char *name)
{
	if (t->has_name && !memcmp(t->name, name, sizeof(t->name)))
		return;
	memcpy(t->name, name, sizeof(t->name));
	t->has_name = true;
	t->is_emitted = false;
}

static void emit_task(struct perf_watch *w, struct task *t, int64_t tick)
{
	struct ldb_row_task row = { .tid = watch_shown_tid(w, t), .tick = tick };
	char name[sizeof(t->name) + 1] = "";

	if (t->is_emitted || !row.tid || !t->has_name)
		return;
	/*
	 * Waits until the thread group is known from an event of the thread itself, or the
	 * recording ends.
	 */
	if (!t->tgid && tick != INT64_MAX)
		return;
	memcpy(name, t->name, sizeof(t->name));
	if (t->observed)
		row.pid = w->tids->shown_tgid;
	else if (w->tids->same_namespace)
		row.pid = t->tgid;
	row.flags = t->observed ? LDB_SCHED_F_TID : 0;
	row.name = name;
	if (row.tick == INT64_MAX)
		row.tick = t->named_tick;
	t->is_emitted = true;
	w->sink->row(w->sink->arg, LDB_BLK_TASK, &row);
}

/* Returns the tid for a row's tid or `other`, and writes the thread's name. */
static uint32_t name_in_row(struct perf_watch *w, struct ldb_row_sched *row, int32_t key,
			    uint32_t observed_flag)
{
	struct task *t = key > 0 ? watch_task(w, key) : NULL;
	uint32_t tid = t ? watch_shown_tid(w, t) : 0;

	/* 0 is the idle thread in every namespace; -1 is not known. */
	if (!tid && key)
		row->flags |= LDB_SCHED_F_HIDDEN;
	if (!t)
		return 0;
	if (t->observed)
		row->flags |= observed_flag;
	if (!t->is_named)
		t->named_tick = row->tick;
	t->is_named = true;
	emit_task(w, t, row->tick);
	return tid;
}

static void emit(struct perf_watch *w, struct ldb_row_sched *row)
{
	w->sink->row(w->sink->arg, LDB_BLK_SCHED, row);
}

/*
 * Returns the thread that left its CPU.  Without tracepoints, a thread that has exited has no tid
 * in the record: then it is the thread that came last.
 */
static int32_t who_left(const struct cpu *c, const struct perf_event *e)
{
	if (e->kind == PERF_EVENT_IN)
		return -1;
	return e->a >= 0 || !c || !c->is_known ? e->a : c->current;
}

static void emit_call(struct perf_watch *w, struct task *t, struct ldb_row_syscall *row)
{
	row->tid = watch_shown_tid(w, t);
	if (row->tid)
		w->sink->row(w->sink->arg, LDB_BLK_SYSCALL, row);
}

static void on_switch(struct perf_watch *w, const struct perf_event *e, struct ldb_row_sched *row)
{
	struct cpu *c = watch_cpu(w, e->cpu);
	int32_t left = who_left(c, e), came = e->kind == PERF_EVENT_OUT ? -1 : e->b;
	struct task *prev = watch_task(w, left), *next = watch_task(w, came);
	unsigned state = LDB_SCHED_STATE(e->flags);
	struct ldb_row_syscall call;

	if (prev && prev->is_exiting && w->mode != PERF_TRACEPOINTS && state != LDB_STATE_RUNNING)
		row->flags = state = LDB_STATE_DEAD;
	if (prev && e->names & 1)
		set_name(prev, e->name_a);
	if (next && e->names & 2)
		set_name(next, e->name_b);
	if (task_is_observed(prev)) {
		watch_wait_for(w, prev, state == LDB_STATE_RUNNING ? e->cpu : -1);
		if ((state == LDB_STATE_SLEEPING || state == LDB_STATE_DISK) &&
		    perf_calls_sleep(prev, row->tick, &call))
			emit_call(w, prev, &call);
	}
	if (next) {
		watch_wait_for(w, next, -1);
		perf_calls_back(next);
	}
	if (c) {
		c->heard_idle |= !left;
		c->is_known = came >= 0;
		c->current = came;
	}
	if (task_is_observed(prev) || task_is_observed(next))
		row->op = LDB_SCHED_OP_SWITCH;
	else if (c && c->nr_waiting)
		row->op = LDB_SCHED_OP_RUNNING;
	if (row->op) {
		row->tid = name_in_row(w, row, left, LDB_SCHED_F_TID);
		row->other = name_in_row(w, row, came, LDB_SCHED_F_OTHER);
		emit(w, row);
	}
	if (prev && prev->is_named)
		emit_task(w, prev, row->tick);
	if (state == LDB_STATE_DEAD && prev)
		watch_forget(w, left);
}

static void on_waking(struct perf_watch *w, const struct perf_event *e, struct ldb_row_sched *row)
{
	struct task *t = watch_task(w, e->a);

	if (!task_is_observed(t) && !task_is_observed(task_find(&w->tasks, e->by)))
		return;
	if (t && e->names & 1)
		set_name(t, e->name_a);
	row->op = LDB_SCHED_OP_WAKING;
	row->tid = name_in_row(w, row, e->by, LDB_SCHED_F_TID);
	row->other = name_in_row(w, row, e->a, LDB_SCHED_F_OTHER);
	emit(w, row);
}

static void on_wakeup(struct perf_watch *w, const struct perf_event *e, struct ldb_row_sched *row)
{
	struct task *t = task_find(&w->tasks, e->a);
	struct cpu *c = watch_cpu(w, e->value);

	if (!task_is_observed(t))
		return;
	if (e->names & 1)
		set_name(t, e->name_a);
	/*
	 * If the thread has not left its CPU yet, no other thread can come to that CPU before it
	 * does.
	 */
	watch_wait_for(w, t, e->value);
	row->op = LDB_SCHED_OP_WAKEUP;
	row->value = e->value;
	row->tid = name_in_row(w, row, e->a, LDB_SCHED_F_TID);
	row->other = name_in_row(w, row, c && c->is_known ? c->current : -1, LDB_SCHED_F_OTHER);
	emit(w, row);
}

static void on_migrate(struct perf_watch *w, const struct perf_event *e, struct ldb_row_sched *row)
{
	struct task *t = task_find(&w->tasks, e->a);

	if (!task_is_observed(t))
		return;
	if (t->waits_for >= 0)
		watch_wait_for(w, t, e->value);
	row->op = LDB_SCHED_OP_MIGRATE;
	row->addr = e->addr;
	row->value = e->value;
	row->tid = name_in_row(w, row, e->a, LDB_SCHED_F_TID);
	emit(w, row);
}

/* Stores the properties of a thread or process that thread `by` has created. */
static void on_new(struct perf_watch *w, const struct perf_event *e, struct ldb_row_sched *row)
{
	struct task *parent = task_find(&w->tasks, e->by), *t = task_find(&w->tasks, e->a);
	bool observed = task_is_observed(parent);

	/* An invalid event: the parent would be forgotten below. */
	if (e->by == e->a)
		return;
	/* The task with this tid is an earlier thread, whose exit was lost. */
	if (t && (t->is_named || (t->observed && !observed)))
		watch_forget(w, e->a);
	if (!observed)
		return;
	t = watch_task(w, e->a);
	if (!t)
		return;
	if (w->tids->keys_are_tids)
		watch_set_identity(w, t, e->value ? w->tids->tgid : e->a, e->a);
	else
		watch_set(w, t, e->value);
	if (e->names & 1)
		set_name(t, e->name_a);
	else if (parent->has_name && !t->has_name)
		set_name(t, parent->name);
}

static void on_fork(struct perf_watch *w, const struct perf_event *e, struct ldb_row_sched *row)
{
	if (e->value != 2)
		on_new(w, e, row);
	if (!task_is_observed(task_find(&w->tasks, e->by)))
		return;
	row->op = LDB_SCHED_OP_FORK;
	row->tid = name_in_row(w, row, e->by, LDB_SCHED_F_TID);
	row->other = name_in_row(w, row, e->a, LDB_SCHED_F_OTHER);
	row->value = row->flags & LDB_SCHED_F_OTHER ? w->tids->shown_tgid : row->other;
	emit(w, row);
}

static void on_exec(struct perf_watch *w, const struct perf_event *e, struct ldb_row_sched *row)
{
	struct task *t = task_find(&w->tasks, e->a);

	if (!task_is_observed(t))
		return;
	row->op = LDB_SCHED_OP_EXEC;
	if (e->names & 1)
		set_name(t, e->name_a);
	row->tid = name_in_row(w, row, e->a, LDB_SCHED_F_TID);
	row->other = e->b == e->a ? row->tid : name_in_row(w, row, e->b ? e->b : -1, 0);
	if (e->b != e->a && e->b > 0)
		watch_forget(w, e->b);
	emit(w, row);
}

static void on_exit_of(struct perf_watch *w, const struct perf_event *e,
		       struct ldb_row_sched *row)
{
	struct task *t = task_find(&w->tasks, e->a);

	if (t)
		t->is_exiting = true;
	if (!task_is_observed(t))
		return;
	row->op = LDB_SCHED_OP_EXIT;
	row->value = e->value == 2 ? w->nr_members == 1 : e->value;
	row->tid = name_in_row(w, row, e->a, LDB_SCHED_F_TID);
	emit(w, row);
	/*
	 * The thread still runs.  If its last switch is recorded, that removes it from the table.
	 */
	if (w->mode == PERF_SWITCHES_OWN)
		watch_forget(w, e->a);
}

static void on_call(struct perf_watch *w, const struct perf_event *e, struct ldb_row_sched *row)
{
	struct task *t = task_find(&w->tasks, e->by);
	struct ldb_row_syscall call;

	if (!task_is_observed(t))
		return;
	if (e->kind == PERF_EVENT_CALL_ENTER)
		perf_calls_enter(t, e, row->tick);
	else if (e->kind == PERF_EVENT_IN_CALL ? perf_calls_in(t, e, row->tick, &call) :
						 perf_calls_leave(t, e, row->tick, w->call_min_ns, &call))
		emit_call(w, t, &call);
}

/* Returns the tid of the thread that was interrupted; 0: it is not a thread of the program. */
static uint32_t who_was_hit(struct perf_watch *w, const struct perf_event *e)
{
	struct task *t = task_find(&w->tasks, e->by);

	return task_is_observed(t) ? watch_shown_tid(w, t) : 0;
}

static void on_fault(struct perf_watch *w, const struct perf_event *e, struct ldb_row_sched *row)
{
	struct ldb_row_fault fault = {
		.flags = e->flags, .tid = who_was_hit(w, e), .tick = row->tick, .addr = e->addr,
		.pc = e->pc,
	};

	if (fault.tid)
		w->sink->row(w->sink->arg, LDB_BLK_FAULT, &fault);
}

static void on_irq_enter(struct perf_watch *w, const struct perf_event *e,
			 struct ldb_row_sched *row)
{
	struct cpu *c = watch_cpu(w, e->cpu);

	if (c)
		perf_nest_enter(&c->irqs, e, row->tick);
}

static void on_irq_leave(struct perf_watch *w, const struct perf_event *e,
			 struct ldb_row_sched *row)
{
	struct cpu *c = watch_cpu(w, e->cpu);
	const struct perf_inside *in = c ? perf_nest_leave(&c->irqs, e) : NULL;
	struct ldb_row_irq irq = {
		.kind = e->flags, .cpu = e->cpu, .nr = e->value, .tid = who_was_hit(w, e),
		.end = row->tick,
	};

	if (!in || !irq.tid)
		return;
	irq.start = in->start < row->tick ? in->start : row->tick;
	irq.name = in->name;
	w->sink->row(w->sink->arg, LDB_BLK_IRQ, &irq);
}

/*
 * Returns the tid of the thread that makes the request, and writes its name; 0: requests of this
 * thread get no rows.
 */
static uint32_t who_asks(struct perf_watch *w, const struct perf_event *e, int64_t tick)
{
	struct task *t = watch_task(w, e->by);
	uint32_t tid = task_is_observed(t) || (t && e->flags & PERF_BY_KERNEL) ? watch_shown_tid(w, t) : 0;

	if (!tid)
		return 0;
	if (!t->is_named)
		t->named_tick = tick;
	t->is_named = true;
	emit_task(w, t, tick);
	return tid;
}

static void on_disk_begin(struct perf_watch *w, const struct perf_event *e, struct ldb_row_sched *row)
{
	uint32_t tid = who_asks(w, e, row->tick);
	struct perf_event of_row = *e;

	of_row.flags = (e->flags & ~PERF_BY_KERNEL) |
		       (task_is_observed(task_find(&w->tasks, e->by)) ? LDB_DISK_F_OWN : 0);
	perf_disks_begin(&w->disks, &of_row, tid, row->tick);
}

static void on_disk_end(struct perf_watch *w, const struct perf_event *e, struct ldb_row_sched *row)
{
	struct ldb_row_disk disk;

	if (perf_disks_end(&w->disks, e, row->tick, &disk))
		w->sink->row(w->sink->arg, LDB_BLK_DISK, &disk);
}

static void on_name(struct perf_watch *w, const struct perf_event *e, struct ldb_row_sched *row)
{
	struct task *t = task_find(&w->tasks, e->a);

	if (!t || !(e->names & 1))
		return;
	set_name(t, e->name_a);
	if (t->is_named)
		emit_task(w, t, row->tick);
}

static void on_lost(struct perf_watch *w, const struct perf_event *e, struct ldb_row_sched *row)
{
	struct ldb_row_lost lost = {
		.tick = row->tick, .ring = e->cpu, .count = e->value, .what = LDB_LOST_KERNEL,
	};
	struct cpu *c = watch_cpu(w, e->cpu);

	if (c) {
		c->is_known = false;
		c->irqs.depth = 0;
	}
	w->sink->row(w->sink->arg, LDB_BLK_LOST, &lost);
}

/*
 * Returns true if this is the record of a switch that a tracepoint has reported before: the state
 * of the CPU is already that after the switch.  If the thread is exiting, the record does not
 * identify it, but it is no longer on the CPU.
 */
static bool is_reported_twice(const struct cpu *c, const struct perf_event *e)
{
	if (e->kind != PERF_EVENT_SWITCH_TOO || !c || !c->is_known)
		return false;
	return c->current == e->b || (e->b < 0 && c->current != e->a);
}

/* A handler that makes a SCHED row fills in row, and emits it. */
typedef void handler_fn(struct perf_watch *w, const struct perf_event *e,
			struct ldb_row_sched *row);

static handler_fn *const handlers[] = {
	[PERF_EVENT_SWITCH] = on_switch, [PERF_EVENT_SWITCH_TOO] = on_switch,
	[PERF_EVENT_OUT] = on_switch, [PERF_EVENT_IN] = on_switch,
	[PERF_EVENT_WAKING] = on_waking, [PERF_EVENT_WAKEUP] = on_wakeup,
	[PERF_EVENT_MIGRATE] = on_migrate, [PERF_EVENT_NEW] = on_new,
	[PERF_EVENT_FORK] = on_fork, [PERF_EVENT_NAME] = on_name,
	[PERF_EVENT_EXEC] = on_exec, [PERF_EVENT_EXIT] = on_exit_of,
	[PERF_EVENT_IN_CALL] = on_call, [PERF_EVENT_CALL_ENTER] = on_call,
	[PERF_EVENT_CALL_LEAVE] = on_call,
	[PERF_EVENT_LOST] = on_lost, [PERF_EVENT_FAULT] = on_fault,
	[PERF_EVENT_IRQ_ENTER] = on_irq_enter, [PERF_EVENT_IRQ_LEAVE] = on_irq_leave,
	[PERF_EVENT_DISK_INSERT] = on_disk_begin, [PERF_EVENT_DISK_ISSUE] = on_disk_begin,
	[PERF_EVENT_DISK_END] = on_disk_end,
};

void perf_rows_event(struct perf_watch *w, const struct perf_event *e, int64_t tick)
{
	struct ldb_row_sched row = { .cpu = e->cpu, .flags = e->flags, .tick = tick };

	if (is_reported_twice(watch_cpu(w, e->cpu), e))
		return;
	if (w->tasks.nr > TASKS_MAX)
		watch_forget_foreign(w);
	/*
	 * The thread of an IN_CALL may no longer be the running one: its switch may have been
	 * processed before.
	 */
	if (e->kind != PERF_EVENT_IN_CALL)
		watch_identify(w, e);
	handlers[e->kind](w, e, &row);
}

void perf_rows_finish(struct perf_watch *w)
{
	for (size_t i = 0; i < w->tasks.nr; i++)
		if (w->tasks.tasks[i]->is_named)
			emit_task(w, w->tasks.tasks[i], INT64_MAX);
}
