// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What hits a watched thread: page faults, and interrupts, of which two tracepoints
 * become one row, at its end.  They nest: each CPU has a stack of those that it is
 * in.  Events may be lost, so an exit looks for its entry, and what lies above it is
 * forgotten.
 */
#include <stdlib.h>
#include <string.h>
#include "record/perf-private.h"

#define NEST_MAX	8	/* real nesting is at most half of it */

struct inside {
	int64_t start;
	int32_t by;
	uint32_t kind, nr;
};

struct stack {
	struct inside at[NEST_MAX];
	unsigned depth;
};

struct perf_hits {
	const struct perf_sink *sink;
	unsigned nr_cpus;
	struct stack cpus[];
};

struct perf_hits *perf_hits_alloc(unsigned nr_cpus, const struct perf_sink *sink)
{
	struct perf_hits *h = calloc(1, sizeof(*h) + nr_cpus * sizeof(h->cpus[0]));

	if (h) {
		h->nr_cpus = nr_cpus;
		h->sink = sink;
	}
	return h;
}

void perf_hits_free(struct perf_hits *h)
{
	free(h);
}

static struct stack *stack_of(struct perf_hits *h, unsigned cpu)
{
	return cpu < h->nr_cpus ? &h->cpus[cpu] : NULL;
}

void perf_hits_lost(struct perf_hits *h, unsigned cpu)
{
	struct stack *s = stack_of(h, cpu);

	if (s)
		s->depth = 0;
}

static void fault(struct perf_hits *h, const struct perf_event *e, int64_t tick, uint32_t tid)
{
	struct ldb_row_fault row = {
		.flags = e->flags, .tid = tid, .tick = tick, .addr = e->addr, .pc = e->pc,
	};

	if (tid && h->sink->fault)
		h->sink->fault(h->sink->arg, &row);
}

/* Which line it is: told at once, for the rows that end later. */
static void tell_name(struct perf_hits *h, const struct perf_event *e)
{
	char name[sizeof(e->name_a) + sizeof(e->name_b) + 1] = "";

	memcpy(name, e->name_a, sizeof(e->name_a));
	memcpy(name + sizeof(e->name_a), e->name_b, sizeof(e->name_b));
	if (h->sink->irq_name)
		h->sink->irq_name(h->sink->arg, e->value, name);
}

static void enter(struct perf_hits *h, const struct perf_event *e, int64_t tick)
{
	struct stack *s = stack_of(h, e->cpu);

	if (e->names)
		tell_name(h, e);
	if (!s)
		return;
	if (s->depth == NEST_MAX)
		s->depth = 0;	/* exits were lost: it is out of date */
	s->at[s->depth++] = (struct inside){ tick, e->by, e->flags, e->value };
}

/* NULL: its entry was not seen. */
static const struct inside *find(struct stack *s, const struct perf_event *e)
{
	for (unsigned i = s ? s->depth : 0; i--;) {
		const struct inside *in = &s->at[i];

		if (in->by != e->by || in->kind != e->flags || in->nr != e->value)
			continue;
		s->depth = i;
		return in;
	}
	return NULL;
}

static void leave(struct perf_hits *h, const struct perf_event *e, int64_t tick, uint32_t tid)
{
	const struct inside *in = find(stack_of(h, e->cpu), e);
	struct ldb_row_irq row = {
		.kind = e->flags, .cpu = e->cpu, .nr = e->value, .tid = tid, .end = tick, .name = "",
	};

	if (!in || !tid || !h->sink->irq)
		return;
	row.start = in->start < tick ? in->start : tick;
	h->sink->irq(h->sink->arg, &row);
}

void perf_hits_event(struct perf_hits *h, const struct perf_event *e, int64_t tick, uint32_t tid)
{
	if (e->kind == PERF_EVENT_FAULT)
		fault(h, e, tick, tid);
	else if (e->kind == PERF_EVENT_IRQ_ENTER)
		enter(h, e, tick);
	else
		leave(h, e, tick, tid);
}
