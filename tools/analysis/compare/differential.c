// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes the additive difference between two sets of requests; see differential.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/why/categories.h"
#include "base/sort.h"
#include "differential-private.h"

uint32_t differential_class(const struct partition *p, const char *name)
{
	for (size_t i = 0; i < p->nr_classes; i++)
		if (!strcmp(p->classes[i], name))
			return i;
	return UINT32_MAX;
}

/* Runs and slices */

struct ranked {
	int64_t latency;
	uint32_t at;
};

COMPARE(compare_ranked, struct ranked, UP(latency) UP(at))

static int rank_requests(struct run *run)
{
	struct ranked *ranked = calloc(run->nr + 1, sizeof(*ranked));

	run->rank = calloc(run->nr + 1, sizeof(*run->rank));
	run->sorted = calloc(run->nr + 1, sizeof(*run->sorted));
	if (!ranked || !run->rank || !run->sorted) {
		free(ranked);
		return -ENOMEM;
	}
	for (size_t i = 0; i < run->nr; i++)
		ranked[i] = (struct ranked){ run->p->requests[run->requests[i]].latency_ns, i };
	qsort(ranked, run->nr, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < run->nr; i++) {
		run->rank[ranked[i].at] = i;
		run->sorted[i] = ranked[i].latency;
	}
	free(ranked);
	return 0;
}

static int open_run(struct differential_build *b, const struct differential_side *side)
{
	struct run *run = &b->runs[b->nr_runs++];
	const struct partition *p = side->p;

	run->p = p;
	run->requests = calloc(p->nr_requests + 1, sizeof(*run->requests));
	if (!run->requests || leafkeys_add(&b->d->keys, p, &run->map))
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_requests; i++)
		if (p->requests[i].class == side->class)
			run->requests[run->nr++] = i;
	return run->nr ? rank_requests(run) : -ENOENT;
}

/* Returns the ranks between two percentiles, at least one. */
static struct slice cut_slice(const struct run *run, const struct differential_side *side,
			      struct differential_slice *shown)
{
	struct slice s = {
		.run = run,
		.first = floor(side->lo / 100 * run->nr + 1e-9 * run->nr),
		.last = ceil(side->hi / 100 * run->nr - 1e-9 * run->nr),
	};

	if (s.last > run->nr)
		s.last = run->nr;
	if (s.first >= run->nr)
		s.first = run->nr - 1;
	if (s.last <= s.first)
		s.last = s.first + 1;
	*shown = (struct differential_slice){
		.lo = side->lo, .hi = side->hi, .nr = s.last - s.first,
		.nr_class = run->nr, .lo_ns = run->sorted[s.first],
		.hi_ns = run->sorted[s.last - 1],
	};
	return s;
}

static int open_slices(struct differential_build *b)
{
	const struct differential_options *o = b->o;
	bool is_one = o->target.p == o->reference.p && o->target.class == o->reference.class;
	int ret;

	b->d->keys.no_calls = !o->target.p->has_calls || !o->reference.p->has_calls;
	ret = open_run(b, &o->target);
	if (!ret && !is_one)
		ret = open_run(b, &o->reference);
	if (ret)
		return ret;
	b->target = cut_slice(&b->runs[0], &o->target, &b->d->target);
	b->reference = cut_slice(&b->runs[b->nr_runs - 1], &o->reference, &b->d->reference);
	b->d->class = o->target.p->classes[o->target.class];
	return 0;
}

/* Sums and means */

static void add_request(struct differential_build *b, const struct run *run,
			const struct request *request, bool is_target, bool is_reference)
{
	const struct share *share = &run->p->shares[request->first];

	for (uint32_t i = 0; i < request->nr_shares; i++, share++) {
		struct key_sum *sum = &b->sums[run->map.leaves[share->leaf]];

		if (is_target) {
			sum->target_ns += share->ns;
			sum->target_nr += share->nr;
		}
		if (is_reference) {
			sum->reference_ns += share->ns;
			sum->reference_nr += share->nr;
		}
	}
}

