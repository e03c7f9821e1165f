// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "base/array.h"
#include "base/keyed.h"

void *keyed_add(struct keyed *t, uint64_t hash, size_t size)
{
	void *thing;

	/* The numbers in a hash table have 32 bits. */
	if (t->nr == UINT32_MAX || hash_reserve(&t->hash) ||
	    !array_room(&t->at, &t->room, t->nr, sizeof(*t->at)))
		return NULL;
	thing = calloc(1, size);
	if (!thing)
		return NULL;
	hash_put(&t->hash, hash, t->nr);
	t->at[t->nr++] = thing;
	return thing;
}

void keyed_free(struct keyed *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->at[i]);
	free(t->at);
	hash_free(&t->hash);
	*t = (struct keyed){ 0 };
}
