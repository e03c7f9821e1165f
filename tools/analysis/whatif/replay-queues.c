// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replays requests and the queues they go through.
 *
 * A thread that takes from a queue is a server of it.  If several threads take from one queue only,
 * the next request goes to any of them that is free.  A thread that takes from several queues takes
 * the same requests as in the recording.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "facts/instances.h"
#include "facts/ticks.h"
#include "replay-private.h"

#define STRANGERS_MAX	65536

uint32_t replay_new_actor(struct replay *r, uint32_t tid)
{
	*replay_add(r, r, actors) = (struct replay_actor){ .tid = tid, .pool = NONE };
	return r->nr_actors - 1;
}

uint32_t replay_find_stranger(const struct replay *r, uint32_t tid)
{
	for (size_t i = r->m->nr_threads; i < r->nr_actors; i++)
		if (r->actors[i].tid == tid)
			return i;
	return NONE;
}

static uint32_t actor_of(struct replay *r, uint32_t tid, int64_t tick)
{
	const struct thread *t = model_thread(r->m, tid, tick);
	uint32_t actor = t ? t - r->m->threads : replay_find_stranger(r, tid);

	if (actor != NONE)
		return actor;
	if (r->nr_actors > r->m->nr_threads + STRANGERS_MAX)
		r->ret = -ENOMEM;
	return replay_new_actor(r, tid);
}

static bool is_wanted(const struct replay *r, const struct instance *instance)
{
	return instance->is_complete && instance->start >= r->o->from && instance->start <= r->o->to &&
	       (!r->o->class || !fnmatch(r->o->class, instance->class, 0));
}

/*
 * Returns true if the request came from outside of the program: the program tagged it only when it
 * took it out of the queue, and no thread put it into the queue.
 */
static bool is_from_outside(const struct instance *instance, size_t nr)
{
	const struct instance_part *p = &instance->parts[nr];

	return p->is_queue && p->to_tid == p->tid &&
	       (!nr || instance->parts[nr - 1].is_queue || instance->parts[nr - 1].tid != p->tid);
}

/* Returns the span in a queue that ended when span nr, on a thread, began; NONE: there is none. */
static uint32_t queue_of(const struct replay *r, const struct instance *instance, size_t nr)
{
	const struct instance_part *from = &instance->parts[nr];

	for (size_t k = nr; from->was_queued && !from->is_queue && k-- > 0;) {
		const struct instance_part *q = &instance->parts[k];

		if (q->is_queue && q->to_tid == from->tid && q->end == from->start)
			return r->nr_parts - (nr - k);
	}
	return NONE;
}

static int on_instance(void *arg, struct instance *instance)
{
	struct replay *r = arg;

	*replay_add(r, r, instances) = (struct replay_instance){
		.id = instance->id, .class = instance->class, .is_counted = is_wanted(r, instance),
		.start = ticks_time_ns(r->m->reader, instance->start),
		.end = ticks_time_ns(r->m->reader, instance->end),
	};
	for (size_t i = 0; i < instance->nr_parts && !r->ret; i++) {
		const struct instance_part *from = &instance->parts[i];
		struct replay_part p = {
			.start = ticks_time_ns(r->m->reader, from->start),
			.end = ticks_time_ns(r->m->reader, from->end),
			.queue = from->queue, .instance = r->nr_instances - 1, .actor = NONE,
			.item = queue_of(r, instance, i), .pool = NONE,
			.is_queue = from->is_queue, .is_first = !i,
		};

		if (!is_from_outside(instance, i))
			p.actor = actor_of(r, from->tid, from->start);
		if (r->nr_parts >= WHATIF_ITEMS_MAX)
			replay_refuse(r, "more than %u spans of requests: record for a shorter time",
				      WHATIF_ITEMS_MAX);
		*replay_add(r, r, parts) = p;
	}
	return r->ret;
}

/* Pools */

/*
 * Returns the pool of a queue.  If `only` is not NONE, the pool is for requests that this thread
 * alone takes.
 */
static struct replay_pool *get_pool(struct replay *r, struct hash *pools, uint64_t queue,
				    uint32_t only)
{
	uint64_t hash = hash_mix(hash_mix(0, queue), only);
	struct replay_pool *at;
	uint32_t n;

	hash_each(pools, hash, n)
		if (r->pools[n].queue == queue && r->pools[n].taker == only)
			return &r->pools[n];
	if (hash_add(pools, hash, r->nr_pools))
		r->ret = -ENOMEM;
	at = replay_add(r, r, pools);
	*at = (struct replay_pool){ .queue = queue, .taker = only };
	return at;
}

/* Finds the pool of each span in a queue, and of each thread that took a request from a queue. */
static void set_pools(struct replay *r, struct hash *pools, bool *is_mixed)
{
	for (size_t i = 0; i < r->nr_parts && !r->ret; i++) {
		struct replay_part *p = &r->parts[i], *q;
		struct replay_actor *a;
		struct replay_pool *pool;

		if (p->is_queue || p->item == NONE)
			continue;
		q = &r->parts[p->item];
		/* Requests that come to a thread from outside are taken by this thread only. */
		pool = get_pool(r, pools, q->queue, q->actor == NONE ? p->actor : NONE);
		q->pool = pool - r->pools;
		a = &r->actors[p->actor];
		if (a->pool == NONE) {
			a->pool = q->pool;
			pool->nr_takers++;
		} else if (a->pool != q->pool) {
			is_mixed[p->actor] = true;
		}
	}
}

/*
 * If a thread also takes from other queues, its pool is not shared: each thread takes the same
 * requests as in the recording.
 */
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

static void join_queues(struct replay *r)
{
	bool *is_mixed = calloc(r->nr_actors + 1, sizeof(*is_mixed));
	struct hash pools = { 0 };

	if (!is_mixed)
		r->ret = -ENOMEM;
	set_pools(r, &pools, is_mixed);
	if (!r->ret)
		set_shared(r, is_mixed);
	free(is_mixed);
	hash_free(&pools);
}

void replay_read_instances(struct replay *r)
{
	struct instances_result result;

	r->ret = instances_each(r->m, on_instance, r, &result);
	if (!r->ret && result.nr_dropped)
		replay_refuse(r, "more than %u requests were open at a time", INSTANCES_OPEN_MAX);
	if (!r->ret)
		join_queues(r);
	for (size_t i = 0; i < r->nr_parts && !r->ret; i++) {
		const struct replay_part *p = &r->parts[i];

		if (p->actor != NONE)
			replay_add_item(r, p->is_queue ? ITEM_PUT : ITEM_PART, p->actor, p->start,
					p->is_queue ? p->start : p->end, i);
	}
}
