// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses requests by their class; see filter.h.
 *
 * A request's rows are written some milliseconds after its tags, so its class is mostly known by
 * then, and its first row decides for all that follow, up to its end: a request is written as a
 * whole, or not.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/hash.h"
#include "record/filter-private.h"
#include "record/filter-requests.h"

#define IDS_MAX		(1U << 20)	/* more open requests are written whatever was chosen */

struct id {
	uint64_t id;
	uint32_t tid;		/* of its first row */
	bool is_free;
	bool has_class, is_chosen;
	bool is_decided;
};

struct filter_ids {
	struct hash hash;	/* of all that are not free, by id */
	struct id *all;
	size_t nr, room;
	uint32_t *free;
	size_t nr_free, room_free;
};

struct filter_ids *filter_ids_alloc(void)
{
	return calloc(1, sizeof(struct filter_ids));
}

void filter_ids_free(struct filter_ids *t)
{
	if (!t)
		return;
	hash_free(&t->hash);
	free(t->all);
	free(t->free);
	free(t);
}

static struct id *find(struct filter_ids *t, uint64_t id)
{
	uint32_t n;

	hash_each(&t->hash, hash_mix(0, id), n)
		if (t->all[n].id == id)
			return &t->all[n];
	return NULL;
}

static struct id *get(struct filter_ids *t, uint64_t id)
{
	struct id *found = find(t, id);
	uint32_t n;

	if (found)
		return found;
	if (t->nr_free) {
		n = t->free[--t->nr_free];
	} else {
		if (t->nr == IDS_MAX || !array_room(&t->all, &t->room, t->nr, sizeof(*t->all)))
			return NULL;
		n = t->nr++;
	}
	t->all[n] = (struct id){ .id = id };
	if (!hash_add(&t->hash, hash_mix(0, id), n))
		return &t->all[n];
	t->all[n].is_free = true;
	return NULL;
}

static void forget(struct filter_ids *t, struct id *i)
{
	uint32_t n = i - t->all;

	hash_remove(&t->hash, hash_mix(0, i->id), n);
	i->is_free = true;
	if (array_push(t->free, t->nr_free, t->room_free, n))
		return;		/* its place is lost */
}

static bool has_class(const struct filter *f, const char *name)
{
	const char *const names[3] = { name, "", "" };

	return filter_list_has(f->classes, names);
}

bool filter_wants_class(struct filter *f, uint64_t id, const char *name)
{
	struct id *i = get(f->ids, id);

	if (!i)
		return true;
	if (!i->is_decided) {
		i->has_class = true;
		i->is_chosen = has_class(f, name);
	}
	return i->is_chosen;
}

static void decide(struct filter *f, struct id *i, const struct ldb_row_req *row)
{
	if (i->is_decided)
		return;
	i->is_decided = true;
	i->tid = row->tid;
	if (!i->has_class)
		i->is_chosen = has_class(f, "");
	f->left[LDB_LEFT_REQUESTS - LDB_LEFT_PAUSE] += !i->is_chosen && row->op != LDB_REQ_OP_END;
}

/* Those of a thread have ended; tid 0: all have. */
static void forget_of(struct filter_ids *t, uint32_t tid)
{
	for (size_t n = 0; n < t->nr; n++)
		if (!t->all[n].is_free && t->all[n].is_decided && (!tid || t->all[n].tid == tid))
			forget(t, &t->all[n]);
}

static bool wants_row(struct filter *f, const struct ldb_row_req *row)
{
	struct id *i;
	bool is_chosen;

	if (row->op == LDB_REQ_OP_END_ALL || row->op == LDB_REQ_OP_CUT) {
		forget_of(f->ids, row->op == LDB_REQ_OP_CUT ? 0 : row->tid);
		return true;
	}
	i = get(f->ids, row->id);
	if (!i)
		return true;
	decide(f, i, row);
	is_chosen = i->is_chosen;
	if (row->op == LDB_REQ_OP_END)
		forget(f->ids, i);
	return is_chosen;
}

size_t filter_requests(struct filter *f, struct ldb_row_req *rows, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++)
		if (wants_row(f, &rows[i]))
			rows[kept++] = rows[i];
	return kept;
}
