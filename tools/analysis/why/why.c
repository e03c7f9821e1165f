// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses the requests to explain and their reference; see why.h.  why-explain.c explains each of
 * them.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "analysis/partition/partition-private.h"
#include "base/order.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "why-private.h"

const char *anomaly_name(enum anomaly a)
{
	static const char *const names[NR_ANOMALIES] = {
		[ANOMALY_CONTEXT] = "context", [ANOMALY_GAP] = "gap", [ANOMALY_SLOWER] = "slower",
		[ANOMALY_MORE] = "more_calls", [ANOMALY_UNEXPECTED] = "unexpected_function",
		[ANOMALY_OVERLAP] = "overlap", [ANOMALY_UNKNOWN] = "unknown",
	};

	return names[a];
}

unsigned why_cause_kind(const struct why_cause *c)
{
	return c->has_faults ? (unsigned)LINK_PAGE_FAULTS : c->kind;
}

/* Requests are sorted by class, fastest first */

struct ranked {
	int64_t latency_ns;
	uint32_t class, request;
	bool is_target;
};

ORDER_KEY(request_class, struct request, class)
ORDER_KEY(request_latency, struct request, latency_ns)

/* Returns NULL if there is no memory. */
static struct ranked *rank_all(const struct partition *p)
{
	static const order_key keys[] = { request_class, request_latency };
	uint32_t *order = order_of(p->requests, p->nr_requests, sizeof(*p->requests), keys, 2);
	struct ranked *ranked = calloc(p->nr_requests + 1, sizeof(*ranked));

	for (size_t i = 0; order && ranked && i < p->nr_requests; i++) {
		const struct request *r = &p->requests[order[i]];

		ranked[i] = (struct ranked){ r->latency_ns, r->class, order[i], false };
	}
	if (!order) {
		free(ranked);
		ranked = NULL;
	}
	free(order);
	return ranked;
}

/* Returns the nearest rank of a percentile, ceil(p * n), but counted from 0. */
static size_t rank(double percentile, size_t nr)
{
	double at = percentile / 100 * (double)nr;
	size_t n = (size_t)at + ((double)(size_t)at < at);

	return n > nr ? nr - 1 : n ? n - 1 : 0;
}

static int add_reference(struct reference *ref, const struct ranked *from, const struct ranked *to,
			 size_t step)
{
	size_t nr = to - from;

	ref->requests = calloc(nr / step + 2, sizeof(*ref->requests));
	if (!ref->requests)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i += step)
		ref->requests[ref->nr++] = from[i].request;
	return 0;
}

/*
 * Returns the rank nearest to rank `at` whose request is not a target; nr: there is none.
 */
static size_t nearest_other(const struct ranked *ranked, size_t nr, size_t at)
{
	for (size_t d = 0; d < nr; d++) {
		if (d <= at && !ranked[at - d].is_target)
			return at - d;
		if (at + d < nr && !ranked[at + d].is_target)
			return at + d;
	}
	return nr;
}

/*
 * Targets at both ends of the reference are left out of it; if nothing remains, the nearest request
 * that is not a target is the reference.  If there are only targets, there is no reference, and the
 * whole latency is explained instead of a deviation.
 */
static int set_reference(struct why *w, const struct why_options *o, uint32_t class,
			 const struct ranked *ranked, size_t nr)
{
	struct reference *ref = &w->private->references[class];
	size_t lo = rank(o->reference_lo, nr), hi = rank(o->reference_hi, nr) + 1;
	struct why_class *c = &w->classes[class];

	while (hi > lo && ranked[hi - 1].is_target)
		hi--;
	while (lo < hi && ranked[lo].is_target)
		lo++;
	if (lo == hi) {
		lo = nearest_other(ranked, nr, lo < nr ? lo : nr - 1);
		hi = lo < nr ? lo + 1 : lo;
	}
	c->nr_reference = hi - lo;
	if (lo == hi)
		return 0;
	c->reference_ns = ranked[lo + (hi - lo - 1) / 2].latency_ns;
	c->reference_lo_ns = ranked[lo].latency_ns;
	c->reference_hi_ns = ranked[hi - 1].latency_ns;
	return add_reference(ref, ranked + lo, ranked + hi, c->nr_reference / REFERENCE_MAX + 1);
}

static int add_target(struct why *w, struct ranked *ranked)
{
	const struct request *r = &w->p->requests[ranked->request];
	struct why_class *c = &w->classes[r->class];

	if (array_push(w->targets, w->nr_targets, w->private->room_targets, {
			.request = r, .root = LINK_NONE, .root_label = "" }))
		return -ENOMEM;
	ranked->is_target = true;
	if (!c->nr_targets++ || r->latency_ns < c->target_lo_ns)
		c->target_lo_ns = r->latency_ns;
	if (r->latency_ns > c->target_hi_ns)
		c->target_hi_ns = r->latency_ns;
	return 0;
}

