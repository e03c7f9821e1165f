// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the class of a request: the REQNAME rows are sorted by (id, tick), and each name is stored
 * once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/search.h"
#include "base/sort.h"
#include "classes.h"
#include "rows.h"

/* further names are dropped, because a program should have few classes */
#define NAMES_MAX	65536

struct naming {
	uint64_t id;
	int64_t tick;
	const char *name;
};

struct classes {
	struct naming *rows;
	size_t nr, room;
	struct intern names;
	/*
	 * the row that was found last: the next search begins there, because ids are looked up
	 * nearly in order
	 */
	size_t last;
};

static int add_row(void *arg, const void *at)
{
	const struct ldb_row_reqname *row = at;
	struct classes *c = arg;
	const char *name;

	if (!row->name || !*row->name)
		return 0;
	name = intern_text(&c->names, row->name);
	if (!name)
		return c->names.nr == NAMES_MAX ? 0 : -ENOMEM;
	return array_push(c->rows, c->nr, c->room, { row->id, row->tick, name });
}

COMPARE(compare, struct naming, UP(id) UP(tick))

int classes_read(struct model *m)
{
	struct classes *c = m->classes;

	if (c)
		return 0;
	c = m->classes = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->names.max = NAMES_MAX;
	if (rows_each(m->reader, LDB_BLK_REQNAME, NULL, add_row, c)) {
		classes_close(c);
		m->classes = NULL;
		return -ENOMEM;
	}
	sort_by(c->rows, c->nr, compare);
	return 0;
}

void classes_close(struct classes *c)
{
	if (!c)
		return;
	intern_free(&c->names);
	free(c->rows);
	free(c);
}

static bool is_before(const struct naming *n, uint64_t id, int64_t end)
{
	return n->id < id || (n->id == id && n->tick <= end);
}

const char *classes_find(struct classes *c, uint64_t id, int64_t end)
{
	size_t lo = search_near(0, c->nr, c->last, i, is_before(&c->rows[i], id, end));

	c->last = lo;
	return lo && c->rows[lo - 1].id == id ? c->rows[lo - 1].name : "";
}
