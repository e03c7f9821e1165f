// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sums rows by key, bins and place.  If there are too many rows, bins become twice as wide, and
 * rows that become equal are merged.
 *
 * Bins are results of bins_first() and bins_last().  When bins become twice as wide, first becomes
 * first >> 1, and last, which is counted from one, becomes (last + 1) >> 1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "page/report-private.h"

void cells_init(struct cells *c, struct coarse *coarse, bool has_values)
{
	*c = (struct cells){ .coarse = coarse, .has_values = has_values };
}

void cells_free(struct cells *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->cells[i].values);
	free(c->cells);
	hash_free(&c->rows);
	cells_init(c, c->coarse, c->has_values);
}

unsigned coarse_first(const struct coarse *c, unsigned first)
{
	return first >> c->shift;
}

unsigned coarse_last(const struct coarse *c, unsigned last)
{
	return (last + (1U << c->shift) - 1) >> c->shift;
}

static void widen(struct cell *k, unsigned shift)
{
	const struct coarse c = { shift };

	k->first = coarse_first(&c, k->first);
	k->last = coarse_last(&c, k->last);
	k->place.first = coarse_first(&c, k->place.first);
	k->place.last = coarse_last(&c, k->place.last);
}

static uint64_t hash(const struct cell *k)
{
	uint64_t h = hash_mix(0, (uint64_t)k->key << 32 | (uint32_t)k->first << 16 | k->last);

	h = hash_mix(h, (uint64_t)k->place.class << 32 | (uint32_t)k->place.first << 16 |
			k->place.last);
	return hash_mix(h, (uint32_t)k->place.bucket << 1 | k->place.is_any);
}

static bool same(const struct cell *a, const struct cell *b)
{
	return a->key == b->key && a->first == b->first && a->last == b->last &&
	       a->place.class == b->place.class && a->place.first == b->place.first &&
	       a->place.last == b->place.last && a->place.bucket == b->place.bucket &&
	       a->place.is_any == b->place.is_any;
}

/* Finds the row with the same key, bins and place; NULL: there is none. */
static struct cell *find(const struct cells *c, uint64_t of, const struct cell *like)
{
	uint32_t n;

	hash_each(&c->rows, of, n)
		if (same(&c->cells[n], like))
			return &c->cells[n];
	return NULL;
}

static int add_value(struct cells *c, struct cell *k, uint16_t bucket, uint32_t nr)
{
	size_t lo = search(k->nr_values, i, k->values[i].bucket < bucket);

	if (lo < k->nr_values && k->values[lo].bucket == bucket) {
		/*
		 * The counter cannot exceed 4 billion.  Beyond that, the percentiles of the bucket
		 * are wrong, but not the row's count.
		 */
		k->values[lo].nr = UINT32_MAX - k->values[lo].nr < nr ? UINT32_MAX :
				   k->values[lo].nr + nr;
		return 0;
	}
	if (!array_room_few(&k->values, &k->room_values, k->nr_values, sizeof(*k->values)))
		return -ENOMEM;
	memmove(&k->values[lo + 1], &k->values[lo], (k->nr_values - lo) * sizeof(*k->values));
	k->values[lo] = (struct cell_value){ .bucket = bucket, .nr = nr };
	k->nr_values++;
	c->nr_values++;
	return 0;
}

static int merge(struct cells *c, struct cell *to, const struct cell *from)
{
	int ret = 0;

	if (from->nr) {
		to->min = !to->nr || from->min < to->min ? from->min : to->min;
		to->max = !to->nr || from->max > to->max ? from->max : to->max;
	}
	to->nr += from->nr;
	to->nr_open += from->nr_open;
	to->sum += from->sum;
	if (from->resolution > to->resolution)
		to->resolution = from->resolution;
	for (size_t i = 0; i < from->nr_values && !ret; i++)
		ret = add_value(c, to, from->values[i].bucket, from->values[i].nr);
	return ret;
}

/* Adds all rows again, with wider bins or with other keys; rows that become equal are merged. */
static int rebuild(struct cells *c, const uint32_t *keys)
{
	struct cells old = *c;
	int ret = 0;

	cells_init(c, old.coarse, old.has_values);
	c->shift = old.coarse->shift;
	c->cells = calloc(old.nr + 1, sizeof(*c->cells));
	c->room = old.nr;
	ret = c->cells ? 0 : -ENOMEM;
	for (size_t i = 0; i < old.nr && !ret; i++) {
		struct cell *from = &old.cells[i];
		struct cell *to;
		uint64_t of;

		widen(from, c->shift - old.shift);
		if (keys)
			from->key = keys[from->key];
		of = hash(from);
		to = find(c, of, from);
		if (to) {
			ret = merge(c, to, from);
			continue;
		}
		ret = hash_add(&c->rows, of, c->nr);
		if (ret)
			break;
		c->cells[c->nr++] = *from;
		c->nr_values += from->nr_values;
		from->values = NULL;
	}
	cells_free(&old);
	return ret;
}

