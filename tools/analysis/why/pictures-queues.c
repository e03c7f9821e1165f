// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How many requests were ahead, and what that cost; see pictures.h.  Leaves of one place
 * and one class ahead are a key, by their names: the reference may be another recording.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pictures.h"

#define NO_KEY	UINT32_MAX

struct key {
	const char *where, *behind;
};

/* What requests of one class have of one key; none is 0. */
struct waits {
	int64_t *depths, *times;
	size_t nr, room_depths, room_times;
};

/* Of one partition. */
struct side {
	const struct partition *p;
	uint32_t *keys;			/* by leaf */
	struct waits *waits;		/* by class of the why, then key */
	size_t *nr_requests;		/* by class of the why */
};

struct build {
	const struct why *w;
	struct key *keys;
	size_t nr_keys, room_keys;
	size_t nr_classes;
	int64_t *depths, *times;	/* by key, of the request at hand */
};

/* The queue that the path is in, else where it is. */
static const char *place_of(const struct partition *p, uint32_t path)
{
	for (uint32_t at = path; at; at = p->paths[at].parent)
		if (p->paths[at].is_queue)
			return path_name(p, at);
	return path_name(p, path);
}

static int find_key(struct build *b, const char *where, const char *behind, uint32_t *key)
{
	size_t k = 0;

	while (k < b->nr_keys && (strcmp(b->keys[k].where, where) || strcmp(b->keys[k].behind, behind)))
		k++;
	*key = k;
	if (k < b->nr_keys)
		return 0;
	if (!array_room(&b->keys, &b->room_keys, b->nr_keys, sizeof(*b->keys)))
		return -ENOMEM;
	b->keys[b->nr_keys++] = (struct key){ where, behind };
	return 0;
}

static int find_keys(struct build *b, struct side *s, const struct partition *p)
{
	int ret = 0;

	s->p = p;
	s->keys = calloc(p->nr_leaves + 1, sizeof(*s->keys));
	if (!s->keys)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_leaves && !ret; i++) {
		const struct leaf *l = &p->leaves[i];

		s->keys[i] = NO_KEY;
		if (l->kind == LEAF_BEHIND)
			ret = find_key(b, place_of(p, l->path), l->label, &s->keys[i]);
	}
	return ret;
}

static int add_wait(struct waits *w, int64_t depth, int64_t ns)
{
	if (!array_room(&w->depths, &w->room_depths, w->nr, sizeof(*w->depths)) ||
	    !array_room(&w->times, &w->room_times, w->nr, sizeof(*w->times)))
		return -ENOMEM;
	w->depths[w->nr] = depth;
	w->times[w->nr++] = ns;
	return 0;
}

static int add_request(struct build *b, struct side *s, const struct request *r, uint32_t class)
{
	int ret = 0;

	s->nr_requests[class]++;
	for (uint64_t i = r->first; i < r->first + r->nr_shares; i++) {
		const struct share *share = &s->p->shares[i];
		uint32_t key = s->keys[share->leaf];

		if (key == NO_KEY)
			continue;
		b->depths[key] += share->nr;
		b->times[key] += share->ns;
	}
	for (size_t k = 0; k < b->nr_keys && !ret; k++) {
		if (b->depths[k] || b->times[k])
			ret = add_wait(&s->waits[class * b->nr_keys + k], b->depths[k], b->times[k]);
		b->depths[k] = b->times[k] = 0;
	}
	return ret;
}

static int open_side(struct build *b, struct side *s)
{
	s->waits = calloc(b->nr_classes * b->nr_keys + 1, sizeof(*s->waits));
	s->nr_requests = calloc(b->nr_classes + 1, sizeof(*s->nr_requests));
	return s->waits && s->nr_requests ? 0 : -ENOMEM;
}

static void free_side(struct build *b, struct side *s)
{
	for (size_t i = 0; s->waits && i < b->nr_classes * b->nr_keys; i++) {
		free(s->waits[i].depths);
		free(s->waits[i].times);
	}
	free(s->waits);
	free(s->nr_requests);
	free(s->keys);
}

/* The why's number of a class of the other partition, or nr_classes. */
static size_t class_of(const struct build *b, const char *name)
{
	size_t c = 0;

	while (c < b->nr_classes && strcmp(b->w->classes[c].name, name))
		c++;
	return c;
}

static int read_reference(struct build *b, struct side *s)
{
	size_t *classes = calloc(s->p->nr_classes + 1, sizeof(*classes));
	int ret = classes ? 0 : -ENOMEM;

	for (size_t c = 0; c < s->p->nr_classes && !ret; c++)
		classes[c] = class_of(b, s->p->classes[c]);
	for (size_t i = 0; i < s->p->nr_requests && !ret; i++) {
		const struct request *r = &s->p->requests[i];
		size_t c = classes[r->class];

		/* Of a great many requests some of the reference stand for all of it. */
		if (r->is_left_out)
			continue;
		if (c < b->nr_classes && r->latency_ns >= b->w->classes[c].reference_lo_ns &&
		    r->latency_ns <= b->w->classes[c].reference_hi_ns)
			ret = add_request(b, s, r, c);
	}
	free(classes);
	return ret;
}

