// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds the tree of a blame flame graph; see pictures.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/array.h"
#include "pictures.h"

#define PATH_MAX_DEPTH	512	/* only this many innermost frames of a stack are used */

struct build {
	const struct why *w;
	struct blametree *b;
	size_t room;
	struct hash frames;		/* by parent, kind, name */
	int ret;			/* -errno after a failure: later results are not valid */
};

/*
 * Returns the parent's child frame of that kind and name, or the parent if there are too many
 * frames.
 */
static uint32_t find_child(struct build *b, uint32_t parent, unsigned kind, const char *name)
{
	struct blametree *t = b->b;
	uint64_t hash = hash_mix(hash_mix(hash_text(name), kind), parent);
	uint32_t n;

	hash_each(&b->frames, hash, n) {
		const struct blametree_frame *f = &t->at[n];

		if (f->parent == parent && f->kind == kind && !strcmp(f->name, name))
			return n;
	}
	if (t->nr == BLAMETREE_FRAMES_MAX) {
		t->nr_dropped++;
		return parent;
	}
	if (array_push(t->at, t->nr, b->room, {
			.parent = parent, .depth = t->at[parent].depth + 1, .kind = kind, .name = name }) ||
	    hash_add(&b->frames, hash, t->nr - 1)) {
		b->ret = -ENOMEM;
		return parent;
	}
	return t->nr - 1;
}

static uint32_t add_path(struct build *b, uint32_t frame, uint32_t path)
{
	const struct partition *p = b->w->p;
	uint32_t steps[PATH_MAX_DEPTH];
	size_t nr = 0;

	for (uint32_t at = path; at && nr < PATH_MAX_DEPTH; at = p->paths[at].parent)
		steps[nr++] = at;
	while (nr--)
		frame = find_child(b, frame, path_is_queue(&p->paths[steps[nr]]) ? LEAF_QUEUE : LEAF_FUNCTION,
				   path_name(p, steps[nr]));
	return frame;
}

/* Returns the name of a link: its label or, if there is none, the name of its thread. */
static const char *link_name(const struct chain_link *l)
{
	return *l->label ? l->label : l->thread;
}

static uint32_t add_chain(struct build *b, uint32_t frame, const struct chain *chain,
			  enum leaf_kind first)
{
	for (size_t i = 0; i < chain->nr; i++) {
		const struct chain_link *l = &chain->links[i];

		/*
		 * Some links have no frame: the first link, if its cause has a frame already; a
		 * request that was ahead, because it is a different one each time; a function that
		 * may be called, because its time is not known.
		 */
		if ((i || l->kind != first) && l->kind != LINK_REQUEST && l->source != EDGE_CODE)
			frame = find_child(b, frame, l->kind, link_name(l));
	}
	return frame;
}

static void add_time(struct build *b, uint32_t frame, int64_t ns)
{
	b->b->at[frame].own_ns += ns;
	b->b->at[frame].nr++;
}

static uint32_t class_frame(struct build *b, const struct why_target *t)
{
	const char *name = b->w->p->classes[t->request->class];

	return find_child(b, 0, LINK_CLASS, *name ? name : "(no class)");
}

static void add_amount(struct build *b, const struct why_target *t, size_t k)
{
	const struct why_cause *c = &b->w->causes[t->amounts[k].cause];
	uint32_t frame = add_path(b, class_frame(b, t), c->path);

	if (c->leaf != UINT32_MAX && c->kind != LEAF_FUNCTION)
		frame = find_child(b, frame, c->kind, b->w->p->leaves[c->leaf].label);
	if (t->amounts[k].chain)
		frame = add_chain(b, frame, t->amounts[k].chain, c->kind);
	add_time(b, frame, t->amounts[k].ns);
}

/*
 * Adds the target's amounts and the time that no cause explains, so that the sum is the deviation.
 */