static int add_slice(struct why *w, const struct why_options *o, struct ranked *ranked, size_t nr)
{
	size_t lo = rank(o->target_lo, nr), hi = rank(o->target_hi, nr);
	int ret = 0;

	for (size_t i = lo; i <= hi && !ret; i++)
		ret = add_target(w, &ranked[i]);
	return ret;
}

static int slower_first(const void *pa, const void *pb)
{
	const struct ranked *a = *(struct ranked *const *)pa, *b = *(struct ranked *const *)pb;

	if (a->latency_ns != b->latency_ns)
		return a->latency_ns > b->latency_ns ? -1 : 1;
	return a->request < b->request ? -1 : a->request > b->request;
}

static bool is_wanted(const struct why_options *o, const char *class)
{
	return !o->class || !fnmatch(o->class, class, 0);
}

/* Adds the requests that --req and --slowest choose, of all classes that --class selects. */
static int add_others(struct why *w, const struct why_options *o, struct ranked *ranked)
{
	const struct partition *p = w->p;
	struct ranked **order = calloc(p->nr_requests + 1, sizeof(*order));
	size_t nr = 0;
	int ret = order ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->nr_requests && !ret; i++)
		if ((!o->has_id || p->requests[ranked[i].request].id == o->id) &&
		    is_wanted(o, p->classes[ranked[i].class]))
			order[nr++] = &ranked[i];
	sort_by(order, nr, slower_first);
	for (size_t i = 0; i < nr && !ret && (o->has_id || i < o->nr_slowest); i++)
		ret = add_target(w, order[i]);
	free(order);
	return ret;
}

COMPARE(target_compare, struct why_target, DOWN(request->latency_ns) UP(request))

static int select_ranked(struct why *w, const struct why_options *o, struct ranked *ranked)
{
	const struct partition *p = w->p;
	size_t *first = calloc(p->nr_classes + 2, sizeof(*first));
	int ret = first ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->nr_requests && !ret; i++)
		first[ranked[i].class + 1]++;
	for (size_t c = 0; c < p->nr_classes && !ret; c++) {
		w->classes[c].name = p->classes[c];
		w->classes[c].nr = first[c + 1];
		first[c + 1] += first[c];
		if (w->classes[c].nr && !o->has_id && !o->nr_slowest && is_wanted(o, p->classes[c]))
			ret = add_slice(w, o, ranked + first[c], w->classes[c].nr);
	}
	if (!ret && (o->has_id || o->nr_slowest))
		ret = add_others(w, o, ranked);
	for (size_t c = 0; c < p->nr_classes && !ret; c++)
		if (w->classes[c].nr)
			ret = set_reference(w, o, c, ranked + first[c], w->classes[c].nr);
	free(first);
	return ret;
}

static int select_all(struct why *w, const struct why_options *o)
{
	struct ranked *ranked = rank_all(w->p);
	int ret = ranked ? select_ranked(w, o, ranked) : -ENOMEM;

	free(ranked);
	for (size_t i = 0; i < w->nr_targets; i++)
		w->targets[i].deviation_ns = w->targets[i].request->latency_ns -
					     w->classes[w->targets[i].request->class].reference_ns;
	if (!ret && w->nr_targets)
		qsort(w->targets, w->nr_targets, sizeof(*w->targets), target_compare);
	return ret;
}

int why_select(void *options, struct partition *p)
{
	struct why_private k = { .nr_amounts = 0 };
	struct why w = { .p = p, .private = &k };
	int ret = -ENOMEM;

	w.classes = calloc(p->nr_classes + 1, sizeof(*w.classes));
	k.references = calloc(p->nr_classes + 1, sizeof(*k.references));
	if (w.classes && k.references)
		ret = select_all(&w, options);
	for (size_t i = 0; i < p->nr_requests && !ret; i++)
		p->requests[i].is_left_out = true;
	for (size_t c = 0; c < p->nr_classes && !ret; c++)
		for (size_t i = 0; i < k.references[c].nr && w.classes[c].nr_targets; i++)
			p->requests[k.references[c].requests[i]].is_left_out = false;
	for (size_t i = 0; i < w.nr_targets && !ret; i++)
		p->requests[w.targets[i].request - p->requests].is_left_out = false;
	for (size_t c = 0; k.references && c < p->nr_classes; c++)
		reference_free(&k.references[c]);
	free(k.references);
	free(w.classes);
	free(w.targets);
	return ret;
}

