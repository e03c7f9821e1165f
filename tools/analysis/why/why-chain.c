// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows the first cause of a request: from a wait to the holder of the lock and to what blocked
 * the holder, by the timeline of the request; from a queue to the request that was ahead.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/partition/partition-private.h"
#include "analysis/timeline/timeline.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "facts/instances.h"
#include "facts/ticks.h"
#include "symbol/demangle.h"
#include "categories.h"
#include "why-private.h"

/* bytes of rows that are retained, because many timelines are close to each other and share rows */
#define RETAINED_BYTES	(32U << 20)

struct wanted {				/* a request whose timeline is needed */
	uint64_t id;
	int64_t start;
	struct why_target *target;	/* the target that it helps to explain */
	/*
	 * the request that was ahead of the target; ns 0: there is none, and the timeline is that
	 * of the target
	 */
	struct ahead ahead;
	struct instance instance;
	bool is_found;
};

struct chains {
	struct why *w;
	struct wanted *wanted;		/* sorted by id and start */
	size_t nr_wanted;
	bool has_all;			/* chains of all amounts are followed */
	struct categories *categories;	/* NULL: none */
	/* cache: the function that was looked up last, and the I/O that it calls */
	const struct symbol *io_of;
	char io[128];
	int ret;
};

COMPARE(wanted_compare, struct wanted, UP(id) UP(start))

/*
 * Several requests may have been behind the same request; each gets a copy of that request
 * instance.
 */
static int copy_instance(struct wanted *to, const struct instance *instance)
{
	to->instance = *instance;
	to->instance.parts = malloc((instance->nr_parts + 1) * sizeof(*instance->parts));
	if (!to->instance.parts)
		return -ENOMEM;
	if (instance->nr_parts)
		memcpy(to->instance.parts, instance->parts, instance->nr_parts * sizeof(*instance->parts));
	to->is_found = true;
	return 0;
}

static int on_instance(void *arg, struct instance *instance)
{
	struct chains *k = arg;
	struct wanted key = { .id = instance->id, .start = instance->start }, *found;
	int ret = 0;

	found = bsearch(&key, k->wanted, k->nr_wanted, sizeof(key), wanted_compare);
	if (!found || !instance->is_complete)
		return 0;
	while (found > k->wanted && !wanted_compare(&found[-1], &key))
		found--;
	for (; found < k->wanted + k->nr_wanted && !wanted_compare(found, &key) && !ret; found++)
		if (!found->is_found)
			ret = copy_instance(found, instance);
	return ret;
}

/* Returns the partition's only copy of that text; "": out of memory. */
static const char *chain_text(struct chains *k, const char *text)
{
	const char *found = partition_intern((struct partition *)k->w->p, text);

	if (!found)
		k->ret = -ENOMEM;
	return found ? found : "";
}

static void on_call(void *arg, const char *raw)
{
	struct chains *k = arg;
	const struct category *category;
	char *name;

	if (*k->io)
		return;
	name = demangle_name(raw);
	category = name ? categories_find(k->categories, "function", name) : NULL;
	if (category && (!strcmp(category->name, "Storage") || !strcmp(category->name, "Network")))
		snprintf(k->io, sizeof(k->io), "%s", name);
	free(name);
}

/*
 * Adds a link if the code of the function at the end of the chain may call I/O.  Writing to a file
 * is mostly time on the CPU, in an uninstrumented library, so the recording does not distinguish it
 * from computing.
 */
static void add_calls(struct chains *k, struct chain *chain)
{
	const struct chain_link *root = chain_root(chain);
	size_t after = root - chain->links + 1;
	struct chain_link calls;

	if (root == chain->links || !root->func || !k->categories || chain->nr == CHAIN_LINKS_MAX)
		return;
	if (root->func != k->io_of) {
		k->io_of = root->func;
		*k->io = '\0';
		symtab_calls(k->w->p->m->symtab, root->func, on_call, k);
	}
	if (!*k->io)
		return;
	chain_add(chain, LINK_CALLS, chain_text(k, k->io), 0, EDGE_CODE);
	calls = chain->links[chain->nr - 1];
	/* It is not known how much of the time this took. */
	calls.confidence = 0;
	memmove(&chain->links[after + 1], &chain->links[after],
		(chain->nr - 1 - after) * sizeof(*chain->links));
	chain->links[after] = calls;
}

