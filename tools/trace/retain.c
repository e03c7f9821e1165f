// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Retains the blocks decoded last, for analyses that read many short ranges one after the other:
 * the next range mostly is near, and a block with rows that last until the end of the recording
 * overlaps all of them.  cache.c retains its memory for the same reason: the kernel fills new
 * memory with zeros.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/minmax.h"
#include "trace/reader-private.h"

#define CHUNK	128	/* rows */

/* All rows of a block.  A short range of time concerns few of them, so chunks of rows have bounds. */
struct retained {
	const struct block *block;	/* NULL: free */
	char *rows, *strings;
	size_t nr, rows_room, strings_room;
	struct extent *chunks;
	size_t chunks_room;
	uint64_t last_use;
};

void reader_retain_end(struct reader *r)
{
	for (unsigned i = 0; i < r->nr_retained; i++) {
		free(r->retained[i].rows);
		free(r->retained[i].strings);
		free(r->retained[i].chunks);
	}
	free(r->retained);
	r->retained = NULL;
	r->nr_retained = 0;
	reader_cache_end(r);
}

int reader_retain(struct reader *r, unsigned nr_blocks)
{
	reader_retain_end(r);
	r->retained = calloc(nr_blocks + 1, sizeof(*r->retained));
	if (!r->retained)
		return -ENOMEM;
	r->nr_retained = nr_blocks;
	return 0;
}

/* Returns the entry of the block, or the one that was not used for longest. */
static struct retained *find(struct reader *r, const struct block *b)
{
	struct retained *oldest = &r->retained[0];

	for (unsigned i = 0; i < r->nr_retained; i++) {
		struct retained *k = &r->retained[i];

		if (k->block == b)
			return k;
		if (k->last_use < oldest->last_use)
			oldest = k;
	}
	return oldest;
}

static void swap_buffers(char **a, size_t *a_room, char **b, size_t *b_room)
{
	char *buffer = *a;
	size_t room = *a_room;

	*a = *b;
	*a_room = *b_room;
	*b = buffer;
	*b_room = room;
}

static size_t chunk_rows(const struct retained *k, size_t chunk)
{
	return min(k->nr - chunk * CHUNK, (size_t)CHUNK);
}

static int measure_chunks(struct retained *k, unsigned kind, size_t size)
{
	size_t nr = (k->nr + CHUNK - 1) / CHUNK;

	if (!array_reserve(&k->chunks, &k->chunks_room, nr, sizeof(*k->chunks)))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		k->chunks[i] = (struct extent)EXTENT_NONE;
		schema_extents(kind, k->rows + i * CHUNK * size, chunk_rows(k, i), &k->chunks[i]);
	}
	return 1;
}

static int decode(const struct query *q, struct decoder *d, struct block *b, struct retained *k)
{
	const struct query whole = { .r = q->r, .kind = q->kind, .all = true };
	int ret;

	k->block = NULL;
	ret = query_decode(&whole, d, b, &k->nr);
	if (ret <= 0)
		return ret;
	swap_buffers(&d->rows, &d->rows_room, &k->rows, &k->rows_room);
	swap_buffers(&d->strings, &d->strings_room, &k->strings, &k->strings_room);
	ret = measure_chunks(k, q->kind, schema_find(q->kind)->row_bytes);
	if (ret > 0)
		k->block = b;
	return ret;
}

/* Copies the rows that match; returns how many. */
static size_t filter(const struct query *q, const struct retained *k, char *to, size_t size)
{
	struct extent want = query_extent(q);
	size_t nr = 0;

	for (size_t i = 0; i * CHUNK < k->nr; i++)
		if (extent_matches(&want, &k->chunks[i]))
			nr += query_filter(q, to + nr * size, k->rows + i * CHUNK * size, chunk_rows(k, i));
	return nr;
}

int retained_decode(const struct query *q, struct decoder *d, struct block *b, size_t *nr)
{
	struct reader *r = q->r;
	struct retained *k;
	size_t size;
	int ret = 1;

	if (!r->nr_retained)
		return query_decode(q, d, b, nr);
	k = find(r, b);
	k->last_use = ++r->nr_uses;
	if (k->block != b)
		ret = decode(q, d, b, k);
	if (ret <= 0)
		return ret;
	size = schema_find(q->kind)->row_bytes;
	if (!buffer_room(&d->rows, &d->rows_room, k->nr * size))
		return -ENOMEM;
	*nr = filter(q, k, d->rows, size);
	return *nr > 0;
}
