/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This hash table maps a uint64_t to an entry of fixed size, which is zeroed when it is made.
 * Entries move only when a new one is made or one is removed.
 */
#ifndef TESTS_ORACLE_MAP_H
#define TESTS_ORACLE_MAP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

struct map {
	size_t entry_bytes;
	uint64_t *keys;
	uint8_t *used;
	char *entries;
	size_t nr, room;	/* room: a power of two */
};

#define MAP_OF(type)	{ .entry_bytes = sizeof(type) }

static inline size_t map_home(const struct map *m, uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15ULL;
	return (key ^ key >> 29) & (m->room - 1);
}

static inline size_t map_place(const struct map *m, uint64_t key)
{
	size_t i = map_home(m, key);

	while (m->used[i] && m->keys[i] != key)
		i = (i + 1) & (m->room - 1);
	return i;
}

static inline void *map_at(const struct map *m, size_t i)
{
	return m->entries + i * m->entry_bytes;
}

static inline void *map_find(const struct map *m, uint64_t key)
{
	size_t i;

	if (!m->room)
		return NULL;
	i = map_place(m, key);
	return m->used[i] ? map_at(m, i) : NULL;
}

static inline void map_exit(struct map *m)
{
	free(m->keys);
	free(m->used);
	free(m->entries);
	*m = (struct map){ .entry_bytes = m->entry_bytes };
}

static inline void map_grow(struct map *m)
{
	struct map grown = { .entry_bytes = m->entry_bytes, .room = m->room ? m->room * 2 : 64, .nr = m->nr };

	grown.keys = calloc(grown.room, sizeof(*grown.keys));
	grown.used = calloc(grown.room, 1);
	grown.entries = calloc(grown.room, grown.entry_bytes);
	if (!grown.keys || !grown.used || !grown.entries)
		oracle_out_of_memory();
	for (size_t i = 0; i < m->room; i++) {
		size_t to;

		if (!m->used[i])
			continue;
		to = map_place(&grown, m->keys[i]);
		grown.used[to] = 1;
		grown.keys[to] = m->keys[i];
		memcpy(map_at(&grown, to), map_at(m, i), m->entry_bytes);
	}
	map_exit(m);
	*m = grown;
}

static inline void *map_get(struct map *m, uint64_t key)
{
	size_t i;

	if ((m->nr + 1) * 2 > m->room)
		map_grow(m);
	i = map_place(m, key);
	if (!m->used[i]) {
		m->used[i] = 1;
		m->keys[i] = key;
		m->nr++;
		memset(map_at(m, i), 0, m->entry_bytes);
	}
	return map_at(m, i);
}

static inline void map_remove(struct map *m, uint64_t key)
{
	size_t mask = m->room - 1, hole, i;

	if (!map_find(m, key))
		return;
	hole = map_place(m, key);
	/* Entries behind the hole that would not be found any more are moved up. */
	for (i = (hole + 1) & mask; m->used[i]; i = (i + 1) & mask) {
		size_t home = map_home(m, m->keys[i]);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		m->keys[hole] = m->keys[i];
		memcpy(map_at(m, hole), map_at(m, i), m->entry_bytes);
		hole = i;
	}
	m->used[hole] = 0;
	m->nr--;
}

/* Returns the next entry from *i on, or NULL. */
static inline void *map_next(const struct map *m, size_t *i, uint64_t *key)
{
	for (; *i < m->room; ++*i) {
		if (!m->used[*i])
			continue;
		*key = m->keys[*i];
		return map_at(m, (*i)++);
	}
	return NULL;
}

#endif
