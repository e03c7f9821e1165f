// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the requests that belong to one; see asked.h. */
#include <errno.h>
#include <stdlib.h>

#include "asked.h"
#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "rows.h"

struct table {
	struct ldb_row_asked *at;
	size_t nr, room;
};

static int add_row(void *arg, const void *row)
{
	struct table *t = arg;

	return array_push(t->at, t->nr, t->room, *(const struct ldb_row_asked *)row);
}

COMPARE(by_asker, struct ldb_row_asked, UP(by) UP(asked))
COMPARE(by_request, struct ldb_row_asked, UP(id) UP(tick))

/* Adds the instance of the id that was open at that time. */
static int add_one(struct model *m, uint64_t id, int64_t tick, struct asked *all)
{
	const struct ldb_row_reqtab *row;
	int rc = lives_last(m, id, tick, &row);

	if (rc || !row || row->end < tick || all->nr == ASKED_MAX)
		return rc;
	for (size_t i = 0; i < all->nr; i++)
		if (all->at[i].id == id && all->at[i].start == row->start)
			return 0;
	return array_push(all->at, all->nr, all->room, { id, row->start, row->end });
}

static int add_neighbours(struct model *m, const struct table *down, const struct table *up, struct asked_one one,
			  struct asked *all)
{
	size_t n = search_by(down->at, down->nr, r, r->by < one.id || (r->by == one.id && r->asked < one.start));
	int rc = 0;

	for (; n < down->nr && !rc && down->at[n].by == one.id && down->at[n].asked <= one.end; n++)
		rc = add_one(m, down->at[n].id, down->at[n].tick, all);
	n = search_by(up->at, up->nr, r, r->id < one.id || (r->id == one.id && r->tick < one.start));
	for (; n < up->nr && !rc && up->at[n].id == one.id && up->at[n].tick <= one.end; n++)
		rc = add_one(m, up->at[n].by, up->at[n].asked, all);
	return rc;
}

int asked_add(struct model *m, uint64_t id, int64_t start, struct asked *all)
{
	struct table down = { 0 }, up = { 0 };
	size_t i = all->nr;
	int rc = add_one(m, id, start, all);

	rc = rc ? rc : rows_each(m->reader, LDB_BLK_ASKED, NULL, add_row, &down);
	rc = rc ? rc : rows_each(m->reader, LDB_BLK_ASKED, NULL, add_row, &up);
	sort_by(down.at, down.nr, by_asker);
	sort_by(up.at, up.nr, by_request);
	for (; i < all->nr && !rc; i++)
		rc = add_neighbours(m, &down, &up, all->at[i], all);
	free(down.at);
	free(up.at);
	return rc;
}

bool asked_has(const struct asked *all, const struct life *life)
{
	for (size_t i = 0; i < all->nr; i++)
		if (all->at[i].id == life->id && all->at[i].start <= life->end && all->at[i].end >= life->start)
			return true;
	return false;
}

void asked_free(struct asked *all)
{
	free(all->at);
	*all = (struct asked){ 0 };
}
