// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading the rows of a kind: which blocks, decoding them, which rows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "trace/reader-private.h"

struct cursor {
	struct reader *r;
	unsigned kind;
	bool all;		/* no filter */
	struct reader_filter filter;
	size_t next;		/* block */
	size_t seen;		/* blocks of this kind that passed, for the parts */
	unsigned part, nr_parts;
	struct decoder d;
};

static bool room_for(void *pp, size_t *room, size_t need)
{
	void **p = pp;

	if (need <= *room && *p)
		return true;
	free(*p);		/* what is in there is not needed any more */
	*p = malloc(need ? need : 1);
	*room = *p ? need : 0;
	return *p;
}

void decoder_exit(struct decoder *d)
{
	ZSTD_freeDCtx(d->zstd);
	free(d->file);
	free(d->raw);
	free(d->rows);
	free(d->strings);
}

int decoder_decode(struct decoder *d, struct reader *r, uint64_t offset, uint64_t bytes,
		   unsigned kind, struct ldb_block_header *h)
{
	const struct schema *s = schema_find(kind);
	size_t n;

	if (!d->zstd)
		d->zstd = ZSTD_createDCtx();
	if (!d->zstd)
		return -ENOMEM;
	if (!file_read(r, offset, h, sizeof(*h)) || !header_is_plausible(r, h, offset) ||
	    h->kind != kind || h->version != 1 || sizeof(*h) + h->bytes > bytes)
		return 0;
	if (!room_for(&d->file, &d->file_room, h->bytes))
		return -ENOMEM;
	if (!file_read(r, offset + sizeof(*h), d->file, h->bytes) || !block_is_whole(h, d->file))
		return 0;
	if (!room_for(&d->raw, &d->raw_room, h->raw_bytes) ||
	    !room_for(&d->rows, &d->rows_room, (size_t)h->rows * s->row_bytes) ||
	    !room_for(&d->strings, &d->strings_room,
		      s->nr_strings ? h->raw_bytes + (size_t)h->rows * s->nr_strings : 0))
		return -ENOMEM;
	n = ZSTD_decompressDCtx(d->zstd, d->raw, h->raw_bytes, d->file, h->bytes);
	if (n != h->raw_bytes)	/* covers zstd's error codes */
		return 0;
	return columns_decode(s, d->raw, h->raw_bytes, d->rows, h->rows, d->strings);
}

/* A block's or a row's extent has something the filter wants. */
static bool extent_matches(const struct reader_filter *f, int64_t t_min, int64_t t_max,
			   uint64_t id_min, uint64_t id_max)
{
	return t_max >= f->t_min && t_min <= f->t_max && id_max >= f->id_min &&
	       id_min <= f->id_max;
}

static bool has_id(unsigned kind)
{
	return kind == LDB_BLK_FUNC || kind == LDB_BLK_LOCK || kind == LDB_BLK_THREAD ||
	       kind == LDB_BLK_GAP || kind == LDB_BLK_REQ || kind == LDB_BLK_REQNAME ||
	       kind == LDB_BLK_REQTAB || kind == LDB_BLK_SCHED || kind == LDB_BLK_TASK;
}

static bool has_time(unsigned kind)
{
	return has_id(kind) || kind == LDB_BLK_CLOCK || kind == LDB_BLK_MODULE ||
	       kind == LDB_BLK_LOST;
}

static bool has_dur(unsigned kind)
{
	return kind == LDB_BLK_FUNC || kind == LDB_BLK_LOCK || kind == LDB_BLK_GAP ||
	       kind == LDB_BLK_REQTAB;
}

struct cursor *reader_cursor_part(struct reader *r, unsigned kind,
				  const struct reader_filter *filter, unsigned part,
				  unsigned nr_parts)
{
	static const struct reader_filter all = READER_FILTER_ALL;
	struct cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->r = r;
	c->kind = kind;
	c->part = part;
	c->nr_parts = nr_parts ? nr_parts : 1;
	c->filter = filter ? *filter : all;
	if (!has_time(kind)) {
		c->filter.t_min = INT64_MIN;
		c->filter.t_max = INT64_MAX;
	}
	if (!has_id(kind)) {
		c->filter.id_min = 0;
		c->filter.id_max = UINT64_MAX;
	}
	if (!has_dur(kind))
		c->filter.min_dur = 0;
	c->all = !memcmp(&c->filter, &all, sizeof(all));
	return c;
}

struct cursor *reader_cursor(struct reader *r, unsigned kind, const struct reader_filter *filter)
{
	return reader_cursor_part(r, kind, filter, 0, 1);
}

void cursor_close(struct cursor *c)
{
	if (!c)
		return;
	decoder_exit(&c->d);
	free(c);
}

/* Moves the rows that match together; returns how many. */
static size_t filter_rows(const struct cursor *c, char *rows, size_t nr)
{
	const struct reader_filter *f = &c->filter;
	size_t size = schema_find(c->kind)->row_bytes;
	char *out = rows;
	struct extent e;

	for (char *row = rows; nr; nr--, row += size) {
		schema_extent(c->kind, row, &e);
		if (!extent_matches(f, e.t_min, e.t_max, e.id_min, e.id_max) || e.dur < f->min_dur)
			continue;
		if (out != row)
			memcpy(out, row, size);
		out += size;
	}
	return (out - rows) / size;
}

static bool block_is_wanted(struct cursor *c, const struct block *b)
{
	const struct reader_filter *f = &c->filter;

	if (b->i.kind != c->kind || !b->i.rows)
		return false;
	if (!c->all && (!extent_matches(f, b->i.t_min, b->i.t_max, b->i.id_min, b->i.id_max) ||
			b->i.max_dur < f->min_dur))
		return false;
	return c->seen++ % c->nr_parts == c->part;
}

int cursor_next(struct cursor *c, struct reader_rows *rows)
{
	struct reader *r = c->r;

	while (schema_find(c->kind) && c->next < r->nr_blocks) {
		struct block *b = &r->blocks[c->next++];
		struct ldb_block_header h;
		size_t nr;
		int rc;

		if (!block_is_wanted(c, b))
			continue;
		rc = decoder_decode(&c->d, r, b->i.offset, b->i.bytes, c->kind, &h);
		if (rc < 0)
			return rc;
		if (!rc) {
			if (!atomic_exchange(&b->bad, true))
				damage_add(r, b->i.offset, 1, b->i.bytes);
			continue;
		}
		nr = c->all ? h.rows : filter_rows(c, c->d.rows, h.rows);
		if (!nr)
			continue;
		rows->kind = c->kind;
		rows->nr = nr;
		rows->rows = c->d.rows;
		return 1;
	}
	return 0;
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
