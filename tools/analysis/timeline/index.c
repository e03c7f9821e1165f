// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds segments by thread or lock, and time. */
#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "timeline-private.h"

uint64_t index_by_thread(const struct segment *s)
{
	return s->tid;
}

uint64_t index_by_lock(const struct segment *s)
{
	return s->lock;
}

static int index_compare(const void *pa, const void *pb, void *arg)
{
	const struct index *x = arg;
	const struct segment *a = &(*x->segments)[*(const size_t *)pa];
	const struct segment *b = &(*x->segments)[*(const size_t *)pb];

	if (x->key(a) != x->key(b))
		return x->key(a) < x->key(b) ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

int index_make(struct index *x, struct segment *const *segments, size_t nr,
	       bool (*is_in)(const struct segment *s), uint64_t (*key)(const struct segment *s))
{
	bool is_sorted = true;

	*x = (struct index){ .segments = segments, .key = key, .at = calloc(nr + 1, sizeof(*x->at)) };
	if (!x->at)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (!is_in(&(*segments)[i]))
			continue;
		x->at[x->nr++] = i;
		is_sorted &= x->nr == 1 || index_compare(&x->at[x->nr - 2], &x->at[x->nr - 1], x) <= 0;
	}
	/* The segments of a thread are mostly sorted already. */
	if (!is_sorted)
		qsort_r(x->at, x->nr, sizeof(*x->at), index_compare, x);
	return 0;
}

size_t index_first(const struct index *x, uint64_t key, int64_t tick)
{
	return search(x->nr, i, x->key(index_at(x, i)) < key ||
				(x->key(index_at(x, i)) == key && index_at(x, i)->end <= tick));
}
