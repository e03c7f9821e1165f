// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Retains rows of the blocks that were decoded last.  This is for analyses that read the same short
 * ranges of time several times, and then ranges near these: decoding a block costs as much as
 * reading thousands of rows.  Only rows that overlap one of the ranges are retained or, if these
 * are too many, those that overlap the range that is being read.  Rows that analyses sort by time
 * are retained in order of time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "base/order.h"
#include "base/search.h"
#include "base/sort.h"
#include "trace/cursor-private.h"

/* memory for retained rows, unless reader_retain_begin() sets it */
#define RETAIN_BYTES	(3U << 20)
#define BLOCK_SHARE	3	/* a block may take 1/3 of the memory for rows of all ranges */
#define NR_KINDS	64
#define NR_BLOCKS	64
#define CHUNK		128	/* rows */

struct ranges {
	struct reader_range *at;	/* in order of time, disjoint */
	size_t nr, room;
	struct reader_range *given;	/* as the caller gave them, in order of their starts */
	size_t nr_given, room_given;
};

/*
 * The retained rows of a block.  Each chunk of rows has bounds, because a query for a short range
 * of time needs few of them.
 */
struct retained {
	const struct block *block;	/* NULL: free */
	unsigned kind;
	/* here are all rows that overlap this range, and one of the ranges of reader_retain() */
	struct reader_range range;
	size_t nr, bytes;
	struct extent *chunks;
	char *rows;			/* their strings follow */
	uint64_t last_use;
};

struct retain {
	struct ranges ranges[NR_KINDS];
	struct retained blocks[NR_BLOCKS];
	size_t bytes, max_bytes;
	/*
	 * numbers of uses of blocks: in all, and until the last reader_retain() whose ranges were
	 * retained already (0: there was none)
	 */
	uint64_t nr_uses, nr_before;
	struct decoder spare;
};

COMPARE(range_compare, struct reader_range, UP(from) UP(to))

static bool ranges_overlap(const struct ranges *k, int64_t from, int64_t to)
{
	size_t n = search(k->nr, i, k->at[i].to < from);

	return n < k->nr && k->at[n].from <= to;
}

static bool ranges_include(const struct ranges *k, int64_t from, int64_t to)
{
	size_t n = search(k->nr, i, k->at[i].to < to);

	return n < k->nr && k->at[n].from <= from;
}

static int set_ranges(struct ranges *k, const struct reader_range *ranges, size_t nr)
{
	size_t out = 0;

	if (!array_reserve(&k->at, &k->room, nr, sizeof(*ranges)) ||
	    !array_reserve(&k->given, &k->room_given, nr, sizeof(*ranges)))
		return -ENOMEM;
	memcpy(k->given, ranges, nr * sizeof(*ranges));
	sort_by(k->given, nr, range_compare);
	for (size_t i = 0; i < nr; i++) {
		struct reader_range *last = out ? &k->at[out - 1] : NULL;

		if (last && k->given[i].from <= last->to)
			last->to = max(last->to, k->given[i].to);
		else
			k->at[out++] = k->given[i];
	}
	k->nr = out;
	k->nr_given = nr;
	return 0;
}

/*
 * Returns one of the caller's ranges that contains the query's range; if there are several, the one
 * that begins last.  If there is none, returns the query's range.
 */
static struct reader_range range_of(const struct ranges *k, const struct query *q)
{
	size_t n = search(k->nr_given, i, k->given[i].from <= q->filter.t_min);

	while (n--)
		if (k->given[n].to >= q->filter.t_max)
			return k->given[n];
	return (struct reader_range){ q->filter.t_min, q->filter.t_max };
}

static void drop(struct retain *t, struct retained *b)
{
	t->bytes -= b->bytes;
	free(b->chunks);
	free(b->rows);
	*b = (struct retained){ .last_use = b->last_use };
}

int reader_retain_begin(struct reader *r, size_t max_bytes)
{
	r->retain = calloc(1, sizeof(*r->retain));
	if (!r->retain)
		return -ENOMEM;
	r->retain->max_bytes = max_bytes;
	return 0;
}

