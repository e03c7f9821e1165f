// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects latencies of requests; see requests.h. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"
#include "base/keyed.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "requests.h"

struct class_build {
	const char *name;	/* the name that the model has */
	struct dist latencies;
	uint64_t incomplete, lost_handoffs;
};

struct builder {
	struct model *m;
	const struct requests_options *options;
	struct requests *r;
	struct dist_pool pool;
	struct keyed classes;	/* struct class_build */
	size_t room_lives;
	struct links *links;	/* options->trace */
};

int64_t life_latency_ns(const struct model *m, const struct life *life)
{
	return ticks_time_ns(m->reader, life->end) - ticks_time_ns(m->reader, life->start);
}

/* Names are stored once, so pointers are compared. */
static struct class_build *get_class(struct builder *b, const char *name)
{
	uint64_t hash = hash_mix(0, (uintptr_t)name);
	struct class_build *c;

	keyed_each(&b->classes, hash, c)
		if (c->name == name)
			return c;
	c = keyed_add(&b->classes, hash, sizeof(*c));
	if (!c)
		return NULL;
	c->name = name;
	dist_init(&c->latencies, &b->pool);
	return c;
}

static int64_t latency(const struct life *life)
{
	return life->end - life->start;
}

/* Moves a request instance with its spans. */
static void move_life(struct life *to, struct life *from)
{
	*to = *from;
	from->parts = NULL;
	from->nr_parts = 0;
	from->room = 0;
}

/* The slowest request instances are in a heap; the fastest of them is first. */
static bool is_faster(void *none, const struct life *a, const struct life *b)
{
	return latency(a) < latency(b);
}

HEAP(lives, struct life, void *, is_faster, heap_moved_none)

static int keep_slowest(struct builder *b, struct life *life)
{
	struct requests *r = b->r;

	if (!b->options->nr_slowest)
		return 0;
	if (r->nr_lives == b->options->nr_slowest) {
		if (latency(life) <= latency(&r->lives[0]))
			return 0;
		life_free(&r->lives[0]);
		move_life(&r->lives[0], life);
		lives_down(NULL, r->lives, r->nr_lives, 0, r->lives[0]);
		return 0;
	}
	if (!array_room(&r->lives, &b->room_lives, r->nr_lives, sizeof(*r->lives)))
		return -ENOMEM;
	move_life(&r->lives[r->nr_lives], life);
	lives_up(NULL, r->lives, r->nr_lives, r->lives[r->nr_lives]);
	r->nr_lives++;
	return 0;
}

static int keep_match(struct builder *b, struct life *life)
{
	struct requests *r = b->r;

	if (r->nr_lives >= REQUESTS_MATCHES_MAX) {
		r->nr_not_kept++;
		return 0;
	}
	if (!array_room(&r->lives, &b->room_lives, r->nr_lives, sizeof(*r->lives)))
		return -ENOMEM;
	move_life(&r->lives[r->nr_lives++], life);
	return 0;
}

static int add_life(void *arg, struct life *life)
{
	struct builder *b = arg;
	const struct requests_options *o = b->options;
	struct class_build *c;
	int ret = 0;

	if (life->start < o->from || life->start > o->to)
		return 0;
	if (life->is_complete && life->end < o->ended_from)
		return 0;
	if (o->class && fnmatch(o->class, life->class, 0))
		return 0;
	for (size_t i = 0; i < o->nr_notes; i++)
		if (!note_filter_matches(&o->notes[i], b->m, life->id, life->start, life->end))
			return 0;
	if (o->has_at && (life->start > o->at || life->end < o->at))
		return 0;
	if (o->trace) {
		ret = links_match(b->links, life, o->trace);
		if (ret <= 0)
			return ret;
		ret = 0;
	}
	if (o->among && !asked_has(o->among, life))
		return 0;
	c = get_class(b, life->class);
	if (!c)
		return -ENOMEM;
	c->lost_handoffs += life->has_lost_handoff;
	if (life->is_complete)
		ret = dist_add(&c->latencies, life_latency_ns(b->m, life));
	else
		c->incomplete++;
	if (ret)
		return ret;
	if (o->has_id)
		return life->id == o->id ? keep_match(b, life) : 0;
	if (o->trace || o->among)
		return keep_match(b, life);
	return life->is_complete || o->has_at ? keep_slowest(b, life) : 0;
}

static int class_compare(const void *pa, const void *pb)
{
	const struct request_class *a = pa, *b = pb;

	if (a->p99_ns != b->p99_ns)
		return a->p99_ns > b->p99_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int fill(struct builder *b)
{
	struct requests *r = b->r;
	struct dist all;
	int ret = 0;

	dist_init(&all, &b->pool);
	r->classes = calloc(b->classes.nr + 1, sizeof(*r->classes));
	if (!r->classes)
		return -ENOMEM;
	for (size_t i = 0; i < b->classes.nr && !ret; i++) {
		struct class_build *from = b->classes.at[i];
		struct request_class *c = &r->classes[r->nr_classes++];

		c->incomplete = from->incomplete;
		c->lost_handoffs = from->lost_handoffs;
		r->all.incomplete += from->incomplete;
		r->all.lost_handoffs += from->lost_handoffs;
		ret = dist_merge(&all, &from->latencies);
		c->name = from->name;
		c->times = dist_times(&from->latencies);
	}
	r->all.name = "";
	r->all.times = dist_times(&all);
	dist_free(&all);
	sort_by(r->classes, r->nr_classes, class_compare);
	return ret;
}

static int slower_first(const void *pa, const void *pb)
{
	const struct life *a = pa, *b = pb;

	if (latency(a) != latency(b))
		return latency(a) > latency(b) ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

COMPARE(earlier_first, struct life, UP(start))

int requests_build(struct model *m, const struct requests_options *options, struct requests *r)
{
	struct builder b = { .m = m, .options = options, .r = r };
	int ret;

	*r = (struct requests){ 0 };
	b.links = options->trace ? links_open(m) : NULL;
	ret = options->trace && !b.links ? -ENOMEM : lives_each(m, add_life, &b, &r->result);
	links_close(b.links);
	if (!ret)
		ret = fill(&b);
	for (size_t i = 0; i < b.classes.nr; i++)
		dist_free(&((struct class_build *)b.classes.at[i])->latencies);
	keyed_free(&b.classes);
	if (ret) {
		requests_free(r);
		return ret;
	}
	sort_by(r->lives, r->nr_lives, options->has_id || options->trace || options->among ? earlier_first : slower_first);
	return 0;
}

void requests_free(struct requests *r)
{
	for (size_t i = 0; i < r->nr_lives; i++)
		life_free(&r->lives[i]);
	free(r->lives);
	free(r->classes);
	*r = (struct requests){ 0 };
}

int64_t requests_p50_ns(const struct requests *r, const char *class)
{
	for (size_t i = 0; i < r->nr_classes; i++)
		if (!strcmp(r->classes[i].name, class) && r->classes[i].count)
			return r->classes[i].p50_ns;
	return -1;
}
