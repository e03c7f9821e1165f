// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Caches the rows of a short range: an analysis of one request reads the same few blocks
 * repeatedly, and decoding a block costs as much as reading thousands of its rows.
 *
 * A kind is read when it is first needed.  Kinds with strings, and kinds with too many rows in the
 * range, are not cached, but read from their blocks each time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "trace/cursor-private.h"

#define CACHE_BYTES	(4U << 20)	/* of a kind */
#define NR_KINDS	64

struct cached_kind {
	int64_t from, to;
	char *rows;
	size_t nr, room;
	bool is_wanted, is_read, is_refused;
};

struct row_cache {
	struct cached_kind kinds[NR_KINDS];
	bool is_active;		/* from reader_cache() to reader_cache_end() */
	struct decoder spare;
};

int reader_cache(struct reader *r, unsigned kind, int64_t from, int64_t to)
{
	struct cached_kind *k;

	if (!r->cache)
		r->cache = calloc(1, sizeof(*r->cache));
	if (!r->cache)
		return -ENOMEM;
	r->cache->is_active = true;
	k = kind < NR_KINDS ? &r->cache->kinds[kind] : NULL;
	if (k && !k->is_wanted)
		*k = (struct cached_kind){ from, to, k->rows, 0, k->room, .is_wanted = true };
	return 0;
}

void reader_cache_end(struct reader *r)
{
	struct row_cache *c = r->cache;

	if (!c)
		return;
	c->is_active = false;
	for (unsigned kind = 0; kind < NR_KINDS; kind++)
		c->kinds[kind].is_wanted = false;
	if (r->retained)
		return;
	for (unsigned kind = 0; kind < NR_KINDS; kind++)
		free(c->kinds[kind].rows);
	decoder_exit(&c->spare);
	free(c);
	r->cache = NULL;
}

void cache_swap_spare(struct reader *r, struct decoder *d)
{
	struct decoder spare;

	if (!r->cache || !r->cache->is_active)
		return;
	spare = r->cache->spare;
	r->cache->spare = *d;
	*d = spare;
}

static int add_rows(struct cached_kind *k, const char *rows, size_t nr, size_t size)
{
	if ((k->nr + nr) * size > CACHE_BYTES) {
		k->is_refused = true;
		return 0;
	}
	if (!array_reserve(&k->rows, &k->room, k->nr + nr, size))
		return -ENOMEM;
	memcpy(k->rows + k->nr * size, rows, nr * size);
	k->nr += nr;
	return 0;
}

static int read_kind(struct cached_kind *k, struct cursor *c)
{
	struct query q = c->q;
	size_t size = schema_find(q.kind)->row_bytes, nr;
	struct block *blocks = q.r->blocks;
	int ret = 0;

	k->is_read = true;
	q.filter = (struct reader_filter)READER_FILTER_ALL;
	q.filter.t_min = k->from;
	q.filter.t_max = k->to;
	q.all = false;
	for (size_t i = 0; i < q.r->nr_blocks && ret >= 0 && !k->is_refused; i++) {
		if (!query_wants(&q, &blocks[i]))
			continue;
		ret = retained_decode(&q, &c->d, &blocks[i], &nr);
		if (ret > 0)
			ret = add_rows(k, c->d.rows, nr, size);
	}
	return ret < 0 ? ret : 0;
}

bool cache_serves(const struct query *q)
{
	struct row_cache *c = q->r->cache;
	const struct cached_kind *k = c && q->kind < NR_KINDS ? &c->kinds[q->kind] : NULL;
	const struct schema *s = k && k->is_wanted && !k->is_refused ? schema_find(q->kind) : NULL;

	return s && s->flags & SCHEMA_F_TIME && !s->nr_strings && q->filter.t_min >= k->from &&
	       q->filter.t_max <= k->to;
}

int cache_read(struct cursor *c, size_t *nr)
{
	struct cached_kind *k = &c->q.r->cache->kinds[c->q.kind];
	size_t size = schema_find(c->q.kind)->row_bytes;
	int ret = k->is_read ? 0 : read_kind(k, c);

	if (ret || k->is_refused)
		return ret ? ret : -EAGAIN;
	if (!buffer_room(&c->d.rows, &c->d.rows_room, k->nr * size))
		return -ENOMEM;
	*nr = query_filter(&c->q, c->d.rows, k->rows, k->nr);
	return *nr > 0;
}
