// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the causes of one request's deviation (NSight, section 4.2, "anomaly disambiguation").
 *
 * A parent is compared with the amounts already explained below it, not with its children's own
 * deviations as in NSight.  So unexplained parts do not add up from level to level, and at least
 * options.explain of each deviation above the noise is explained.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/partition/partition-private.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "categories.h"
#include "why-private.h"

struct explanation {
	struct why *w;
	const struct why_options *o;
	struct why_target *target;
	const struct reference *ref;
	int ret;
};

static int64_t deviation(const struct explanation *e, uint32_t n)
{
	return e->w->private->tree.nodes[n].ns - e->ref->nodes[n].median_ns;
}

static const struct leaf *leaf_of(const struct explanation *e, uint32_t n)
{
	const struct partition *p = e->w->p;

	return n < p->nr_paths ? NULL : &p->leaves[n - p->nr_paths];
}

/*
 * Returns the deviation up to which a node may deviate by chance, or because of the resolution of a
 * function's time.  The resolution of callees is not added to that of their caller: time that they
 * do not explain is attributed to the caller.
 */
static int64_t noise(const struct explanation *e, uint32_t n)
{
	const struct leaf *leaf = leaf_of(e, n);
	int64_t floor = e->ref->nodes[n].mad_ns;

	if (leaf && leaf->kind == LEAF_FUNCTION && e->target->request->noise_ns > floor)
		floor = e->target->request->noise_ns;
	return floor;
}

static bool is_usual(const struct explanation *e, uint32_t n)
{
	return 2 * e->ref->nodes[n].nr_present >= e->ref->nr;
}

/*
 * Returns true if the node is rarely observed in the reference.  A function that is usually
 * observed without self time is not rare, nor is a short one that is observed only in some
 * requests.
 */
static bool is_rare(const struct explanation *e, uint32_t n)
{
	const struct leaf *leaf = leaf_of(e, n);
	uint32_t nr = e->ref->nodes[n].nr_present, nr_path = leaf ? e->ref->nodes[leaf->path].nr_present : 0;

	return (nr > nr_path ? nr : nr_path) * RARE_PART < e->ref->nr;
}

/*
 * Returns whether the deviation of a function is mostly due to more calls, or to slower ones, or
 * whether the function is unexpected because it is rare in the reference.
 */
static enum anomaly function_anomaly(const struct explanation *e, uint32_t n)
{
	const struct node *node = &e->w->private->tree.nodes[n];
	const struct node_reference *ref = &e->ref->nodes[n];
	double usual, more;

	if (is_rare(e, n))
		return ANOMALY_UNEXPECTED;
	if (!node->nr || !ref->median_nr || node->nr <= ref->median_nr)
		return ANOMALY_SLOWER;
	usual = (double)node->ns / node->nr;
	more = ((double)node->nr - ref->median_nr) * usual;
	return 2 * more > (double)deviation(e, n) ? ANOMALY_MORE : ANOMALY_SLOWER;
}

static enum anomaly anomaly_of(const struct explanation *e, uint32_t n)
{
	const struct leaf *leaf = leaf_of(e, n);
	enum anomaly anomaly;

	if (!leaf || leaf->kind == LEAF_FUNCTION)
		return function_anomaly(e, n);
	anomaly = leaf_kinds[leaf->kind].anomaly;
	return anomaly == ANOMALY_CONTEXT && is_usual(e, n) ? ANOMALY_GAP : anomaly;
}

/* Causes: one for each kind and name, whatever the path */

struct cause_key {
	enum leaf_kind kind;
	bool has_faults;
	const char *label, *call;	/* interned by the partition */
	const char *file;		/* the file of a function; interned by the symtab */
};

static enum leaf_kind inner_kind(const struct partition *p, uint32_t path)
{
	if (p->paths[path].func)
		return LEAF_FUNCTION;
	return path_is_queue(&p->paths[path]) ? LEAF_QUEUE : LEAF_UNKNOWN;
}

