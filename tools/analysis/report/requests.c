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
	size_t room_instances;
	struct links *links;	/* options->trace */
};

int64_t instance_latency_ns(const struct model *m, const struct instance *instance)
{
	return ticks_time_ns(m->reader, instance->end) - ticks_time_ns(m->reader, instance->start);
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

static int64_t latency(const struct instance *instance)
{
	return instance->end - instance->start;
}

/* Moves a request instance with its spans. */
static void move_instance(struct instance *to, struct instance *from)
{
	*to = *from;
	from->parts = NULL;
	from->nr_parts = 0;
	from->room = 0;
}

/* The slowest request instances are in a heap; the fastest of them is first. */
static bool is_faster(void *none, const struct instance *a, const struct instance *b)
{
	return latency(a) < latency(b);
}

HEAP(instances, struct instance, void *, is_faster, heap_moved_none)

static int keep_slowest(struct builder *b, struct instance *instance)
{
	struct requests *r = b->r;

	if (!b->options->nr_slowest)
		return 0;
	if (r->nr_instances == b->options->nr_slowest) {
		if (latency(instance) <= latency(&r->instances[0]))
			return 0;
		instance_free(&r->instances[0]);
		move_instance(&r->instances[0], instance);
		instances_down(NULL, r->instances, r->nr_instances, 0, r->instances[0]);
		return 0;
	}
	if (!array_room(&r->instances, &b->room_instances, r->nr_instances, sizeof(*r->instances)))
		return -ENOMEM;
	move_instance(&r->instances[r->nr_instances], instance);
	instances_up(NULL, r->instances, r->nr_instances, r->instances[r->nr_instances]);
	r->nr_instances++;
	return 0;
}

static int keep_match(struct builder *b, struct instance *instance)
{
	struct requests *r = b->r;

	if (r->nr_instances >= REQUESTS_MATCHES_MAX) {
		r->nr_not_kept++;
		return 0;
	}
	if (!array_room(&r->instances, &b->room_instances, r->nr_instances, sizeof(*r->instances)))
		return -ENOMEM;
	move_instance(&r->instances[r->nr_instances++], instance);
	return 0;
}

static int add_instance(void *arg, struct instance *instance)
{
	struct builder *b = arg;
	const struct requests_options *o = b->options;
	struct class_build *c;
	int ret = 0;

	if (instance->start < o->from || instance->start > o->to)
		return 0;
	if (instance->is_complete && instance->end < o->ended_from)
		return 0;
	if (o->class && fnmatch(o->class, instance->class, 0))
		return 0;
	for (size_t i = 0; i < o->nr_notes; i++)
		if (!note_filter_matches(&o->notes[i], b->m, instance->id, instance->start, instance->end))
			return 0;
	if (o->has_at && (instance->start > o->at || instance->end < o->at))
		return 0;
	if (o->trace) {
		ret = links_match(b->links, instance, o->trace);
		if (ret <= 0)
			return ret;
		ret = 0;
	}
	if (o->among && !asked_has(o->among, instance))
		return 0;
	c = get_class(b, instance->class);
	if (!c)
		return -ENOMEM;
	c->lost_handoffs += instance->has_lost_handoff;
	if (instance->is_complete)
		ret = dist_add(&c->latencies, instance_latency_ns(b->m, instance));
	else
		c->incomplete++;
	if (ret)
		return ret;
	if (o->has_id)
		return instance->id == o->id ? keep_match(b, instance) : 0;
	if (o->trace || o->among)
		return keep_match(b, instance);
	return instance->is_complete || o->has_at ? keep_slowest(b, instance) : 0;
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
	const struct instance *a = pa, *b = pb;

	if (latency(a) != latency(b))
		return latency(a) > latency(b) ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

COMPARE(earlier_first, struct instance, UP(start))

int requests_build(struct model *m, const struct requests_options *options, struct requests *r)
{
	struct builder b = { .m = m, .options = options, .r = r };
	int ret;

	*r = (struct requests){ 0 };
	b.links = options->trace ? links_open(m) : NULL;
	ret = options->trace && !b.links ? -ENOMEM : instances_each(m, add_instance, &b, &r->result);
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
	sort_by(r->instances, r->nr_instances, options->has_id || options->trace ||
		options->among ? earlier_first : slower_first);
	return 0;
}

void requests_free(struct requests *r)
{
	for (size_t i = 0; i < r->nr_instances; i++)
		instance_free(&r->instances[i]);
	free(r->instances);
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
