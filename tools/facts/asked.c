// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the requests in other processes that belong to a request; see asked.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "asked.h"
#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "rows.h"

COMPARE(by_asker, struct ldb_row_asked, UP(by) UP(asked))
COMPARE(by_request, struct ldb_row_asked, UP(id) UP(tick))

static int add_row(void *arg, const void *row)
{
	struct asked *all = arg;
	const struct ldb_row_asked *r = row;
	int rc = array_push(all->down, all->nr_down, all->room_down, *r);

	return rc ? rc : array_push(all->up, all->nr_up, all->room_up, *r);
}

static int read_rows(struct model *m, struct asked *all)
{
	int rc = all->is_read ? 0 : rows_each(m->reader, LDB_BLK_ASKED, NULL, add_row, all);

	if (rc || all->is_read)
		return rc;
	sort_by(all->down, all->nr_down, by_asker);
	sort_by(all->up, all->nr_up, by_request);
	all->is_read = true;
	return 0;
}

/* Adds the instance of the id that was open at that time. */
static int add_one(struct model *m, uint64_t id, int64_t tick, struct asked *all)
{
	const struct ldb_row_reqtab *row;
	struct asked_one one;
	int rc = instances_last(m, id, tick, &row);
	size_t n;

	if (rc || !row || row->end < tick || all->nr == ASKED_MAX)
		return rc;
	one = (struct asked_one){ id, row->start, row->end };
	n = search_by(all->by_id, all->nr_by_id, a, a->id < id || (a->id == id && a->start < one.start));
	if (n < all->nr_by_id && all->by_id[n].id == id && all->by_id[n].start == one.start)
		return 0;
	rc = array_push(all->at, all->nr, all->room, one);
	rc = rc ? rc : array_push(all->by_id, all->nr_by_id, all->room_by_id, one);
	if (rc)
		return rc;
	memmove(&all->by_id[n + 1], &all->by_id[n], (all->nr_by_id - 1 - n) * sizeof(one));
	all->by_id[n] = one;
	return 0;
}

static int add_neighbours(struct model *m, struct asked_one one, struct asked *all)
{
	const struct ldb_row_asked *down = all->down, *up = all->up;
	size_t n = search_by(down, all->nr_down, r, r->by < one.id || (r->by == one.id && r->asked < one.start));
	int rc = 0;

	for (; n < all->nr_down && !rc && down[n].by == one.id && down[n].asked <= one.end; n++)
		rc = add_one(m, down[n].id, down[n].tick, all);
	n = search_by(up, all->nr_up, r, r->id < one.id || (r->id == one.id && r->tick < one.start));
	for (; n < all->nr_up && !rc && up[n].id == one.id && up[n].tick <= one.end; n++)
		rc = add_one(m, up[n].by, up[n].asked, all);
	return rc;
}

int asked_add(struct model *m, uint64_t id, int64_t start, struct asked *all)
{
	size_t i = all->nr;
	int rc = read_rows(m, all);

	rc = rc ? rc : add_one(m, id, start, all);
	for (; i < all->nr && !rc; i++)
		rc = add_neighbours(m, all->at[i], all);
	return rc;
}

bool asked_has(const struct asked *all, const struct instance *instance)
{
	size_t n = search_by(all->by_id, all->nr_by_id, a, a->id < instance->id);

	for (; n < all->nr_by_id && all->by_id[n].id == instance->id && all->by_id[n].start <= instance->end; n++)
		if (all->by_id[n].end >= instance->start)
			return true;
	return false;
}

void asked_clear(struct asked *all)
{
	all->nr = all->nr_by_id = 0;
}

void asked_free(struct asked *all)
{
	free(all->at);
	free(all->by_id);
	free(all->down);
	free(all->up);
	*all = (struct asked){ 0 };
}
