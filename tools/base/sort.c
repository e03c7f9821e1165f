// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

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
