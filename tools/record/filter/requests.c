// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses requests by their class; see filter.h.
 *
 * A request's rows are written some milliseconds after its tags arrive, so its class is usually
 * known when they are written.  The decision at the first row applies to all following rows of the
 * request, so that it is written as a whole or not at all.
 */
#include <stdlib.h>
#include "base/slots.h"
#include "record/filter/private.h"
#include "record/filter/req-tags.h"
#include "record/filter/requests.h"

#define IDS_MAX		(1U << 20)	/* open requests; further ones are written in any case */

struct id {
	struct slot slot;	/* by id */
	uint32_t tid;		/* tid of its first row */
	bool is_chosen;
};

struct filter_ids {
	struct req_tags *tags;	/* value of a tag: 1: requests of this class are written */
	struct slots open;
};

struct filter_ids *filter_ids_alloc(void)
{
	struct filter_ids *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->open = (struct slots){ .size = sizeof(struct id), .max = IDS_MAX };
	t->tags = req_tags_alloc();
	if (t->tags)
		return t;
	free(t);
	return NULL;
}

void filter_ids_free(struct filter_ids *t)
{
	if (!t)
		return;
	req_tags_free(t->tags);
	slots_free(&t->open);
	free(t);
}

static bool has_class(const struct filter *f, const char *name)
{
	const char *const names[3] = { name, "", "" };

	return filter_list_has(f->classes, names);
}

bool filter_wants_class(struct filter *f, uint64_t id, int64_t tick, const char *name)
{
	bool is_chosen = has_class(f, name);

	/* If there are too many tags, this request is treated as untagged. */
	req_tags_add(f->ids->tags, id, tick, is_chosen);
	return is_chosen;
}

/*
 * Decides whether a request is written, at its first row.  Returns NULL if too many requests are
 * open, or if there is no memory.
 */
static struct id *begin(struct filter *f, const struct ldb_row_req *row)
{
	struct id *i = slots_add(&f->ids->open, row->id);
	uint32_t is_chosen;

	if (!i)
		return NULL;
	i->tid = row->tid;
	i->is_chosen = req_tags_find(f->ids->tags, row->id, row->tick, INT64_MAX, &is_chosen) ?
		       is_chosen : has_class(f, "");
	f->left[LDB_LEFT_REQUESTS - LDB_LEFT_PAUSE] += !i->is_chosen && row->op != LDB_REQ_OP_END;
	return i;
}

/* Forgets the requests of a thread, because they have ended; tid 0: those of all threads. */
static void forget_of(struct filter_ids *t, uint32_t tid, int64_t tick)
{
	for (size_t n = 0; n < t->open.nr; n++) {
		struct id *i = slots_at(&t->open, n);

		if (i->slot.is_used && (!tid || i->tid == tid)) {
			req_tags_forget(t->tags, i->slot.key, tick);
			slots_remove(&t->open, &i->slot);
		}
	}
}

static bool wants_row(struct filter *f, const struct ldb_row_req *row)
{
	struct id *i;
	bool is_chosen;

	if (row->op == LDB_REQ_OP_CUT && row->queue) {
		i = slots_find(&f->ids->open, row->id);
		is_chosen = i && i->is_chosen;
		/* The next request with this id begins now, and has its tag already. */
		req_tags_forget(f->ids->tags, row->id, row->tick - 1);
		if (i)
			slots_remove(&f->ids->open, &i->slot);
		return is_chosen;
	}
	if (row->op == LDB_REQ_OP_END_ALL || row->op == LDB_REQ_OP_CUT) {
		forget_of(f->ids, row->op == LDB_REQ_OP_CUT ? 0 : row->tid, row->tick);
		return true;
	}
	i = slots_find(&f->ids->open, row->id) ?: begin(f, row);
	if (!i)
		return true;
	is_chosen = i->is_chosen;
	if (row->op == LDB_REQ_OP_END) {
		req_tags_forget(f->ids->tags, row->id, row->tick);
		slots_remove(&f->ids->open, &i->slot);
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
