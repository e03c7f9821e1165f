// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests and the queues they go through.
 *
 * Whoever takes from a queue is a server of it.  If all that several threads take
 * comes from one queue, they are alike: in the replay the next request goes to
 * whichever is free.  A thread that takes from several queues takes what it took.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "facts/lives.h"
#include "facts/ticks.h"
#include "replay-private.h"

#define STRANGERS_MAX	65536

uint32_t replay_new_actor(struct replay *r, uint32_t tid)
{
	struct replay_actor *at = replay_grow(r->actors, r->nr_actors, &r->room_actors, sizeof(*at));

	if (!at)
		return NONE;
	r->actors = at;
	at[r->nr_actors] = (struct replay_actor){ .tid = tid, .pool = NONE };
	return r->nr_actors++;
}

/* NONE: out of memory, or of numbers. */
uint32_t replay_actor_of(struct replay *r, uint32_t tid, int64_t tick)
{
	const struct thread *t = model_thread(r->m, tid, tick);

	if (t)
		return t - r->m->threads;
	for (size_t i = r->m->nr_threads; i < r->nr_actors; i++)
		if (r->actors[i].tid == tid)
			return i;
	if (r->nr_actors > r->m->nr_threads + STRANGERS_MAX)
		return NONE;
	return replay_new_actor(r, tid);
}

static struct replay_part *add_part(struct replay *r)
{
	struct replay_part *at;

	if (r->nr_parts >= WHATIF_ITEMS_MAX) {
		replay_refuse(r, "more than %u parts of requests: record for a shorter time",
			      WHATIF_ITEMS_MAX);
		return NULL;
	}
	at = replay_grow(r->parts, r->nr_parts, &r->room_parts, sizeof(*at));
	if (!at)
		return NULL;
	r->parts = at;
	return &at[r->nr_parts++];
}

static struct replay_life *add_life(struct replay *r)
{
	struct replay_life *at = replay_grow(r->lives, r->nr_lives, &r->room_lives, sizeof(*at));

	if (!at)
		return NULL;
	r->lives = at;
	return &at[r->nr_lives++];
}

static bool is_wanted(const struct replay *r, const struct life *life)
{
	return life->is_complete && life->start >= r->o->from && life->start <= r->o->to &&
	       (!r->o->class || !fnmatch(r->o->class, life->class, 0));
}

/* Nobody of the program put it there at that time: it was tagged when it was taken out. */
static bool is_from_outside(const struct life *life, size_t nr)
{
	const struct life_part *p = &life->parts[nr];

	return p->is_queue && p->to_tid == p->tid &&
	       (!nr || life->parts[nr - 1].is_queue || life->parts[nr - 1].tid != p->tid);
}

static int on_life(void *arg, struct life *life)
{
	struct replay *r = arg;
	struct replay_life *l = add_life(r);

	if (!l)
		return -ENOMEM;
	*l = (struct replay_life){
		.id = life->id, .class = life->class, .is_counted = is_wanted(r, life),
		.start = ticks_time_ns(r->m->reader, life->start),
		.end = ticks_time_ns(r->m->reader, life->end),
	};
	for (size_t i = 0; i < life->nr_parts; i++) {
		const struct life_part *from = &life->parts[i];
		struct replay_part *p = add_part(r);
		uint32_t actor = NONE;

		if (!p)
			return r->err[0] ? -EINVAL : -ENOMEM;
		if (!is_from_outside(life, i)) {
			actor = replay_actor_of(r, from->tid, from->start);
			if (actor == NONE)
				return -ENOMEM;
		}
		*p = (struct replay_part){
			.start = ticks_time_ns(r->m->reader, from->start),
			.end = ticks_time_ns(r->m->reader, from->end),
			.queue = from->queue, .life = r->nr_lives - 1, .actor = actor,
			.item = NONE, .pool = NONE, .is_queue = from->is_queue, .is_first = !i,
		};
		/* Taken from a queue: the part in it that ended then. */
		for (size_t k = i; from->was_queued && !from->is_queue && k-- > 0;) {
			const struct life_part *q = &life->parts[k];

			if (!q->is_queue || q->to_tid != from->tid || q->end != from->start)
				continue;
			p->item = r->nr_parts - 1 - (i - k);
			break;
		}
	}
	return 0;
}

