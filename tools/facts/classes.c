// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the classes of requests: rows sorted by (id, tick), names kept once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "classes.h"

#define NAMES_MAX	65536	/* a class for each request is a mistake: the rest has none */

struct naming {
	uint64_t id;
	int64_t tick;
	uint32_t name;
};

struct classes {
	struct naming *rows;
	size_t nr, room;
	char **names;
	size_t nr_names;
	size_t last;		/* row found last: ids are asked for nearly in order */
};

/* Programs have few classes, and use the same ones again and again. */
static int find_name(struct classes *c, const char *name, uint32_t *nr)
{
	char **names;

	for (size_t i = c->nr_names; i-- > 0;) {
		if (!strcmp(c->names[i], name)) {
			*nr = i;
			return 0;
		}
	}
	if (c->nr_names >= NAMES_MAX)
		return -ENOSPC;
	names = reallocarray(c->names, c->nr_names + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	c->names = names;
	names[c->nr_names] = strdup(name);
	if (!names[c->nr_names])
		return -ENOMEM;
	*nr = c->nr_names++;
	return 0;
}

static int add_rows(void *arg, const struct reader_rows *rows)
{
	struct classes *c = arg;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct ldb_row_reqname *row = &rows->reqname[i];
		uint32_t name;
		int ret;

		if (!row->name || !*row->name)
			continue;
		ret = find_name(c, row->name, &name);
		if (ret == -ENOSPC)
			continue;
		if (ret)
			return ret;
		if (!array_room(&c->rows, &c->room, c->nr, sizeof(*c->rows)))
			return -ENOMEM;
		c->rows[c->nr++] = (struct naming){ row->id, row->tick, name };
	}
	return 0;
}

COMPARE(compare, struct naming, UP(id) UP(tick))

static bool is_sorted(const struct classes *c)
{
	size_t i = 1;

	while (i < c->nr && compare(&c->rows[i - 1], &c->rows[i]) <= 0)
		i++;
	return i >= c->nr;
}

struct classes *classes_open(struct model *m)
{
	struct classes *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	if (reader_each(m->reader, LDB_BLK_REQNAME, NULL, add_rows, c)) {
		classes_close(c);
		return NULL;
	}
	if (!is_sorted(c))
		qsort(c->rows, c->nr, sizeof(*c->rows), compare);
	return c;
}

void classes_close(struct classes *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nr_names; i++)
		free(c->names[i]);
	free(c->names);
	free(c->rows);
	free(c);
}

static bool is_before(const struct naming *n, uint64_t id, int64_t end)
{
	return n->id < id || (n->id == id && n->tick <= end);
}

const char *classes_find(struct classes *c, uint64_t id, int64_t end)
{
	size_t lo = 0, hi = c->nr, near = c->last < c->nr ? c->last : 0;

	/* Not far from the one before, mostly. */
	if (near < c->nr && is_before(&c->rows[near], id, end)) {
		lo = near + 1;
		if (near + 64 < hi && !is_before(&c->rows[near + 64], id, end))
			hi = near + 64;
	} else if (c->nr) {
		hi = near;
		if (near > 64 && is_before(&c->rows[near - 64], id, end))
			lo = near - 63;
	}
	lo = search_range(lo, hi, i, is_before(&c->rows[i], id, end));
	c->last = lo;
	return lo && c->rows[lo - 1].id == id ? c->names[c->rows[lo - 1].name] : "";
}
