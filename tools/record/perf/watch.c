// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tracks which thread runs on each CPU, and which threads belong to the recorded thread group.
 * Each event contains the thread that was running, so errors are corrected soon, even if events
 * were lost.
 */
#include <stdlib.h>
#include <string.h>
#include "record/perf/watch.h"

struct perf_watch *perf_watch_alloc(const struct perf_tids *tids, enum perf_mode mode,
				    unsigned nr_cpus, const struct perf_sink *sink)
{
	struct perf_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->tids = tids;
	w->mode = mode;
	w->sink = sink;
	w->nr_cpus = nr_cpus;
	w->cpus = calloc(nr_cpus, sizeof(*w->cpus));
	if (w->cpus)
		return w;
	perf_watch_free(w);
	return NULL;
}

void perf_watch_set_call_min(struct perf_watch *w, uint64_t ns)
{
	w->call_min_ns = ns;
}

void perf_watch_free(struct perf_watch *w)
{
	if (!w)
		return;
	task_table_free(&w->tasks);
	perf_disks_free(&w->disks);
	free(w->cpus);
	free(w);
}

struct cpu *watch_cpu(struct perf_watch *w, uint64_t cpu)
{
	return cpu < w->nr_cpus ? &w->cpus[cpu] : NULL;
}

void watch_wait_for(struct perf_watch *w, struct task *t, int cpu)
{
	struct cpu *before = t->waits_for < 0 ? NULL : watch_cpu(w, t->waits_for);
	struct cpu *now = cpu < 0 ? NULL : watch_cpu(w, cpu);

	if (before)
		before->nr_waiting--;
	if (now)
		now->nr_waiting++;
	t->waits_for = now ? cpu : -1;
}

void watch_set(struct perf_watch *w, struct task *t, bool observed)
{
	if (t->observed == observed)
		return;
	if (t->observed)
		watch_wait_for(w, t, -1);
	t->observed = observed;
	w->nr_members += observed ? 1 : -1;
}

void watch_forget(struct perf_watch *w, int32_t key)
{
	struct task *t = task_find(&w->tasks, key);

	if (!t)
		return;
	watch_set(w, t, false);
	task_remove(&w->tasks, t);
}

struct task *watch_task(struct perf_watch *w, int32_t key)
{
	return key > 0 ? task_get(&w->tasks, key) : NULL;
}

void watch_forget_foreign(struct perf_watch *w)
{
	for (size_t i = w->tasks.nr; i--;)
		if (!w->tasks.tasks[i]->observed)
			task_remove(&w->tasks, w->tasks.tasks[i]);
}

uint32_t watch_shown_tid(struct perf_watch *w, struct task *t)
{
	if (!t->is_shown_known) {
		pid_t tid = w->tids->keys_are_tids ? t->key : t->tid;

		/* Read only once, because the pid may belong to another thread later. */
		t->shown = perf_tids_shown(w->tids, tid);
		t->is_shown_known = tid > 0;
	}
	return t->shown;
}

void watch_set_identity(struct perf_watch *w, struct task *t, int32_t tgid, int32_t tid)
{
	t->tgid = tgid;
	t->tid = tid;
	watch_set(w, t, tgid == w->tids->tgid);
}

void perf_watch_member(struct perf_watch *w, pid_t tid, const char *name)
{
	struct task *t;

	/* Keys that differ from tids are learned from the events. */
	if (!w->tids->keys_are_tids)
		return;
	t = watch_task(w, tid);
	if (!t)
		return;
	watch_set_identity(w, t, w->tids->tgid, tid);
	watch_shown_tid(w, t);
	memcpy(t->name, name, strnlen(name, sizeof(t->name)));
	t->has_name = *name;
}

/*
 * Returns the running thread, or NULL if the event does not identify it: an exiting thread has no
 * tid any more.
 */
static struct task *task_of_event(struct perf_watch *w, const struct perf_event *e)
{
	return e->by_tgid > 0 && e->by_tid > 0 ? watch_task(w, e->by) : NULL;
}

void perf_watch_learn(struct perf_watch *w, const struct perf_event *e)
{
	struct task *t = task_of_event(w, e), *child;
	bool is_new;

	if (t && !t->tgid) {
		watch_set_identity(w, t, e->by_tgid, e->by_tid);
		if (t->observed)
			watch_shown_tid(w, t);
	}
	/* Looks up the new thread's tid now: later the thread may have ended. */
	is_new = e->kind == PERF_EVENT_NEW || e->kind == PERF_EVENT_FORK;
	child = is_new && task_is_observed(t) && w->tids->keys_are_tids ? watch_task(w, e->a) : NULL;
	if (child)
		watch_shown_tid(w, child);
}

/*
 * Returns true if the running thread is the current one under a new tid: a thread that calls exec()
 * takes the tid of the first thread.
 */
static bool is_exec(struct perf_watch *w, const struct cpu *c, const struct perf_event *e)
{
	struct task *t = task_find(&w->tasks, c->current);

	return t && t->tgid == e->by_tgid && e->by_tid == e->by_tgid;
}

void watch_identify(struct perf_watch *w, const struct perf_event *e)
{
	struct task *t = task_of_event(w, e);
	struct cpu *c = watch_cpu(w, e->cpu);

	if (c && e->by >= 0) {
		c->is_deaf |= c->is_known && c->current != e->by && !is_exec(w, c, e);
		c->current = e->by;
		c->is_known = true;
	}
	if (!t)
		return;
	if (t->tgid == e->by_tgid && t->tid == e->by_tid)
		return;
	t->is_shown_known = false;
	watch_set_identity(w, t, e->by_tgid, e->by_tid);
}

void perf_watch_take_cpus(struct perf_watch *w, const struct perf_watch *from)
{
	for (unsigned i = 0; i < w->nr_cpus; i++) {
		w->cpus[i] = from->cpus[i];
		w->cpus[i].nr_waiting = 0;
		w->cpus[i].irqs.depth = 0;
	}
}

void perf_watch_forget_current(struct perf_watch *w)
{
	for (unsigned i = 0; i < w->nr_cpus; i++)
		w->cpus[i].is_known = false;
}

bool perf_watch_is_deaf(struct perf_watch *w, unsigned cpu)
{
	struct cpu *c = watch_cpu(w, cpu);

	return c && c->is_deaf;
}

bool perf_watch_heard_idle(struct perf_watch *w, unsigned cpu)
{
	struct cpu *c = watch_cpu(w, cpu);

	return c && c->heard_idle;
}
