// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/sort.h"

void sort_things(void *things, size_t nr, size_t size, sort_compare *compare)
{
	const char *at = things;
	size_t i = 1;

	while (i < nr && compare(at + (i - 1) * size, at + i * size) <= 0)
		i++;
	if (i < nr)
		qsort(things, nr, size, compare);
}

static int compare_falling(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x > y ? -1 : x < y;
}

int64_t sort_nth(int64_t *values, size_t nr, size_t n)
{
	qsort(values, nr, sizeof(*values), compare_falling);
	return values[n];
}
