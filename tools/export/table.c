// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers for keys: open addressing; see table.h. */
#include <stdlib.h>
#include <string.h>

#include "export/table.h"

struct table_entry {
	uint64_t key[3];
	uint64_t nr;		/* 0: free */
};

static struct table_entry *slot(struct table_entry *at, size_t room, const uint64_t key[3])
{
	uint64_t h = 0;
	size_t i;

	for (i = 0; i < 3; i++) {
		h = (h ^ key[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	i = h & (room - 1);	/* a power of two */
	while (at[i].nr && memcmp(at[i].key, key, sizeof(at[i].key)))
		i = (i + 1) & (room - 1);
	return &at[i];
}

static bool grow(struct table *t)
{
	size_t room = t->room ? 2 * t->room : 256;
	struct table_entry *at = calloc(room, sizeof(*at));

	if (!at)
		return false;
	for (size_t i = 0; i < t->room; i++)
		if (t->at[i].nr)
			*slot(at, room, t->at[i].key) = t->at[i];
	free(t->at);
	t->at = at;
	t->room = room;
	return true;
}

uint64_t table_get(struct table *t, uint64_t a, uint64_t b, uint64_t c, bool *is_new)
{
	const uint64_t key[3] = { a, b, c };
	struct table_entry *e;

	if (2 * t->nr >= t->room && !grow(t))
		return 0;
	e = slot(t->at, t->room, key);
	*is_new = !e->nr;
	if (*is_new) {
		memcpy(e->key, key, sizeof(key));
		e->nr = ++t->nr;
	}
	return e->nr;
}

uint64_t table_find(const struct table *t, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t key[3] = { a, b, c };

	return t->room ? slot(t->at, t->room, key)->nr : 0;
}

void table_free(struct table *t)
{
	free(t->at);
	*t = (struct table){ 0 };
}
