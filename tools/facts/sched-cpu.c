// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds threads by tid, and the running tasks of the CPUs that they wait for. */
#include <errno.h>
#include <stdlib.h>

#include "sched-private.h"
#include "ticks.h"

struct sched_thread *sched_thread(struct sched *s, uint32_t tid, bool is_own)
{
	uint64_t hash = hash_mix(0, tid);
	struct sched_thread *t;

	if (!tid)
		return NULL;
	keyed_each(&s->threads, hash, t)
		if (t->tid == tid)
			return t;
	if (!is_own)
		return NULL;
	if (s->threads.nr >= SCHED_THREADS_MAX) {
		s->result->nr_dropped++;
		return NULL;
	}
	t = keyed_add(&s->threads, hash, sizeof(*t));
	if (t)
		t->tid = tid;
	else
		s->ret = -ENOMEM;
	return t;
}

void sched_free(struct sched *s)
{
	keyed_free(&s->threads);
	free(s->of_processes);
	for (size_t i = 0; i < SCHED_CPUS_MAX / SCHED_CPUS_CHUNK; i++)
		free(s->cpus[i]);
	free(s);
}

/* CPUs are allocated in chunks: few exist, and threads point to them. */
static struct sched_cpu *cpu_state(struct sched *s, uint32_t cpu)
{
	struct sched_cpu **chunk;

	if (cpu >= SCHED_CPUS_MAX)
		return NULL;
	chunk = &s->cpus[cpu / SCHED_CPUS_CHUNK];
	if (!*chunk) {
		*chunk = calloc(SCHED_CPUS_CHUNK, sizeof(**chunk));
		for (size_t i = 0; *chunk && i < SCHED_CPUS_CHUNK; i++)
			(*chunk)[i].cpu = cpu - cpu % SCHED_CPUS_CHUNK + i;
	}
	return *chunk ? &(*chunk)[cpu % SCHED_CPUS_CHUNK] : NULL;
}

static void extend_spans(struct sched_thread *t, const struct context *who, int64_t tick)
{
	unsigned nr = t->off.nr_spans;
	struct sched_span *last = nr ? &t->spans[nr - 1] : NULL;

	if (tick <= t->charged)
		return;
	if (last && last->kind == who->kind && last->tid == who->tid && last->end == t->charged)
		last->end = tick;
	else if (nr < SCHED_SPANS_MAX)
		t->spans[t->off.nr_spans++] = (struct sched_span){
			.kind = who->kind, .tid = who->tid, .start = t->charged, .end = tick,
		};
	t->charged = tick;
}

/* Reports the run of the task that ran until now. */
static void end_run(struct sched *s, struct sched_cpu *c, int64_t tick, bool has_end)
{
	struct sched_cpu_run run = {
		.cpu = c->cpu, .who = c->has, .start = c->since, .end = tick,
		.has_start = c->has_since, .has_end = has_end, .state = s->left_state,
	};

	if (c->has.kind == CONTEXT_NONE || !s->sink->cpu || s->ret)
		return;
	if (tick > c->since || (has_end && c->has_since))
		s->ret = s->sink->cpu(s->sink->arg, &run);
}

void cpu_switch(struct sched *s, uint32_t cpu, const struct context *left, int64_t tick)
{
	static const struct context nobody = { .kind = CONTEXT_NONE };
	struct sched_cpu *c = cpu_state(s, cpu);

	/*
	 * If the task that left is not the one that was known to be running on the CPU, a switch
	 * was lost.
	 */
	if (c && c->has.kind != CONTEXT_NONE && !context_is(&c->has, left))
		left = &nobody;
	else if (c)
		end_run(s, c, tick, true);
	if (c)
		c->has.kind = CONTEXT_NONE;
	for (struct sched_thread *t = c ? c->waiters : NULL; t; t = t->next_waiter)
		extend_spans(t, left, tick);
}

void cpu_set(struct sched *s, uint32_t cpu, const struct context *has, bool is_own, int64_t tick,
	     bool came)
{
	struct sched_cpu *c = cpu_state(s, cpu);

	if (!c)
		return;
	if (c->has.kind == CONTEXT_NONE || !context_is(&c->has, has)) {
		c->since = tick;
		c->has_since = came;
	}
	c->has = *has;
	/* While no thread of the program waits, other tasks may come and go without an event. */
	if (!c->waiters && !is_own)
		c->has.kind = CONTEXT_NONE;
}

void cpu_end_all(struct sched *s, int64_t tick)
{
	for (size_t chunk = 0; chunk < SCHED_CPUS_MAX / SCHED_CPUS_CHUNK; chunk++)
		for (size_t i = 0; s->cpus[chunk] && i < SCHED_CPUS_CHUNK; i++)
			end_run(s, &s->cpus[chunk][i], tick, false);
}

void cpu_forget_all(struct sched *s)
{
	for (size_t chunk = 0; chunk < SCHED_CPUS_MAX / SCHED_CPUS_CHUNK; chunk++)
		for (size_t i = 0; s->cpus[chunk] && i < SCHED_CPUS_CHUNK; i++)
			s->cpus[chunk][i].has.kind = CONTEXT_NONE;
}

void cpu_leave(struct sched *s, struct sched_thread *t, int64_t tick)
{
	struct sched_cpu *c = t->waits_on;

	if (!c)
		return;
	extend_spans(t, &c->has, tick);
	*t->prev_waiter = t->next_waiter;
	if (t->next_waiter)
		t->next_waiter->prev_waiter = t->prev_waiter;
	t->waits_on = NULL;
	if (!c->waiters && !(c->has.kind == CONTEXT_TASK && sched_thread(s, c->has.tid, false))) {
		end_run(s, c, tick, false);
		c->has.kind = CONTEXT_NONE;
	}
}

void cpu_enter(struct sched *s, struct sched_thread *t, uint32_t cpu, int64_t tick)
{
	struct sched_cpu *c = cpu_state(s, cpu);

	cpu_leave(s, t, tick);
	t->off.cpu_wait = cpu;
	t->charged = tick;
	if (!c)
		return;
	t->waits_on = c;
	t->next_waiter = c->waiters;
	t->prev_waiter = &c->waiters;
	if (c->waiters)
		c->waiters->prev_waiter = &t->next_waiter;
	c->waiters = t;
}

/* "sleeping", "disk", ... */
const char *sched_state_name(unsigned state)
{
	static const char *const names[] = {
		[LDB_STATE_RUNNING] = "running", [LDB_STATE_SLEEPING] = "sleeping",
		[LDB_STATE_DISK] = "disk", [LDB_STATE_STOPPED] = "stopped",
		[LDB_STATE_TRACED] = "traced", [LDB_STATE_DEAD] = "dead",
		[LDB_STATE_IDLE] = "idle",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

int64_t sched_resolution_ns(const struct model *m)
{
	double tick = reader_ticks_to_ns(m->reader, 1);

	/* The start of an interval can be wrong as well as its end. */
	if (m->kernel_err_ns > 0)
		return 2 * m->kernel_err_ns;
	return tick > 1 && tick < 1e9 ? (int64_t)(tick + 0.999) : 1;
}
