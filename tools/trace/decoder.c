// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads one block from the file, decompresses its payload and decodes its rows. */
#include <errno.h>
#include <stdlib.h>
#include "base/array.h"
#include "trace/reader-private.h"

void decoder_exit(struct decoder *d)
{
	ZSTD_freeDCtx(d->zstd);
	free(d->file);
	free(d->raw);
	free(d->rows);
	free(d->strings);
}

int decoder_load(struct decoder *d, struct reader *r, uint64_t offset, uint64_t bytes,
		 unsigned kind, struct ldb_block_header *h)
{
	size_t n;

	if (!d->zstd)
		d->zstd = ZSTD_createDCtx();
	if (!d->zstd)
		return -ENOMEM;
	if (!file_read(r, offset, h, sizeof(*h)) || !header_is_plausible(r, h, offset) ||
	    h->kind != kind || h->version != 1 || sizeof(*h) + h->bytes > bytes)
		return 0;
	if (!buffer_room(&d->file, &d->file_room, h->bytes))
		return -ENOMEM;
	if (!file_read(r, offset + sizeof(*h), d->file, h->bytes) || !block_is_whole(h, d->file))
		return 0;
	if (!buffer_room(&d->raw, &d->raw_room, h->raw_bytes))
		return -ENOMEM;
	n = ZSTD_decompressDCtx(d->zstd, d->raw, h->raw_bytes, d->file, h->bytes);
	return n == h->raw_bytes;	/* also false for zstd's error codes */
}

int decoder_rows(struct decoder *d, const struct ldb_block_header *h,
		 const struct columns_select *select, size_t *nr)
{
	const struct schema *s = schema_find(h->kind);

	if (!buffer_room(&d->rows, &d->rows_room, (size_t)h->rows * s->row_bytes) ||
	    !buffer_room(&d->strings, &d->strings_room,
		      s->nr_strings ? h->raw_bytes + (size_t)h->rows * s->nr_strings : 0))
		return -ENOMEM;
	*nr = h->rows;
	return columns_decode(s, d->raw, h->raw_bytes, d->rows, nr, d->strings, select);
}

int decoder_decode(struct decoder *d, struct reader *r, uint64_t offset, uint64_t bytes,
		   unsigned kind, const struct columns_select *select, size_t *nr)
{
	struct ldb_block_header h;
	int rc = decoder_load(d, r, offset, bytes, kind, &h);

	return rc == 1 ? decoder_rows(d, &h, select, nr) : rc;
}
