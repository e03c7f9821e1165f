// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the rows of a kind: selects blocks, selects their rows, and returns rows or columns.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "trace/cursor-private.h"

_Static_assert(READER_FUNCS_MAX == TILES_ROWS, "one tile at a time");

/* Returns true if it is certain that the filter selects all rows of the block. */
static bool extent_is_inside(const struct reader_filter *f, const struct ldb_row_index *i)
{
	return i->t_min >= f->t_min && i->t_max <= f->t_max && i->id_min >= f->id_min &&
	       i->id_max <= f->id_max && !f->min_dur;
}

bool reader_overlaps(unsigned kind, const void *row, int64_t t_min, int64_t t_max)
{
	struct extent e = EXTENT_NONE;

	schema_extents(kind, row, 1, &e);
	return e.t_max >= t_min && e.t_min <= t_max;
}

/*
 * Returns the range of time and ids that rows must overlap, and the least duration that they must
 * have.
 */
static struct extent wanted_extent(const struct reader_filter *f)
{
	return (struct extent){ f->t_min, f->t_max, f->id_min, f->id_max, f->min_dur };
}

static void query_init(struct query *q, struct reader *r, unsigned kind,
		       const struct reader_filter *filter)
{
	static const struct reader_filter all = READER_FILTER_ALL;
	const struct schema *s = schema_find(kind);
	unsigned has = s ? s->flags : 0;

	*q = (struct query){ .r = r, .kind = kind, .filter = filter ? *filter : all };
	q->bytes = q->filter.bytes;
	q->filter.bytes = 0;
	if (!(has & SCHEMA_F_TIME)) {
		q->filter.t_min = INT64_MIN;
		q->filter.t_max = INT64_MAX;
	}
	if (!(has & SCHEMA_F_ID)) {
		q->filter.id_min = 0;
		q->filter.id_max = UINT64_MAX;
	}
	if (!(has & SCHEMA_F_DUR))
		q->filter.min_dur = 0;
	q->all = !memcmp(&q->filter, &all, sizeof(all));
}

bool query_wants(const struct query *q, const struct block *b)
{
	const struct ldb_row_index *i = &b->i;
	struct extent want = wanted_extent(&q->filter);

	if (i->kind != q->kind || !i->rows || b->bad)
		return false;
	return q->all || extent_matches(&want, &(struct extent){
		i->t_min, i->t_max, i->id_min, i->id_max, i->max_dur });
}

struct extent query_extent(const struct query *q)
{
	return wanted_extent(&q->filter);
}

size_t query_filter(const struct query *q, char *to, const char *rows, size_t nr)
{
	struct extent want = wanted_extent(&q->filter);

	return schema_filter(q->kind, &want, to, rows, nr);
}

void block_set_bad(struct reader *r, struct block *b)
{
	if (!atomic_exchange(&b->bad, true))
		damage_add(r, b->i.offset, 1, b->i.bytes);
}

/* Records whether a block could be decoded. */
static int block_result(struct reader *r, struct block *b, int rc)
{
	if (!rc)
		block_set_bad(r, b);
	else if (rc > 0)
		b->is_whole = true;
	return rc;
}

int block_decode(struct reader *r, struct decoder *d, struct block *b,
		 const struct columns_select *select, size_t *nr)
{
	int rc = block_result(r, b, decoder_decode(d, r, b->i.offset, b->i.bytes, b->i.kind, select, nr));

	return rc > 0 ? *nr > 0 : rc;
}

static size_t select_rows(const void *query, char *rows, size_t nr)
{
	return query_filter(query, rows, rows, nr);
}

static bool select_times(const void *query, const char *rows, size_t nr)
{
	const struct query *q = query;
	struct extent e = EXTENT_NONE;

	schema_extents(q->kind, rows, nr, &e);
	return e.t_max >= q->filter.t_min && e.t_min <= q->filter.t_max;
}

static bool selects_all(const struct query *q, const struct block *b)
{
	return q->all || extent_is_inside(&q->filter, &b->i);
}