static int add_sums(struct differential_build *b)
{
	b->nr_keys = leafkeys_nr(&b->d->keys);
	b->sums = calloc(b->nr_keys + 1, sizeof(*b->sums));
	if (!b->sums)
		return -ENOMEM;
	for (size_t k = 0; k < b->nr_runs; k++) {
		const struct run *run = &b->runs[k];

		for (size_t i = 0; i < run->nr; i++) {
			bool t = b->target.run == run && MEMBER(&b->target, run->rank[i]);
			bool r = b->reference.run == run && MEMBER(&b->reference, run->rank[i]);

			if (t || r)
				add_request(b, run, &run->p->requests[run->requests[i]], t, r);
		}
	}
	return 0;
}

struct remainder {
	int64_t left;
	size_t at;
};

COMPARE(compare_remainders, struct remainder, DOWN(left) UP(at))

/*
 * Divides each sum by nr, and returns the rounded quotient of their total.  The quotients are
 * rounded such that they add up to it exactly.  The sums are stride numbers apart.
 */
static int64_t divide_sums(int64_t *sums, size_t stride, size_t nr_sums, int64_t nr,
			   struct remainder *remainders)
{
	int64_t sum = 0, mean, left;

	for (size_t i = 0; i < nr_sums; i++)
		sum += sums[i * stride];
	mean = sum / nr + (sum % nr * 2 >= nr);
	left = mean;
	for (size_t i = 0; i < nr_sums; i++) {
		int64_t *at = &sums[i * stride];

		remainders[i] = (struct remainder){ *at % nr, i };
		*at /= nr;
		left -= *at;
	}
	qsort(remainders, nr_sums, sizeof(*remainders), compare_remainders);
	for (size_t i = 0; i < nr_sums && left > 0; i++, left--)
		sums[remainders[i].at * stride]++;
	return mean;
}

static int divide(struct differential_build *b)
{
	struct remainder *remainders = calloc(b->nr_keys + 1, sizeof(*remainders));
	size_t stride = sizeof(*b->sums) / sizeof(int64_t);

	_Static_assert(sizeof(*b->sums) % sizeof(int64_t) == 0, "sums are not apart by whole words");
	if (!remainders)
		return -ENOMEM;
	b->d->target.mean_ns = divide_sums(&b->sums->target_ns, stride, b->nr_keys,
					   b->d->target.nr, remainders);
	b->d->reference.mean_ns = divide_sums(&b->sums->reference_ns, stride, b->nr_keys,
					      b->d->reference.nr, remainders);
	free(remainders);
	return 0;
}

/* Parts */

/* Identifies a leaf without its path. */
struct part_key {
	enum leaf_kind kind;
	unsigned lock_kind;
	const char *label, *where;
	uint32_t text, file;	/* numbers of the interned texts that distinguish parts of a kind */
	uint32_t key;
};

static struct part_key part_key_of(const struct leafkeys *keys, uint32_t n)
{
	const struct leafkey *leaf = &keys->leaves[n];
	const struct leafkey_path *path = &keys->paths[leaf->path];
	struct part_key k = {
		.kind = leaf->kind, .lock_kind = leaf_lock(leaf->p, &leaf->p->leaves[leaf->leaf])->kind,
		.label = leafkey_label(keys, n), .where = "",
		.text = leaf->label, .key = n,
	};

	if (k.kind == LEAF_FUNCTION || k.kind == LEAF_QUEUE) {
		k.text = path->name;
		k.file = path->file;
		k.label = intern_key(&keys->texts, path->name);
	} else if (k.kind == LEAF_IO || k.kind == LEAF_SLEEP) {
		k.where = path_name(path->p, path->path);
		k.file = path->name;
	}
	return k;
}

COMPARE(compare_part_keys, struct part_key, UP(kind) UP(text) UP(file) UP(key))

static bool is_used(const struct key_sum *sum)
{
	return sum->target_ns || sum->reference_ns || sum->target_nr || sum->reference_nr;
}

