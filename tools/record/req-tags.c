// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/hash.h"
#include "record/req-tags.h"

#define TAGS_MAX	(1U << 20)

struct tag {
	uint64_t id;
	int64_t tick;
	uint32_t value;
};

struct req_tags {
	struct hash hash;	/* by id, of all that are not free */
	struct tag *all;
	size_t nr, room;
	uint32_t *free;
	size_t nr_free, room_free;
};

struct req_tags *req_tags_alloc(void)
{
	return calloc(1, sizeof(struct req_tags));
}

void req_tags_free(struct req_tags *t)
{
	if (!t)
		return;
	hash_free(&t->hash);
	free(t->all);
	free(t->free);
	free(t);
}

bool req_tags_add(struct req_tags *t, uint64_t id, int64_t tick, uint32_t value)
{
	uint32_t n;

	if (!t->nr_free && (t->nr == TAGS_MAX || !array_room(&t->all, &t->room, t->nr, sizeof(*t->all))))
		return false;
	n = t->nr_free ? t->free[t->nr_free - 1] : t->nr;
	if (hash_add(&t->hash, hash_mix(0, id), n))
		return false;
	if (t->nr_free)
		t->nr_free--;
	else
		t->nr++;
	t->all[n] = (struct tag){ id, tick, value };
	return true;
}

bool req_tags_find(const struct req_tags *t, uint64_t id, int64_t begin, int64_t end, uint32_t *value)
{
	const struct tag *before = NULL, *after = NULL, *found;
	uint32_t n;

	hash_each(&t->hash, hash_mix(0, id), n) {
		const struct tag *g = &t->all[n];

		if (g->id != id || g->tick > end)
			continue;
		if (g->tick <= begin && (!before || g->tick > before->tick))
			before = g;
		if (g->tick > begin && (!after || g->tick < after->tick))
			after = g;
	}
	found = before ?: after;
	if (found)
		*value = found->value;
	return found;
}

/* Returns the first that is to be forgotten; -1: none is. */
static int64_t find_old(const struct req_tags *t, uint64_t id, int64_t tick)
{
	uint32_t n;

	hash_each(&t->hash, hash_mix(0, id), n)
		if (t->all[n].id == id && t->all[n].tick <= tick)
			return n;
	return -1;
}

void req_tags_forget(struct req_tags *t, uint64_t id, int64_t tick)
{
	int64_t n;

	while ((n = find_old(t, id, tick)) >= 0) {
		hash_remove(&t->hash, hash_mix(0, id), n);
		if (array_push(t->free, t->nr_free, t->room_free, n))
			continue;	/* its place is lost */
	}
}

void req_tags_forget_all(struct req_tags *t)
{
	t->nr = t->nr_free = 0;
	hash_clear(&t->hash);
}
