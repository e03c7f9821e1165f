// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of the report page, column by column; see report-private.h. */
#include <errno.h>
#include <stdlib.h>

#include "page/report-private.h"

int columns_add(struct columns *c, const char *name, bool is_delta, size_t nr)
{
	int64_t *values = calloc(nr + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	c->values[c->nr] = values;
	c->at[c->nr++] = (struct page_column){
		.name = name, .values = values, .nr = nr, .is_delta = is_delta,
	};
	return 0;
}

int columns_write(struct columns *c, struct page *p, const char *id)
{
	int ret = page_columns(p, id, c->at, c->nr);

	columns_free(c);
	return ret;
}

void columns_free(struct columns *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->values[i]);
	c->nr = 0;
}

/* A row's request: the class and bins of its place; class is one more, 0: of none. */
static int add_cell_columns(struct columns *c, const struct cells *k, const char *name)
{
	static const char *const names[] = {
		NULL, "first", "last", "class", "from", "to", "bucket", "count", "open", "sum",
	};
	int ret = columns_add(c, name, true, k->nr);

	for (size_t i = 1; i < sizeof(names) / sizeof(names[0]) && !ret; i++)
		ret = columns_add(c, names[i], i < 6, k->nr);
	return ret;
}

static void fill_cells(struct columns *c, const struct cells *k)
{
	for (size_t i = 0; i < k->nr; i++) {
		const struct cell *cell = &k->cells[i];
		const int64_t row[] = {
			cell->key, cell->first, cell->last,
			cell->place.is_any ? (int64_t)cell->place.class + 1 : 0,
			cell->place.first, cell->place.last, cell->place.bucket, cell->nr,
			cell->nr_open, cell->sum,
		};

		for (size_t n = 0; n < sizeof(row) / sizeof(row[0]); n++)
			c->values[n][i] = row[n];
	}
}

/* Of rows that hold more than one value; of one, they are the sum.  In a table of their own. */
static int write_extremes(const struct cells *k, struct page *p, const char *id)
{
	struct columns c = { .nr = 0 };
	size_t nr = 0, v = 0;
	char name[32];

	snprintf(name, sizeof(name), "%.20s_values", id);
	for (size_t i = 0; i < k->nr; i++)
		nr += k->cells[i].nr > 1;
	if (columns_add(&c, "min", false, nr) || columns_add(&c, "max", false, nr) ||
	    columns_add(&c, "resolution", false, k->nr) ||
	    columns_add(&c, "nr", false, nr) || columns_add(&c, "bucket", true, k->nr_values) ||
	    columns_add(&c, "times", false, k->nr_values)) {
		columns_free(&c);
		return -ENOMEM;
	}
	nr = 0;
	for (size_t i = 0; i < k->nr; i++) {
		const struct cell *cell = &k->cells[i];

		c.values[2][i] = cell->resolution;
		if (cell->nr <= 1)
			continue;
		c.values[0][nr] = cell->min;
		c.values[1][nr] = cell->max;
		c.values[3][nr++] = cell->nr_values;
		for (size_t n = 0; n < cell->nr_values; n++) {
			c.values[4][v] = cell->values[n].bucket;
			c.values[5][v++] = cell->values[n].nr;
		}
	}
	/* Buckets of rows with one value were not written. */
	c.at[4].nr = c.at[5].nr = v;
	return columns_write(&c, p, name);
}

int cells_write(const struct cells *k, struct page *p, const char *id, const char *name)
{
	struct columns c = { .nr = 0 };
	int ret = add_cell_columns(&c, k, name);

	if (ret) {
		columns_free(&c);
		return ret;
	}
	fill_cells(&c, k);
	ret = columns_write(&c, p, id);
	return ret || !k->has_values ? ret : write_extremes(k, p, id);
}
