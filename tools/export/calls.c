// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes trees and graphs of calls; see calls.h. */
#include "export/calls.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/sort.h"
#include "cli/units.h"
#include "cli/utf8.h"
#include "export/walk.h"

/* A node of the tree, with its total time. */
struct branch {
	const struct stacks_node *node;
	struct branch *first, *next;	/* child, sibling: by total, the greatest first */
	int64_t total_ns;
	/* the branch, an ancestor or a descendant matches the pattern */
	bool is_wanted;
	uint32_t vertex;		/* for a graph: index of its function or thread */
};

struct tree {
	struct stacks s;
	struct branch *all;		/* by number of the node */
	struct branch **order;
	struct branch *roots;
};

/* Sorts by total time, greatest first; if equal, by the order of creation. */
static int by_total(const void *pa, const void *pb)
{
	const struct branch *a = *(struct branch *const *)pa, *b = *(struct branch *const *)pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->node->nr < b->node->nr ? -1 : a->node->nr > b->node->nr;
}

static bool matches(const struct calls_options *c, const struct stacks_node *n)
{
	return !c->function || (n->func && !fnmatch(c->function, n->func->function, 0));
}

/* Nodes are in the order of their creation, so parents come before children. */
static void sum_up(struct tree *t, const struct calls_options *c)
{
	for (size_t i = 0; i < t->s.nr_nodes; i++) {
		struct branch *b = &t->all[i], *parent;

		b->node = t->s.nodes[i];
		b->total_ns = b->node->self_ns;
		parent = b->node->parent ? &t->all[b->node->parent->nr] : NULL;
		b->is_wanted = matches(c, b->node) || (parent && parent->is_wanted);
	}
	for (size_t i = t->s.nr_nodes; i-- > 0;) {
		struct branch *b = &t->all[i], *parent;

		if (!b->node->parent)
			continue;
		parent = &t->all[b->node->parent->nr];
		parent->total_ns += b->total_ns;
		parent->is_wanted |= b->is_wanted;
	}
}

/* Adds each node at the front of its list, the smallest first, so that the greatest comes first. */
static void link_branches(struct tree *t)
{
	size_t nr = t->s.nr_nodes;

	for (size_t i = 0; i < nr; i++)
		t->order[i] = &t->all[i];
	sort_by(t->order, nr, by_total);
	for (size_t i = nr; i-- > 0;) {
		struct branch *b = t->order[i];
		struct branch **list = b->node->parent ? &t->all[b->node->parent->nr].first : &t->roots;

		b->next = *list;
		*list = b;
	}
}

static void tree_free(struct tree *t)
{
	free(t->all);
	free(t->order);
	stacks_free(&t->s);
}

static int tree_build(struct tree *t, struct model *m, const struct export_options *o,
		      const struct calls_options *c)
{
	struct stacks_options options = { 0 };
	int ret;

	*t = (struct tree){ 0 };
	stacks_init(&t->s, m, &options);
	ret = stacks_walk(&t->s, m, o);
	if (ret)
		return ret;
	t->all = calloc(t->s.nr_nodes + 1, sizeof(*t->all));
	t->order = calloc(t->s.nr_nodes + 1, sizeof(*t->order));
	if (!t->all || !t->order)
		return -ENOMEM;
	sum_up(t, c);
	link_branches(t);
	return 0;
}

static const char *name_of(const struct branch *b)
{
	const struct stacks_node *n = b->node;

	return n->func ? n->func->function : *n->thread ? n->thread : "[thread]";
}

/*
 * Prints the first `width` characters of a name; 0: all.  Bytes that are not UTF-8, and characters
 * that could control a terminal or end a string of a graph, become '?'.
 */
static void put_name(FILE *out, const char *name, unsigned width)
{
	for (unsigned column = 0; *name && (!width || column < width); column++) {
		unsigned n = utf8_length(name);

		if (!n || *name == '"' || *name == '\\' || utf8_is_control(name, n))
			putc('?', out);
		else
			fwrite(name, 1, n, out);
		name += n ? n : 1;
	}
}

static void put_line(FILE *out, const struct branch *b, unsigned depth, double all_ns, unsigned width)
{
	char total[UNITS_ROOM], self[UNITS_ROOM], calls[UNITS_ROOM];

	fprintf(out, "%10s %5.1f%% %10s %8s  %*s", units_duration(b->total_ns, total),
		all_ns > 0 ? 100 * b->total_ns / all_ns : 0, units_duration(b->node->self_ns, self),
		b->node->func ? units_count(b->node->nr_calls, calls) : "", 2 * (int)(depth < 30 ? depth : 30), "");
	put_name(out, name_of(b), width > 60 ? width - 40 : width ? 20 : 0);
	fputs(b->node->func ? "()" : "", out);
	if (b->node->nr_open)
		fprintf(out, "  +%" PRIu64 " in part", b->node->nr_open);
	putc('\n', out);
}

