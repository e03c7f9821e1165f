// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores a table of numbers for a page; see store.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "page/store.h"

/* Returns the length of a column's name without '+' and '-' at its end. */
static size_t name_length(const char *name)
{
	return strcspn(name, "+- ");
}

static const char *next_name(const char *name)
{
	name += strcspn(name, " ");
	return *name ? name + 1 : NULL;
}

void store_init(struct store *s, const char *columns)
{
	*s = (struct store){ .columns = columns, .max = SIZE_MAX / 4 };
	for (const char *name = columns; name; name = next_name(name))
		s->nr_columns++;
}

void store_limit(struct store *s, unsigned weight, size_t max)
{
	s->weight = weight;
	s->max = max;
}

void store_free(struct store *s)
{
	free(s->rows);
	s->rows = NULL;
	s->nr = s->room = 0;
}

int store_prune(struct store *s)
{
	int64_t *weights, least;
	size_t kept = 0, equal = 0;

	if (s->nr <= s->max)
		return 0;
	weights = malloc(s->nr * sizeof(*weights));
	if (!weights)
		return s->error = -ENOMEM;
	for (size_t i = 0; i < s->nr; i++)
		weights[i] = store_row(s, i)[s->weight];
	least = sort_nth(weights, s->nr, s->max - 1);
	/* Of several rows with the least weight that is retained, the first ones are retained. */
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
		return s->error;
	if (!array_room(&s->rows, &s->room, s->nr, s->nr_columns * sizeof(*s->rows)))
		return s->error = -ENOMEM;
	memcpy(store_row(s, s->nr++), row, s->nr_columns * sizeof(*row));
	return s->error;
}

size_t store_columns(const struct store *s, struct page_column *columns, size_t nr)
{
	const char *name = s->columns;

	for (unsigned i = 0; i < s->nr_columns; i++, name = next_name(name)) {
		char how = name[name_length(name)];

		if (how == '-')
			continue;
		columns[nr++] = (struct page_column){
			.name = name, .name_length = name_length(name), .values = s->rows + i,
			.nr = s->nr, .stride = s->nr_columns, .is_delta = how == '+',
		};
	}
	return nr;
}

int store_write(const struct store *s, struct page *p, const char *id)
{
	struct page_column columns[STORE_COLUMNS_MAX];

	return s->error ? s->error : page_columns(p, id, columns, store_columns(s, columns, 0));
}

int store_finish(struct store *s, struct page *p, const char *id)
{
	int ret = store_write(s, p, id);

	store_free(s);
	return ret;
}
