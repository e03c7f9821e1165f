// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/slots.h"

void *slots_add(struct slots *t, uint64_t key)
{
	struct slot *s;
	uint32_t n;

	if (!t->nr_free && (t->nr == t->max || !array_room(&t->all, &t->room, t->nr, t->size)))
		return NULL;
	n = t->nr_free ? t->free[t->nr_free - 1] : t->nr;
	if (hash_add(&t->hash, hash_mix(0, key), n))
		return NULL;
	if (t->nr_free)
		t->nr_free--;
	else
		t->nr++;
	s = slots_at(t, n);
	memset(s, 0, t->size);
	*s = (struct slot){ key, true };
	return s;
}

void slots_remove(struct slots *t, struct slot *s)
{
	uint32_t n = ((char *)s - t->all) / t->size;

	hash_remove(&t->hash, hash_mix(0, s->key), n);
	s->is_used = false;
	if (array_push(t->free, t->nr_free, t->room_free, n))
		return;		/* out of memory: the place stays unused */
}

void slots_clear(struct slots *t)
{
	t->nr = t->nr_free = 0;
	hash_clear(&t->hash);
}

void slots_free(struct slots *t)
{
	hash_free(&t->hash);
	free(t->all);
	free(t->free);
}

void *slots_find(const struct slots *t, uint64_t key)
{
	struct hash_walk w = hash_begin(&t->hash, hash_mix(0, key));

	return slots_next(t, &w, key);
}