static bool faults_explain(int64_t nr, int64_t ns)
{
	return nr * (nr >= FAULTS_MANY ? FAULT_NS_MANY : FAULT_NS_MAX) >= ns;
}

static struct cause_key key_of(const struct explanation *e, uint32_t n)
{
	const struct partition *p = e->w->p;
	const struct leaf *leaf = leaf_of(e, n);
	struct node *node = &e->w->private->tree.nodes[n];
	uint32_t path = leaf ? leaf->path : n;
	struct cause_key key = { .kind = leaf ? leaf->kind : inner_kind(p, n), .call = "", .file = "" };
	int64_t usual = e->ref->nr ? e->ref->nodes[n].nr_faults / (int64_t)e->ref->nr : 0;

	key.label = !leaf || key.kind == LEAF_FUNCTION || key.kind == LEAF_IO || key.kind == LEAF_SLEEP ||
		    key.kind == LEAF_QUEUE ? path_name(p, path) : leaf->label;
	if (key.kind == LEAF_IO || key.kind == LEAF_SLEEP)
		key.call = leaf->label;
	if (key.kind == LEAF_FUNCTION && p->paths[path].func)
		key.file = p->paths[path].func->func_file;
	key.has_faults = key.kind == LEAF_FUNCTION && node->nr_faults > usual &&
			 faults_explain(node->nr_faults - usual, deviation(e, n));
	return key;
}

static uint64_t hash_key(const struct cause_key *key)
{
	uint64_t hash = hash_mix((uintptr_t)key->label, (uintptr_t)key->file);

	return hash_mix(hash_mix(hash, (uintptr_t)key->call), 2 * key->kind + key->has_faults);
}

static struct cause_key key_of_cause(const struct why *w, const struct why_cause *c)
{
	const struct symbol *func = w->p->paths[c->path].func;

	return (struct cause_key){ c->kind, c->has_faults, c->label, c->call,
				   c->kind == LEAF_FUNCTION && func ? func->func_file : "" };
}

static bool same_key(const struct cause_key *a, const struct cause_key *b)
{
	/*
	 * The texts of labels are compared, because names of functions belong to the symtab and
	 * others to the partition.
	 */
	return a->kind == b->kind && a->has_faults == b->has_faults && a->file == b->file &&
	       a->call == b->call && !strcmp(a->label, b->label);
}

static void set_category(const struct explanation *e, struct why_cause *c)
{
	const struct category *category = NULL;

	c->category = c->advice = "";
	if (e->o->categories && *c->call)
		category = categories_find(e->o->categories, "syscall", c->call);
	if (e->o->categories && !category)
		category = categories_find(e->o->categories, categories_kind(c->kind, c->lock_kind), c->label);
	if (category) {
		c->category = category->name;
		c->advice = category->advice;
	}
}

/* Returns NO_NODE if there is no memory. */
static uint32_t get_cause(struct explanation *e, uint32_t n)
{
	struct why *w = e->w;
	struct why_private *k = w->private;
	const struct leaf *leaf = leaf_of(e, n);
	struct cause_key key = key_of(e, n);
	uint64_t hash = hash_key(&key);
	struct why_cause *c;
	uint32_t i;

	hash_each(&k->by_key, hash, i) {
		struct cause_key at = key_of_cause(w, &w->causes[i]);

		if (same_key(&key, &at))
			return i;
	}
	if (!array_room(&w->causes, &k->room_causes, w->nr_causes, sizeof(*w->causes)) ||
	    !array_room(&k->by_anomaly, &k->room_by_anomaly, w->nr_causes, sizeof(*k->by_anomaly)) ||
	    hash_add(&k->by_key, hash, w->nr_causes))
		return NO_NODE;
	c = &w->causes[w->nr_causes];
	*c = (struct why_cause){
		.kind = key.kind, .path = leaf ? leaf->path : n,
		.leaf = leaf ? (uint32_t)(leaf - w->p->leaves) : UINT32_MAX,
		.label = key.label, .call = key.call, .has_faults = key.has_faults,
		.lock_kind = leaf ? leaf_lock(w->p, leaf)->kind : 0,
		.reference_ns = e->ref->nodes[n].median_ns,
	};
	memset(&k->by_anomaly[w->nr_causes], 0, sizeof(k->by_anomaly[0]));
	set_category(e, c);
	return w->nr_causes++;
}