static int explain_all(struct why *w, const struct why_options *o)
{
	struct why_private *k = w->private;
	int ret = 0;

	for (uint32_t c = 0; c < w->p->nr_classes && !ret; c++)
		if (w->classes[c].nr_targets)
			ret = reference_build(&k->tree, &k->references[c]);
	for (size_t i = 0; i < w->nr_targets && !ret; i++)
		ret = explain_target(w, o, &w->targets[i]);
	/* The array of amounts does not grow from here on, so pointers into it stay valid. */
	for (size_t i = 0, at = 0; i < w->nr_targets && !ret; i++) {
		w->targets[i].amounts = k->amounts + at;
		at += w->targets[i].nr_amounts;
	}
	return ret;
}

/* Sums over the targets */

COMPARE_NUMBERS(compare_ns, int64_t)

int why_sort_amounts(const struct why *w, struct why_sorted *s)
{
	const struct why_target *end = w->targets + w->nr_targets;
	size_t nr = 0;

	for (const struct why_target *t = w->targets; t < end; t++)
		nr += t->nr_amounts;
	*s = (struct why_sorted){
		calloc(w->nr_causes + 2, sizeof(*s->at)), calloc(nr + 1, sizeof(*s->ns)),
	};
	if (!s->at || !s->ns) {
		why_sorted_free(s);
		return -ENOMEM;
	}
	/*
	 * A counting sort by cause.  At first at[c + 2] is the number of amounts of cause c.  After
	 * the sums at[c + 1] is the start of cause c, and after the amounts are placed, its end.
	 */
	for (const struct why_target *t = w->targets; t < end; t++)
		for (size_t k = 0; k < t->nr_amounts; k++)
			s->at[t->amounts[k].cause + 2]++;
	for (size_t c = 2; c <= w->nr_causes; c++)
		s->at[c] += s->at[c - 1];
	for (const struct why_target *t = w->targets; t < end; t++)
		for (size_t k = 0; k < t->nr_amounts; k++)
			s->ns[s->at[t->amounts[k].cause + 1]++] = t->amounts[k].ns;
	for (size_t c = 0; c < w->nr_causes; c++)
		qsort(s->ns + s->at[c], s->at[c + 1] - s->at[c], sizeof(*s->ns), compare_ns);
	return 0;
}

void why_sorted_free(struct why_sorted *s)
{
	free(s->at);
	free(s->ns);
	*s = (struct why_sorted){ 0 };
}

static void set_anomaly(const struct why *w, struct why_cause *c)
{
	const int64_t *sums = w->private->by_anomaly[c - w->causes];

	for (int a = 0; a < NR_ANOMALIES; a++)
		if (sums[a] > sums[c->anomaly])
			c->anomaly = a;
}

static int sum_causes(struct why *w)
{
	struct why_sorted s;

	if (why_sort_amounts(w, &s))
		return -ENOMEM;
	for (size_t c = 0; c < w->nr_causes; c++) {
		struct why_cause *cause = &w->causes[c];

		cause->nr_requests = s.at[c + 1] - s.at[c];
		for (size_t i = s.at[c]; i < s.at[c + 1]; i++)
			ticks_add(&cause->total_ns, s.ns[i]);
		/* The rank is the nearest one, as in dist.h. */
		if (cause->nr_requests)
			cause->median_ns = s.ns[s.at[c] + (cause->nr_requests - 1) / 2];
		set_anomaly(w, cause);
	}
	for (size_t i = 0; i < w->nr_targets; i++)
		if (w->targets[i].nr_amounts)
			w->causes[w->targets[i].amounts[0].cause].nr_first++;
	why_sorted_free(&s);
	return 0;
}

/* Lists the places of the samples in a leaf, for the targets. */
static size_t samples_of(const struct partition *p, const bool *is_target, uint32_t leaf, uint32_t *places)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_samples; i++)
		if (p->samples[i].leaf == leaf && is_target[p->samples[i].request])
			places[nr++] = p->samples[i].place;
	return nr;
}

static bool is_split(const struct why *w, size_t cause)
{
	for (size_t i = 0; i < cause; i++)
		if (w->causes[i].leaf == w->causes[cause].leaf && w->causes[i].split.nr_samples)
			return true;
	return false;
}

