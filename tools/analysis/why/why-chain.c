// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows the first cause of a request: from a wait to the holder of the lock, to what blocked
 * that, as far as the timeline of the request knows it; from a queue to the request that was
 * ahead.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/partition/partition-private.h"
#include "analysis/timeline/timeline.h"
#include "base/sort.h"
#include "facts/lives.h"
#include "facts/lockset.h"
#include "facts/ticks.h"
#include "symbol/demangle.h"
#include "categories.h"
#include "why-private.h"

#define AHEAD_MAX	20000	/* requests before and after one that are searched for the one ahead of it */
#define RETAINED_BLOCKS	8	/* a timeline takes two of FUNC rows, and one each of four kinds */

struct wanted {				/* a request whose instance is needed */
	uint64_t id;
	int64_t start;
	struct why_target *target;	/* whom it helps to explain */
	const struct request *ahead;	/* NULL: itself; else the one it was behind, */
	int64_t ahead_ns;		/* for so long */
	struct life life;
	bool is_found;
};

struct chains {
	struct why *w;
	struct wanted *wanted;		/* by id, start */
	size_t nr_wanted;
	struct categories *categories;	/* NULL: none */
	const struct symbol *io_of;	/* the function asked for last, and the I/O that it calls */
	char io[128];
	struct why_link unseen;
	int ret;
};

COMPARE(wanted_compare, struct wanted, UP(id) UP(start))

/* Several requests may have been behind the same one: each gets a copy of it. */
static int copy_life(struct wanted *to, const struct life *life)
{
	to->life = *life;
	to->life.parts = malloc((life->nr_parts + 1) * sizeof(*life->parts));
	if (!to->life.parts)
		return -ENOMEM;
	if (life->nr_parts)
		memcpy(to->life.parts, life->parts, life->nr_parts * sizeof(*life->parts));
	to->is_found = true;
	return 0;
}

static int on_life(void *arg, struct life *life)
{
	struct chains *k = arg;
	struct wanted key = { .id = life->id, .start = life->start }, *found;
	int ret = 0;

	found = bsearch(&key, k->wanted, k->nr_wanted, sizeof(key), wanted_compare);
	if (!found || !life->is_complete)
		return 0;
	while (found > k->wanted && !wanted_compare(&found[-1], &key))
		found--;
	for (; found < k->wanted + k->nr_wanted && !wanted_compare(found, &key) && !ret; found++)
		if (!found->is_found)
			ret = copy_life(found, life);
	return ret;
}

/* Links */

/* Returns the partition's only copy of that text; "": out of memory. */
static const char *chain_text(struct chains *k, const char *text)
{
	const char *found = partition_intern((struct partition *)k->w->p, text);

	if (!found)
		k->ret = -ENOMEM;
	return found ? found : "";
}

/* A chain that is full returns a link, too, but that is not shown. */
static struct why_link *add_link(struct chains *k, struct why_chain *chain, unsigned kind,
				 const char *label, int64_t ns, enum edge_source source)
{
	const struct why_link *last = chain->nr ? &chain->links[chain->nr - 1] : NULL;
	struct why_link *link = chain->nr < WHY_CHAIN_MAX ? &chain->links[chain->nr++] : &k->unseen;

	*link = (struct why_link){
		.kind = kind, .label = chain_text(k, label), .call = "", .file = "", .thread = "",
		.ns = ns, .source = source,
		.confidence = last && last->ns > ns ? (double)ns / (double)last->ns : 1,
	};
	return link;
}

static void set_place(struct chains *k, struct why_link *link, const struct symbol *func)
{
	const char *base;
	char text[256];

	if (!func || !*func->func_file)
		return;
	base = strrchr(func->func_file, '/');
	snprintf(text, sizeof(text), "%s:%u", base ? base + 1 : func->func_file, func->func_line);
	link->file = chain_text(k, text);
}

static void set_thread(struct chains *k, struct why_link *link, const struct segment *s)
{
	link->tid = s->tid;
	link->thread = chain_text(k, model_thread_name(s->thread));
}

/* Adds what a thread executed while another one waited for what it held. */
static void add_function(struct chains *k, struct why_chain *chain, const struct segment *func,
			 const struct segment *meanwhile)
{
	struct why_link *link = add_link(k, chain, LEAF_FUNCTION, func->func->function,
					 segment_overlap_ns(func, meanwhile), EDGE_SCANNER);

	set_thread(k, link, func);
	set_place(k, link, func->func);
	link->resolution_ns = func->resolution_ns;
}

/*
 * Adds the holder, where the lock was taken, or which thread ended the wait; and what was
 * executed then.
 */
