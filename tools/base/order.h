/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts many things by members that are numbers, with a radix sort.  Its time does not depend on
 * how the things are mixed; things that are in order already are only read.  Equal things stay in
 * their order.
 */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Returns a member of a thing, a number to sort by. */
typedef int64_t (*order_key)(const void *thing);
#define ORDER_KEY(name, type, member)				\
	static int64_t name(const void *thing)			\
	{							\
		return ((const type *)thing)->member;		\
	}

/* Maps unsigned numbers to signed ones in the same order. */
static inline int64_t order_unsigned(uint64_t number)
{
	return (int64_t)(number ^ 1ULL << 63);
}

/*
 * Returns the indices of nr things of size bytes at base, in the order of keys[0]; things with the
 * same keys[0] are in the order of keys[1], and so on.  Returns NULL if there is no memory.
 */
uint32_t *order_of(const void *base, size_t nr, size_t size, const order_key *keys, size_t nr_keys);

/*
 * Sorts the things at *base, which malloc() has returned, in the order of order_of().  Returns 0 or
 * -ENOMEM.  The new *base may have no room for more than nr things.
 */
int order_sort(void *base, size_t nr, size_t size, const order_key *keys, size_t nr_keys);

/*
 * Does the same, with memory of the caller's for the things: *spare has room for nr of them, or is
 * NULL; then memory is allocated if it is needed.  Returns 1 if it has moved the things to the
 * memory at *spare, and exchanged the two pointers; 0 if they were in order; or -ENOMEM.
 */
int order_sort_to(void *base, void *spare, size_t nr, size_t size, const order_key *keys,
		  size_t nr_keys);

#endif
