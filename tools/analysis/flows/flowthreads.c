// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes how long threads, and pools of threads, existed, waited, and did not wait. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "facts/tasks.h"
#include "facts/ticks.h"
#include "flowstats-private.h"

#define NAME_KEPT	15	/* bytes of a process's name that the kernel stores */

/*
 * The time before the first recorded call is left out: the program waits for the recorder in that
 * time.
 */
static int64_t begin_ns(const struct flows *f, const struct thread *t)
{
	return max(ticks_time_ns(f->m->reader, max(t->start, f->first)), (int64_t)0);
}

static int64_t end_ns(const struct flows *f, const struct thread *t)
{
	return max(min(ticks_time_ns(f->m->reader, t->end), f->m->duration_ns), begin_ns(f, t));
}

/* Returns for how long the recording of a process was paused between two times. */
static int64_t paused_ns(const struct flows *f, uint32_t pid, int64_t from_ns, int64_t to_ns)
{
	int64_t sum = 0;

	for (size_t i = 0; i < f->m->pauses.nr; i++) {
		const struct thread_interval *p = &f->m->pauses.at[i];
		int64_t start = max(ticks_time_ns(f->m->reader, p->start), from_ns);

		if (p->tid != pid || start >= to_ns)
			continue;
		sum += max(min(ticks_time_ns(f->m->reader, p->end), to_ns) - start, (int64_t)0);
	}
	return sum;
}

static int64_t lifetime_ns(const struct flows *f, const struct thread *t)
{
	int64_t begin = begin_ns(f, t), end = end_ns(f, t);

	return end - begin - paused_ns(f, t->pid, begin, end);
}

struct caller {			/* what a thread did in a component */
	uint64_t calls;
	bool is_called;
};

/*
 * Finds the program of a process other than the first, of which the trace does not have the path,
 * by the calls of its thread t.  It is the component with the name of the process; if there is
 * none, the one that makes most calls, of those that no component calls.  `callers` has room for
 * one entry per component.
 */
static uint32_t program_of(const struct flows *f, const struct thread *t, struct caller *callers)
{
	size_t from = search_by(f->sums, f->nr_sums, s, s->thread < t);
	uint32_t found = FLOW_NO_COMPONENT;

	memset(callers, 0, f->nr_components * sizeof(*callers));
	for (size_t i = from; i < f->nr_sums && f->sums[i].thread == t; i++) {
		const struct flow_api *api = &f->apis[f->sums[i].api];

		callers[api->caller].calls += f->sums[i].calls;
		callers[api->callee].is_called = true;
	}
	for (uint32_t c = 0; c < f->nr_components; c++) {
		if (!callers[c].calls)
			continue;
		if (!strncmp(f->components[c].name, t->process->name, NAME_KEPT))
			return c;
		if (!callers[c].is_called && (found == FLOW_NO_COMPONENT || callers[c].calls > callers[found].calls))
			found = c;
	}
	return found;
}

/*
 * Returns the component of the function with which the thread starts or, if that is not known, the
 * program.
 */
static uint32_t component_of(const struct flows *f, const struct thread *t, struct caller *callers)
{
	bool is_of_first = !t->process || t->process->pid == f->m->pid;
	uint32_t c = t->start_routine ? flows_component_at(f, t->start_routine, t->start) :
		     is_of_first ? 0 : program_of(f, t, callers);

	return c == FLOW_NO_COMPONENT ? 0 : c;
}

struct edge {
	int64_t ns;
	int change;
	size_t thread;
};

COMPARE(edge_compare, struct edge, UP(ns) UP(change) UP(thread))

/*
 * Divides the time among the threads that exist at each time.  All of the program's threads are
 * counted, as the recorder does, and those that match are assigned their parts.  Pauses are
 * subtracted only if there is one process: the pause of one of several does not concern the others.
 */
static int share_lifetimes(struct flowstats *s)
{
	const struct model *m = s->flows->m;
	struct edge *edges = calloc(2 * m->nr_threads + 1, sizeof(*edges));
	double *passed = calloc(m->nr_threads + 1, sizeof(*passed)), all = 0;
	size_t nr = 0;
	int64_t active = 0, last = 0;

	if (!edges || !passed) {
		free(edges);
		free(passed);
		return -ENOMEM;
	}
	for (size_t i = 0; i < m->nr_threads; i++) {
		edges[nr++] = (struct edge){ begin_ns(s->flows, &m->threads[i]), 1, i };
		edges[nr++] = (struct edge){ end_ns(s->flows, &m->threads[i]), -1, i };
	}
	sort_by(edges, nr, edge_compare);
	for (size_t i = 0; i < nr; i++) {
		struct flow_thread *t = flow_thread_find(s, &m->threads[edges[i].thread]);

		all += active > 0 ? (double)(edges[i].ns - last - paused_ns(s->flows, 0, last, edges[i].ns)) / active : 0;
		last = edges[i].ns;
		active += edges[i].change;
		if (edges[i].change > 0)
			passed[edges[i].thread] = all;
		else if (t)
			t->shared_ns = all - passed[edges[i].thread] + 0.5;
	}
	free(edges);
	free(passed);
	return 0;
}

