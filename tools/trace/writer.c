// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This is the only writer of the trace file; see writer.h.
 *
 * Invariant: bytes [0, w->offset) of the file are the header and complete blocks; bytes after them
 * are cut off before anything else is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include "base/array.h"
#include "base/write.h"
#include "trace/columns.h"
#include "trace/crc32c.h"
#include "trace/reqtab.h"
#include "trace/writer-private.h"

#define WRITER_ZSTD_LEVEL	1
#define WRITER_STRINGS_MAX	(8U << 20)	/* payload that fills a block with strings */
/*
 * Disk space that is reserved for closing a file: threads, losses, index, footer.  It consists of
 * this many bytes, and some for each block.  It grows in steps, because each reservation is a
 * system call.
 */
#define WRITER_RESERVE_BYTES	(512 << 10)
#define WRITER_RESERVE_PER_BLOCK 32
#define WRITER_RESERVE_STEP	(8 << 20)

/* The file */

int file_reserve(struct writer *w, size_t size)
{
	uint64_t need = size + WRITER_RESERVE_BYTES + w->nr_index * WRITER_RESERVE_PER_BLOCK;
	uint64_t step = need + WRITER_RESERVE_STEP;

	if (!w->regular || w->offset + need <= w->reserved_end)
		return 0;
	if (fallocate(w->fd, FALLOC_FL_KEEP_SIZE, w->offset, step)) {
		step = need;
		if (fallocate(w->fd, FALLOC_FL_KEEP_SIZE, w->offset, step) &&
		    (errno == ENOSPC || errno == EDQUOT))
			return -errno;
		/* Other errors mean that the file system cannot reserve space. */
	}
	w->reserved_end = w->offset + step;
	return 0;
}

int file_append(struct writer *w, const void *data, size_t size)
{
	size_t done;
	int ret;

	if (w->block) {
		int rc = w->block(w->block_arg, data, size);

		w->offset += rc ? 0 : size;
		return rc;
	}
	if (w->cut) {
		if (ftruncate(w->fd, w->offset))
			return -errno;
		w->cut = false;
		w->reserved_end = 0;
	}
	ret = write_all(w->fd, data, size, &done);
	if (!ret) {
		w->offset += size;
		return 0;
	}
	w->cut = w->regular && done;
	if (w->cut && !ftruncate(w->fd, w->offset)) {
		w->cut = false;
		w->reserved_end = 0;	/* this cuts off the reserved space, too */
	}
	if (w->regular)
		lseek(w->fd, w->offset, SEEK_SET);
	return ret;
}

/* Blocks */

void batch_clear(struct batch *b)
{
	b->extent = (struct extent)EXTENT_NONE;
	b->nr_reqs = 0;
	encoder_clear(&b->encoder);
}

static void widen_extent(struct writer *w, unsigned kind, const void *rows, size_t nr)
{
	struct extent e = EXTENT_NONE;

	schema_extents(kind, rows, nr, &e);
	if (e.t_max > w->last_tick && e.t_max != INT64_MAX && kind != LDB_BLK_INDEX)
		w->last_tick = e.t_max;
	extent_widen(&w->batch[kind].extent, &e);
}

static int encode(struct writer *w, unsigned kind, const void *rows, size_t nr)
{
	struct batch *b = &w->batch[kind];
	const char *row = rows;

	while (nr) {
		size_t n = nr < ENCODER_TILE ? nr : ENCODER_TILE;
		int rc = encoder_add(&b->encoder, row, n);

		if (rc)
			return rc;
		widen_extent(w, kind, row, n);
		row += n * b->encoder.schema->row_bytes;
		nr -= n;
	}
	return 0;
}

/*
 * Writes the header and the compressed payload of the encoded rows to w->out; returns their size,
 * or -errno.
 */
static ssize_t block_build(struct writer *w, unsigned kind)
{
	const struct batch *b = &w->batch[kind];
	struct ldb_block_header h = {
		.magic = LDB_BLOCK_MAGIC, .kind = kind, .version = 1, .rows = b->encoder.nr,
		.t_min = b->extent.t_min, .t_max = b->extent.t_max, .id_min = b->extent.id_min,
		.id_max = b->extent.id_max, .max_dur = b->extent.dur,
	};
	size_t n;

	h.raw_bytes = encoder_bytes(&b->encoder);
	if (!buffer_room(&w->raw, &w->raw_room, h.raw_bytes) ||
	    !buffer_room(&w->out, &w->out_room, sizeof(h) + ZSTD_compressBound(h.raw_bytes)))
		return -ENOMEM;
	encoder_put(&b->encoder, w->raw);
	n = ZSTD_compressCCtx(w->zstd, w->out + sizeof(h), w->out_room - sizeof(h), w->raw,
			      h.raw_bytes, WRITER_ZSTD_LEVEL);
	if (ZSTD_isError(n))
		return -ENOMEM;
	h.bytes = n;
	h.crc = crc32c(crc32c(0, &h, sizeof(h)), w->out + sizeof(h), n);
	memcpy(w->out, &h, sizeof(h));
	return sizeof(h) + n;
}

