// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "numbers.h"

#define ROOM_MIN	64

bool numbers_grow(struct numbers *t, uint64_t (*hash)(const void *arg, uint32_t n), const void *arg)
{
	size_t room = t->room ? 2 * t->room : 4 * ROOM_MIN;
	uint32_t *slots;

	/* At most half full, so that a free slot is near. */
	if (2 * (t->nr + 1) <= t->room)
		return true;
	slots = calloc(room, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t n = 0; n < t->nr; n++) {
		size_t i = hash(arg, n) & (room - 1);

		while (slots[i])
			i = (i + 1) & (room - 1);
		slots[i] = n + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->room = room;
	return true;
}

uint64_t numbers_hash_text(const char *text, size_t len)
{
	uint64_t hash = 14695981039346656037ULL;

	for (size_t i = 0; i < len && text[i]; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211ULL;
	return hash ^ hash >> 32;
}