/* Pools */

/* only: the one thread that takes from it, or NONE.  NULL: out of memory. */
static struct replay_pool *get_pool(struct replay *r, struct hash *pools, uint64_t queue,
				    uint32_t only)
{
	uint64_t hash = hash_mix(hash_mix(0, queue), only);
	struct replay_pool *at;
	uint32_t n;

	hash_each(pools, hash, n)
		if (r->pools[n].queue == queue && r->pools[n].taker == only)
			return &r->pools[n];
	at = replay_grow(r->pools, r->nr_pools, &r->room_pools, sizeof(*at));
	if (!at)
		return NULL;
	r->pools = at;
	if (hash_add(pools, hash, r->nr_pools))
		return NULL;
	at[r->nr_pools] = (struct replay_pool){ .queue = queue, .taker = only };
	return &at[r->nr_pools++];
}

/* Which pool each part that was taken from a queue is of, and each thread that took it. */
static int set_pools(struct replay *r, struct hash *pools, bool *is_mixed)
{
	for (size_t i = 0; i < r->nr_parts; i++) {
		struct replay_part *p = &r->parts[i], *q;
		struct replay_actor *a;
		struct replay_pool *pool;

		if (p->is_queue || p->item == NONE)
			continue;
		q = &r->parts[p->item];
		/* What comes from outside to a thread is its own: no other one can take it. */
		pool = get_pool(r, pools, q->queue, q->actor == NONE ? p->actor : NONE);
		if (!pool)
			return -ENOMEM;
		q->pool = pool - r->pools;
		a = &r->actors[p->actor];
		if (a->pool == NONE) {
			a->pool = q->pool;
			pool->nr_takers++;
		} else if (a->pool != q->pool) {
			is_mixed[p->actor] = true;
		}
	}
	return 0;
}

/* Those whose takers are not alike: each takes what it took. */
static void set_shared(struct replay *r, const bool *is_mixed)
{
	for (size_t i = 0; i < r->nr_pools; i++)
		r->pools[i].is_shared = r->pools[i].nr_takers > 1;
	for (size_t i = 0; i < r->nr_parts; i++) {
		const struct replay_part *p = &r->parts[i];

		if (!p->is_queue && p->item != NONE && is_mixed[p->actor])
			r->pools[r->parts[p->item].pool].is_shared = false;
	}
	for (size_t i = 0; i < r->nr_actors; i++)
		if (r->actors[i].pool != NONE && !r->pools[r->actors[i].pool].is_shared)
			r->actors[i].pool = NONE;
}

static int join_queues(struct replay *r)
{
	bool *is_mixed = calloc(r->nr_actors + 1, sizeof(*is_mixed));
	struct hash pools = { 0 };
	int ret = is_mixed ? set_pools(r, &pools, is_mixed) : -ENOMEM;

	if (!ret)
		set_shared(r, is_mixed);
	free(is_mixed);
	hash_free(&pools);
	return ret;
}

/* Items of the parts. */
static int add_items(struct replay *r)
{
	for (size_t i = 0; i < r->nr_parts; i++) {
		const struct replay_part *p = &r->parts[i];

		if (p->actor != NONE &&
		    !replay_add_item(r, p->is_queue ? ITEM_PUT : ITEM_PART, p->actor, p->start,
				     p->is_queue ? p->start : p->end, i))
			return r->err[0] ? -EINVAL : -ENOMEM;
	}
	return 0;
}

int replay_read_lives(struct replay *r)
{
	struct lives_result result;
	int ret = lives_each(r->m, on_life, r, &result);

	if (!ret && result.nr_dropped)
		ret = replay_refuse(r, "more than %u requests were open at a time", LIVES_OPEN_MAX);
	if (!ret)
		ret = join_queues(r);
	return ret ? ret : add_items(r);
}