/*
 * Returns for how long wait s, if it is the only one of cause c, lasted in the time of r; INT64_MAX
 * if there is none, or several.
 */
static int64_t overlap_ns(const struct chains *k, const struct request *r, const struct timeline_cause *c,
			  const struct segment *s)
{
	int64_t start, end;

	if (!s || c->nr > 1)
		return INT64_MAX;
	start = max(s->start, r->start);
	end = min(s->end, r->end);
	return end > start ? ticks_ns(k->w->p->m->reader, end - start) : 0;
}

/*
 * Adds the biggest cause of the request ahead of r that lasted in the time of r and is on a thread,
 * with at most `ns`.
 */
static void add_busy(struct chains *k, struct chain *chain, const struct timeline *t, const struct request *r,
		     int64_t ns)
{
	for (size_t i = 0; i < t->nr_causes; i++) {
		const struct timeline_cause *c = &t->causes[i];
		const struct segment *s = c->wait ? c->wait : c->off;
		char label[PARTITION_LABEL_MAX] = "";
		enum leaf_kind kind = LEAF_FUNCTION;
		struct chain_link *link;
		bool is_stolen = c->kind == LEAF_STOLEN, has_call;

		if (c->in_queue || c->kind == LEAF_QUEUE || c->kind == LEAF_BEHIND || c->kind == LEAF_UNKNOWN ||
		    c->kind == LEAF_IRQ || (!s && !c->func && !is_stolen) || !overlap_ns(k, r, c, s))
			continue;
		if (s)
			kind = partition_label(s, label);
		else if (is_stolen)
			kind = LEAF_STOLEN;
		has_call = kind == LEAF_IO || kind == LEAF_SLEEP;
		link = chain_add(chain, kind, has_call && c->func ? c->func->function : chain_text(k, label),
				 min(min(c->ns, ns), overlap_ns(k, r, c, s)),
				 kind == LEAF_LOCK ? EDGE_SHIM : s || is_stolen ? EDGE_RUNNING : EDGE_SCANNER);
		link->call = has_call ? chain_text(k, label) : "";
		link->resolution_ns = c->resolution_ns;
		link->lock_kind = s && kind == LEAF_LOCK ? s->lock_kind : 0;
		if (!s && !is_stolen)
			chain_set_function(k->w->p->m, link, c->func);
		return;
	}
}

static void chain_behind(struct chains *k, struct chain *chain, const struct wanted *at,
			 const struct timeline *timeline)
{
	const struct why_amount *first = &at->target->amounts[0];
	char text[32];

	chain_add(chain, LEAF_BEHIND, k->w->causes[first->cause].label, first->ns, EDGE_TAG);
	if (!at->ahead.ns)
		return;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)at->ahead.id);
	chain_add(chain, LINK_REQUEST, chain_text(k, text), at->ahead.ns, EDGE_TAG)->tid = at->target->request->tid;
	add_busy(k, chain, timeline, at->target->request, at->ahead.ns);
}

static bool is_in_queue(const struct partition *p, uint32_t path)
{
	while (path && p->paths[path].parent)
		path = p->paths[path].parent;
	return path_is_queue(&p->paths[path]);
}

/*
 * Returns true if cause t of the timeline is the same as cause c.  Names are interned, so pointers
 * are compared.
 */
static bool is_cause(struct chains *k, const struct timeline_cause *t, const struct why_cause *c)
{
	if (t->kind != c->kind || t->in_queue != is_in_queue(k->w->p, c->path) || !(t->wait || t->off))
		return false;
	if (c->kind == LEAF_QUEUE)
		return true;
	if (c->kind == LEAF_FUNCTION)
		return t->func && !strcmp(t->func->function, c->label);
	if (c->kind == LEAF_IO || c->kind == LEAF_SLEEP)
		return chain_text(k, t->label) == c->call;
	return c->kind == LEAF_THROTTLED || chain_text(k, t->label) == c->label;
}