/*
 * Returns the branch after b, depth first; NULL: b is the last one.  Skips what is below a branch
 * that is not wanted.  There is no recursion, because stacks may be very deep.
 */
static const struct branch *after(const struct tree *t, const struct branch *b, unsigned *depth)
{
	if (b->first && b->is_wanted) {
		(*depth)++;
		return b->first;
	}
	while (b && !b->next) {
		b = b->node->parent ? &t->all[b->node->parent->nr] : NULL;
		*depth -= !!b;
	}
	return b ? b->next : NULL;
}

int calls_tree(struct model *m, const struct export_options *o, const struct calls_options *c, FILE *out)
{
	uint64_t nr = 0, hidden = 0;
	double all_ns = 0;
	unsigned depth = 0;
	struct tree t;
	int ret = tree_build(&t, m, o, c);

	for (const struct branch *b = t.roots; b && !ret; b = b->next)
		all_ns += b->total_ns;
	if (!ret)
		fprintf(out, "%10s %6s %10s %8s  function\n", "total", "", "self", "calls");
	for (const struct branch *b = ret ? NULL : t.roots; b; b = after(&t, b, &depth)) {
		if (!b->is_wanted)
			continue;
		if (c->top && nr == c->top)
			hidden++;
		else
			put_line(out, b, depth, all_ns, c->width);
		nr += nr < c->top || !c->top;
	}
	if (hidden)
		fprintf(out, "and %" PRIu64 " more lines (--top)\n", hidden);
	tree_free(&t);
	return ret ? ret : ferror(out) ? -EIO : 0;
}

/* Graphs: functions of one name are one vertex, and so are threads. */

struct vertex {
	const struct branch *any;
	uint64_t nr_calls;
	int64_t self_ns, total_ns;	/* total_ns: recursive calls are counted once */
	bool is_shown;
};

struct edge {
	uint32_t from, to;
	uint64_t nr_calls;
	int64_t total_ns;
};

struct graph {
	struct tree t;
	struct intern names;
	struct vertex *vertices;
	size_t nr_vertices, room_vertices;
	struct hash by_ends;		/* finds edges */
	struct edge *edges;
	size_t nr_edges, room_edges;
	struct vertex **order;
};

/* Returns the number of the vertex, or -ENOMEM. */
static int64_t find_vertex(struct graph *g, const struct branch *b)
{
	char name[1024];
	bool is_new = false;
	int64_t n;

	/* A prefix distinguishes threads and functions with the same name. */
	snprintf(name, sizeof(name), "%c%s", b->node->func ? 'f' : 't', name_of(b));
	n = intern_get(&g->names, name, strlen(name), &is_new);
	if (n < 0 || (is_new && array_push(g->vertices, g->nr_vertices, g->room_vertices, { .any = b })))
		return -ENOMEM;
	return n;
}

static struct edge *find_edge(struct graph *g, uint32_t from, uint32_t to)
{
	uint64_t hash = hash_mix(hash_mix(0, from), to);
	uint32_t n;

	hash_each(&g->by_ends, hash, n)
		if (g->edges[n].from == from && g->edges[n].to == to)
			return &g->edges[n];
	if (array_push(g->edges, g->nr_edges, g->room_edges, { .from = from, .to = to }) ||
	    hash_add(&g->by_ends, hash, g->nr_edges - 1))
		return NULL;
	return &g->edges[g->nr_edges - 1];
}

static const struct branch *parent_of(const struct tree *t, const struct branch *b)
{
	return b->node->parent ? &t->all[b->node->parent->nr] : NULL;
}

static bool is_recursive(const struct tree *t, const struct branch *b)
{
	for (const struct branch *p = parent_of(t, b); p; p = parent_of(t, p))
		if (p->vertex == b->vertex)
			return true;
	return false;
}

/* Returns true if an outer branch has the same edge. */
static bool repeats_edge(const struct tree *t, const struct branch *b)
{
	const struct branch *parent = parent_of(t, b), *p;

	for (p = parent; p && parent_of(t, p); p = parent_of(t, p))
		if (p->vertex == b->vertex && parent_of(t, p)->vertex == parent->vertex)
			return true;
	return false;
}