static void add_leaf(struct differential_build *b, struct differential_part *part, uint32_t key)
{
	struct differential *d = b->d;
	const struct key_sum *sum = &b->sums[key];
	struct differential_leaf leaf = {
		.key = key, .target_ns = sum->target_ns, .reference_ns = sum->reference_ns,
		.target_nr = (double)sum->target_nr / d->target.nr,
		.reference_nr = (double)sum->reference_nr / d->reference.nr,
	};

	d->leaves[d->nr_leaves++] = leaf;
	part->nr++;
	part->target_ns += leaf.target_ns;
	part->reference_ns += leaf.reference_ns;
	part->target_nr += leaf.target_nr;
	part->reference_nr += leaf.reference_nr;
}

static void open_part(struct differential_build *b, const struct part_key *k)
{
	struct differential *d = b->d;
	const struct category *category = b->o->categories ?
		categories_find(b->o->categories, categories_kind(k->kind, k->lock_kind),
				*k->label ? k->label : k->where) : NULL;

	d->parts[d->nr_parts++] = (struct differential_part){
		.kind = k->kind, .label = k->label, .where = k->where, .first = d->nr_leaves,
		.category = category ? category->name : "", .advice = category ? category->advice : "",
	};
}

/*
 * Finds each key's part.  Parts of requests outside of both slices are added, too, because they
 * have a share of the variance.
 */
static int aggregate_parts(struct differential_build *b)
{
	struct differential *d = b->d;
	struct part_key *order = calloc(b->nr_keys + 1, sizeof(*order));

	d->parts = calloc(b->nr_keys + 1, sizeof(*d->parts));
	d->leaves = calloc(b->nr_keys + 1, sizeof(*d->leaves));
	if (!order || !d->parts || !d->leaves) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < b->nr_keys; i++)
		order[i] = part_key_of(&d->keys, i);
	qsort(order, b->nr_keys, sizeof(*order), compare_part_keys);
	for (size_t i = 0; i < b->nr_keys; i++) {
		const struct part_key *k = &order[i];

		if (!i || k->kind != k[-1].kind || k->text != k[-1].text || k->file != k[-1].file)
			open_part(b, k);
		b->sums[k->key].part = d->nr_parts - 1;
		if (is_used(&b->sums[k->key]))
			add_leaf(b, &d->parts[d->nr_parts - 1], k->key);
	}
	free(order);
	return 0;
}

/* Cov(x, latency) and Var(latency) are sums of x * (latency - mean), up to the same factor. */
static void add_shares(struct differential_build *b)
{
	const struct run *run = b->target.run;
	double mean = 0, variance = 0;

	for (size_t i = 0; i < run->nr; i++)
		mean += (double)run->sorted[i] / run->nr;
	for (size_t i = 0; i < run->nr; i++) {
		const struct request *request = &run->p->requests[run->requests[i]];
		const struct share *share = &run->p->shares[request->first];
		double off = request->latency_ns - mean;

		variance += off * request->latency_ns;
		for (uint32_t k = 0; k < request->nr_shares; k++, share++)
			b->d->parts[b->sums[run->map.leaves[share->leaf]].part].share +=
				off * share->ns;
	}
	b->d->has_shares = run->sorted[0] != run->sorted[run->nr - 1];
	for (size_t i = 0; i < b->d->nr_parts; i++)
		b->d->parts[i].share = b->d->has_shares ? b->d->parts[i].share / variance : 0;
}

static int64_t size_of(int64_t diff)
{
	return diff < 0 ? -diff : diff;
}

static int compare_parts(const void *pa, const void *pb)
{
	const struct differential_part *a = pa, *b = pb;
	int64_t of_a = size_of(differential_ns(a)), of_b = size_of(differential_ns(b));

	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	/* Parts with equal differences and shares are in the order of their leaves. */
	return a->first < b->first ? -1 : a->first > b->first;
}