/* Adds a row to the index, for a block. */
static void index_add(struct writer *w, const void *block, uint64_t offset, size_t bytes)
{
	struct ldb_block_header h;

	memcpy(&h, block, sizeof(h));
	w->index[w->nr_index++] = (struct ldb_row_index){
		.kind = h.kind, .rows = h.rows, .offset = offset, .bytes = bytes,
		.t_min = h.t_min, .t_max = h.t_max, .id_min = h.id_min, .id_max = h.id_max,
		.max_dur = h.max_dur,
	};
}

int index_reserve(struct writer *w)
{
	if (w->block || array_room(&w->index, &w->room_index, w->nr_index, sizeof(*w->index)))
		return 0;
	return -ENOMEM;
}

static int block_write(struct writer *w, unsigned kind)
{
	uint64_t offset = w->offset;
	ssize_t size;
	int rc;

	rc = index_reserve(w);
	if (rc)
		return rc;
	size = block_build(w, kind);
	if (size < 0)
		return size;
	/* Rows that are needed to close the file may use the reserved space; others may not. */
	if (w->batch[kind].encoder.schema->flags & SCHEMA_F_BULKY)
		rc = file_reserve(w, size);
	if (!rc)
		rc = file_append(w, w->out, size);
	if (!rc && !w->block)
		index_add(w, w->out, offset, size);
	return rc;
}

/* Batches */

static size_t batch_nr(const struct batch *b)
{
	return b->encoder.nr + b->nr_reqs;
}

static void add_to_reqtab(struct writer *w, const struct batch *b)
{
	for (size_t i = 0; w->reqtab && i < b->nr_reqs; i++) {
		if (reqtab_add(w->reqtab, &b->reqs[i])) {
			reqtab_free(w->reqtab);
			w->reqtab = NULL;
		}
	}
}

static int batch_flush(struct writer *w, unsigned kind)
{
	struct batch *b = &w->batch[kind];
	size_t nr = batch_nr(b);
	int rc = 0;

	if (!nr)
		return 0;
	if (b->nr_reqs) {
		reqtab_sort(b->reqs, b->nr_reqs);
		rc = encode(w, kind, b->reqs, b->nr_reqs);
	}
	if (!rc)
		rc = block_write(w, kind);
	if (rc)
		w->lost_rows += nr;
	else
		add_to_reqtab(w, b);
	if (rc && !w->error)
		w->error = rc;
	batch_clear(b);
	return rc;
}

static int buffer_requests(struct batch *b, const void *rows, size_t nr)
{
	if (!b->reqs)
		b->reqs = malloc(LDB_BLOCK_ROWS * sizeof(*b->reqs));
	if (!b->reqs)
		return -ENOMEM;
	memcpy(b->reqs + b->nr_reqs, rows, nr * sizeof(*b->reqs));
	b->nr_reqs += nr;
	return 0;
}

static bool batch_is_full(const struct batch *b)
{
	return batch_nr(b) == LDB_BLOCK_ROWS ||
	       (b->encoder.schema->nr_strings && encoder_bytes(&b->encoder) > WRITER_STRINGS_MAX);
}

/* Adds all of the rows; if that fails, adds none and counts all as lost. */
static int add_some(struct writer *w, unsigned kind, const void *rows, size_t nr)
{
	struct batch *b = &w->batch[kind];
	int rc;

	rc = kind == LDB_BLK_REQ ? buffer_requests(b, rows, nr) : encode(w, kind, rows, nr);
	if (rc) {
		w->lost_rows += nr;
		if (!w->error)
			w->error = rc;
		return rc;
	}
	return batch_is_full(b) ? batch_flush(w, kind) : 0;
}

int writer_add(struct writer *w, unsigned kind, const void *rows, size_t nr)
{
	const char *row = rows;
	int rc = 0;

	if (w->on_rows && w->on_rows(w->rows_arg, kind, rows, nr))
		return 0;
	while (nr) {
		size_t room = LDB_BLOCK_ROWS - batch_nr(&w->batch[kind]);
		size_t n = nr < ENCODER_TILE ? nr : ENCODER_TILE;
		int rc2;

		n = n < room ? n : room;
		rc2 = add_some(w, kind, row, n);
		rc = rc ? rc : rc2;
		row += n * w->batch[kind].encoder.schema->row_bytes;
		nr -= n;
	}
	return rc;
}