static int add_branch(struct graph *g, struct branch *b)
{
	const struct branch *parent = parent_of(&g->t, b);
	int64_t n = find_vertex(g, b);
	struct vertex *v;
	struct edge *e;

	if (n < 0)
		return n;
	b->vertex = n;
	v = &g->vertices[n];
	v->nr_calls += b->node->nr_calls;
	v->self_ns += b->node->self_ns;
	v->total_ns += is_recursive(&g->t, b) ? 0 : b->total_ns;
	v->is_shown |= b->is_wanted;
	if (!parent || !b->is_wanted)
		return 0;
	e = find_edge(g, parent->vertex, b->vertex);
	if (!e)
		return -ENOMEM;
	e->nr_calls += b->node->nr_calls;
	e->total_ns += repeats_edge(&g->t, b) ? 0 : b->total_ns;
	return 0;
}

static int by_vertex_total(const void *pa, const void *pb)
{
	const struct vertex *a = *(struct vertex *const *)pa, *b = *(struct vertex *const *)pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* If top is not 0, hides all functions and threads but those with the greatest total times. */
static int choose(struct graph *g, uint64_t top)
{
	size_t nr = 0;

	g->order = calloc(g->nr_vertices + 1, sizeof(*g->order));
	if (!g->order)
		return -ENOMEM;
	for (size_t i = 0; i < g->nr_vertices; i++)
		if (g->vertices[i].is_shown)
			g->order[nr++] = &g->vertices[i];
	sort_by(g->order, nr, by_vertex_total);
	for (size_t i = top; top && i < nr; i++)
		g->order[i]->is_shown = false;
	return 0;
}

/*
 * Returns how many calls the selected threads of this name made in the whole recording, observed or
 * not, from their own counters.
 */
static uint64_t made_by(const struct model *m, const struct export_options *o, const char *name)
{
	uint64_t made = 0;

	for (size_t i = 0; i < m->nr_threads; i++) {
		const struct thread *t = &m->threads[i];

		if (model_thread_matches(o->thread, t->tid, t) && !strcmp(model_thread_name(t), name))
			made += t->made;
	}
	return made;
}

static void put_vertex(FILE *out, const struct vertex *v, size_t n, double all_ns, uint64_t made)
{
	char total[UNITS_ROOM], self[UNITS_ROOM], calls[UNITS_ROOM];
	double share = all_ns > 0 ? v->self_ns / all_ns : 0;

	fprintf(out, "\tn%zu [label=\"", n);
	put_name(out, name_of(v->any), 200);
	if (v->any->node->func)
		fprintf(out, "()\\n%s calls, total %s, self %s\"", units_count(v->nr_calls, calls),
			units_duration(v->total_ns, total), units_duration(v->self_ns, self));
	else
		fprintf(out, "\\ncalls made: %" PRIu64 ", total %s\" shape=ellipse", made,
			units_duration(v->total_ns, total));
	/* The greater the share of self time, the more intense the colour. */
	fprintf(out, " fillcolor=\"0.05 %.3f 1.0\"];\n", share < 1 ? share : 1);
}

static void put_graph(FILE *out, const struct graph *g, const struct model *m, const struct export_options *o)
{
	char total[UNITS_ROOM], calls[UNITS_ROOM];
	double all_ns = 0;

	for (const struct branch *b = g->t.roots; b; b = b->next)
		all_ns += b->total_ns;
	fputs("digraph calls {\n\tnode [shape=box style=filled fontname=\"sans\"];\n\tedge [fontname=\"sans\" fontsize=10];\n", out);
	for (size_t i = 0; i < g->nr_vertices; i++) {
		const struct stacks_node *node = g->vertices[i].any->node;

		if (g->vertices[i].is_shown)
			put_vertex(out, &g->vertices[i], i, all_ns, node->func ? 0 : made_by(m, o, node->thread));
	}
	for (size_t i = 0; i < g->nr_edges; i++) {
		const struct edge *e = &g->edges[i];

		if (g->vertices[e->from].is_shown && g->vertices[e->to].is_shown)
			fprintf(out, "\tn%u -> n%u [label=\"%s, %s\" penwidth=%.1f];\n", e->from, e->to,
				units_count(e->nr_calls, calls), units_duration(e->total_ns, total),
				1 + (all_ns > 0 ? 5 * e->total_ns / all_ns : 0));
	}
	fputs("}\n", out);
}

int calls_graph(struct model *m, const struct export_options *o, const struct calls_options *c, FILE *out)
{
	struct graph g = { 0 };
	int ret = tree_build(&g.t, m, o, c);

	for (size_t i = 0; i < g.t.s.nr_nodes && !ret; i++)
		ret = add_branch(&g, &g.t.all[i]);
	if (!ret)
		ret = choose(&g, c->top);
	if (!ret)
		put_graph(out, &g, m, o);
	intern_free(&g.names);
	hash_free(&g.by_ends);
	free(g.vertices);
	free(g.edges);
	free(g.order);
	tree_free(&g.t);
	return ret ? ret : ferror(out) ? -EIO : 0;
}
