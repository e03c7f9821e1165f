// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes the usual times: medians over the requests of the reference, for each call path with
 * everything below it, and for each leaf.  A request that does not have the path or leaf counts as
 * 0.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "base/sort.h"
#include "why-private.h"

int tree_open(struct tree *t, const struct partition *p)
{
	size_t nr = p->nr_paths + p->nr_leaves;

	t->p = p;
	t->nodes = calloc(nr + 1, sizeof(*t->nodes));
	t->touched = calloc(nr + 1, sizeof(*t->touched));
	t->nr_touched = 0;
	t->stamp = 0;
	return t->nodes && t->touched ? 0 : -ENOMEM;
}

void tree_close(struct tree *t)
{
	free(t->nodes);
	free(t->touched);
}

/* Returns the node n; on its first use it is linked to its parent. */
static struct node *touch(struct tree *t, uint32_t n, uint32_t parent)
{
	struct node *node = &t->nodes[n];

	if (node->stamp == t->stamp)
		return node;
	*node = (struct node){ .stamp = t->stamp, .first_child = NO_NODE, .sibling = NO_NODE };
	t->touched[t->nr_touched++] = n;
	if (n) {
		node->sibling = t->nodes[parent].first_child;
		t->nodes[parent].first_child = n;
	}
	return node;
}

/* Parents are added first, so that each node is linked to a node in the tree. */
static void touch_path(struct tree *t, uint32_t path)
{
	if (t->nodes[path].stamp == t->stamp)
		return;
	touch_path(t, t->p->paths[path].parent);
	touch(t, path, t->p->paths[path].parent);
}

void tree_fill(struct tree *t, const struct request *r)
{
	t->stamp++;
	t->nr_touched = 0;
	touch(t, 0, 0);
	for (uint32_t i = 0; i < r->nr_shares; i++) {
		const struct share *s = &t->p->shares[r->first + i];
		const struct leaf *leaf = &t->p->leaves[s->leaf];
		struct node *node;

		touch_path(t, leaf->path);
		node = touch(t, t->p->nr_paths + s->leaf, leaf->path);
		node->ns = s->ns;
		node->nr = s->nr;
		node->nr_faults = s->nr_faults;
		for (uint32_t path = leaf->path;; path = t->p->paths[path].parent) {
			t->nodes[path].ns += s->ns;
			if (!path)
				break;
		}
	}
}

/* The time of one node in one request. */
struct value {
	uint32_t node, nr;
	int64_t ns;
};

struct values {
	struct value *at;
	size_t nr, room;
};

static int add_values(struct values *v, const struct tree *t, struct node_reference *nodes)
{
	for (size_t i = 0; i < t->nr_touched; i++) {
		const struct node *node = &t->nodes[t->touched[i]];

		if (array_push(v->at, v->nr, v->room, { t->touched[i], node->nr, node->ns }))
			return -ENOMEM;
		nodes[t->touched[i]].nr_present++;
		nodes[t->touched[i]].nr_faults += node->nr_faults;
	}
	return 0;
}

ORDER_KEY(value_node, struct value, node)
ORDER_KEY(value_ns, struct value, ns)

COMPARE(by_nr, struct value, UP(nr))

COMPARE(by_ns, struct value, UP(ns))

/* Returns the median of nr requests; those that have none of the sorted values have 0. */
static int64_t median_ns(const struct value *v, size_t nr_values, size_t nr)
{
	size_t middle = nr / 2, zeros = nr - nr_values;

	return middle < zeros ? 0 : v[middle - zeros].ns;
}

static void set_medians(struct node_reference *node, struct value *v, size_t nr_values, size_t nr)
{
	size_t middle = nr / 2, zeros = nr - nr_values;

	node->median_ns = median_ns(v, nr_values, nr);
	/*
	 * Each request with the node has a deviation of its own; all requests without it have the
	 * same deviation.
	 */
	for (size_t i = 0; i < nr_values; i++) {
		int64_t d = v[i].ns - node->median_ns;

		v[i].ns = d < 0 ? -d : d;
	}
	qsort(v, nr_values, sizeof(*v), by_ns);
	if (!node->median_ns) {
		node->mad_ns = median_ns(v, nr_values, nr);
	} else {
		size_t below = 0;

		/* The deviation of a request without the node is the whole median. */
		while (below < nr_values && v[below].ns < node->median_ns)
			below++;
		node->mad_ns = middle < below ? v[middle].ns :
			       middle < below + zeros ? node->median_ns : v[middle - zeros].ns;
	}
	qsort(v, nr_values, sizeof(*v), by_nr);
	node->median_nr = middle < zeros ? 0 : v[middle - zeros].nr;
}

int reference_build(struct tree *t, struct reference *ref)
{
	static const order_key keys[] = { value_node, value_ns };
	struct values v = { NULL, 0, 0 };
	int ret = 0;

	ref->nodes = calloc(t->p->nr_paths + t->p->nr_leaves + 1, sizeof(*ref->nodes));
	if (!ref->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < ref->nr && !ret; i++) {
		tree_fill(t, &t->p->requests[ref->requests[i]]);
		ret = add_values(&v, t, ref->nodes);
	}
	if (!ret)
		ret = order_sort(&v.at, v.nr, sizeof(*v.at), keys, 2);
	for (size_t i = 0, next; i < v.nr && !ret; i = next) {
		for (next = i; next < v.nr && v.at[next].node == v.at[i].node;)
			next++;
		set_medians(&ref->nodes[v.at[i].node], v.at + i, next - i, ref->nr);
	}
	free(v.at);
	return ret;
}

void reference_free(struct reference *ref)
{
	free(ref->nodes);
	free(ref->requests);
}