static void add_holder(struct chains *k, struct why_chain *chain, const struct segment *wait,
		       const struct segment *hold, const struct segment *func)
{
	const struct symbol *taker = hold->site ? hold->site : func ? func->func : NULL;
	enum edge_source source = hold->is_inferred ? (wait->owner ? EDGE_OWNER : EDGE_WAKER) :
				  wait->kind == SEGMENT_FUTEX_WAIT ? EDGE_FUTEX : EDGE_SHIM;
	const char *name = model_thread_name(hold->thread);
	struct why_link *link;

	link = add_link(k, chain, lock_kind_is_held(wait->lock_kind) ? LINK_HELD_BY : LINK_WOKEN_BY,
			taker ? taker->function : *name ? name : "a thread", segment_overlap_ns(wait, hold), source);
	set_thread(k, link, hold);
	set_place(k, link, taker);
	link->resolution_ns = hold->resolution_ns;
	if (func && strcmp(taker->function, func->func->function))
		add_function(k, chain, func, hold);
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
 * Writing to a file happens on the CPU, in an uninstrumented library: the recording does not
 * distinguish it from computing.  The code of the holder does.
 */
static void add_calls(struct chains *k, struct why_chain *chain, const struct symbol *func)
{
	if (!func || !k->categories)
		return;
	if (func != k->io_of) {
		k->io_of = func;
		*k->io = '\0';
		symtab_calls(k->w->p->m->symtab, func, on_call, k);
	}
	/* Returns how much of the time is not known. */
	if (*k->io)
		add_link(k, chain, LINK_CALLS, k->io, 0, EDGE_CODE)->confidence = 0;
}

/* A sleep that a thread ended, and not an interrupt, was a wait for that thread. */
static void add_waker(struct chains *k, struct why_chain *chain, const struct segment *sleep, int64_t ns,
		      const struct segment *func)
{
	const struct party *waker = sleep->sched ? &sleep->sched->waker : NULL;
	struct why_link *link;

	if (!waker || waker->kind != PARTY_TASK || waker->tid == sleep->tid || !waker->name || !*waker->name)
		return;
	link = add_link(k, chain, LINK_WOKEN_BY, waker->name, ns, EDGE_WAKER);
	link->tid = waker->tid;
	link->thread = link->label;
	if (func)
		add_function(k, chain, func, sleep);
}

/* Adds what prevented a thread from running. */
static void add_off(struct chains *k, struct why_chain *chain, const struct segment *off,
		    int64_t ns, const char *func, const struct segment *waker_func)
{
	char label[PARTITION_LABEL_MAX];
	enum leaf_kind kind = partition_label(off, label);
	enum edge_source source = kind == LEAF_RUNNABLE || kind == LEAF_PREEMPTED ? EDGE_OCCUPANT :
				  kind == LEAF_FUTEX ? EDGE_FUTEX : EDGE_WAKER;
	struct why_link *link;

	link = add_link(k, chain, kind, kind == LEAF_IO || kind == LEAF_SLEEP || !*label ? func : label,
			ns, source);
	set_thread(k, link, off);
	link->resolution_ns = off->resolution_ns;
	if (kind == LEAF_SLEEP || kind == LEAF_IO)
		link->call = chain_text(k, label);
	if (kind == LEAF_SLEEP)
		add_waker(k, chain, off, ns, waker_func);
}

static void add_wait(struct chains *k, struct why_chain *chain, const struct segment *wait, int64_t ns)
{
	char label[PARTITION_LABEL_MAX];
	enum leaf_kind kind = partition_label(wait, label);

	struct why_link *link = add_link(k, chain, kind, label, ns, kind == LEAF_LOCK ? EDGE_SHIM : EDGE_FUTEX);

	set_thread(k, link, wait);
	link->lock_kind = wait->lock_kind;
}

static const char *function_name(const struct segment *func, const struct segment *hold)
{
	return func ? func->func->function : hold->site ? hold->site->function : "";
}

static void chain_wait(struct chains *k, struct why_chain *chain, const struct timeline_cause *c)
{
	const struct segment *off = c->hold_off, *hold = c->hold, *func = c->hold_func;
	int64_t off_ns = c->hold_off_ns;

	add_wait(k, chain, c->wait, c->ns);
	if (!hold)
		return;
	add_holder(k, chain, c->wait, hold, func);
	for (size_t i = 0; i < c->nr_links; i++) {
		const struct timeline_link *link = &c->links[i];

		add_wait(k, chain, link->wait, link->wait->end_ns - link->wait->start_ns);
		add_holder(k, chain, link->wait, link->hold, link->func);
		hold = link->hold;
		func = link->func;
		off = link->off;
		off_ns = link->off_ns;
	}
	if (!off || leaf_kind_of(off) != LEAF_IO)
		add_calls(k, chain, func ? func->func : hold->site);
	if (off)
		add_off(k, chain, off, off_ns, function_name(func, hold), NULL);
}

static int by_end(const void *pa, const void *pb)
{
	const struct request *a = *(const struct request *const *)pa;
	const struct request *b = *(const struct request *const *)pb;

	return a->end != b->end ? (a->end < b->end ? -1 : 1) : a < b ? -1 : a > b;
}

/*
 * Returns the request of this class that the server worked on longest meanwhile, and how long: a
 * request that it ends was worked on since it ended the one before.  (Most have no shares.)
 */
static const struct request *longest_ahead(const struct partition *p, const struct request *r,
					   const char *class, int64_t *longest)
{
	size_t own = r - p->requests, first = own > AHEAD_MAX ? own - AHEAD_MAX : 0, nr = 0;
	const struct request **ahead = calloc(2 * AHEAD_MAX, sizeof(*ahead)), *best = NULL;
	int64_t since = r->start;

	*longest = 0;
	for (size_t i = first; ahead && i < p->nr_requests && i < first + 2 * AHEAD_MAX &&
	     p->requests[i].start < r->end; i++) {
		const struct request *at = &p->requests[i];

		if (at != r && at->tid == r->tid && at->end > r->start && at->end <= r->end)
			ahead[nr++] = at;
	}
	sort_by(ahead, nr, by_end);
	for (size_t i = 0; i < nr; i++) {
		int64_t begin = ahead[i]->start > since ? ahead[i]->start : since;
		int64_t ns = ticks_ns(p->m->reader, ahead[i]->end - begin);

		since = ahead[i]->end;
		if (!strcmp(p->classes[ahead[i]->class], class) && ns > *longest) {
			best = ahead[i];
			*longest = ns;
		}
	}
	free(ahead);
	return best;
}

/* Adds what the request ahead spent most of its time on. */
static void add_busy(struct chains *k, struct why_chain *chain, const struct timeline *t)
{
	for (size_t i = 0; i < t->nr_causes; i++) {
		const struct timeline_cause *c = &t->causes[i];
		const struct segment *s = c->wait ? c->wait : c->off;
		char label[PARTITION_LABEL_MAX] = "";
		enum leaf_kind kind = LEAF_FUNCTION;
		struct why_link *link;

		if (c->in_queue || c->kind == LEAF_QUEUE || c->kind == LEAF_BEHIND || c->kind == LEAF_UNKNOWN ||
		    c->kind == LEAF_IRQ || (!s && !c->func))
			continue;
		if (s)
			kind = partition_label(s, label);
		link = add_link(k, chain, kind, s ? label : c->func->function, c->ns,
				kind == LEAF_LOCK ? EDGE_SHIM : s ? EDGE_OCCUPANT : EDGE_SCANNER);
		link->resolution_ns = c->resolution_ns;
		if (!s)
			set_place(k, link, c->func);
		return;
	}
}

static void chain_behind(struct chains *k, struct why_chain *chain, const struct wanted *at,
			 const struct timeline *timeline)
{
	const struct why_amount *first = &at->target->amounts[0];
	char text[32];

	add_link(k, chain, LEAF_BEHIND, k->w->causes[first->cause].label, first->ns, EDGE_TAG);
	if (!at->ahead)
		return;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)at->ahead->id);
	add_link(k, chain, LINK_REQUEST, text, at->ahead_ns, EDGE_TAG)->tid = at->ahead->tid;
	add_busy(k, chain, timeline);
}

