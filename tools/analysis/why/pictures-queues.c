// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds how many requests were ahead, and how long that made requests wait; see pictures.h.  A key
 * is a place and a class of the requests ahead.
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

/* How long a request waited behind others of a key, and behind how many. */
struct wait {
	int64_t depth, ns;
};

/* The waits of the requests of one class for one key, without those that are 0. */
struct waits {
	int64_t *depths, *times;
	size_t nr, room_depths, room_times;
};

/* One side: the targets, or the reference. */
struct side {
	struct waits *waits;		/* by class, then key */
	size_t *nr_requests;		/* by class */
};

struct build {
	const struct why *w;
	uint32_t *key_of;		/* by leaf */
	struct key *keys;
	size_t nr_keys, room_keys;
	size_t nr_classes;
	struct wait *request;		/* by key, of the current request */
	struct side targets, reference;
};

/* Returns the queue that the path is in, or else the function. */
static const char *place_of(const struct partition *p, uint32_t path)
{
	for (uint32_t at = path; at; at = p->paths[at].parent)
		if (path_is_queue(&p->paths[at]))
			return path_name(p, at);
	return path_name(p, path);
}

static int find_key(struct build *b, const char *where, const char *behind, uint32_t *key)
{
	size_t k = 0;

	while (k < b->nr_keys && (strcmp(b->keys[k].where, where) || strcmp(b->keys[k].behind, behind)))
		k++;
	*key = k;
	return k < b->nr_keys ? 0 : array_push(b->keys, b->nr_keys, b->room_keys, { where, behind });
}

static int find_keys(struct build *b)
{
	const struct partition *p = b->w->p;
	int ret = 0;

	b->key_of = calloc(p->nr_leaves + 1, sizeof(*b->key_of));
	if (!b->key_of)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_leaves && !ret; i++) {
		const struct leaf *l = &p->leaves[i];

		b->key_of[i] = NO_KEY;
		if (l->kind == LEAF_BEHIND)
			ret = find_key(b, place_of(p, l->path), l->label, &b->key_of[i]);
	}
	return ret;
}

static int add_wait(struct waits *w, const struct wait *wait)
{
	if (!array_room(&w->depths, &w->room_depths, w->nr, sizeof(*w->depths)) ||
	    !array_room(&w->times, &w->room_times, w->nr, sizeof(*w->times)))
		return -ENOMEM;
	w->depths[w->nr] = wait->depth;
	w->times[w->nr++] = wait->ns;
	return 0;
}

static int add_request(struct build *b, struct side *s, const struct request *r)
{
	int ret = 0;

	s->nr_requests[r->class]++;
	for (uint64_t i = r->first; i < r->first + r->nr_shares; i++) {
		const struct share *share = &b->w->p->shares[i];
		uint32_t key = b->key_of[share->leaf];

		if (key == NO_KEY)
			continue;
		b->request[key].depth += share->nr;
		b->request[key].ns += share->ns;
	}
	for (size_t k = 0; k < b->nr_keys && !ret; k++) {
		if (b->request[k].depth || b->request[k].ns)
			ret = add_wait(&s->waits[r->class * b->nr_keys + k], &b->request[k]);
		b->request[k] = (struct wait){ 0 };
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
}

static int read_requests(struct build *b)
{
	const struct partition *p = b->w->p;
	int ret = 0;

	for (size_t i = 0; i < b->w->nr_targets && !ret; i++)
		ret = add_request(b, &b->targets, b->w->targets[i].request);
	for (size_t i = 0; i < p->nr_requests && !ret; i++) {
		const struct request *r = &p->requests[i];
		const struct why_class *c = &b->w->classes[r->class];

		/* If the reference has very many requests, a sample of it is used. */
		if (!r->is_left_out && r->latency_ns >= c->reference_lo_ns &&
		    r->latency_ns <= c->reference_hi_ns)
			ret = add_request(b, &b->reference, r);
	}
	return ret;
}

/* Returns the median of nr values; the array lacks those that are 0. */
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

/* Selects the targets with more requests ahead than the median of the reference. */
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

static int fill_queues(struct build *b, struct queues *q)
{
	q->at = calloc(b->nr_classes * b->nr_keys + 1, sizeof(*q->at));
	if (!q->at)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr_classes * b->nr_keys; i++) {
		struct waits *r = &b->reference.waits[i], *t = &b->targets.waits[i];
		size_t class = i / b->nr_keys, nr = b->reference.nr_requests[class];
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

int queues_build(const struct why *w, struct queues *q)
{
	struct build b = { .w = w, .nr_classes = w->p->nr_classes };
	int ret = find_keys(&b);

	*q = (struct queues){ 0 };
	b.request = calloc(b.nr_keys + 1, sizeof(*b.request));
	if (!b.request)
		ret = -ENOMEM;
	if (!ret)
		ret = open_side(&b, &b.targets);
	if (!ret)
		ret = open_side(&b, &b.reference);
	if (!ret)
		ret = read_requests(&b);
	if (!ret)
		ret = fill_queues(&b, q);
	free_side(&b, &b.targets);
	free_side(&b, &b.reference);
	free(b.key_of);
	free(b.keys);
	free(b.request);
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