static int compare_leaves(const void *pa, const void *pb)
{
	const struct differential_leaf *a = pa, *b = pb;
	int64_t of_a = size_of(a->target_ns - a->reference_ns);
	int64_t of_b = size_of(b->target_ns - b->reference_ns);

	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

static int sort_parts(struct differential_build *b)
{
	struct differential *d = b->d;
	uint32_t *now = calloc(d->nr_parts + 1, sizeof(*now));
	struct differential_leaf *leaves = calloc(d->nr_leaves + 1, sizeof(*leaves));
	size_t nr = 0;

	if (!now || !leaves) {
		free(now);
		free(leaves);
		return -ENOMEM;
	}
	/*
	 * Intervals are computed later; here diff.lo_ns has the part's number before it is sorted.
	 */
	for (size_t i = 0; i < d->nr_parts; i++)
		d->parts[i].diff.lo_ns = i;
	qsort(d->parts, d->nr_parts, sizeof(*d->parts), compare_parts);
	for (size_t i = 0; i < d->nr_parts; i++) {
		struct differential_part *part = &d->parts[i];

		now[part->diff.lo_ns] = i;
		part->diff.lo_ns = 0;
		memcpy(leaves + nr, d->leaves + part->first, part->nr * sizeof(*leaves));
		qsort(leaves + nr, part->nr, sizeof(*leaves), compare_leaves);
		part->first = nr;
		nr += part->nr;
	}
	for (size_t i = 0; i < b->nr_keys; i++)
		b->sums[i].part = now[b->sums[i].part];
	free(now);
	free(d->leaves);
	d->leaves = leaves;
	return 0;
}

/* Leaves out the last parts that are 0, or less than 1/4000 of the biggest one. */
static void cut_shown(struct differential *d)
{
	while (d->nr_shown) {
		int64_t least = size_of(differential_ns(&d->parts[d->nr_shown - 1]));

		if (least && least >= size_of(differential_ns(&d->parts[0])) / 4000)
			break;
		d->nr_shown--;
	}
}

static void sum_others(struct differential *d)
{
	d->others = (struct differential_part){
		.kind = LEAF_UNKNOWN, .label = "", .where = "", .category = "", .advice = "",
	};
	for (size_t i = d->nr_shown; i < d->nr_parts; i++) {
		d->others.target_ns += d->parts[i].target_ns;
		d->others.reference_ns += d->parts[i].reference_ns;
		d->others.share += d->parts[i].share;
	}
}

static void close_runs(struct differential_build *b)
{
	for (size_t i = 0; i < b->nr_runs; i++) {
		leafkey_map_free(&b->runs[i].map);
		free(b->runs[i].requests);
		free(b->runs[i].rank);
		free(b->runs[i].sorted);
	}
	free(b->sums);
}

int differential_build(const struct differential_options *o, struct differential *d)
{
	struct differential_build b = { .d = d, .o = o };
	int ret;

	*d = (struct differential){
		.nr_resamples = o->nr_resamples ? o->nr_resamples : BOOTSTRAP_RESAMPLES,
	};
	ret = open_slices(&b);
	if (!ret)
		ret = add_sums(&b);
	if (!ret)
		ret = divide(&b);
	if (!ret)
		ret = aggregate_parts(&b);
	if (!ret) {
		add_shares(&b);
		ret = sort_parts(&b);
	}
	if (!ret) {
		d->nr_shown = o->nr_shown < d->nr_parts ? o->nr_shown : d->nr_parts;
		if (d->nr_shown > DIFFERENTIAL_SHOWN_MAX)
			d->nr_shown = DIFFERENTIAL_SHOWN_MAX;
		cut_shown(d);
		sum_others(d);
		ret = differential_resample(&b);
	}
	close_runs(&b);
	if (ret)
		differential_free(d);
	return ret;
}

void differential_free(struct differential *d)
{
	free(d->parts);
	free(d->leaves);
	leafkeys_free(&d->keys);
	*d = (struct differential){ 0 };
}
