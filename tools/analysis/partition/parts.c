// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the requests, and makes the partition of each; see parts.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "facts/instances.h"
#include "parts.h"

/* sleeps and holds are searched for from this long before a request to this long after it */
#define AROUND_NS	1000000000

struct found {
	const struct parts_request *requests;
	size_t nr;
	struct instance *instances;	/* by request: its instance; not found if parts is NULL */
};

static bool is_it(const struct parts_request *r, const struct instance *instance)
{
	int64_t middle = r->start / 2 + r->end / 2;

	if (!r->tid)
		return r->id == instance->id && r->end == instance->end;
	return instance->nr_parts && instance->parts[0].tid == r->tid && instance->start <= middle &&
		middle <= instance->end;
}

static int on_instance(void *arg, struct instance *instance)
{
	struct found *f = arg;

	for (size_t i = 0; i < f->nr; i++) {
		if (!is_it(&f->requests[i], instance) || !instance->is_complete || f->instances[i].parts)
			continue;
		f->instances[i] = *instance;
		instance->parts = NULL;	/* moved to the list */
		instance->nr_parts = 0;
		instance->room = 0;
		break;
	}
	return 0;
}

COMPARE(longer_first, struct part, DOWN(ns))

static const char *name_of(const struct partition *p, const struct leaf *l)
{
	return l->kind == LEAF_FUNCTION ? path_name(p, l->path) : l->label;
}

/* Adds the time to the part of that name; a function may be in several paths. */
static int add(struct part **all, size_t *nr, size_t *room, enum leaf_kind kind, const char *name, int64_t ns)
{
	for (size_t i = 0; i < *nr; i++) {
		struct part *part = &(*all)[i];

		if (part->kind == kind && !strcmp(part->name, name)) {
			part->ns += ns;
			return 0;
		}
	}
	return array_push(*all, *nr, *room, { kind, name, ns });
}

static int sum_up(const struct partition *p, struct part **all, size_t *nr)
{
	size_t room = 0;
	int ret = 0;

	for (size_t i = 0; i < p->nr_shares && !ret; i++) {
		const struct leaf *l = &p->leaves[p->shares[i].leaf];

		if (p->shares[i].ns > 0)
			ret = add(all, nr, &room, l->kind, name_of(p, l), p->shares[i].ns);
	}
	sort_by(*all, *nr, longer_first);
	return ret;
}

int parts_each(struct model *m, const struct parts_request *requests, size_t nr,
	       void (*parts)(void *arg, size_t request, const struct part *parts, size_t nr), void *arg)
{
	struct found f = { .requests = requests, .nr = nr, .instances = calloc(nr + 1, sizeof(*f.instances)) };
	struct instances_result result;
	uint64_t *ids = calloc(nr + 1, sizeof(*ids));
	int64_t around = reader_tick(m->reader, AROUND_NS) - reader_tick(m->reader, 0);
	int ret = f.instances && ids ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !ret; i++)
		ids[i] = requests[i].id;
	/* Either all requests are identified by their ids, or all by threads and times. */
	if (!ret && nr && requests[0].tid)
		ret = instances_each(m, on_instance, &f, &result);
	else if (!ret && nr)
		ret = instances_some(m, ids, nr, on_instance, &f, &result);
	for (size_t i = 0; i < nr && !ret; i++) {
		const struct instance *instance = &f.instances[i];
		struct partition_options o = { .only = instance, .from = instance->start, .to = instance->end,
					      .before = around, .after = around };
		struct part *all = NULL;
		struct partition p;
		size_t nr_all = 0;

		if (!instance->parts)
			continue;
		ret = partition_build(m, &o, &p);
		if (ret)
			break;
		ret = sum_up(&p, &all, &nr_all);
		if (!ret)
			parts(arg, i, all, nr_all);
		free(all);
		partition_free(&p);
	}
	for (size_t i = 0; f.instances && i < nr; i++)
		instance_free(&f.instances[i]);
	free(f.instances);
	free(ids);
	return ret;
}
