/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is a binary heap in an array of the caller's: heap[0] is the first item by the order
 * is_before().
 *
 * HEAP(name, type, arg_type, is_before, moved) makes
 *
 *	name_up(arg, heap, i, item)		puts the item at place i, or above it;
 *	name_down(arg, heap, nr, i, item)	puts it at place i of nr, or below it;
 *
 * where place i must be free before the call.  A push uses the last place, a pop the first one:
 *
 *	name_up(arg, heap, nr++, item);
 *	first = heap[0];
 *	nr--;
 *	name_down(arg, heap, nr, 0, heap[nr]);
 *
 * is_before(arg, &a, &b) is a strict order of two items.  moved(arg, &item, i) says that the item
 * is at place i now: users that remove items from the middle of the heap need this, and others pass
 * heap_moved_none().
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stddef.h>

#define heap_moved_none(arg, item, i)	((void)(arg))

#define HEAP(name, type, arg_type, is_before, moved)					\
	static inline void name##_up(arg_type arg, type *heap, size_t i, type item)	\
	{										\
		for (; i && is_before(arg, &item, &heap[(i - 1) / 2]); i = (i - 1) / 2) { \
			heap[i] = heap[(i - 1) / 2];					\
			moved(arg, &heap[i], i);					\
		}									\
		heap[i] = item;								\
		moved(arg, &heap[i], i);						\
	}										\
											\
	static inline void name##_down(arg_type arg, type *heap, size_t nr, size_t i, type item) \
	{										\
		for (size_t child; (child = 2 * i + 1) < nr; i = child) {		\
			if (child + 1 < nr && is_before(arg, &heap[child + 1], &heap[child])) \
				child++;						\
			if (!is_before(arg, &heap[child], &item))			\
				break;							\
			heap[i] = heap[child];						\
			moved(arg, &heap[i], i);					\
		}									\
		heap[i] = item;								\
		moved(arg, &heap[i], i);						\
	}

#endif