static const struct timeline_cause *find_cause(struct chains *k, const struct timeline *timeline,
					       const struct why_cause *c)
{
	for (size_t i = 0; i < timeline->nr_causes; i++)
		if (is_cause(k, &timeline->causes[i], c))
			return &timeline->causes[i];
	return NULL;
}

static void set_chain(struct chains *k, const struct why_target *t, size_t n, const struct chain *chain)
{
	struct why_private *p = k->w->private;

	p->amounts[t->amounts - p->amounts + n].chain = chain;
}

/* Follows the other causes of the request. */
static int chain_others(struct chains *k, const struct why_target *t, const struct timeline *timeline)
{
	struct why_private *p = k->w->private;

	for (size_t n = 1; n < t->nr_amounts; n++) {
		const struct why_cause *c = &k->w->causes[t->amounts[n].cause];
		const struct timeline_cause *found = find_cause(k, timeline, c);
		struct chain *chain;

		if (!found || !found->chain || c->kind == LEAF_BEHIND)
			continue;
		chain = malloc(sizeof(*chain));
		if (!chain || array_push(p->more_chains, p->nr_more_chains, p->room_more_chains, chain)) {
			free(chain);
			return -ENOMEM;
		}
		*chain = *found->chain;
		chain->links[0].ns = t->amounts[n].ns;
		set_chain(k, t, n, chain);
	}
	return 0;
}

static void chain_target(struct chains *k, const struct wanted *at, const struct timeline *timeline,
			 struct chain *chain)
{
	struct why_target *t = at->target;
	const struct why_cause *c = &k->w->causes[t->amounts[0].cause];
	int64_t ns = t->amounts[0].ns;
	const struct timeline_cause *found = find_cause(k, timeline, c);
	const struct symbol *func = k->w->p->paths[c->path].func;
	struct chain_link *link;

	if (c->kind == LEAF_BEHIND) {
		chain_behind(k, chain, at, timeline);
	} else if (found && found->chain) {
		*chain = *found->chain;
		chain->links[0].ns = ns;
		add_calls(k, chain);
	} else {
		link = chain_add(chain, why_cause_kind(c), c->label, ns, EDGE_SCANNER);
		if (func) {
			chain_set_function(k->w->p->m, link, func);
			link->label = c->label;
		}
		link->resolution_ns = t->request->resolution_ns;
	}
}

static void set_root(struct why *w, struct why_target *t)
{
	const struct why_cause *c = &w->causes[t->amounts[0].cause];
	const struct chain_link *last = t->chain && t->chain->nr ? chain_root(t->chain) : NULL;

	t->root = last ? last->kind : why_cause_kind(c);
	t->root_label = last ? last->label : c->label;
	if (t->root == LINK_HELD_BY || t->root == LINK_WOKEN_BY)
		t->root = LEAF_FUNCTION;
}

/*
 * Returns true if a timeline may explain more than the partition.  Building one takes milliseconds,
 * so this is tested first.
 */
static bool needs_timeline(const struct chains *k, const struct why_target *t)
{
	size_t nr = k->has_all ? t->nr_amounts : 1;

	for (size_t n = 0; n < nr; n++) {
		const struct why_cause *c = &k->w->causes[t->amounts[n].cause];
		enum leaf_kind kind = c->kind;

		if (kind == LEAF_FUNCTION ? is_in_queue(k->w->p, c->path) : kind != LEAF_IRQ && kind != LEAF_UNKNOWN)
			return true;
	}
	return false;
}

static int follow(struct chains *k, struct wanted *at, struct chain *chain)
{
	struct timeline timeline = { .nr_causes = 0 };
	bool is_needed = at->ahead.ns || needs_timeline(k, at->target);
	int ret = 0;

	if (!at->is_found)
		return 0;
	if (is_needed)
		ret = timeline_build_siteless(k->w->p->m, &at->instance, &timeline);
	if (ret)
		return ret;
	chain_target(k, at, &timeline, chain);
	if (k->has_all && !at->ahead.ns)
		ret = chain_others(k, at->target, &timeline);
	if (is_needed)
		timeline_free(&timeline);
	if (chain->nr) {
		at->target->chain = chain;
		set_chain(k, at->target, 0, chain);
		k->w->nr_chains++;
	}
	return ret ? ret : k->ret;
}

