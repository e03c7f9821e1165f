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
	char name[sizeof(((struct perf_event *)0)->name_a) + sizeof(((struct perf_event *)0)->name_b) + 1];
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

	if (tid)
		h->sink->row(h->sink->arg, LDB_BLK_FAULT, &row);
}

static void enter(struct perf_hits *h, const struct perf_event *e, int64_t tick)
{
	struct stack *s = stack_of(h, e->cpu);
	struct inside *in;

	if (!s)
		return;
	if (s->depth == NEST_MAX)
		s->depth = 0;	/* exits were lost: it is out of date */
	in = &s->at[s->depth++];
	*in = (struct inside){ .start = tick, .by = e->by, .kind = e->flags, .nr = e->value };
	memcpy(in->name, e->name_a, sizeof(e->name_a));
	memcpy(in->name + sizeof(e->name_a), e->name_b, sizeof(e->name_b));
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
		.kind = e->flags, .cpu = e->cpu, .nr = e->value, .tid = tid, .end = tick,
	};

	if (!in || !tid)
		return;
	row.start = in->start < tick ? in->start : tick;
	row.name = in->name;
	h->sink->row(h->sink->arg, LDB_BLK_IRQ, &row);
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