static int split_causes(struct why *w)
{
	const struct partition *p = w->p;
	bool *is_target = calloc(p->nr_requests + 1, sizeof(*is_target));
	uint32_t *places = calloc(p->nr_samples + 1, sizeof(*places));

	for (size_t i = 0; i < w->nr_targets && is_target; i++)
		is_target[w->targets[i].request - p->requests] = true;
	for (size_t c = 0; c < w->nr_causes && is_target && places; c++) {
		struct why_cause *cause = &w->causes[c];

		/*
		 * Two causes may have the same leaf, if only some targets had more page faults in
		 * the function than usual.
		 */
		if (is_split(w, c))
			continue;
		if (cause->leaf != UINT32_MAX && (cause->kind == LEAF_FUNCTION || cause->kind == LEAF_UNKNOWN))
			places_split(&p->places, places, samples_of(p, is_target, cause->leaf, places),
				     &cause->split);
	}
	free(places);
	free(is_target);
	return places && is_target ? 0 : -ENOMEM;
}

static int cause_compare(const void *pa, const void *pb, void *arg)
{
	const struct why_cause *causes = arg;
	const struct why_cause *a = &causes[*(const uint32_t *)pa], *b = &causes[*(const uint32_t *)pb];

	if (a->nr_first != b->nr_first)
		return a->nr_first > b->nr_first ? -1 : 1;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a < b ? -1 : 1;
}

static int sort_causes(struct why *w)
{
	uint32_t *order = calloc(2 * w->nr_causes + 1, sizeof(*order));
	struct why_cause *sorted = calloc(w->nr_causes + 1, sizeof(*sorted));
	uint32_t *to = order + w->nr_causes;

	if (!order || !sorted) {
		free(order);
		free(sorted);
		return -ENOMEM;
	}
	for (size_t c = 0; c < w->nr_causes; c++)
		order[c] = c;
	qsort_r(order, w->nr_causes, sizeof(*order), cause_compare, w->causes);
	for (size_t c = 0; c < w->nr_causes; c++) {
		sorted[c] = w->causes[order[c]];
		to[order[c]] = c;
	}
	for (size_t i = 0; i < w->private->nr_amounts; i++)
		w->private->amounts[i].cause = to[w->private->amounts[i].cause];
	free(w->causes);
	w->causes = sorted;
	free(order);
	return 0;
}

COMPARE_NUMBERS(compare_double, double)

/*
 * Computes the least and the median coverage, over the targets that are slower than the reference
 * by more than their resolution, and which share of the time of all targets is not known.
 */
static int sum_coverage(struct why *w)
{
	double *coverage = calloc(w->nr_targets + 1, sizeof(*coverage));
	double latency = 0, unknown = 0, unobserved = 0;
	size_t nr = 0;

	if (!coverage)
		return -ENOMEM;
	for (size_t i = 0; i < w->nr_targets; i++) {
		const struct why_target *t = &w->targets[i];

		latency += (double)t->request->latency_ns;
		unknown += (double)t->unknown_ns;
		unobserved += (double)t->unobserved_ns;
		if (t->deviation_ns > t->request->resolution_ns)
			coverage[nr++] = t->coverage;
	}
	qsort(coverage, nr, sizeof(*coverage), compare_double);
	w->coverage_min = nr ? coverage[0] : 1;
	w->coverage_median = nr ? coverage[nr / 2] : 1;
	w->unknown = latency > 0 ? unknown / latency : 0;
	w->unobserved = latency > 0 ? unobserved / latency : 0;
	free(coverage);
	return 0;
}

int why_build(const struct partition *p, const struct why_options *o, struct why *w)
{
	struct why_private *k = calloc(1, sizeof(*k));
	int ret = -ENOMEM;

	*w = (struct why){ .p = p, .private = k };
	if (!k)
		return -ENOMEM;
	w->classes = calloc(p->nr_classes + 1, sizeof(*w->classes));
	k->references = calloc(p->nr_classes + 1, sizeof(*k->references));
	if (w->classes && k->references)
		ret = tree_open(&k->tree, p);
	if (!ret)
		ret = select_all(w, o);
	if (!ret)
		ret = explain_all(w, o);
	if (!ret)
		ret = sum_causes(w);
	if (!ret)
		ret = sort_causes(w);
	if (!ret && w->p->nr_samples)
		ret = split_causes(w);
	if (!ret)
		ret = sum_coverage(w);
	if (!ret)
		ret = chains_build(w, o);
	if (ret)
		why_free(w);
	return ret;
}

void why_free(struct why *w)
{
	struct why_private *k = w->private;

	if (!k)
		return;
	for (size_t c = 0; k->references && c < w->p->nr_classes; c++)
		reference_free(&k->references[c]);
	tree_close(&k->tree);
	free(k->references);
	free(k->amounts);
	hash_free(&k->by_key);
	free(k->by_anomaly);
	for (size_t i = 0; i < k->nr_more_chains; i++)
		free(k->more_chains[i]);
	free(k->more_chains);
	free(k->chains);
	free(k);
	free(w->targets);
	free(w->causes);
	free(w->classes);
	*w = (struct why){ 0 };
}
