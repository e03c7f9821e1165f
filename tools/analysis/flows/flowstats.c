// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums calls between components; see flowstats.h. */
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "flowstats-private.h"

#define QUANTILE_95	1.96	/* standard errors */

/*
 * Returns the middle of a bucket, which is wrong by at most half of the bucket's width; of the last
 * bucket, which has no end, the start.
 */
static double middle_of(uint32_t bucket)
{
	double start = flow_bucket_start(bucket);

	if (bucket + 1 >= LDB_FLOW_BUCKETS)
		return start;
	return (start + (double)flow_bucket_start(bucket + 1) - 1) / 2;
}

/* The variance of the estimate of a sum, in ticks^2: 0 if all calls were timed, or none. */
static double variance_of(const struct flows *f, const struct flow_sum *sum)
{
	double mean = sum->timed ? (double)sum->sum / sum->timed : 0, squares = 0, nr = 0;
	const struct flow_length *l = f->lengths + sum->first_length;

	if (sum->timed >= sum->calls || !sum->timed)
		return 0;
	for (; l < f->lengths + f->nr_lengths && l->sum == sum - f->sums; l++) {
		double d = middle_of(l->bucket) - mean;

		squares += l->nr * d * d;
		nr += l->nr;
	}
	/* not known: the standard error is as great as the estimate */
	if (sum->timed < 2 || nr < 2)
		return mean * mean * sum->calls * sum->calls;
	return (double)sum->calls * sum->calls * (squares / (nr - 1)) / sum->timed *
	       (1 - (double)sum->timed / sum->calls);
}

struct flow_estimate flow_estimate(const struct flows *f, const struct flow_sum *sum)
{
	double factor = sum->timed ? (double)sum->calls / sum->timed : 0;
	double per_tick = reader_ticks_to_ns(f->m->reader, 1);

	return (struct flow_estimate){
		.factor = factor, .ns = ticks_ns_at(per_tick, sum->sum * factor),
		.shared_ns = ticks_ns_at(per_tick, sum->shared * factor),
		.back_ns = ticks_ns_at(per_tick, sum->back * factor),
		.variance = variance_of(f, sum) * per_tick * per_tick,
		.unknown = sum->timed ? 0 : sum->calls,
	};
}

int64_t flow_error(double variance)
{
	double ns = QUANTILE_95 * sqrt(variance);

	return ns < (double)TICKS_MAX ? (int64_t)(ns + 0.5) : TICKS_MAX;
}

/* Entries */

static int add_to_entry(struct flowstats *s, struct flow_entry *e, const struct flow_sum *sum,
			const struct flow_estimate *x)
{
	const struct flows *f = s->flows;
	const struct flow_length *l = f->lengths + sum->first_length;
	int64_t min = ticks_ns(f->m->reader, sum->min), max = ticks_ns(f->m->reader, sum->max);

	if (!e->lengths) {
		e->lengths = calloc(LDB_FLOW_BUCKETS, sizeof(*e->lengths));
		if (!e->lengths)
			return -ENOMEM;
	}
	for (; l < f->lengths + f->nr_lengths && l->sum == sum - f->sums; l++)
		e->lengths[l->bucket] += l->nr * x->factor;
	if (sum->timed && (!e->times.timed || min < e->times.min_ns))
		e->times.min_ns = min;
	if (sum->timed && max > e->times.max_ns)
		e->times.max_ns = max;
	e->times.calls += sum->calls;
	e->times.timed += sum->timed;
	e->times.unknown += x->unknown;
	ticks_add(&e->times.ns, x->ns);
	ticks_add(&e->times.shared_ns, x->shared_ns);
	e->variance += x->variance;
	return 0;
}

/*
 * Returns the middle of the bucket that contains the quantile, limited to the range of timed calls.
 */
static int64_t quantile(const struct flows *f, const struct flow_entry *e, double q)
{
	double all = 0, sum = 0;
	int64_t ns = 0;

	for (unsigned b = 0; b < LDB_FLOW_BUCKETS; b++)
		all += e->lengths[b];
	for (unsigned b = 0; b < LDB_FLOW_BUCKETS && all > 0; b++) {
		sum += e->lengths[b];
		if (e->lengths[b] > 0)
			ns = ticks_ns(f->m->reader, middle_of(b));
		if (sum >= q * all)
			break;
	}
	return max(min(ns, e->times.max_ns), all > 0 ? e->times.min_ns : 0);
}

static void finish_entry(const struct flows *f, struct flow_entry *e)
{
	e->times.err_ns = flow_error(e->variance);
	if (e->lengths) {
		e->times.p50_ns = quantile(f, e, 0.5);
		e->times.p99_ns = quantile(f, e, 0.99);
	}
	free(e->lengths);
	e->lengths = NULL;
}

static bool is_of_component(const struct flowstats_options *o, const struct flow_entry *e)
{
	return !o->component || !fnmatch(o->component, e->caller->name, 0) ||
	       !fnmatch(o->component, e->callee->name, 0);
}

COMPARE(entry_compare, struct flow_entry, DOWN(times.ns) DOWN(times.calls) UP(api))

/* Leaves out entries without calls, and entries that the options do not select. */
static void select_entries(struct flowstats *s, const struct flowstats_options *o)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_entries; i++) {
		finish_entry(s->flows, &s->entries[i]);
		if (s->entries[i].times.calls && is_of_component(o, &s->entries[i]))
			s->entries[nr++] = s->entries[i];
	}
	s->nr_entries = nr;
	sort_by(s->entries, nr, entry_compare);
}

/* Cells */