int reader_retain(struct reader *r, unsigned kind, const struct reader_range *ranges, size_t nr)
{
	struct retain *t;
	size_t has = 0;

	r = reader_of_kind(r, kind);
	if (!r->retain && reader_retain_begin(r, RETAIN_BYTES))
		return -ENOMEM;
	t = r->retain;
	if (kind >= NR_KINDS)
		return 0;
	while (has < nr && ranges_include(&t->ranges[kind], ranges[has].from, ranges[has].to))
		has++;
	if (has == nr) {
		t->nr_before = t->nr_uses;
		return 0;
	}
	for (unsigned i = 0; i < NR_BLOCKS; i++)
		if (t->blocks[i].block && t->blocks[i].kind == kind)
			drop(t, &t->blocks[i]);
	return set_ranges(&t->ranges[kind], ranges, nr);
}

/*
 * Returns true if the block may have rows that overlap the range and are not retained, because the
 * range was not one of those of reader_retain() when the block was decoded.
 */
static bool may_lack(const struct retained *b, const struct reader_range *range)
{
	return b->range.from == INT64_MIN && b->block->i.t_min <= range->to && b->block->i.t_max >= range->from;
}

int reader_retain_also(struct reader *r, unsigned kind, const struct reader_range *range)
{
	struct reader_range *all;
	struct retain *t;
	struct ranges *k;
	int ret;

	r = reader_of_kind(r, kind);
	t = r->retain;
	if (!t || kind >= NR_KINDS)
		return reader_retain(r, kind, range, 1);
	k = &t->ranges[kind];
	if (ranges_include(k, range->from, range->to))
		return 0;
	all = calloc(k->nr_given + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	if (k->nr_given)
		memcpy(all, k->given, k->nr_given * sizeof(*all));
	all[k->nr_given] = *range;
	ret = set_ranges(k, all, k->nr_given + 1);
	free(all);
	for (unsigned i = 0; i < NR_BLOCKS && !ret; i++)
		if (t->blocks[i].block && t->blocks[i].kind == kind && may_lack(&t->blocks[i], range))
			drop(t, &t->blocks[i]);
	return ret;
}

size_t reader_retain_bytes(const struct reader *r)
{
	return r->retain ? r->retain->max_bytes : RETAIN_BYTES;
}

bool reader_retains(const struct reader *r)
{
	return r->retain;
}

void reader_retain_end(struct reader *r)
{
	struct retain *t = r->retain;

	if (r->replaced)
		reader_retain_end(r->replaced);
	if (!t)
		return;
	for (unsigned i = 0; i < NR_BLOCKS; i++)
		drop(t, &t->blocks[i]);
	for (unsigned kind = 0; kind < NR_KINDS; kind++) {
		free(t->ranges[kind].at);
		free(t->ranges[kind].given);
	}
	decoder_exit(&t->spare);
	free(t);
	r->retain = NULL;
}

void retain_swap_spare(struct reader *r, struct decoder *d)
{
	struct decoder spare;

	if (!r->retain)
		return;
	spare = r->retain->spare;
	r->retain->spare = (struct decoder){ .zstd = d->zstd };
	d->zstd = NULL;
	decoder_exit(d);
	*d = spare;
}

bool retain_serves(const struct query *q)
{
	const struct retain *t = q->r->retain;

	return t && q->kind < NR_KINDS &&
	       ranges_include(&t->ranges[q->kind], q->filter.t_min, q->filter.t_max);
}

/*
 * Returns the entry of the block or, if it has none, the least recently used entry.
 */
static struct retained *find(struct retain *t, const struct block *b)
{
	struct retained *oldest = &t->blocks[0];

	for (unsigned i = 0; i < NR_BLOCKS; i++) {
		struct retained *k = &t->blocks[i];

		if (k->block == b)
			return k;
		if (k->last_use < oldest->last_use)
			oldest = k;
	}
	return oldest;
}

/*
 * Makes room for this many more bytes.  Blocks that were used after nr_before are not dropped:
 * several passes use the same blocks in the same order, and if they do not all fit, each would be
 * dropped just before its next use.
 */
static bool make_room(struct retain *t, size_t bytes)
{
	while (t->bytes + bytes > t->max_bytes) {
		struct retained *oldest = NULL;

		for (unsigned i = 0; i < NR_BLOCKS; i++) {
			struct retained *k = &t->blocks[i];

			if (k->bytes && (!t->nr_before || k->last_use <= t->nr_before) &&
			    (!oldest || k->last_use < oldest->last_use))
				oldest = k;
		}
		if (!oldest)
			return false;
		drop(t, oldest);
	}
	return true;
}

static size_t nr_chunks(size_t nr)
{
	return (nr + CHUNK - 1) / CHUNK;
}

static size_t chunk_rows(size_t nr, size_t chunk)
{
	return min(nr - chunk * CHUNK, (size_t)CHUNK);
}

struct selection {
	const struct ranges *ranges;
	unsigned kind;
	size_t row_bytes;
};

/* Moves the rows that overlap a range to the front; returns their number. */
static size_t select_rows(const void *selection, char *rows, size_t nr)
{
	const struct selection *s = selection;
	char *to = rows;

	for (size_t c = 0; c < nr_chunks(nr); c++) {
		size_t here = chunk_rows(nr, c), size = s->row_bytes;
		char *row = rows + c * CHUNK * size;
		struct extent e = EXTENT_NONE;

		schema_extents(s->kind, row, here, &e);
		if (!ranges_overlap(s->ranges, e.t_min, e.t_max))
			continue;
		if (ranges_include(s->ranges, e.t_min, e.t_max)) {
			memmove(to, row, here * size);
			to += here * size;
			continue;
		}
		for (size_t i = 0; i < here; i++, row += size) {
			e = (struct extent)EXTENT_NONE;
			schema_extents(s->kind, row, 1, &e);
			if (!ranges_overlap(s->ranges, e.t_min, e.t_max))
				continue;
			memmove(to, row, size);
			to += size;
		}
	}
	return (to - rows) / s->row_bytes;
}

static bool select_times(const void *selection, const char *rows, size_t nr)
{
	const struct selection *s = selection;
	struct extent e = EXTENT_NONE;

	schema_extents(s->kind, rows, nr, &e);
	return ranges_overlap(s->ranges, e.t_min, e.t_max);
}

/* Loops over the addresses of all strings of the rows. */
#define each_string(s, row, nr, p)							\
	for (unsigned c = 0; c < (s)->nr_columns; c++)					\
		for (char *p = (row) + (s)->columns[c].offset, *end = p + (nr) * (s)->row_bytes;	\
		     (s)->columns[c].coding == COLUMN_S && p < end; p += (s)->row_bytes)

static size_t string_bytes(const struct schema *s, char *rows, size_t nr)
{
	size_t bytes = 0;

	each_string(s, rows, nr, p)
		bytes += strlen(*(char **)p) + 1;
	return s->nr_strings ? bytes : 0;
}

/* Copies the strings of the rows, and sets the rows' pointers to the copies. */
static void copy_strings(const struct schema *s, char *rows, size_t nr, char *to)
{
	each_string(s, rows, nr, p) {
		char **string = (char **)p;

		*string = strcpy(to, *string);
		to += strlen(to) + 1;
	}
}

ORDER_KEY(tick_of_sched, struct ldb_row_sched, tick)
ORDER_KEY(tick_of_req, struct ldb_row_req, tick)

/* Returns true if rows of the kind are read in order of time (rows_by_time()). */
static bool is_ordered(unsigned kind)
{
	return kind == LDB_BLK_SCHED || kind == LDB_BLK_REQ;
}

/* Copies the rows, those of ordered kinds in order of time. */
static int copy_rows(unsigned kind, char *to, const char *rows, size_t nr, size_t size)
{
	static const order_key sched[] = { tick_of_sched }, req[] = { tick_of_req };
	uint32_t *order;

	if (!is_ordered(kind)) {
		memcpy(to, rows, nr * size);
		return 0;
	}
	order = order_of(rows, nr, size, kind == LDB_BLK_SCHED ? sched : req, 1);
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		memcpy(to + i * size, rows + order[i] * size, size);
	free(order);
	return 0;
}

static void set_chunks(struct retained *k, size_t size)
{
	for (size_t c = 0; c < nr_chunks(k->nr); c++) {
		k->chunks[c] = (struct extent)EXTENT_NONE;
		schema_extents(k->kind, k->rows + c * CHUNK * size, chunk_rows(k->nr, c), &k->chunks[c]);
	}
}

/*
 * Returns a copy of the decoder's rows, with room for strings of this many bytes.  If most of the
 * decoder's buffer is rows to retain, the buffer itself is returned: a copy would double the memory
 * of a block, and the decoder's buffer would stay allocated while blocks are no longer decoded.
 */
static char *take_rows(struct decoder *d, const struct retained *k, const struct schema *s,
		       size_t strings)
{
	size_t size = k->nr * s->row_bytes;
	char *rows;

	if (!is_ordered(k->kind) && !strings && size > d->rows_room / 4 * 3) {
		rows = realloc(d->rows, size);
		if (rows) {
			d->rows = NULL;
			d->rows_room = 0;
		}
		return rows;
	}
	rows = malloc(size + strings + 1);
	if (rows && copy_rows(k->kind, rows, d->rows, k->nr, s->row_bytes)) {
		free(rows);
		return NULL;
	}
	return rows;
}

/*
 * Stores the decoder's rows, which it may then no longer have; if there is no room for them, they
 * are not retained.
 */
static int store(struct retain *t, struct retained *k, const struct schema *s, struct retained new,
		  struct decoder *d)
{
	size_t chunks = nr_chunks(new.nr) * sizeof(*k->chunks), size = new.nr * s->row_bytes;
	size_t strings = string_bytes(s, d->rows, new.nr);

	new.last_use = k->last_use;
	new.bytes = chunks + size + strings;
	if (!make_room(t, new.bytes))
		return 0;
	new.chunks = malloc(chunks + 1);
	if (new.chunks)
		new.rows = take_rows(d, &new, s, strings);
	if (!new.rows) {
		free(new.chunks);
		return -ENOMEM;
	}
	*k = new;
	set_chunks(k, s->row_bytes);
	copy_strings(s, k->rows, k->nr, k->rows + size);
	t->bytes += k->bytes;
	return 0;
}

/* Copies the retained rows that the query selects. */
static int copy(const struct query *q, struct decoder *d, const struct retained *k, size_t *nr)
{
	size_t size = schema_find(q->kind)->row_bytes;
	struct extent want = query_extent(q);
	size_t most = 0;

	for (size_t i = 0; i < nr_chunks(k->nr); i++)
		most += extent_matches(&want, &k->chunks[i]) * CHUNK;
	if (!buffer_room(&d->rows, &d->rows_room, most * size))
		return -ENOMEM;
	*nr = 0;
	for (size_t i = 0; i < nr_chunks(k->nr); i++)
		if (extent_matches(&want, &k->chunks[i]))
			*nr += query_filter(q, d->rows + *nr * size, k->rows + i * CHUNK * size, chunk_rows(k->nr, i));
	return *nr > 0;
}

/* Decodes a block: stores the rows to retain, and leaves the rows that the query selects in d. */
static int decode(const struct query *q, struct decoder *d, struct block *b, struct retained *k, size_t *nr)
{
	const struct schema *s = schema_find(q->kind);
	struct retain *t = q->r->retain;
	struct selection wanted = { &t->ranges[q->kind], q->kind, s->row_bytes };
	const struct columns_select select = { select_rows, select_times, &wanted, 0 };
	struct retained new = { .block = b, .kind = q->kind, .range = { INT64_MIN, INT64_MAX } };
	int ret;

	if (k->block)
		drop(t, k);
	ret = block_decode(q->r, d, b, &select, &new.nr);
	if (ret < 0 || b->bad)
		return ret;
	if (new.nr * s->row_bytes > t->max_bytes / BLOCK_SHARE) {
		new.range = range_of(&t->ranges[q->kind], q);
		wanted.ranges = &(struct ranges){ .at = &new.range, .nr = 1 };
		new.nr = select_rows(&wanted, d->rows, new.nr);
	}
	ret = store(t, k, s, new, d);
	if (ret)
		return ret;
	if (k->block)
		return copy(q, d, k, nr);
	*nr = query_filter(q, d->rows, d->rows, new.nr);
	return *nr > 0;
}

int retained_decode(const struct query *q, struct decoder *d, struct block *b, size_t *nr)
{
	struct retain *t = q->r->retain;
	struct retained *k = find(t, b);
	bool has_all = k->block == b && k->range.from <= q->filter.t_min && q->filter.t_max <= k->range.to;

	k->last_use = ++t->nr_uses;
	return has_all ? copy(q, d, k, nr) : decode(q, d, b, k, nr);
}
