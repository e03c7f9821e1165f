// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the tasks that ran on the CPUs during the targets; see pictures.h.  The targets overlap, so
 * a run counts once for each of them: for a run from a to b that is C(b) - C(a), where C(t) is
 * how long all targets together have lasted by t.
 *
 * A run is the time between two switches of a CPU: a task begins to run at the first and stops at
 * the second.  If the two name different tasks, there was another switch in between, and the
 * running task is not known.  While no thread of the program waits for the CPU, there are no events
 * of other tasks, so other tasks may have run in between.  Therefore sched.h, which finds the
 * causes of waits, does not use runs in such times; for this picture they are accurate enough.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "facts/rows.h"
#include "facts/sched.h"
#include "facts/tasks.h"
#include "facts/ticks.h"
#include "pictures.h"

/* contexts of one CPU; further contexts are counted in the last one */
#define CONTEXTS_MAX	256

/* Start times or end times of the targets, sorted, and their prefix sums. */
struct marks {
	int64_t *at;
	__int128 *sums;
	size_t nr;
};

/* The task that was running after the last switch of a CPU. */
struct last {
	struct context who;		/* NONE: there was no switch */
	int64_t tick;
};

struct build {
	struct model *m;
	struct last *lasts;		/* by CPU */
	struct marks starts, ends;
	int64_t first, last;		/* of all targets: runs outside are ignored */
	struct cpus *c;
	size_t room;
};

COMPARE_NUMBERS(compare_values, int64_t)

static int sum_marks(struct marks *k)
{
	k->sums = calloc(k->nr + 1, sizeof(*k->sums));
	if (!k->sums)
		return -ENOMEM;
	qsort(k->at, k->nr, sizeof(*k->at), compare_values);
	for (size_t i = 0; i < k->nr; i++)
		k->sums[i + 1] = k->sums[i] + k->at[i];
	return 0;
}

static int fill_marks(struct build *b, const struct why *w)
{
	size_t nr = w->nr_targets;

	b->starts.at = calloc(nr + 1, sizeof(int64_t));
	b->ends.at = calloc(nr + 1, sizeof(int64_t));
	if (!b->starts.at || !b->ends.at)
		return -ENOMEM;
	b->starts.nr = b->ends.nr = nr;
	for (size_t i = 0; i < nr; i++) {
		const struct request *r = w->targets[i].request;

		b->starts.at[i] = r->start_ns;
		b->ends.at[i] = r->start_ns + r->latency_ns;
		b->c->lifetime_ns += r->latency_ns;
	}
	if (sum_marks(&b->starts) || sum_marks(&b->ends))
		return -ENOMEM;
	b->first = nr ? b->starts.at[0] : 0;
	b->last = nr ? b->ends.at[nr - 1] : 0;
	return 0;
}

/* Returns the sum of ns - mark over the marks before ns. */
static __int128 since(const struct marks *k, int64_t ns)
{
	size_t lo = search(k->nr, i, k->at[i] <= ns);

	return (__int128)ns * lo - k->sums[lo];
}

/* Returns how long all targets together have lasted by ns. */
static int64_t lived(const struct build *b, int64_t ns)
{
	return since(&b->starts, ns) - since(&b->ends, ns);
}

static struct cpu_bar *get_bar(struct build *b, uint32_t cpu)
{
	struct cpus *c = b->c;

	for (size_t i = 0; i < c->nr; i++)
		if (c->at[i].cpu == cpu)
			return &c->at[i];
	if (!array_room(&c->at, &b->room, c->nr, sizeof(*c->at)))
		return NULL;
	c->at[c->nr] = (struct cpu_bar){
		.cpu = cpu, .contexts = calloc(CONTEXTS_MAX, sizeof(*c->at->contexts)),
	};
	return c->at[c->nr].contexts ? &c->at[c->nr++] : NULL;
}

