/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

bool array_grow(void *array, size_t *room, size_t need, size_t size);

/*
 * Makes room for one more element in the array at *array, which has nr elements of size bytes each
 * and room for *room of them.  A full array becomes twice as large, an empty one gets room for 64
 * elements.  Returns false if there is no memory; then the array is unchanged.
 */
static inline bool array_room(void *array, size_t *room, size_t nr, size_t size)
{
	return __builtin_expect(nr < *room, 1) || array_grow(array, room, nr + 1, size);
}

/* As array_room(), for very many arrays of which most have one or two elements. */
bool array_room_few(void *array, size_t *room, size_t nr, size_t size);

/* As array_room(), but makes room for a total of `need` elements. */
static inline bool array_reserve(void *array, size_t *room, size_t need, size_t size)
{
	return need <= *room || array_grow(array, room, need, size);
}

/*
 * Appends an element, which is given as its members or as *row: array_push(b->rows, b->nr_rows,
 * b->room_rows, { tid, start, end }).  Returns 0 or -ENOMEM.
 */
#define array_push(array, nr, room, ...)						\
	(array_room(&(array), &(room), nr, sizeof(*(array))) ?				\
	 ((array)[(nr)++] = ((__typeof__(*(array))[1]){ __VA_ARGS__ })[0], 0) : -ENOMEM)

/*
 * Makes the buffer at *buffer at least `need` bytes large; a smaller buffer is replaced, and its
 * contents are lost.  Returns false if there is no memory; then *buffer is NULL.
 */
bool buffer_room(void *buffer, size_t *room, size_t need);

#endif