static void add_amount(struct explanation *e, uint32_t n, int64_t ns)
{
	struct why_private *k = e->w->private;
	uint32_t cause = get_cause(e, n), nr = k->tree.nodes[n].nr;
	uint32_t usual = e->ref->nodes[n].median_nr;
	struct why_amount *a = NULL;

	if (cause == NO_NODE) {
		e->ret = -ENOMEM;
		return;
	}
	for (size_t i = k->nr_amounts - e->target->nr_amounts; i < k->nr_amounts && !a; i++)
		if (k->amounts[i].cause == cause)
			a = &k->amounts[i];
	if (!a) {
		if (array_push(k->amounts, k->nr_amounts, k->room_amounts, { .cause = cause })) {
			e->ret = -ENOMEM;
			return;
		}
		a = &k->amounts[k->nr_amounts - 1];
		e->target->nr_amounts++;
	}
	a->ns += ns;
	a->nr_more += nr > usual ? nr - usual : 0;
	ticks_add(&k->by_anomaly[cause][anomaly_of(e, n)], ns);
}

/* Returns how much of the node's deviation is explained by the node or below it. */
static int64_t explain(struct explanation *e, uint32_t n)
{
	const struct leaf *leaf = leaf_of(e, n);
	int64_t d = deviation(e, n), below = 0, children = 0;

	if (e->ret || d <= 0 || d < noise(e, n))
		return 0;
	if (leaf) {
		add_amount(e, n, d);
		return d;
	}
	for (uint32_t c = e->w->private->tree.nodes[n].first_child; c != NO_NODE;
	     c = e->w->private->tree.nodes[c].sibling) {
		int64_t own = deviation(e, c);

		below += explain(e, c);
		children += own > 0 && own >= noise(e, c) ? own : 0;
	}
	if ((double)(e->o->is_strict ? children : below) > e->o->explain * (double)d)
		return below;
	/* For the root of the tree, which is no function and no queue, this is a cause UNKNOWN. */
	if (below < d)
		add_amount(e, n, d - below);
	return below < d ? d : below;
}

COMPARE(amount_compare, struct why_amount, DOWN(ns) UP(cause))

int explain_target(struct why *w, const struct why_options *o, struct why_target *target)
{
	struct why_private *k = w->private;
	struct explanation e = { w, o, target, &k->references[target->request->class], 0 };
	int64_t explained = 0;
	size_t first = k->nr_amounts;

	tree_fill(&k->tree, target->request);
	explain(&e, 0);
	if (e.ret)
		return e.ret;
	if (target->nr_amounts)
		qsort(k->amounts + first, target->nr_amounts, sizeof(*k->amounts), amount_compare);
	for (size_t i = first; i < k->nr_amounts; i++)
		explained += w->causes[k->amounts[i].cause].kind == LEAF_UNKNOWN ? 0 : k->amounts[i].ns;
	target->coverage = target->deviation_ns > 0 ? (double)explained / (double)target->deviation_ns : 1;
	for (uint32_t i = 0; i < target->request->nr_shares; i++) {
		const struct share *s = &w->p->shares[target->request->first + i];
		const struct leaf *leaf = &w->p->leaves[s->leaf];

		if (leaf->kind != LEAF_UNKNOWN)
			continue;
		target->unknown_ns += s->ns;
		if (!strcmp(leaf->label, PARTITION_UNOBSERVED))
			target->unobserved_ns += s->ns;
	}
	return 0;
}