/* Is the timeline's cause the partition's?  Names are interned, so pointers are compared. */
static bool is_cause(struct chains *k, const struct timeline_cause *t, const struct why_cause *c)
{
	if (t->kind != c->kind || t->in_queue || !(t->wait || t->off))
		return false;
	if (c->kind == LEAF_IO || c->kind == LEAF_SLEEP)
		return chain_text(k, t->label) == c->call;
	return c->kind == LEAF_THROTTLED || chain_text(k, t->label) == c->label;
}

static void chain_target(struct chains *k, const struct wanted *at, const struct timeline *timeline,
			 struct why_chain *chain)
{
	struct why_target *t = at->target;
	const struct why_cause *c = &k->w->causes[t->amounts[0].cause];
	int64_t ns = t->amounts[0].ns;
	const struct timeline_cause *found = NULL;
	struct why_link *link;

	for (size_t i = 0; i < timeline->nr_causes && !found; i++)
		if (is_cause(k, &timeline->causes[i], c))
			found = &timeline->causes[i];
	if (c->kind == LEAF_BEHIND) {
		chain_behind(k, chain, at, timeline);
	} else if (found && found->wait) {
		chain_wait(k, chain, found);
	} else if (found && found->off) {
		add_off(k, chain, found->off, ns, c->label, found->waker_func);
	} else {
		link = add_link(k, chain, why_cause_kind(c), c->label, ns, EDGE_SCANNER);
		set_place(k, link, k->w->p->paths[c->path].func);
		link->resolution_ns = t->request->resolution_ns;
	}
}

