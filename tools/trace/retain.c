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
#include "trace/reader-private.h"

/* All rows of a block. */
struct retained {
	const struct block *block;	/* NULL: free */
	char *rows, *strings;
	size_t nr, rows_room, strings_room;
	uint64_t last_use;
};

void reader_retain_end(struct reader *r)
{
	for (unsigned i = 0; i < r->nr_retained; i++) {
		free(r->retained[i].rows);
		free(r->retained[i].strings);
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
	k->block = b;
	return ret;
}

int retained_decode(const struct query *q, struct decoder *d, struct block *b, size_t *nr)
{
	struct reader *r = q->r;
	struct retained *k;
	int ret = 1;

	if (!r->nr_retained)
		return query_decode(q, d, b, nr);
	k = find(r, b);
	k->last_use = ++r->nr_uses;
	if (k->block != b)
		ret = decode(q, d, b, k);
	if (ret <= 0)
		return ret;
	if (!buffer_room(&d->rows, &d->rows_room, k->nr * schema_find(q->kind)->row_bytes))
		return -ENOMEM;
	*nr = query_filter(q, d->rows, k->rows, k->nr);
	return *nr > 0;
}
