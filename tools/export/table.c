// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export/table.h"

static uint64_t hash_of(const uint64_t key[3])
{
	return hash_mix(hash_mix(hash_mix(0, key[0]), key[1]), key[2]);
}

static uint64_t find(const struct table *t, uint64_t hash, const uint64_t key[3])
{
	uint32_t n;

	hash_each(&t->hash, hash, n)
		if (!memcmp(t->keys[n], key, sizeof(t->keys[n])))
			return n + 1ULL;
	return 0;
}

uint64_t table_get(struct table *t, uint64_t a, uint64_t b, uint64_t c, bool *is_new)
{
	const uint64_t key[3] = { a, b, c };
	uint64_t hash = hash_of(key), nr = find(t, hash, key);

	*is_new = false;
	if (nr)
		return nr;
	if (!array_room(&t->keys, &t->room, t->nr, sizeof(*t->keys)) ||
	    hash_add(&t->hash, hash, t->nr))
		return 0;
	memcpy(t->keys[t->nr], key, sizeof(key));
	*is_new = true;
	return ++t->nr;
}

uint64_t table_find(const struct table *t, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t key[3] = { a, b, c };

	return find(t, hash_of(key), key);
}

void table_free(struct table *t)
{
	hash_free(&t->hash);
	free(t->keys);
	*t = (struct table){ 0 };
}
