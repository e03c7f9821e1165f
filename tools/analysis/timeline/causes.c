// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists the causes of a request's latency, biggest first: the leaves of its partition, merged by
 * name, each with its segments of the timeline.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "timeline-private.h"

#define CHAINS_MAX	16	/* chains are made for this many of the biggest causes */

/* A wait or a time off the CPU. */
struct item {
	uint32_t cause, tid;
	enum segment_kind kind;
	int64_t start, end;
};

/* A time in which the thread ran, and its cause. */
struct computed {
	uint32_t cause, tid;
	int64_t start, end;
};

struct causes {
	struct timeline_build *b;
	struct partition p;
	struct timeline_cause *at;
	size_t nr, room;
	struct hash by_key;
	uint32_t *of_leaf;		/* number + 1; 0: not searched for yet */
	size_t room_leaves;
	struct item *items;
	size_t nr_items, room_items;
	struct computed *computed;	/* in order of time, thread by thread */
	size_t nr_computed, room_computed;
	struct index own;		/* own waits and times off the CPU */
};

static bool is_of_place(enum leaf_kind kind)
{
	return kind == LEAF_FUNCTION || kind == LEAF_SLEEP || kind == LEAF_IO;
}

static uint32_t root_of(const struct partition *p, uint32_t path)
{
	while (path && p->paths[path].parent)
		path = p->paths[path].parent;
	return path;
}

/* Returns the cause to which a leaf belongs; NULL: out of memory. */
static struct timeline_cause *find(struct causes *k, uint32_t leaf)
{
	const struct leaf *l = &k->p.leaves[leaf];
	const struct path *root = &k->p.paths[root_of(&k->p, l->path)];
	struct timeline_cause new = {
		.kind = l->kind, .in_queue = path_is_queue(root),
		.label = *l->label && strcmp(l->label, PARTITION_UNOBSERVED) ? l->label : "",
		.func = is_of_place(l->kind) ? k->p.paths[l->path].func : NULL,
	};
	uint64_t hash = hash_mix(new.kind * 2 + new.in_queue, (uintptr_t)new.label);
	uint32_t n;

	hash = hash_mix(hash, new.func ? (uintptr_t)new.func->function : 0);
	hash_each(&k->by_key, hash, n) {
		struct timeline_cause *c = &k->at[n];

		if (c->kind == new.kind && c->in_queue == new.in_queue && c->label == new.label &&
		    path_same_function(c->func, new.func))
			return c;
	}
	if (!array_room(&k->at, &k->room, k->nr, sizeof(*k->at)) || hash_add(&k->by_key, hash, k->nr))
		return NULL;
	k->at[k->nr] = new;
	return &k->at[k->nr++];
}

static struct timeline_cause *cause_of(struct causes *k, uint32_t leaf)
{
	struct timeline_cause *c;

	if (leaf >= k->room_leaves) {
		size_t room = k->p.nr_leaves + 64;
		uint32_t *of_leaf = reallocarray(k->of_leaf, room, sizeof(*of_leaf));

		if (!of_leaf)
			return NULL;
		memset(of_leaf + k->room_leaves, 0, (room - k->room_leaves) * sizeof(*of_leaf));
		k->of_leaf = of_leaf;
		k->room_leaves = room;
	}
	if (k->of_leaf[leaf])
		return &k->at[k->of_leaf[leaf] - 1];
	c = find(k, leaf);
	k->of_leaf[leaf] = c ? c - k->at + 1 : 0;
	return c;
}

static bool is_own(const struct timeline_build *b, const struct segment *s)
{
	size_t n = intervals_first(&b->own, s->tid, s->start);

	return n < b->own.nr && b->own.at[n].tid == s->tid && b->own.at[n].start < s->end;
}

static int on_begin(void *arg, const struct segment *s, uint32_t leaf)
{
	struct timeline_build *b = arg;
	struct causes *k = b->causes;
	struct timeline_cause *c;

	if (!is_own(b, s))
		return 0;
	c = cause_of(k, leaf);
	if (!c)
		return -ENOMEM;
	if (s->resolution_ns > c->resolution_ns)
		c->resolution_ns = s->resolution_ns;
	if (s->kind == SEGMENT_FUNCTION || s->kind == SEGMENT_LIBCALL)
		return 0;
	return array_push(k->items, k->nr_items, k->room_items,
			  { c - k->at, s->tid, s->kind, s->start, s->end });
}

