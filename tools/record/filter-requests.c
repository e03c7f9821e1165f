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
#include "record/req-tags.h"

#define IDS_MAX		(1U << 20)	/* more open requests are written whatever was chosen */

struct id {
	uint64_t id;
	uint32_t tid;		/* of its first row */
	bool is_free;
	bool is_chosen;
};

struct filter_ids {
	struct req_tags *tags;	/* is a request of that class written? */
	struct hash hash;	/* of all that are not free, by id */
	struct id *all;
	size_t nr, room;
	uint32_t *free;
	size_t nr_free, room_free;
};

struct filter_ids *filter_ids_alloc(void)
{
	struct filter_ids *t = calloc(1, sizeof(*t));

	if (t)
		t->tags = req_tags_alloc();
	if (t && t->tags)
		return t;
	free(t);
	return NULL;
}

void filter_ids_free(struct filter_ids *t)
{
	if (!t)
		return;
	req_tags_free(t->tags);
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

static struct id *add(struct filter_ids *t, uint64_t id)
{
	uint32_t n;

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

bool filter_wants_class(struct filter *f, uint64_t id, int64_t tick, const char *name)
{
	bool is_chosen = has_class(f, name);

	/* If there are too many it has none. */
	req_tags_add(f->ids->tags, id, tick, is_chosen);
	return is_chosen;
}

/* The first row of a request decides.  NULL: there are too many. */
static struct id *begin(struct filter *f, const struct ldb_row_req *row)
{
	struct id *i = add(f->ids, row->id);
	uint32_t is_chosen;

	if (!i)
		return NULL;
	i->tid = row->tid;
	i->is_chosen = req_tags_find(f->ids->tags, row->id, row->tick, INT64_MAX, &is_chosen) ?
		       is_chosen : has_class(f, "");
	f->left[LDB_LEFT_REQUESTS - LDB_LEFT_PAUSE] += !i->is_chosen && row->op != LDB_REQ_OP_END;
	return i;
}

/* Those of a thread have ended; tid 0: all have. */
static void forget_of(struct filter_ids *t, uint32_t tid, int64_t tick)
{
	for (size_t n = 0; n < t->nr; n++)
		if (!t->all[n].is_free && (!tid || t->all[n].tid == tid)) {
			req_tags_forget(t->tags, t->all[n].id, tick);
			forget(t, &t->all[n]);
		}
}

static bool wants_row(struct filter *f, const struct ldb_row_req *row)
{
	struct id *i;
	bool is_chosen;

	if (row->op == LDB_REQ_OP_END_ALL || row->op == LDB_REQ_OP_CUT) {
		forget_of(f->ids, row->op == LDB_REQ_OP_CUT ? 0 : row->tid, row->tick);
		return true;
	}
	i = find(f->ids, row->id) ?: begin(f, row);
	if (!i)
		return true;
	is_chosen = i->is_chosen;
	if (row->op == LDB_REQ_OP_END) {
		req_tags_forget(f->ids->tags, row->id, row->tick);
		forget(f->ids, i);
	}
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