int query_decode(const struct query *q, struct decoder *d, struct block *b, size_t *nr)
{
	struct columns_select select = { select_rows, select_times, q, q->bytes };

	if (selects_all(q, b)) {
		select.rows = NULL;
		select.times = NULL;
	}
	return block_decode(q->r, d, b, select.rows || select.bytes ? &select : NULL, nr);
}

static bool select_none(const void *none, const char *rows, size_t nr)
{
	return false;
}

int reader_exists(struct reader *r, unsigned kind)
{
	static const struct columns_select select = { .times = select_none };
	struct decoder d = { 0 };
	bool found = false;
	int rc = 0;

	r = reader_of_kind(r, kind);
	for (size_t i = 0; i < r->nr_blocks && !found && rc >= 0; i++) {
		struct block *b = &r->blocks[i];
		size_t nr;

		if (b->i.kind != kind || !b->i.rows || b->bad || !schema_find(kind))
			continue;
		rc = b->is_whole ? 1 : block_decode(r, &d, b, &select, &nr);
		found = b->is_whole;
	}
	decoder_exit(&d);
	return rc < 0 ? rc : found;
}

static bool is_of_requests(unsigned kind)
{
	return kind == LDB_BLK_REQ || kind == LDB_BLK_REQNAME || kind == LDB_BLK_NOTE || kind == LDB_BLK_REQTAB;
}

struct reader *reader_of_kind(struct reader *r, unsigned kind)
{
	return r->replaced && is_of_requests(kind) ? r->replaced : r;
}

struct cursor *cursor_open(struct reader *r, unsigned kind, const struct reader_filter *filter,
			   struct share *share)
{
	struct cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	r = reader_of_kind(r, kind);
	query_init(&c->q, r, kind, filter);
	c->share = share;
	if (!share)
		retain_swap_spare(r, &c->d);
	return c;
}

struct cursor *reader_cursor(struct reader *r, unsigned kind, const struct reader_filter *filter)
{
	return cursor_open(r, kind, filter, NULL);
}

void cursor_close(struct cursor *c)
{
	if (!c)
		return;
	ahead_close(c->ahead);
	if (!c->share)
		retain_swap_spare(c->q.r, &c->d);
	decoder_exit(&c->d);
	free(c->values);
	free(c);
}

/* Returns the next block that may have selected rows; NULL: there are no more. */
static struct block *next_block(struct cursor *c)
{
	struct reader *r = c->q.r;
	size_t n;

	if (!schema_find(c->q.kind))
		return NULL;
	for (;;) {
		n = c->share ? atomic_fetch_add(&c->share->next, 1) : c->next++;
		if (n >= r->nr_blocks)
			return NULL;
		if (query_wants(&c->q, &r->blocks[n]))
			return &r->blocks[n];
	}
}

int cursor_next(struct cursor *c, struct reader_rows *rows)
{
	struct block *b;
	int rc = 0;

	rows->kind = c->q.kind;
	if (!c->next && !c->share && !c->ahead) {
		c->is_retained = retain_serves(&c->q);
		c->ahead = c->is_retained ? NULL : ahead_open(&c->q);
	}
	if (c->ahead)
		return ahead_next(c->ahead, &rows->rows, &rows->nr);
	while (!rc && (b = next_block(c)))
		rc = c->is_retained ? retained_decode(&c->q, &c->d, b, &rows->nr) :
				      query_decode(&c->q, &c->d, b, &rows->nr);
	rows->rows = c->d.rows;
	return rc;
}

/* Columns */

enum func_column {		/* in the order of the format */
	FUNC_FLAGS, FUNC_TID, FUNC_PC, FUNC_RET, FUNC_GEN, FUNC_PARENT_GEN, FUNC_DEPTH,
	FUNC_START_MAX, FUNC_START_UNC, FUNC_END_MAX, FUNC_END_UNC, NR_FUNC_COLUMNS
};

#define FUNC_COLUMNS	(1U << FUNC_FLAGS | 1U << FUNC_PC | 1U << FUNC_RET | \
			 1U << FUNC_START_MAX | 1U << FUNC_START_UNC | 1U << FUNC_END_MAX | \
			 1U << FUNC_END_UNC)

