// SPDX-License-Identifier: GPL-2.0-or-later
/* Open addressing; see intern.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "page/intern.h"

/* FNV-1a, and a last step that spreads it over the low bits. */
static uint64_t hash(const void *key, size_t size)
{
	const unsigned char *s = key;
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		h = (h ^ s[i]) * 0x100000001b3;
	return h ^ h >> 29;
}

static void put(struct intern *t, uint32_t index)
{
	const struct intern_key *k = &t->keys[index];
	size_t at = hash(k->bytes, k->size) & (t->nr_slots - 1);

	while (t->slots[at])
		at = (at + 1) & (t->nr_slots - 1);
	t->slots[at] = index + 1;
}

static bool grow(struct intern *t)
{
	size_t nr = t->nr_slots ? t->nr_slots * 2 : 64;
	uint32_t *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	free(t->slots);
	t->slots = slots;
	t->nr_slots = nr;
	for (size_t i = 0; i < t->nr; i++)
		put(t, i);
	return true;
}

static int64_t add(struct intern *t, const void *key, size_t size)
{
	char *bytes = malloc(size + 1);

	if (!bytes || !array_room(&t->keys, &t->room, t->nr, sizeof(*t->keys))) {
		free(bytes);
		return -1;
	}
	memcpy(bytes, key, size);
	bytes[size] = '\0';
	t->keys[t->nr] = (struct intern_key){ bytes, size };
	put(t, t->nr);
	return t->nr++;
}

int64_t intern_get(struct intern *t, const void *key, size_t size, bool *is_new)
{
	if (is_new)
		*is_new = false;
	/* At most half full. */
	if (t->nr * 2 >= t->nr_slots && !grow(t))
		return -1;
	for (size_t at = hash(key, size) & (t->nr_slots - 1); t->slots[at];
	     at = (at + 1) & (t->nr_slots - 1)) {
		const struct intern_key *k = &t->keys[t->slots[at] - 1];

		if (k->size == size && !memcmp(k->bytes, key, size))
			return t->slots[at] - 1;
	}
	if (is_new)
		*is_new = true;
	return add(t, key, size);
}

int64_t intern_string(struct intern *t, const char *s)
{
	return intern_get(t, s, strlen(s), NULL);
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
	free(t->slots);
	*t = (struct intern){ 0 };
}
