// SPDX-License-Identifier: GPL-2.0-or-later
/* See store.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "page/store.h"

#define COLUMNS_MAX	40

void store_init(struct store *s, const struct store_column *columns, unsigned weight, size_t max)
{
	*s = (struct store){ .columns = columns, .weight = weight, .max = max };
	while (columns[s->nr_columns].name)
		s->nr_columns++;
}

void store_free(struct store *s)
{
	free(s->rows);
	s->rows = NULL;
	s->nr = s->room = 0;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x > y ? -1 : x < y;
}

int store_prune(struct store *s)
{
	int64_t *weights, least;
	size_t kept = 0, equal = 0;

	if (s->nr <= s->max)
		return 0;
	weights = malloc(s->nr * sizeof(*weights));
	if (!weights)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++)
		weights[i] = store_row(s, i)[s->weight];
	qsort(weights, s->nr, sizeof(*weights), compare);
	least = weights[s->max - 1];
	/* Of those as long as the shortest that is kept, the first ones. */
	for (size_t i = 0; i < s->max; i++)
		equal += weights[i] == least;
	free(weights);
	for (size_t i = 0; i < s->nr; i++) {
		int64_t w = store_row(s, i)[s->weight];

		if (w > least || (w == least && equal && equal--)) {
			memmove(store_row(s, kept++), store_row(s, i), s->nr_columns * sizeof(w));
		} else {
			s->nr_dropped++;
			s->dropped_below = w > s->dropped_below ? w : s->dropped_below;
		}
	}
	s->nr = kept;
	return 0;
}

int store_add(struct store *s, const int64_t *row)
{
	if (s->nr >= 2 * s->max && store_prune(s))
		return -ENOMEM;
	if (!array_room(&s->rows, &s->room, s->nr, s->nr_columns * sizeof(*s->rows)))
		return -ENOMEM;
	memcpy(store_row(s, s->nr++), row, s->nr_columns * sizeof(*row));
	return 0;
}

int store_write(struct page *p, const char *id, const struct store *s)
{
	struct page_column columns[COLUMNS_MAX];
	unsigned nr = 0;

	for (unsigned i = 0; i < s->nr_columns; i++) {
		if (s->columns[i].is_inner)
			continue;
		columns[nr++] = (struct page_column){
			.name = s->columns[i].name, .values = s->rows + i, .nr = s->nr,
			.stride = s->nr_columns, .is_delta = s->columns[i].is_delta,
		};
	}
	return page_columns(p, id, columns, nr);
}