int cells_rekey(struct cells *c, const uint32_t *keys)
{
	return rebuild(c, keys);
}

/* Widens the bins to the width that the group's tables have. */
static int follow(struct cells *c)
{
	return c->shift == c->coarse->shift ? 0 : rebuild(c, NULL);
}

/* Widens the bins until there are few enough rows, or only one bin. */
int cells_bound(struct cells *c)
{
	int ret = follow(c);

	while (!ret && (c->nr > REPORT_ROWS_MAX || c->nr_values > REPORT_VALUES_MAX) &&
	       REPORT_BINS >> c->coarse->shift > 1) {
		c->coarse->shift++;
		ret = follow(c);
	}
	return ret;
}

static struct cell *get(struct cells *c, const struct cell *like)
{
	struct cell wide = *like;
	struct cell *found;
	uint64_t of;

	widen(&wide, c->shift);
	of = hash(&wide);
	found = find(c, of, &wide);
	if (found)
		return found;
	if (!array_room(&c->cells, &c->room, c->nr, sizeof(*c->cells)) ||
	    hash_add(&c->rows, of, c->nr))
		return NULL;
	c->cells[c->nr] = (struct cell){
		.key = wide.key, .first = wide.first, .last = wide.last, .place = wide.place,
	};
	c->nr++;
	return &c->cells[c->nr - 1];
}

int cells_add(struct cells *c, const struct cell *like, int64_t value, int64_t resolution,
	      bool is_open)
{
	struct cell *k;
	int ret = 0;

	if (c->nr > REPORT_ROWS_MAX || c->nr_values > REPORT_VALUES_MAX ||
	    c->shift != c->coarse->shift)
		ret = cells_bound(c);
	k = ret ? NULL : get(c, like);
	if (!k)
		return -ENOMEM;
	if (is_open) {
		k->nr_open++;
		return 0;
	}
	k->min = !k->nr || value < k->min ? value : k->min;
	k->max = !k->nr || value > k->max ? value : k->max;
	k->nr++;
	k->sum += value;
	if (resolution > k->resolution)
		k->resolution = resolution;
	return c->has_values ? add_value(c, k, bins_bucket(value, VALUE_BITS), 1) : 0;
}

COMPARE(compare, struct cell,
	UP(key) UP(first) UP(last) UP(place.class) UP(place.first) UP(place.last)
	UP(place.bucket))

void cells_sort(struct cells *c)
{
	if (c->nr)
		qsort(c->cells, c->nr, sizeof(*c->cells), compare);
	/* From here on the hash is not needed. */
	hash_free(&c->rows);
}

/*
 * Writes a separate table: the resolution of each row, and the least, the greatest and the buckets
 * of its values.  Of rows with at most one value only the resolution is written: the value is the
 * row's sum.
 */
static int write_extremes(const struct cells *k, struct page *p, const char *id)
{
	struct store resolutions, extremes, values;
	struct page_column columns[STORE_COLUMNS_MAX];
	char name[32];
	size_t nr;
	int ret;

	store_init(&resolutions, "resolution");
	store_init(&extremes, "min max nr");
	store_init(&values, "bucket+ times");
	for (const struct cell *c = k->cells; c < k->cells + k->nr; c++) {
		store_add(&resolutions, (int64_t[]){ c->resolution });
		if (c->nr <= 1)
			continue;
		store_add(&extremes, (int64_t[]){ c->min, c->max, c->nr_values });
		for (size_t n = 0; n < c->nr_values; n++)
			store_add(&values, (int64_t[]){ c->values[n].bucket, c->values[n].nr });
	}
	nr = store_columns(&resolutions, columns, 0);
	nr = store_columns(&extremes, columns, nr);
	nr = store_columns(&values, columns, nr);
	snprintf(name, sizeof(name), "%.20s_values", id);
	ret = resolutions.error || extremes.error || values.error ? -ENOMEM :
	      page_columns(p, name, columns, nr);
	store_free(&resolutions);
	store_free(&extremes);
	store_free(&values);
	return ret;
}

/*
 * Writes the rows.  A row's request is written as the class and bins of its place; class is the
 * number of the class + 1; 0: no request.
 */
int cells_write(const struct cells *k, struct page *p, const char *id, const char *name)
{
	char columns[96];
	struct store s;
	int ret;

	snprintf(columns, sizeof(columns), "%s+ first+ last+ class+ from+ to+ bucket count open sum", name);
	store_init(&s, columns);
	for (const struct cell *c = k->cells; c < k->cells + k->nr; c++)
		store_add(&s, (int64_t[]){
			c->key, c->first, c->last, c->place.is_any ? (int64_t)c->place.class + 1 : 0,
			c->place.first, c->place.last, c->place.bucket, c->nr, c->nr_open, c->sum });
	ret = store_finish(&s, p, id);
	return ret || !k->has_values ? ret : write_extremes(k, p, id);
}