static struct cpu_context *get_context(struct cpu_bar *bar, enum context_kind kind, const char *name,
				       bool is_own)
{
	struct cpu_context *k;

	for (size_t i = 0; i < bar->nr_contexts; i++) {
		k = &bar->contexts[i];
		if (k->kind == kind && k->is_own == is_own && !strcmp(k->name, name))
			return k;
	}
	if (bar->nr_contexts == CONTEXTS_MAX)
		return &bar->contexts[CONTEXTS_MAX - 1];
	if (bar->nr_contexts == CONTEXTS_MAX - 1)
		name = "";
	k = &bar->contexts[bar->nr_contexts++];
	*k = (struct cpu_context){ .kind = kind, .name = name, .is_own = is_own };
	return k;
}

static int add_run(struct build *b, uint32_t cpu, struct context who, int64_t from, int64_t to)
{
	int64_t start = ticks_time_ns(b->m->reader, from), end = ticks_time_ns(b->m->reader, to), ns;
	struct cpu_bar *bar;
	bool is_own;

	if (end <= b->first || start >= b->last)
		return 0;
	ns = lived(b, end) - lived(b, start);
	if (ns <= 0)
		return 0;
	context_identify(b->m, &who, from);
	bar = get_bar(b, cpu);
	if (!bar)
		return -ENOMEM;
	is_own = who.kind == CONTEXT_TASK && b->m->pid && who.pid == b->m->pid && !tasks_is_ldb(b->m, who.tid);
	get_context(bar, who.kind, who.name, is_own)->ns += ns;
	bar->known_ns += ns;
	return 0;
}

static int on_row(void *arg, const void *ordered)
{
	const struct ldb_row_sched *row = ordered;
	struct context left = context_of(row->tid, row->flags);
	struct build *b = arg;
	struct last *last;
	int ret = 0;

	if ((row->op != LDB_SCHED_OP_SWITCH && row->op != LDB_SCHED_OP_RUNNING) ||
	    row->cpu >= SCHED_CPUS_MAX)
		return 0;
	last = &b->lasts[row->cpu];
	if (last->who.kind != CONTEXT_NONE && context_is(&last->who, &left) && row->tick > last->tick)
		ret = add_run(b, row->cpu, left, last->tick, row->tick);
	last->who = context_of(row->other, row->flags);
	last->tick = row->tick;
	return ret;
}

static int read_events(struct build *b)
{
	int ret;

	b->lasts = calloc(SCHED_CPUS_MAX, sizeof(*b->lasts));
	if (!b->lasts)
		return -ENOMEM;
	ret = rows_by_time(b->m->reader, LDB_BLK_SCHED, NULL, on_row, b);
	free(b->lasts);
	return ret;
}

static int compare_contexts(const void *pa, const void *pb)
{
	const struct cpu_context *a = pa, *b = pb;

	if (a->is_own != b->is_own)
		return a->is_own ? -1 : 1;
	if ((a->kind == CONTEXT_IDLE) != (b->kind == CONTEXT_IDLE))
		return a->kind == CONTEXT_IDLE ? 1 : -1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->kind != b->kind ? (int)a->kind - (int)b->kind : strcmp(a->name, b->name);
}

COMPARE(compare_bars, struct cpu_bar, UP(cpu))

int cpus_build(const struct why *w, struct cpus *c)
{
	struct build b = { .m = w->p->m, .c = c };
	int ret;

	*c = (struct cpus){ .has_events = w->p->m->has_sched };
	ret = fill_marks(&b, w);
	if (!ret && c->has_events)
		ret = read_events(&b);
	for (size_t i = 0; i < c->nr; i++)
		qsort(c->at[i].contexts, c->at[i].nr_contexts, sizeof(*c->at->contexts),
		      compare_contexts);
	sort_by(c->at, c->nr, compare_bars);
	free(b.starts.at);
	free(b.starts.sums);
	free(b.ends.at);
	free(b.ends.sums);
	if (ret)
		cpus_free(c);
	return ret;
}

void cpus_free(struct cpus *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->at[i].contexts);
	free(c->at);
	*c = (struct cpus){ 0 };
}