static int read_targets(struct build *b, struct side *s)
{
	int ret = 0;

	for (size_t i = 0; i < b->w->nr_targets && !ret; i++)
		ret = add_request(b, s, b->w->targets[i].request, b->w->targets[i].request->class);
	return ret;
}

/* Of values of which those that are 0 are not in it; nr: with them. */
static int64_t median_of(int64_t *values, size_t nr_values, size_t nr)
{
	size_t rank = (nr + 1) / 2, zeros = nr > nr_values ? nr - nr_values : 0;

	box_of(values, nr_values);
	return rank > zeros ? values[rank - zeros - 1] : 0;
}

static int fill_extras(struct queue_depth *d, const int64_t *sorted, size_t nr)
{
	d->extras = calloc(nr + 1, sizeof(*d->extras));
	if (!d->extras)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (!i || sorted[i] != sorted[i - 1])
			d->extras[d->nr_extras++].extra = sorted[i];
		d->extras[d->nr_extras - 1].nr++;
	}
	return 0;
}

/* Leaves only targets with more ahead than the median. */
static int fill_depth(struct queue_depth *d, struct waits *target)
{
	size_t nr = 0;

	for (size_t i = 0; i < target->nr; i++) {
		if (target->depths[i] <= d->reference)
			continue;
		target->depths[nr] = target->depths[i] - d->reference;
		target->times[nr++] = target->times[i] > d->reference_ns ?
				      target->times[i] - d->reference_ns : 0;
	}
	d->depth = box_of(target->depths, nr);
	d->box = box_of(target->times, nr);
	return fill_extras(d, target->depths, nr);
}

static int compare_depths(const void *pa, const void *pb)
{
	const struct queue_depth *a = pa, *b = pb;

	if (a->box.total != b->box.total)
		return a->box.total > b->box.total ? -1 : 1;
	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return strcmp(a->where, b->where) ? strcmp(a->where, b->where) : strcmp(a->behind, b->behind);
}

static int fill_queues(struct build *b, struct side *targets, struct side *reference,
		       struct queues *q)
{
	q->at = calloc(b->nr_classes * b->nr_keys + 1, sizeof(*q->at));
	if (!q->at)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr_classes * b->nr_keys; i++) {
		struct waits *r = &reference->waits[i], *t = &targets->waits[i];
		size_t class = i / b->nr_keys, nr = reference->nr_requests[class];
		struct queue_depth *d = &q->at[q->nr];

		*d = (struct queue_depth){
			.class = class, .where = b->keys[i % b->nr_keys].where,
			.behind = b->keys[i % b->nr_keys].behind,
			.reference = median_of(r->depths, r->nr, nr),
			.reference_ns = median_of(r->times, r->nr, nr),
		};
		if (fill_depth(d, t)) {
			q->nr++;
			return -ENOMEM;
		}
		if (d->nr_extras)
			q->nr++;
		else
			free(d->extras);
	}
	qsort(q->at, q->nr, sizeof(*q->at), compare_depths);
	return 0;
}

int queues_build(const struct why *w, const struct partition *against, struct queues *q)
{
	struct build b = { .w = w, .nr_classes = w->p->nr_classes };
	struct side targets = { 0 }, reference = { 0 };
	int ret = find_keys(&b, &targets, w->p);

	*q = (struct queues){ 0 };
	if (!ret)
		ret = find_keys(&b, &reference, against ? against : w->p);
	b.depths = calloc(b.nr_keys + 1, sizeof(*b.depths));
	b.times = calloc(b.nr_keys + 1, sizeof(*b.times));
	if (!b.depths || !b.times)
		ret = -ENOMEM;
	if (!ret)
		ret = open_side(&b, &targets);
	if (!ret)
		ret = open_side(&b, &reference);
	if (!ret)
		ret = read_targets(&b, &targets);
	if (!ret)
		ret = read_reference(&b, &reference);
	if (!ret)
		ret = fill_queues(&b, &targets, &reference, q);
	free_side(&b, &targets);
	free_side(&b, &reference);
	free(b.keys);
	free(b.depths);
	free(b.times);
	if (ret)
		queues_free(q);
	return ret;
}

void queues_free(struct queues *q)
{
	for (size_t i = 0; i < q->nr; i++)
		free(q->at[i].extras);
	free(q->at);
	*q = (struct queues){ 0 };
}