void writer_on_rows(struct writer *w, writer_rows_fn *fn, void *arg)
{
	w->on_rows = fn;
	w->rows_arg = arg;
}

int writer_add_block(struct writer *w, const void *block, size_t size)
{
	uint64_t offset = w->offset;
	struct ldb_block_header h;
	int rc = index_reserve(w);

	if (!rc)
		rc = file_reserve(w, size);
	if (!rc)
		rc = file_append(w, block, size);
	memcpy(&h, block, sizeof(h));
	if (rc) {
		w->lost_rows += h.rows;
		return rc;
	}
	if (!w->block)
		index_add(w, block, offset, size);
	/* Without these REQ rows the request table would be incomplete, so it is not written. */
	if (h.kind == LDB_BLK_REQ) {
		reqtab_free(w->reqtab);
		w->reqtab = NULL;
	}
	return 0;
}

static void add_lost_row(struct writer *w)
{
	struct ldb_row_lost row = {
		.tick = w->last_tick, .count = w->lost_rows - w->lost_reported,
		.what = LDB_LOST_DISK,
	};

	if (row.count && !writer_add(w, LDB_BLK_LOST, &row, 1)) {
		/*
		 * If the block with the LOST row cannot be written, that row is not counted as
		 * lost.
		 */
		uint64_t before = w->lost_rows;

		if (batch_flush(w, LDB_BLK_LOST))
			w->lost_rows = before;
		else
			w->lost_reported = before;
	}
}

int writer_flush(struct writer *w)
{
	int rc;

	for (unsigned kind = 0; kind < WRITER_KINDS; kind++)
		if (schema_find(kind))
			batch_flush(w, kind);
	add_lost_row(w);
	rc = w->error;
	w->error = 0;
	return rc;
}

uint64_t writer_bytes(const struct writer *w)
{
	return w->offset;
}

uint64_t writer_lost_rows(const struct writer *w)
{
	return w->lost_rows;
}

/* Closing */

/* The table is optional: if it cannot be written, readers make their own. */
static void write_reqtab(struct writer *w)
{
	uint64_t lost = w->lost_rows;
	const struct ldb_row_reqtab *rows;
	size_t nr;

	if (!w->reqtab)
		return;
	rows = reqtab_finish(w->reqtab, w->last_tick, &nr);
	while (nr) {
		size_t n = nr < LDB_BLOCK_ROWS ? nr : LDB_BLOCK_ROWS;

		if (writer_add(w, LDB_BLK_REQTAB, rows, n) || batch_flush(w, LDB_BLK_REQTAB))
			break;
		rows += n;
		nr -= n;
	}
	w->lost_rows = lost;
}

/* Writes the index, into the space that file_reserve() has reserved. */
static int write_index(struct writer *w)
{
	struct ldb_file_footer f = { .index_offset = w->offset, .nr_blocks = w->nr_index };
	int rc = 0;

	for (size_t done = 0; !rc && done < w->nr_index;) {
		size_t left = w->nr_index - done, n = left < LDB_BLOCK_ROWS ? left : LDB_BLOCK_ROWS;
		ssize_t size;

		batch_clear(&w->batch[LDB_BLK_INDEX]);
		rc = encode(w, LDB_BLK_INDEX, w->index + done, n);
		size = rc ? rc : block_build(w, LDB_BLK_INDEX);
		rc = size < 0 ? size : file_append(w, w->out, size);
		done += n;
	}
	memcpy(f.magic, LDB_FOOTER_MAGIC, sizeof(f.magic));
	f.file_size = w->offset + sizeof(f);
	f.crc = crc32c(0, &f, offsetof(struct ldb_file_footer, crc));
	return rc ? rc : file_append(w, &f, sizeof(f));
}

void writer_free(struct writer *w)
{
	for (unsigned kind = 0; kind < WRITER_KINDS; kind++) {
		encoder_exit(&w->batch[kind].encoder);
		free(w->batch[kind].reqs);
	}
	free(w->index);
	reqtab_free(w->reqtab);
	ZSTD_freeCCtx(w->zstd);
	free(w->raw);
	free(w->out);
	free(w);
}

int writer_close(struct writer *w)
{
	int rc = writer_flush(w), rc2;

	write_reqtab(w);
	rc2 = w->block ? 0 : write_index(w);
	if (w->regular && ftruncate(w->fd, w->offset) && !rc2)	/* frees the reserved space */
		rc2 = -errno;
	if (w->fd >= 0 && close(w->fd) && !rc2)
		rc2 = -errno;
	writer_free(w);
	return rc ? rc : rc2;
}
