// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

#define ROOM_MIN	64
#define ROOM_MAX	(1ULL << 32)	/* a slot contains 32 bits of the hash */

/* The hash is FNV-1a; a last step lets all bits of it influence the low ones. */
#define FNV_BASIS	14695981039346656037ULL
#define FNV_PRIME	1099511628211ULL

uint64_t hash_text(const char *text)
{
	return hash_bytes(text, strlen(text));
}

uint64_t hash_bytes(const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	uint64_t hash = FNV_BASIS;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * FNV_PRIME;
	return hash ^ hash >> 32;
}

static void set_slot(struct hash_slot *slots, size_t room, struct hash_slot new)
{
	size_t i = new.hash & (room - 1);

	while (slots[i].number)
		i = (i + 1) & (room - 1);
	slots[i] = new;
}

int hash_reserve(struct hash *t)
{
	size_t room = t->room ? 2 * t->room : ROOM_MIN;
	struct hash_slot *slots;

	if (2 * (t->nr + 1) <= t->room)
		return 0;
	if (room > ROOM_MAX)
		return -ENOMEM;
	slots = calloc(room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->room; i++)
		if (t->slots[i].number)
			set_slot(slots, room, t->slots[i]);
	free(t->slots);
	t->slots = slots;
	t->room = room;
	return 0;
}

void hash_put(struct hash *t, uint64_t hash, uint32_t n)
{
	set_slot(t->slots, t->room, (struct hash_slot){ hash, n + 1 });
	t->nr++;
}

int hash_add(struct hash *t, uint64_t hash, uint32_t n)
{
	int ret = hash_reserve(t);

	if (!ret)
		hash_put(t, hash, n);
	return ret;
}

void hash_remove(struct hash *t, uint64_t hash, uint32_t n)
{
	size_t mask = t->room - 1, hole = hash & mask;

	if (!t->room)
		return;
	for (; t->slots[hole].number != n + 1; hole = (hole + 1) & mask)
		if (!t->slots[hole].number)
			return;
	/*
	 * A number that a search would no longer find, because the search ends at the hole, moves
	 * into the hole.
	 */
	for (size_t i = (hole + 1) & mask; t->slots[i].number; i = (i + 1) & mask) {
		size_t home = t->slots[i].hash & mask;

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			t->slots[hole] = t->slots[i];
			hole = i;
		}
	}
	t->slots[hole].number = 0;
	t->nr--;
}

void hash_clear(struct hash *t)
{
	if (t->room)
		memset(t->slots, 0, t->room * sizeof(*t->slots));
	t->nr = 0;
}

void hash_free(struct hash *t)
{
	free(t->slots);
	*t = (struct hash){ 0 };
}
