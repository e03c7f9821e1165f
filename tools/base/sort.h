/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts arrays, and makes functions that compare two structs by their members:
 *
 *	sort_by(gaps, nr, gap_compare);
 *
 *	COMPARE(gap_compare, struct gap, UP(tid) UP(start) DOWN(end))
 *	COMPARE_NUMBERS(compare_ns, int64_t)
 */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef int sort_compare(const void *a, const void *b);

/* Sorts like qsort(), but in one pass if the array is sorted already.  nr may be 0. */
#define sort_by(array, nr, compare)	sort_things(array, nr, sizeof(*(array)), compare)
void sort_things(void *things, size_t nr, size_t size, sort_compare *compare);

/* Returns the nth greatest value, counted from 0, and sorts the values. */
int64_t sort_nth(int64_t *values, size_t nr, size_t n);

/*
 * Evaluates `value` for each i below nr, and returns the nth greatest result, counted from 0;
 * INT64_MIN if there is no memory.
 */
#define nth_greatest(nr, n, i, value) __extension__ ({			\
	size_t nth_nr = (nr);						\
	int64_t *nth_values = calloc(nth_nr, sizeof(*nth_values)), nth = INT64_MIN; \
									\
	for (size_t i = 0; nth_values && i < nth_nr; i++)		\
		nth_values[i] = (value);				\
	if (nth_values)							\
		nth = sort_nth(nth_values, nth_nr, n);			\
	free(nth_values);						\
	nth;								\
})

#define UP(member)							\
	if (a->member != b->member)					\
		return a->member < b->member ? -1 : 1;
#define DOWN(member)							\
	if (a->member != b->member)					\
		return a->member > b->member ? -1 : 1;

#define COMPARE(name, type, members)					\
static int name(const void *pa, const void *pb)				\
{									\
	const type *a = pa, *b = pb;					\
									\
	members								\
	return 0;							\
}

#define COMPARE_NUMBERS(name, type)					\
static int name(const void *pa, const void *pb)				\
{									\
	const type *a = pa, *b = pb;					\
									\
	return *a < *b ? -1 : *a > *b;					\
}

#endif