/* The end of the chain is what should be changed. */
static void set_root(struct why *w, struct why_target *t)
{
	const struct why_cause *c = &w->causes[t->amounts[0].cause];
	const struct why_link *last = t->chain && t->chain->nr ?
				      &t->chain->links[t->chain->nr - 1] : NULL;

	if (last && (last->source == EDGE_CODE || (last->kind == LINK_WOKEN_BY && !*last->file)))
		last--;		/* of the function, what it may do; of who woke it, nothing is known */
	t->root = last ? last->kind : why_cause_kind(c);
	t->root_label = last ? last->label : c->label;
	if (t->root == LINK_HELD_BY || t->root == LINK_WOKEN_BY)
		t->root = LEAF_FUNCTION;
}

/* The others lead no further than the partition does, and a timeline takes milliseconds. */
static bool needs_timeline(const struct chains *k, const struct why_target *t)
{
	switch (k->w->causes[t->amounts[0].cause].kind) {
	case LEAF_FUNCTION:
	case LEAF_QUEUE:
	case LEAF_IRQ:
	case LEAF_UNKNOWN:
		return false;
	default:
		return true;
	}
}

static int follow(struct chains *k, struct wanted *at, struct why_chain *chain)
{
	struct timeline timeline = { .nr_causes = 0 };
	bool is_needed = at->ahead || needs_timeline(k, at->target);
	int ret = 0;

	if (!at->is_found)
		return 0;
	if (is_needed)
		ret = timeline_build(k->w->p->m, &at->life, &timeline);
	if (ret)
		return ret;
	chain_target(k, at, &timeline, chain);
	if (is_needed)
		timeline_free(&timeline);
	if (chain->nr) {
		at->target->chain = chain;
		k->w->nr_chains++;
	}
	return k->ret;
}

/* Timelines of requests that are near each other need the same blocks of the trace. */
COMPARE(by_start, struct wanted, UP(start) UP(target))

/* Chooses the timeline that explains most: its own, or that of the request it was behind. */
static void want(struct chains *k, struct why_target *t)
{
	const struct why_cause *c = &k->w->causes[t->amounts[0].cause];
	struct wanted *at = &k->wanted[k->nr_wanted++];
	const struct request *r = t->request;

	*at = (struct wanted){ .target = t };
	if (c->kind == LEAF_BEHIND)
		at->ahead = longest_ahead(k->w->p, r, c->label, &at->ahead_ns);
	if (at->ahead)
		r = at->ahead;
	at->id = r->id;
	at->start = r->start;
}

static int find_lives(struct chains *k)
{
	uint64_t *ids = calloc(k->nr_wanted + 1, sizeof(*ids));
	struct lives_result result;
	int ret;

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < k->nr_wanted; i++)
		ids[i] = k->wanted[i].id;
	ret = lives_some(k->w->p->m, ids, k->nr_wanted, on_life, k, &result);
	free(ids);
	return ret;
}

int chains_build(struct why *w, const struct why_options *o)
{
	struct chains k = { .w = w, .categories = o->categories };
	size_t nr = o->nr_chains < w->nr_targets ? o->nr_chains : w->nr_targets;
	int ret = -ENOMEM;

	k.wanted = calloc(nr + 1, sizeof(*k.wanted));
	w->private->chains = calloc(nr + 1, sizeof(*w->private->chains));
	if (k.wanted && w->private->chains)
		ret = 0;
	for (size_t i = 0; i < nr && !ret; i++)
		if (w->targets[i].nr_amounts)
			want(&k, &w->targets[i]);
	if (!ret && k.nr_wanted) {
		qsort(k.wanted, k.nr_wanted, sizeof(*k.wanted), wanted_compare);
		ret = find_lives(&k);
		qsort(k.wanted, k.nr_wanted, sizeof(*k.wanted), by_start);
	}
	if (!ret)
		ret = reader_retain(w->p->m->reader, RETAINED_BLOCKS);
	for (size_t i = 0; i < k.nr_wanted && !ret; i++)
		ret = follow(&k, &k.wanted[i], &w->private->chains[i]);
	reader_retain_end(w->p->m->reader);
	for (size_t i = 0; i < k.nr_wanted; i++)
		life_free(&k.wanted[i].life);
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
