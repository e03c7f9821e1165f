// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The frames of a flame graph, by parent, name and kind.  When there are too many, the
 * thinnest become part of their callers: what is left out is what could not be seen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "page/report-private.h"

static uint64_t hash_text(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ULL;
	return h ^ h >> 32;
}

static int grow_name_slots(struct flame_names *n)
{
	size_t nr = n->nr_slots ? 2 * n->nr_slots : 1024;
	uint32_t *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < n->nr; i++) {
		size_t at = hash_text(n->at[i]) & (nr - 1);

		while (slots[at])
			at = (at + 1) & (nr - 1);
		slots[at] = i + 1;
	}
	free(n->slots);
	n->slots = slots;
	n->nr_slots = nr;
	return 0;
}

static int add_name(struct flame_names *n, const char *text)
{
	if (!array_room(&n->at, &n->room, n->nr, sizeof(*n->at)))
		return -ENOMEM;
	n->at[n->nr] = strdup(text);
	if (!n->at[n->nr])
		return -ENOMEM;
	n->nr++;
	return 0;
}

int flame_name(struct flame *f, const char *text, uint32_t *number)
{
	struct flame_names *n = &f->names;
	size_t at;
	int ret;

	if (2 * n->nr >= n->nr_slots && grow_name_slots(n))
		return -ENOMEM;
	/* Locks on a heap may be without number. */
	if (n->nr >= REPORT_NAMES_MAX)
		text = "(others)";
	at = hash_text(text) & (n->nr_slots - 1);
	for (; n->slots[at]; at = (at + 1) & (n->nr_slots - 1)) {
		*number = n->slots[at] - 1;
		if (!strcmp(n->at[*number], text))
			return 0;
	}
	ret = add_name(n, text);
	if (ret)
		return ret;
	n->slots[at] = n->nr;
	*number = n->nr - 1;
	return 0;
}

static size_t node_slot(const uint32_t *slots, size_t nr, const struct flame_node *nodes,
			const struct flame_node *like)
{
	uint64_t h = ((uint64_t)like->parent << 32 | like->name) * 0x9e3779b97f4a7c15ULL;
	size_t at = (h >> 32 ^ like->kind) & (nr - 1);

	for (; slots[at]; at = (at + 1) & (nr - 1)) {
		const struct flame_node *n = &nodes[slots[at] - 1];

		if (n->parent == like->parent && n->name == like->name && n->kind == like->kind)
			break;
	}
	return at;
}

static int make_node_slots(struct flame *f, size_t nr)
{
	uint32_t *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr_nodes; i++)
		slots[node_slot(slots, nr, f->nodes, &f->nodes[i])] = i + 1;
	free(f->slots);
	f->slots = slots;
	f->nr_slots = nr;
	return 0;
}

static int add_node(struct flame *f, const struct flame_node *node)
{
	if (!array_room(&f->nodes, &f->room_nodes, f->nr_nodes, sizeof(*f->nodes)))
		return -ENOMEM;
	f->nodes[f->nr_nodes++] = *node;
	return 0;
}

/* The root stands for all. */
static int add_root(struct flame *f)
{
	struct flame_node root = { .kind = LEAF_UNKNOWN };
	int ret = flame_name(f, "all", &root.name);

	return ret ? ret : add_node(f, &root);
}

int flame_child(struct flame *f, uint32_t parent, uint32_t name, unsigned kind, uint32_t *number)
{
	struct flame_node like = { .parent = parent, .name = name, .kind = kind };
	size_t at;

	if (!f->nr_nodes && add_root(f))
		return -ENOMEM;
	if (2 * f->nr_nodes >= f->nr_slots &&
	    make_node_slots(f, f->nr_slots ? 2 * f->nr_slots : 1024))
		return -ENOMEM;
	at = node_slot(f->slots, f->nr_slots, f->nodes, &like);
	if (!f->slots[at]) {
		if (add_node(f, &like))
			return -ENOMEM;
		f->slots[at] = f->nr_nodes;
	}
	*number = f->slots[at] - 1;
	return 0;
}

static int descending(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return *a > *b ? -1 : *a < *b;
}

/* Of each node and all below it; and the time that three quarters of them do not exceed. */
static int weigh(struct flame *f, int64_t *total, int64_t *limit)
{
	int64_t *sorted = malloc(f->nr_nodes * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < f->by_time.nr; i++)
		total[f->by_time.cells[i].key] += f->by_time.cells[i].sum;
	for (size_t i = f->nr_nodes; i-- > 1;)
		total[f->nodes[i].parent] += total[i];
	memcpy(sorted, total, f->nr_nodes * sizeof(*sorted));
	qsort(sorted, f->nr_nodes, sizeof(*sorted), descending);
	*limit = sorted[f->nr_nodes / 4];
	free(sorted);
	return 0;
}

/* A parent has at least its children's time, so what stays has its parent still. */
static void compact(struct flame *f, const int64_t *total, int64_t limit, uint32_t *keys)
{
	size_t nr = 1;

	keys[0] = 0;
	for (size_t i = 1; i < f->nr_nodes; i++) {
		struct flame_node node = f->nodes[i];

		node.parent = keys[node.parent];
		keys[i] = node.parent;
		if (total[i] <= limit)
			continue;
		f->nodes[nr] = node;
		keys[i] = nr++;
	}
	f->nr_nodes = nr;
}

int flame_fold(struct flame *f)
{
	int64_t *total = calloc(f->nr_nodes, sizeof(*total)), limit;
	uint32_t *keys = calloc(f->nr_nodes, sizeof(*keys));
	int ret = total && keys ? weigh(f, total, &limit) : -ENOMEM;

	if (!ret) {
		compact(f, total, limit, keys);
		if (limit > f->folded_ns)
			f->folded_ns = limit;
		ret = make_node_slots(f, f->nr_slots);
	}
	if (!ret)
		ret = cells_rekey(&f->by_time, keys);
	if (!ret)
		ret = cells_rekey(&f->by_request, keys);
	free(total);
	free(keys);
	return ret;
}