int flow_threads_begin(struct flowstats *s, const struct flowstats_options *o)
{
	const struct model *m = s->flows->m;
	struct caller *callers;

	s->threads = calloc(m->nr_threads + 1, sizeof(*s->threads));
	if (!s->threads)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_threads; i++)
		if (model_thread_matches(o->thread, m->threads[i].tid, &m->threads[i]))
			s->threads[s->nr_threads++].thread = &m->threads[i];
	callers = share_lifetimes(s) ? NULL : calloc(s->flows->nr_components + 1, sizeof(*callers));
	if (!callers)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr_threads; i++) {
		struct flow_thread *t = &s->threads[i];
		struct flow_part *p;

		t->component = component_of(s->flows, t->thread, callers);
		t->lifetime_ns = lifetime_ns(s->flows, t->thread);
		p = &s->parts[t->component];
		ticks_add(&p->begun_ns, t->lifetime_ns);
		ticks_add(&p->self_ns, t->lifetime_ns);
		ticks_add(&p->self_shared_ns, t->shared_ns);
		ticks_add(&s->lifetime_ns, t->lifetime_ns);
		ticks_add(&s->shared_ns, t->shared_ns);
	}
	free(callers);
	return 0;
}

struct flow_thread *flow_thread_find(struct flowstats *s, const struct thread *thread)
{
	size_t i = search_by(s->threads, s->nr_threads, t, t->thread < thread);

	return i < s->nr_threads && s->threads[i].thread == thread ? &s->threads[i] : NULL;
}

void flow_thread_add(struct flowstats *s, struct flow_thread *t, const struct flow_api *api,
		     const struct flow_sum *sum, const struct flow_estimate *x)
{
	t->calls += sum->calls;
	if (api->is_wait) {
		ticks_add(&t->wait_ns, x->ns);
		t->variance += x->variance;
	}
	if (!t->longest || x->ns > t->longest_ns) {
		t->longest = api;
		t->longest_ns = x->ns;
	}
}

/* Sorts the threads of a pool together, by tid. */
static int compare_alike(const void *pa, const void *pb)
{
	const struct thread *a = (*(struct flow_thread *const *)pa)->thread;
	const struct thread *b = (*(struct flow_thread *const *)pb)->thread;
	size_t len = tasks_stem(a->name), other = tasks_stem(b->name);
	int order = strncmp(a->name, b->name, min(len, other));

	if (a->start_routine != b->start_routine)
		return a->start_routine < b->start_routine ? -1 : 1;
	if (order || len != other)
		return order ? order : len < other ? -1 : 1;
	return a < b ? -1 : a > b;
}

static bool is_alike(const struct thread *a, const struct thread *b)
{
	size_t len = tasks_stem(a->name);

	return a->start_routine == b->start_routine && len == tasks_stem(b->name) &&
	       !strncmp(a->name, b->name, len);
}

static const char *pool_name(struct model *m, const struct thread *t, bool is_one)
{
	char text[128];

	if (is_one || !t->name[tasks_stem(t->name)])
		return t->name;
	snprintf(text, sizeof(text), "%.*s*", (int)min(tasks_stem(t->name), sizeof(text) - 2), t->name);
	return model_keep_string(m, text);
}

static void add_to_pool(struct flow_pool *p, const struct flow_thread *t)
{
	p->min_ns = p->nr_threads ? min(p->min_ns, t->effective_ns) : t->effective_ns;
	p->max_ns = max(p->max_ns, t->effective_ns);
	p->nr_threads++;
	p->calls += t->calls;
	ticks_add(&p->lifetime_ns, t->lifetime_ns);
	ticks_add(&p->wait_ns, t->wait_ns);
	ticks_add(&p->effective_ns, t->effective_ns);
}

static void finish_pool(struct flowstats *s, struct flow_pool *p, const struct thread *first)
{
	struct model *m = s->flows->m;

	p->name = pool_name(m, first, p->nr_threads == 1);
	if (first->start_routine)
		p->routine = symtab_lookup_aside(m->symtab, first->start_routine, first->start);
	p->mean_ns = p->effective_ns / p->nr_threads;
	p->busy = p->lifetime_ns ? (double)p->effective_ns / p->lifetime_ns : 0;
	p->imbalance = p->nr_threads > 1 && p->mean_ns > 0 ? (double)p->max_ns / p->mean_ns : 0;
}

COMPARE(thread_compare, struct flow_thread, DOWN(effective_ns) UP(thread))
COMPARE(pool_compare, struct flow_pool, DOWN(effective_ns) DOWN(nr_threads) UP(routine_address))

static int make_pools(struct flowstats *s)
{
	struct flow_thread **order = calloc(s->nr_threads + 1, sizeof(*order));
	struct flow_pool *p = NULL;

	s->pools = calloc(s->nr_threads + 1, sizeof(*s->pools));
	if (!order || !s->pools) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->nr_threads; i++)
		order[i] = &s->threads[i];
	sort_by(order, s->nr_threads, compare_alike);
	for (size_t i = 0, first = 0; i < s->nr_threads; i++) {
		if (!p || !is_alike(order[first]->thread, order[i]->thread)) {
			p = &s->pools[s->nr_pools++];
			p->routine_address = order[i]->thread->start_routine;
			first = i;
		}
		add_to_pool(p, order[i]);
		if (i + 1 < s->nr_threads && is_alike(order[first]->thread, order[i + 1]->thread))
			continue;
		finish_pool(s, p, order[first]->thread);
		for (size_t k = first; k <= i; k++)
			order[k]->pool = p->name;
	}
	free(order);
	sort_by(s->pools, s->nr_pools, pool_compare);
	return 0;
}

int flow_threads_finish(struct flowstats *s)
{
	for (size_t i = 0; i < s->nr_threads; i++) {
		struct flow_thread *t = &s->threads[i];

		t->effective_ns = t->lifetime_ns - t->wait_ns;
		t->err_ns = flow_error(t->variance);
	}
	if (make_pools(s))
		return -ENOMEM;
	sort_by(s->threads, s->nr_threads, thread_compare);
	return 0;
}
