/* SPDX-License-Identifier: GPL-2.0-or-later */
/* min(a, b) and max(a, b) of two numbers of one type; each argument is evaluated once. */
#ifndef BASE_MINMAX_H
#define BASE_MINMAX_H

#define min(a, b) __extension__ ({						\
	__auto_type min_a_ = (a);						\
	__auto_type min_b_ = (b);						\
										\
	min_a_ < min_b_ ? min_a_ : min_b_;					\
})

#define max(a, b) __extension__ ({						\
	__auto_type max_a_ = (a);						\
	__auto_type max_b_ = (b);						\
										\
	max_a_ > max_b_ ? max_a_ : max_b_;					\
})

#endif