/* Copies columns of the next rows of c->d.rows to c->values; returns the number of rows. */
static size_t gather_rows(struct cursor *c)
{
	size_t nr = c->nr_rows < TILES_ROWS ? c->nr_rows : TILES_ROWS;
	const struct ldb_row_func *row = c->row;

	for (size_t i = 0; i < nr; i++, row++) {
		c->values[FUNC_FLAGS][i] = row->flags;
		c->values[FUNC_TID][i] = row->tid;
		c->values[FUNC_PC][i] = row->pc;
		c->values[FUNC_RET][i] = row->ret;
		c->values[FUNC_START_MAX][i] = row->start_max;
		c->values[FUNC_START_UNC][i] = row->start_unc;
		c->values[FUNC_END_MAX][i] = row->end_max;
		c->values[FUNC_END_UNC][i] = row->end_unc;
	}
	c->row = row;
	c->nr_rows -= nr;
	return nr;
}

/* Returns 1: rows or columns of the block are available; 0: it is damaged; or -ENOMEM. */
static int load_funcs(struct cursor *c, struct block *b, bool with_tid)
{
	uint32_t wanted = FUNC_COLUMNS | (uint32_t)with_tid << FUNC_TID;
	struct query *q = &c->q;
	const struct columns_select select = { select_rows, select_times, q, 0 };
	struct ldb_block_header h;
	bool is_all = selects_all(q, b);
	int rc = decoder_load(&c->d, q->r, b->i.offset, b->i.bytes, q->kind, &h);

	if (rc != 1)
		return rc;
	if (is_all && tiles_begin(&c->tiles, schema_find(q->kind), c->d.raw, h.raw_bytes, h.rows, wanted))
		return 1;
	c->tiles.left = 0;
	rc = decoder_rows(&c->d, &h, is_all ? NULL : &select, &c->nr_rows);
	if (rc != 1) {
		c->nr_rows = 0;
		return rc;
	}
	c->row = (const void *)c->d.rows;
	return 1;
}

static int set_funcs(struct cursor *c, size_t nr, bool with_tid, struct reader_funcs *f)
{
	uint64_t (*v)[TILES_ROWS] = c->values;

	*f = (struct reader_funcs){
		.nr = nr, .flags = v[FUNC_FLAGS], .pc = v[FUNC_PC], .ret = v[FUNC_RET],
		.start_max = v[FUNC_START_MAX], .start_unc = v[FUNC_START_UNC],
		.end_max = v[FUNC_END_MAX], .end_unc = v[FUNC_END_UNC],
		.tid = with_tid ? v[FUNC_TID] : NULL,
	};
	return 1;
}

int cursor_next_funcs(struct cursor *c, bool with_tid, struct reader_funcs *funcs)
{
	struct block *b;
	int rc;

	if (!c->values)
		c->values = malloc(NR_FUNC_COLUMNS * sizeof(*c->values));
	if (!c->values)
		return -ENOMEM;
	for (;;) {
		if (c->tiles.left)
			return set_funcs(c, tiles_next(&c->tiles, c->values), with_tid, funcs);
		if (c->nr_rows)
			return set_funcs(c, gather_rows(c), with_tid, funcs);
		b = next_block(c);
		if (!b)
			return 0;
		rc = block_result(c->q.r, b, load_funcs(c, b, with_tid));
		if (rc < 0)
			return rc;
	}
}

int reader_each(struct reader *r, unsigned kind, const struct reader_filter *filter,
		int (*batch)(void *arg, const struct reader_rows *rows), void *arg)
{
	struct cursor *c = reader_cursor(r, kind, filter);
	struct reader_rows rows;
	int rc;

	if (!c)
		return -ENOMEM;
	while ((rc = cursor_next(c, &rows)) > 0) {
		rc = batch(arg, &rows);
		if (rc)
			break;
	}
	cursor_close(c);
	return rc;
}