static int compare_edges(const void *pa, const void *pb)
{
	const struct flow_api *a = (*(const struct flow_entry *const *)pa)->api;
	const struct flow_api *b = (*(const struct flow_entry *const *)pb)->api;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	if (a->callee != b->callee)
		return a->callee < b->callee ? -1 : 1;
	return a->is_wait - b->is_wait;
}

COMPARE(cell_compare, struct flow_cell, DOWN(ns) DOWN(calls) UP(from) UP(to) UP(is_wait))

/* Cells are sums of all entries, also of those that are left out later. */
static int make_cells(struct flowstats *s)
{
	const struct flow_entry **order = calloc(s->nr_entries + 1, sizeof(*order));
	struct flow_cell *c = NULL;

	s->cells = calloc(s->nr_entries + 1, sizeof(*s->cells));
	if (!order || !s->cells) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->nr_entries; i++)
		order[i] = &s->entries[i];
	sort_by(order, s->nr_entries, compare_edges);
	for (size_t i = 0; i < s->nr_entries; i++) {
		const struct flow_entry *e = order[i];

		if (!e->times.calls)
			continue;
		if (!c || c->from != e->api->caller || c->to != e->api->callee || c->is_wait != e->api->is_wait) {
			c = &s->cells[s->nr_cells++];
			*c = (struct flow_cell){ .from = e->api->caller, .to = e->api->callee, .is_wait = e->api->is_wait };
		}
		c->calls += e->times.calls;
		ticks_add(&c->ns, e->times.ns);
		c->variance += e->variance;
	}
	free(order);
	for (size_t i = 0; i < s->nr_cells; i++)
		s->cells[i].err_ns = flow_error(s->cells[i].variance);
	sort_by(s->cells, s->nr_cells, cell_compare);
	return 0;
}

/* Parts */

static void add_to_parts(struct flowstats *s, const struct flow_api *api, const struct flow_sum *sum,
			 const struct flow_estimate *x)
{
	struct flow_part *from = &s->parts[api->caller];
	struct flow_part *to = &s->parts[api->is_wait ? s->flows->nr_components : api->callee];

	if (from != to)
		to->calls += sum->calls;
	ticks_add(&from->out_ns, x->ns);
	ticks_add(&to->in_ns, x->ns);
	ticks_add(&from->self_ns, x->back_ns - x->ns);
	ticks_add(&to->self_ns, x->ns - x->back_ns);
	ticks_add(&from->self_shared_ns, -x->shared_ns);
	ticks_add(&to->self_shared_ns, x->shared_ns);
	if (from == to)
		return;
	from->variance += x->variance;
	to->variance += x->variance;
}

COMPARE(part_compare, struct flow_part, DOWN(self_ns) DOWN(calls) UP(component))

static void finish_parts(struct flowstats *s)
{
	size_t nr = 0;

	s->wait_ns = s->parts[s->flows->nr_components].self_ns;
	for (size_t i = 0; i < s->nr_parts; i++) {
		struct flow_part *p = &s->parts[i];

		p->err_ns = flow_error(p->variance);
		p->share = s->lifetime_ns ? (double)p->self_ns / s->lifetime_ns : 0;
		if (p->calls || p->begun_ns || p->in_ns || p->out_ns)
			s->parts[nr++] = *p;
	}
	s->nr_parts = nr;
	sort_by(s->parts, nr, part_compare);
}

static int add_sum(struct flowstats *s, const struct flow_sum *sum, struct flow_thread *t)
{
	const struct flow_api *api = &s->flows->apis[sum->api];
	struct flow_entry *e = &s->entries[sum->api];
	struct flow_estimate x = flow_estimate(s->flows, sum);

	s->calls += sum->calls;
	s->timed += sum->timed;
	s->unknown += x.unknown;
	add_to_parts(s, api, sum, &x);
	flow_thread_add(s, t, api, sum, &x);
	return add_to_entry(s, e, sum, &x);
}

static int add_entries(struct flowstats *s)
{
	const struct flows *f = s->flows;

	s->entries = calloc(f->nr_apis + 1, sizeof(*s->entries));
	s->parts = calloc(f->nr_components + 1, sizeof(*s->parts));
	if (!s->entries || !s->parts)
		return -ENOMEM;
	s->nr_entries = f->nr_apis;
	for (size_t i = 0; i < f->nr_apis; i++)
		s->entries[i] = (struct flow_entry){
			.api = &f->apis[i], .caller = &f->components[f->apis[i].caller],
			.callee = &f->components[f->apis[i].callee],
		};
	s->nr_parts = f->nr_components + 1;
	for (size_t i = 0; i < f->nr_components; i++)
		s->parts[i].component = &f->components[i];
	return 0;
}

static int add_sums(struct flowstats *s)
{
	int ret = 0;

	for (size_t i = 0; i < s->flows->nr_sums && !ret; i++) {
		const struct flow_sum *sum = &s->flows->sums[i];
		struct flow_thread *t = flow_thread_find(s, sum->thread);

		if (t)
			ret = add_sum(s, sum, t);
	}
	return ret;
}

int flowstats_build(struct flows *f, const struct flowstats_options *o, struct flowstats *s)
{
	*s = (struct flowstats){ .flows = f };
	if (add_entries(s) || flow_threads_begin(s, o) || add_sums(s) || make_cells(s))
		goto err_free;
	select_entries(s, o);
	finish_parts(s);
	if (flow_threads_finish(s))
		goto err_free;
	return 0;

err_free:
	flowstats_free(s);
	return -ENOMEM;
}

void flowstats_free(struct flowstats *s)
{
	for (size_t i = 0; i < s->nr_entries; i++)
		free(s->entries[i].lengths);
	free(s->entries);
	free(s->cells);
	free(s->parts);
	free(s->threads);
	free(s->pools);
	*s = (struct flowstats){ .flows = s->flows };
}