static int on_piece(void *arg, uint32_t tid, int64_t start, int64_t end, const struct request *r)
{
	struct timeline_build *b = arg;

	return intervals_add(&b->t->pieces, tid, start, end);
}

static int on_spent(void *arg, uint32_t tid, int64_t start, int64_t end, uint32_t leaf)
{
	struct timeline_build *b = arg;
	struct causes *k = b->causes;
	enum leaf_kind kind = k->p.leaves[leaf].kind;
	struct timeline_cause *c;

	if (kind != LEAF_FUNCTION && kind != LEAF_UNKNOWN)
		return 0;
	c = cause_of(k, leaf);
	return !c ? -ENOMEM : array_push(k->computed, k->nr_computed, k->room_computed,
					 { c - k->at, tid, start, end });
}

/*
 * The interval of a system call includes times in which the thread is asleep, runnable or
 * interrupted; the times that are attributed to functions do not.  So their intersection is the
 * time on the CPU in the call.
 */
static void add_syscalls(struct causes *k, const struct intervals *calls)
{
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < k->nr; i++)
		k->at[i].has_syscalls = k->at[i].kind == LEAF_FUNCTION || k->at[i].kind == LEAF_UNKNOWN;
	for (size_t i = 0; i < k->nr_computed; i++) {
		const struct computed *p = &k->computed[i];
		struct timeline_cause *c = &k->at[p->cause];

		for (size_t n = intervals_first(calls, p->tid, p->start);
		     n < calls->nr && calls->at[n].tid == p->tid && calls->at[n].start < p->end; n++) {
			ticks_add(&c->syscall_ns, ticks_ns(k->b->m->reader, min(p->end, calls->at[n].end) -
							   max(p->start, calls->at[n].start)));
			c->nr_syscalls += n != last;
			last = n;
		}
	}
}

static int find_syscalls(struct causes *k)
{
	const struct timeline_build *b = k->b;
	struct intervals calls = { .at = NULL };
	int ret = 0;

	for (size_t i = 0; i < b->nr_all && !ret; i++)
		if (b->all[i].kind == SEGMENT_SYSCALL)
			ret = intervals_add(&calls, b->all[i].tid, b->all[i].start, b->all[i].end);
	if (!ret)
		ret = intervals_sort(&calls);
	if (!ret)
		add_syscalls(k, &calls);
	intervals_free(&calls);
	return ret;
}

/* The segments of a cause in the timeline */

static bool is_own_evidence(const struct segment *s)
{
	return !s->blocks_req && (s->kind == SEGMENT_LOCK_WAIT || segment_is_off(s));
}

static bool is_longer(const struct segment *s, const struct segment *than)
{
	return !than || s->end_ns - s->start_ns > than->end_ns - than->start_ns;
}

/*
 * Only one device is shown: another one replaces it if the other worked longer during one sleep
 * than the first one during all sleeps so far.
 */
static void add_disk(struct timeline_cause *c, const struct segment *s)
{
	const struct segment_disk *d = s->sched ? &s->sched->disk : NULL;

	if (c->kind != LEAF_IO || !d || !d->device)
		return;
	if (c->disk.device != d->device) {
		if (d->ns > c->disk.ns)
			c->disk = *d;
		return;
	}
	ticks_add(&c->disk.ns, d->ns);
	c->disk.bytes += d->bytes;
	c->disk.nr += d->nr;
}

static void add_evidence(struct timeline_cause *c, const struct segment *s)
{
	struct context blocker;
	int64_t ns;

	if (s->kind == SEGMENT_LOCK_WAIT || s->kind == SEGMENT_FUTEX_WAIT) {
		c->wait = is_longer(s, c->wait) ? s : c->wait;
		return;
	}
	blocker = blocker_of(s, &ns);
	ticks_add(&c->blocker_ns, ns);
	add_disk(c, s);
	if (is_longer(s, c->off)) {
		c->off = s;
		c->blocker = blocker;
	}
}

static void find_evidence(struct causes *k, const struct item *item)
{
	for (size_t n = index_first(&k->own, item->tid, item->start); n < k->own.nr; n++) {
		const struct segment *s = index_at(&k->own, n);

		if (s->tid != item->tid || s->start >= item->end)
			break;
		if (s->kind == item->kind)
			add_evidence(&k->at[item->cause], s);
	}
}

