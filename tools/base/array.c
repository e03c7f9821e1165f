// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "base/array.h"

#define ROOM_MIN	64
#define ROOM_FEW	2

static bool grow(void *array, size_t *room, size_t need, size_t size, size_t first)
{
	void **at = array;
	size_t twice = *room ? 2 * *room : first, more = need > twice ? need : twice;
	void *new = more > *room ? reallocarray(*at, more, size) : NULL;

	if (!new)
		return false;
	*at = new;
	*room = more;
	return true;
}

bool array_grow(void *array, size_t *room, size_t need, size_t size)
{
	return grow(array, room, need, size, ROOM_MIN);
}

bool array_room_few(void *array, size_t *room, size_t nr, size_t size)
{
	return nr < *room || grow(array, room, nr + 1, size, ROOM_FEW);
}

bool buffer_room(void *buffer, size_t *room, size_t need)
{
	void **at = buffer;

	if (need <= *room && *at)
		return true;
	free(*at);
	*at = malloc(need ? need : 1);
	*room = *at ? need : 0;
	return *at;
}
