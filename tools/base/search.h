/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is binary search in sorted arrays.
 *
 *	search(nr, i, rows[i].tick < tick)
 *	search_near(from, to, near, i, rows[i].tick < tick)
 *	search_by(rows, nr, row, row->tid < tid || (row->tid == tid && row->tick < tick))
 *
 * each return the first index for which the condition in the last argument is false, or nr (`to`)
 * if there is none.  The condition must be true for all indices before that and false for all
 * others.  In the condition, i is the index, and row is a pointer to the element.
 */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>

/* Searches [from, to). */
#define search_range(from, to, i, is_before) __extension__ ({			\
	size_t search_lo = (from), search_hi = (to);				\
										\
	while (search_lo < search_hi) {						\
		size_t i = search_lo + (search_hi - search_lo) / 2;		\
										\
		if (is_before)							\
			search_lo = i + 1;					\
		else								\
			search_hi = i;						\
	}									\
	search_lo;								\
})

#define search(nr, i, is_before)	search_range(0, nr, i, is_before)

/*
 * Searches [from, to), beginning at index `near` and going away from it in steps that become
 * longer.
 */
#define search_near(from, to, near, i, is_before) __extension__ ({		\
	size_t near_lo = (from), near_hi = (to), near_at = (near), near_step = 1; \
										\
	if (near_at < near_lo || near_at >= near_hi) {				\
		;								\
	} else if (({ size_t i = near_at; is_before; })) {			\
		near_lo = near_at + 1;						\
		while (near_hi - near_lo > near_step &&				\
		       ({ size_t i = near_lo + near_step; is_before; })) {	\
			near_lo += near_step + 1;				\
			near_step *= 2;						\
		}								\
		near_hi = near_hi - near_lo > near_step ? near_lo + near_step : near_hi; \
	} else {								\
		near_hi = near_at;						\
		while (near_hi - near_lo > near_step &&				\
		       !({ size_t i = near_hi - near_step; is_before; })) {	\
			near_hi -= near_step;					\
			near_step *= 2;						\
		}								\
		near_lo = near_hi - near_lo > near_step ? near_hi - near_step : near_lo; \
	}									\
	search_range(near_lo, near_hi, i, is_before);				\
})

#define search_by(array, nr, at, is_before) __extension__ ({			\
	const __typeof__((array)[0]) *at, *search_array = (array);		\
										\
	search(nr, search_at, (at = &search_array[search_at], is_before));	\
})

#endif
