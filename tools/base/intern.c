// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/array.h"

static int64_t add(struct intern *t, uint64_t hash, const void *key, size_t size)
{
	char *bytes;

	/* The numbers in a hash table have 32 bits. */
	if (t->nr == UINT32_MAX || (t->max && t->nr >= t->max) || size == SIZE_MAX || hash_reserve(&t->hash) ||
	    !array_room(&t->keys, &t->room, t->nr, sizeof(*t->keys)))
		return -1;
	bytes = malloc(size + 1);
	if (!bytes)
		return -1;
	memcpy(bytes, key, size);
	bytes[size] = '\0';
	t->keys[t->nr] = (struct intern_key){ bytes, size };
	hash_put(&t->hash, hash, t->nr);
	return t->nr++;
}

int64_t intern_get(struct intern *t, const void *key, size_t size, bool *is_new)
{
	uint64_t hash = hash_bytes(key, size);
	uint32_t n;

	if (is_new)
		*is_new = false;
	hash_each(&t->hash, hash, n)
		if (t->keys[n].size == size && !memcmp(t->keys[n].bytes, key, size))
			return n;
	if (is_new)
		*is_new = true;
	return add(t, hash, key, size);
}

int64_t intern_string(struct intern *t, const char *s)
{
	return intern_get(t, s, strlen(s), NULL);
}

const char *intern_text(struct intern *t, const char *s)
{
	int64_t n = intern_string(t, s);

	return n < 0 ? NULL : t->keys[n].bytes;
}

const void *intern_key(const struct intern *t, size_t i)
{
	return t->keys[i].bytes;
}

void intern_free(struct intern *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->keys[i].bytes);
	free(t->keys);
	hash_free(&t->hash);
	*t = (struct intern){ 0 };
}