static void add_queue(struct causes *k, const struct segment *s)
{
	for (size_t i = 0; i < k->nr; i++) {
		struct timeline_cause *c = &k->at[i];

		if (c->in_queue && is_longer(s, c->wait))
			c->wait = s;
	}
}

/* Adds the shares of the only request. */
static int add_shares(struct causes *k)
{
	const struct request *r = k->p.requests;

	for (size_t i = 0; k->p.nr_requests && i < r->nr_shares; i++) {
		const struct share *share = &k->p.shares[r->first + i];
		struct timeline_cause *c = cause_of(k, share->leaf);

		if (!c)
			return -ENOMEM;
		c->ns += share->ns;
		c->nr += share->nr;
		if (!strcmp(k->p.leaves[share->leaf].label, PARTITION_UNOBSERVED))
			c->unobserved_ns += share->ns;
	}
	return 0;
}

/* Divides functions, and uninstrumented code, according to the samples of the request. */
static int split_causes(struct causes *k)
{
	uint32_t *numbers = calloc(k->p.nr_samples + 1, sizeof(*numbers));

	if (!numbers)
		return -ENOMEM;
	for (size_t n = 0; n < k->nr; n++) {
		struct timeline_cause *c = &k->at[n];
		size_t nr = 0;

		if (c->kind != LEAF_FUNCTION && c->kind != LEAF_UNKNOWN)
			continue;
		for (size_t i = 0; i < k->p.nr_samples; i++)
			if (cause_of(k, k->p.samples[i].leaf) == c)
				numbers[nr++] = k->p.samples[i].place;
		places_split(&k->p.places, numbers, nr, &c->split);
	}
	free(numbers);
	return 0;
}

COMPARE(cause_compare, struct timeline_cause, DOWN(ns))

/* Copies the label: the partition's names are freed with it. */
static int copy_label(struct timeline_cause *c)
{
	if (!*c->label)
		return 0;
	c->label = strdup(c->label);
	return c->label ? 0 : -ENOMEM;
}

static int finish(struct causes *k)
{
	struct timeline *t = k->b->t;
	size_t nr = 0;

	if (intervals_sort(&t->pieces))
		return -ENOMEM;
	for (size_t i = 0; i < k->nr_items; i++)
		find_evidence(k, &k->items[i]);
	for (size_t i = 0; i < t->nr_segments; i++)
		if (t->segments[i].kind == SEGMENT_QUEUE)
			add_queue(k, &t->segments[i]);
	for (size_t i = 0; i < k->nr; i++)
		if (k->at[i].ns)
			k->at[nr++] = k->at[i];
	t->causes = k->at;
	k->at = NULL;
	for (; t->nr_causes < nr; t->nr_causes++) {
		if (copy_label(&t->causes[t->nr_causes]))
			return -ENOMEM;
		blockers_find(t, &t->causes[t->nr_causes]);
	}
	sort_by(t->causes, nr, cause_compare);
	for (size_t i = 0; i < nr && i < CHAINS_MAX; i++)
		if (chain_build(k->b, &t->causes[i]))
			return -ENOMEM;
	return 0;
}

int causes_read(struct timeline_build *b)
{
	struct causes *k = calloc(1, sizeof(*k));
	struct partition_options o = {
		.only = b->instance, .from = b->from, .to = b->to, .before = b->before, .after = b->after,
		.begins = on_begin, .piece = on_piece, .segment = gather_segment,
		.sample = gather_sample, .migration = gather_migration, .wants = gather_wants, .arg = b,
		.spent = b->m->has_call_lengths ? on_spent : NULL,
	};

	b->causes = k;
	if (!k)
		return -ENOMEM;
	k->b = b;
	return partition_build(b->m, &o, &k->p);
}

int causes_build(struct timeline_build *b)
{
	struct causes *k = b->causes;
	int ret = index_make(&k->own, &b->t->segments, b->t->nr_segments, is_own_evidence,
			     index_by_thread);

	if (!ret)
		ret = add_shares(k);
	if (!ret && k->p.nr_samples)
		ret = split_causes(k);
	if (!ret && b->m->has_call_lengths)
		ret = find_syscalls(k);
	return ret ? ret : finish(k);
}

void causes_free(struct timeline_build *b)
{
	struct causes *k = b->causes;

	if (!k)
		return;
	partition_free(&k->p);
	hash_free(&k->by_key);
	free(k->at);
	free(k->of_leaf);
	free(k->items);
	free(k->computed);
	free(k->own.at);
	free(k);
}
