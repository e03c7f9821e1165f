// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums the additional time of all slow requests by the end of their chains; see pictures.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/sort.h"
#include "pictures.h"

struct sums {
	struct blamed *at;
	size_t nr, room;
	struct hash by_key;
	struct {
		size_t row;
		uint32_t tid;
	} *tids;			/* threads of each row */
	size_t nr_tids, room_tids;
	struct hash by_tid;
};

static bool is_same(const struct blamed *a, const struct blamed *b)
{
	return a->kind == b->kind && !strcmp(a->label, b->label) && !strcmp(a->call, b->call) &&
	       !strcmp(a->file, b->file) && !strcmp(a->thread, b->thread);
}

static uint64_t hash_row(const struct blamed *r)
{
	return hash_mix(hash_mix(hash_mix(hash_text(r->label), hash_text(r->call)),
				 hash_mix(hash_text(r->file), hash_text(r->thread))), r->kind);
}

static struct blamed *row_of(struct sums *s, const struct blamed *key)
{
	uint64_t hash = hash_row(key);
	uint32_t n;

	hash_each(&s->by_key, hash, n)
		if (is_same(&s->at[n], key))
			return &s->at[n];
	if (!array_room(&s->at, &s->room, s->nr, sizeof(*s->at)) || hash_add(&s->by_key, hash, s->nr))
		return NULL;
	s->at[s->nr] = *key;
	return &s->at[s->nr++];
}

static int add_thread(struct sums *s, struct blamed *row, uint32_t tid)
{
	size_t of = row - s->at;
	uint64_t hash = hash_mix(hash_mix(0, of), tid);
	uint32_t n;

	if (!tid)
		return 0;
	hash_each(&s->by_tid, hash, n)
		if (s->tids[n].row == of && s->tids[n].tid == tid)
			return 0;
	if (array_push(s->tids, s->nr_tids, s->room_tids, { of, tid }) ||
	    hash_add(&s->by_tid, hash, s->nr_tids - 1))
		return -ENOMEM;
	row->tid = row->nr_threads++ ? 0 : tid;
	return 0;
}

/* Adds to a row; target is the target's number + 1. */
static int add(struct sums *s, const struct blamed *key, uint32_t tid, size_t target, int64_t ns,
	       int64_t own_ns)
{
	struct blamed *row = row_of(s, key);

	if (!row)
		return -ENOMEM;
	row->nr++;
	row->nr_requests += row->last_target != target;
	row->last_target = target;
	row->total_ns += ns;
	row->own_ns += own_ns < ns ? own_ns : ns;
	return add_thread(s, row, tid);
}

static bool needs_somebody(unsigned kind)
{
	return kind == LEAF_LOCK || kind == LEAF_FUTEX || kind == LEAF_SLEEP || kind == LEAF_QUEUE ||
	       kind == LEAF_BEHIND;
}

/* Returns true if the chain ends with a wait, so that the blocker is not known. */
static bool is_broken(const struct chain *chain, const struct chain_link *root)
{
	return needs_somebody(root->kind) && root == &chain->links[chain->nr - 1];
}

static int add_unfollowed(struct sums *s, size_t target, int64_t ns)
{
	return add(s, &(struct blamed){ .kind = LINK_NOT_FOLLOWED, .label = "", .call = "", .file = "",
					.thread = "" }, 0, target, ns, ns);
}

static int add_chain(struct sums *s, const struct chain *chain, size_t target, int64_t ns)
{
	const struct chain_link *root = chain_root(chain);

	if (is_broken(chain, root))
		return add_unfollowed(s, target, ns);
	return add(s, &(struct blamed){ .kind = root->kind, .label = root->label, .call = root->call,
					.file = root->file, .thread = root->thread },
		   root->tid, target, ns, root->ns);
}

/*
 * Adds a cause without a chain: a wait that was not followed, or time that the request itself
 * spent.
 */
static int add_own(struct sums *s, const struct why *w, const struct why_cause *c, size_t target,
		   int64_t ns)
{
	if (needs_somebody(c->kind))
		return add_unfollowed(s, target, ns);
	return add(s, &(struct blamed){ .kind = why_cause_kind(c), .label = c->label, .call = c->call,
					.file = "", .thread = "" }, 0, target, ns, ns);
}

static int add_target(struct sums *s, const struct why *w, size_t n)
{
	const struct why_target *t = &w->targets[n];
	int64_t rest = t->deviation_ns;
	int ret = 0;

	for (size_t i = 0; i < t->nr_amounts && !ret; i++) {
		const struct why_amount *a = &t->amounts[i];

		ret = a->chain ? add_chain(s, a->chain, n + 1, a->ns) :
				 add_own(s, w, &w->causes[a->cause], n + 1, a->ns);
		rest -= a->ns;
	}
	if (!ret && rest > 0)
		ret = add(s, &(struct blamed){ .kind = LINK_UNEXPLAINED, .label = "", .call = "", .file = "",
					       .thread = "" }, 0, n + 1, rest, rest);
	return ret;
}

static int compare(const void *pa, const void *pb)
{
	const struct blamed *a = pa, *b = pb;
	int order;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	order = strcmp(link_kind_name(a->kind), link_kind_name(b->kind));
	if (!order)
		order = strcmp(a->label, b->label);
	if (!order)
		order = strcmp(a->call, b->call);
	if (!order)
		order = strcmp(a->file, b->file);
	return order ? order : strcmp(a->thread, b->thread);
}

int blamed_build(const struct why *w, struct blamed **rows, size_t *nr)
{
	struct sums s = { .at = NULL };
	int ret = 0;

	for (size_t i = 0; i < w->nr_targets && !ret; i++)
		ret = add_target(&s, w, i);
	if (!ret)
		sort_by(s.at, s.nr, compare);
	hash_free(&s.by_key);
	hash_free(&s.by_tid);
	free(s.tids);
	if (ret) {
		free(s.at);
		return ret;
	}
	*rows = s.at;
	*nr = s.nr;
	return 0;
}
