// SPDX-License-Identifier: GPL-2.0-or-later
/* Latencies of requests; see requests.h. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "requests.h"

struct class_build {
	const char *name;	/* of the model */
	struct dist latencies;
	uint64_t incomplete, lost_handoffs;
};

struct builder {
	struct model *m;
	const struct requests_options *options;
	struct requests *r;
	struct dist_pool pool;
	struct class_build *classes;
	size_t nr_classes, last;
	size_t room_lives;
};

int64_t life_latency_ns(const struct model *m, const struct life *life)
{
	return ticks_time_ns(m->reader, life->end) - ticks_time_ns(m->reader, life->start);
}

/* Names are kept once: pointers stand for them. */
static struct class_build *get_class(struct builder *b, const char *name)
{
	struct class_build *classes;

	if (b->last < b->nr_classes && b->classes[b->last].name == name)
		return &b->classes[b->last];
	for (size_t i = 0; i < b->nr_classes; i++)
		if (!strcmp(b->classes[i].name, name)) {
			b->last = i;
			return &b->classes[i];
		}
	classes = reallocarray(b->classes, b->nr_classes + 1, sizeof(*classes));
	if (!classes)
		return NULL;
	b->classes = classes;
	classes[b->nr_classes] = (struct class_build){ .name = name };
	dist_init(&classes[b->nr_classes].latencies, &b->pool);
	b->last = b->nr_classes;
	return &classes[b->nr_classes++];
}

static int64_t latency(const struct life *life)
{
	return life->end - life->start;
}

/* The parts go with the life. */
static void take(struct life *to, struct life *from)
{
	*to = *from;
	from->parts = NULL;
	from->nr_parts = 0;
	from->room = 0;
}

/* lives[] is a heap with the fastest of the slowest at its top. */
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
		take(&r->lives[0], life);
		lives_down(NULL, r->lives, r->nr_lives, 0, r->lives[0]);
		return 0;
	}
	if (!array_room(&r->lives, &b->room_lives, r->nr_lives, sizeof(*r->lives)))
		return -ENOMEM;
	take(&r->lives[r->nr_lives], life);
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
	take(&r->lives[r->nr_lives++], life);
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
	return life->is_complete ? keep_slowest(b, life) : 0;
}

static void fill_class(struct request_class *c, const char *name, struct dist *d)
{
	c->name = name;
	c->count = d->nr;
	c->p50_ns = dist_percentile(d, 1, 2);
	c->p99_ns = dist_percentile(d, 99, 100);
	c->p999_ns = dist_percentile(d, 999, 1000);
	c->p9999_ns = dist_percentile(d, 9999, 10000);
	c->max_ns = d->max;
	c->mean_ns = dist_mean(d);
	c->total_ns = dist_sum(d);
	c->is_exact = dist_is_exact(d);
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
	r->classes = calloc(b->nr_classes + 1, sizeof(*r->classes));
	if (!r->classes)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr_classes && !ret; i++) {
		struct class_build *from = &b->classes[i];
		struct request_class *c = &r->classes[r->nr_classes++];

		c->incomplete = from->incomplete;
		c->lost_handoffs = from->lost_handoffs;
		r->all.incomplete += from->incomplete;
		r->all.lost_handoffs += from->lost_handoffs;
		ret = dist_merge(&all, &from->latencies);
		fill_class(c, from->name, &from->latencies);
	}
	fill_class(&r->all, "", &all);
	dist_free(&all);
	qsort(r->classes, r->nr_classes, sizeof(*r->classes), class_compare);
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
	ret = lives_each(m, add_life, &b, &r->result);
	if (!ret)
		ret = fill(&b);
	for (size_t i = 0; i < b.nr_classes; i++)
		dist_free(&b.classes[i].latencies);
	free(b.classes);
	if (ret) {
		requests_free(r);
		return ret;
	}
	if (r->nr_lives)
		qsort(r->lives, r->nr_lives, sizeof(*r->lives),
		      options->has_id ? earlier_first : slower_first);
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