/*
 * Chooses the timeline that explains most: the one of the request itself, or of the request ahead
 * of it.
 */
static int want(struct chains *k, struct why_target *t)
{
	const struct why_cause *c = &k->w->causes[t->amounts[0].cause];
	struct wanted *at = &k->wanted[k->nr_wanted++];
	const struct request *r = t->request;
	int ret;

	*at = (struct wanted){ .target = t, .id = r->id, .start = r->start };
	if (c->kind != LEAF_BEHIND)
		return 0;
	ret = ahead_find(k->w->p, r, c->label, &at->ahead);
	if (at->ahead.ns) {
		at->id = at->ahead.id;
		at->start = at->ahead.start;
	}
	return ret;
}

static int find_instances(struct chains *k)
{
	uint64_t *ids = calloc(k->nr_wanted + 1, sizeof(*ids));
	struct instances_result result;
	int ret;

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < k->nr_wanted; i++)
		ids[i] = k->wanted[i].id;
	ret = instances_some(k->w->p->m, ids, k->nr_wanted, on_instance, k, &result);
	free(ids);
	return ret;
}

/* Retains rows of requests, because ahead_find() reads those in the time of each target. */
static int retain_requests(const struct why *w, size_t nr)
{
	struct reader_range *ranges = calloc(nr + 1, sizeof(*ranges));
	int ret = -ENOMEM;

	for (size_t i = 0; i < nr && ranges; i++)
		ranges[i] = (struct reader_range){ w->targets[i].request->start, w->targets[i].request->end };
	if (ranges)
		ret = reader_retain(w->p->m->reader, LDB_BLK_REQ, ranges, nr);
	free(ranges);
	return ret;
}

static int follow_all(struct chains *k)
{
	struct model *m = k->w->p->m;
	struct instance *instances = calloc(k->nr_wanted + 1, sizeof(*instances));
	uint32_t *order = NULL;
	int ret = -ENOMEM;

	for (size_t i = 0; i < k->nr_wanted && instances; i++)
		instances[i] = k->wanted[i].instance;
	if (instances && !reader_retain_begin(m->reader, RETAINED_BYTES))
		order = timelines_begin(m, instances, k->nr_wanted);
	if (order)
		ret = 0;
	for (size_t i = 0; i < k->nr_wanted && !ret; i++)
		ret = follow(k, &k->wanted[order[i]], &k->w->private->chains[i]);
	timelines_end(m);
	free(order);
	free(instances);
	return ret;
}

int chains_build(struct why *w, const struct why_options *o)
{
	struct chains k = { .w = w, .categories = o->categories, .has_all = o->has_all_chains };
	size_t nr = o->nr_chains < w->nr_targets ? o->nr_chains : w->nr_targets;
	int ret = -ENOMEM;

	k.wanted = calloc(nr + 1, sizeof(*k.wanted));
	w->private->chains = calloc(nr + 1, sizeof(*w->private->chains));
	if (k.wanted && w->private->chains)
		ret = retain_requests(w, nr);
	for (size_t i = 0; i < nr && !ret; i++)
		if (w->targets[i].nr_amounts)
			ret = want(&k, &w->targets[i]);
	reader_retain_end(w->p->m->reader);
	if (!ret && k.nr_wanted) {
		qsort(k.wanted, k.nr_wanted, sizeof(*k.wanted), wanted_compare);
		ret = find_instances(&k);
	}
	if (!ret)
		ret = follow_all(&k);
	for (size_t i = 0; i < k.nr_wanted; i++)
		instance_free(&k.wanted[i].instance);
	for (size_t i = 0; i < w->nr_targets && !ret; i++) {
		struct why_target *t = &w->targets[i];
		struct why_cause *c = t->nr_amounts ? &w->causes[t->amounts[0].cause] : NULL;

		if (!c)
			continue;
		set_root(w, t);
		if (!c->chain)
			c->chain = t->chain;
	}
	free(k.wanted);
	return ret;
}
