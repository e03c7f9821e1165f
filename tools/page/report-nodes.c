// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stores the frames of a flame graph, by parent, name and kind.  If there are too many, the
 * thinnest are merged into their callers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "page/report-private.h"

int flame_name(struct flame *f, const char *text, uint32_t *number)
{
	int64_t n;

	/*
	 * The number of names is limited, because a program may have any number of locks on its
	 * heap.
	 */
	n = intern_string(&f->names, f->names.nr < REPORT_NAMES_MAX ? text : "(others)");
	if (n < 0)
		return -ENOMEM;
	*number = n;
	return 0;
}

static uint64_t node_hash(const struct flame_node *n)
{
	return hash_mix(hash_mix(n->kind, n->parent), n->name);
}

static int add_node(struct flame *f, const struct flame_node *node)
{
	if (!array_room(&f->nodes, &f->room_nodes, f->nr_nodes, sizeof(*f->nodes)) ||
	    hash_add(&f->by_path, node_hash(node), f->nr_nodes))
		return -ENOMEM;
	f->nodes[f->nr_nodes++] = *node;
	return 0;
}

/* The root represents all time. */
static int add_root(struct flame *f)
{
	struct flame_node root = { .kind = LEAF_UNKNOWN };
	int ret = flame_name(f, "all", &root.name);

	return ret ? ret : add_node(f, &root);
}

int flame_child(struct flame *f, uint32_t parent, uint32_t name, unsigned kind, uint32_t *number)
{
	struct flame_node like = { .parent = parent, .name = name, .kind = kind };

	if (!f->nr_nodes && add_root(f))
		return -ENOMEM;
	hash_each(&f->by_path, node_hash(&like), *number) {
		const struct flame_node *n = &f->nodes[*number];

		if (n->parent == parent && n->name == name && n->kind == kind)
			return 0;
	}
	*number = f->nr_nodes;
	return add_node(f, &like);
}

/*
 * Computes the total time of each node, and the time that three quarters of the nodes do not
 * exceed.
 */
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
	*limit = sort_nth(sorted, f->nr_nodes, f->nr_nodes / 4);
	free(sorted);
	return 0;
}

/*
 * Removes nodes whose time is at most the limit.  A parent has at least the time of its children,
 * so the parent of a remaining node remains, too.
 */
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
	/* The hash has room for the remaining nodes. */
	hash_clear(&f->by_path);
	for (size_t i = 0; i < nr; i++)
		hash_put(&f->by_path, node_hash(&f->nodes[i]), i);
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
	}
	if (!ret)
		ret = cells_rekey(&f->by_time, keys);
	if (!ret)
		ret = cells_rekey(&f->by_request, keys);
	free(total);
	free(keys);
	return ret;
}