static void add_target(struct build *b, const struct why_target *t)
{
	int64_t rest = t->deviation_ns;

	for (size_t k = 0; k < t->nr_amounts; k++) {
		add_amount(b, t, k);
		rest -= t->amounts[k].ns;
	}
	if (rest > 0)
		add_time(b, find_child(b, class_frame(b, t), LINK_UNEXPLAINED, ""), rest);
}

/* Parents come before their children. */
static void sum(struct blametree *b)
{
	for (size_t i = 0; i < b->nr; i++)
		b->at[i].all_ns = b->at[i].own_ns;
	for (size_t i = b->nr; i-- > 1;)
		b->at[b->at[i].parent].all_ns += b->at[i].all_ns;
}

/* Sorts frames by parent, then those with most time first. */
static int compare_frames(const void *pa, const void *pb, void *arg)
{
	const struct blametree *t = arg;
	const struct blametree_frame *a = &t->at[*(const uint32_t *)pa];
	const struct blametree_frame *b = &t->at[*(const uint32_t *)pb];

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->all_ns != b->all_ns)
		return a->all_ns > b->all_ns ? -1 : 1;
	if (a->kind != b->kind)
		return strcmp(link_kind_name(a->kind), link_kind_name(b->kind));
	return strcmp(a->name, b->name);
}

/*
 * Copies the frames depth first.  In sorted[], the children of a parent are adjacent; next[parent]
 * is the position of the next one.
 */
static void walk(const struct blametree *from, struct blametree_frame *to, const uint32_t *sorted,
		 uint32_t *next, uint32_t *moved)
{
	uint32_t frame = 0;
	size_t nr = 0;

	to[nr++] = from->at[0];
	moved[0] = 0;
	for (;;) {
		uint32_t at = next[frame];

		if (at < from->nr && from->at[sorted[at]].parent == frame) {
			next[frame]++;
			frame = sorted[at];
			to[nr] = from->at[frame];
			to[nr].parent = moved[from->at[frame].parent];
			moved[frame] = nr++;
		} else if (frame) {
			frame = from->at[frame].parent;
		} else {
			return;
		}
	}
}

static int order(struct blametree *b)
{
	struct blametree_frame *to = calloc(b->nr, sizeof(*to));
	uint32_t *sorted = calloc(b->nr, sizeof(*sorted)), *next = calloc(b->nr, sizeof(*next));
	uint32_t *moved = calloc(b->nr, sizeof(*moved));
	int ret = to && sorted && next && moved ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->nr && !ret; i++)
		sorted[i] = i;
	if (!ret) {
		/* The root is its own parent; it stays where it is. */
		qsort_r(sorted + 1, b->nr - 1, sizeof(*sorted), compare_frames, b);
		for (size_t i = 0; i < b->nr; i++)
			next[i] = b->nr;
		for (size_t i = b->nr; i-- > 1;)
			next[b->at[sorted[i]].parent] = i;
		walk(b, to, sorted, next, moved);
		free(b->at);
		b->at = to;
		to = NULL;
	}
	free(to);
	free(sorted);
	free(next);
	free(moved);
	return ret;
}

int blametree_build(const struct why *w, struct blametree *b)
{
	struct build build = { .w = w, .b = b };

	*b = (struct blametree){ 0 };
	build.ret = array_push(b->at, b->nr, build.room, { .kind = LINK_ALL, .name = "" });
	for (size_t i = 0; i < w->nr_targets && !build.ret; i++)
		add_target(&build, &w->targets[i]);
	if (!build.ret) {
		sum(b);
		build.ret = order(b);
	}
	if (!build.ret)
		build.ret = blamed_build(w, &b->sums, &b->nr_sums);
	hash_free(&build.frames);
	if (build.ret)
		blametree_free(b);
	return build.ret;
}

void blametree_free(struct blametree *b)
{
	free(b->at);
	free(b->sums);
	*b = (struct blametree){ 0 };
}
