// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the segments of some targets: the slowest ones, and for each of the first OF_CAUSES causes
 * the slowest target that has it as its first cause.  One pass over the requests finds their
 * instances.
 */
#include <errno.h>
#include <stdlib.h>

#include "facts/instances.h"
#include "analysis/timeline/timeline.h"
#include "base/intern.h"
#include "base/sort.h"
#include "page/why-private.h"
#include "render/offcpu.h"
#include "render/segment.h"
#include "render/text.h"

#define OF_CAUSES	(WHY_PAGE_INSTANCES / 2)

struct chosen {
	size_t target;
	int64_t start;
	struct instance instance;
	bool is_found;
};

struct instances {
	const struct why *w;
	struct chosen chosen[WHY_PAGE_INSTANCES];
	size_t nr;
	struct intern names;
	struct store rows;
};

static void choose(struct instances *l, size_t target)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->chosen[i].target == target)
			return;
	if (l->nr < WHY_PAGE_INSTANCES)
		l->chosen[l->nr++] = (struct chosen){ .target = target, .start = l->w->targets[target].request->start };
}

COMPARE(by_start, struct chosen, UP(start) UP(target))

/*
 * Chooses targets, and sorts them by time, because blocks of the trace that one timeline needs may
 * also be needed for the next one.
 */
static void choose_all(struct instances *l)
{
	const struct why *w = l->w;

	for (uint32_t c = 0; c < w->nr_causes && c < OF_CAUSES; c++)
		for (size_t i = 0; i < w->nr_targets; i++)
			if (w->targets[i].nr_amounts && w->targets[i].amounts[0].cause == c) {
				choose(l, i);
				break;
			}
	for (size_t i = 0; i < w->nr_targets && i < WHY_PAGE_INSTANCES; i++)
		choose(l, i);
	sort_by(l->chosen, l->nr, by_start);
}

static int on_instance(void *arg, struct instance *instance)
{
	struct instances *l = arg;

	for (size_t i = 0; i < l->nr; i++) {
		const struct request *r = l->w->targets[l->chosen[i].target].request;

		if (l->chosen[i].is_found || r->id != instance->id || r->start != instance->start)
			continue;
		l->chosen[i].instance = *instance;
		l->chosen[i].is_found = true;
		instance->parts = NULL;	/* now owned by the list */
		instance->nr_parts = 0;
		instance->room = 0;
		break;
	}
	return 0;
}

static const char *segment_label(const struct segment *s, char *buf)
{
	char text[TEXT_ROOM];

	if (segment_kinds[s->kind].off_cpu)
		return text_clean(offcpu_label(s, text), buf);
	return text_clean(segment_name(s, text), buf);
}

static int add_row(struct instances *l, size_t number, const struct segment *s, int64_t start_ns)
{
	char label[TEXT_ROOM];
	int64_t name, thread;

	name = intern_string(&l->names, segment_label(s, label));
	thread = intern_string(&l->names, model_thread_name(s->thread));
	if (name < 0 || thread < 0)
		return -ENOMEM;
	return store_add(&l->rows, (int64_t[]){
		number, s->kind, name, thread, s->tid, s->start_ns - start_ns, s->end_ns - start_ns,
		s->resolution_ns, s->depth, s->level, s->blocks_req });
}

static int add_instance(struct instances *l, size_t number)
{
	struct timeline t;
	int64_t least;
	int ret = timeline_build_siteless(l->w->p->m, &l->chosen[number].instance, &t);

	if (ret)
		return ret;
	least = timeline_longest(&t, WHY_PAGE_SEGMENTS);
	for (size_t i = 0; i < t.nr_segments && !ret; i++) {
		const struct segment *s = &t.segments[i];

		if (s->end_ns - s->start_ns >= least)
			ret = add_row(l, number, s, t.start_ns);
	}
	timeline_free(&t);
	return ret;
}

static int add_instances(struct instances *l)
{
	struct model *m = l->w->p->m;
	struct instance instances[WHY_PAGE_INSTANCES];
	uint32_t *order;
	size_t nr = 0;
	int ret;

	for (size_t i = 0; i < l->nr; i++)
		if (l->chosen[i].is_found)
			instances[nr++] = l->chosen[i].instance;
	if (!nr)
		return 0;
	order = timelines_begin(m, instances, nr);
	ret = order ? 0 : -ENOMEM;
	for (size_t i = 0; i < l->nr && !ret; i++)
		if (l->chosen[i].is_found)
			ret = add_instance(l, i);
	timelines_end(m);
	free(order);
	return ret;
}

static int write_all(struct instances *l, struct page *p)
{
	struct json *j = page_json_begin(p, "instances");

	json_array_begin(j, "targets");
	for (size_t i = 0; i < l->nr; i++)
		json_i64(j, NULL, l->chosen[i].is_found ? (int64_t)l->chosen[i].target : -1);
	json_array_end(j);
	page_put_segment_kinds(j);
	json_array_begin(j, "names");
	for (size_t i = 0; i < l->names.nr; i++)
		json_string(j, NULL, intern_key(&l->names, i));
	json_array_end(j);
	page_json_end(p);
	return store_write(&l->rows, p, "instance_segments");
}

int why_instances_write(const struct why *w, struct page *p)
{
	struct instances l = { .w = w };
	uint64_t ids[WHY_PAGE_INSTANCES];
	struct instances_result result;
	int ret;

	store_init(&l.rows, "instance+ kind name thread tid start+ end resolution depth level blocks");
	choose_all(&l);
	for (size_t i = 0; i < l.nr; i++)
		ids[i] = w->targets[l.chosen[i].target].request->id;
	ret = l.nr ? instances_some(w->p->m, ids, l.nr, on_instance, &l, &result) : 0;
	if (!ret)
		ret = add_instances(&l);
	if (!ret)
		ret = write_all(&l, p);
	for (size_t i = 0; i < l.nr; i++)
		free(l.chosen[i].instance.parts);
	intern_free(&l.names);
	store_free(&l.rows);
	return ret;
}
