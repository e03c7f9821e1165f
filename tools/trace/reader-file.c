// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the blocks of a file: by its index, or, if the recorder died or the file is damaged, by
 * their headers.
 *
 * Every size in the file is checked against the file before it is used, and against
 * LDB_BLOCK_BYTES_MAX and LDB_BLOCK_ROWS before memory is allocated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "trace/crc32c.h"
#include "trace/reader-private.h"

/*
 * Limits the search for the next block after a damaged place: each candidate costs a CRC over its
 * claimed size.  A file full of magic numbers must not take for ever, so the search checks at most
 * this number of bytes in all.
 */
#define SEARCH_BUDGET(file_size)	((256ULL << 20) + 4 * (file_size))
#ifndef SEARCH_STEP		/* tests/fuzz sets a smaller number */
#define SEARCH_STEP			(1U << 20)
#endif

/*
 * Names are stored in memory, and repeated names take very little space in a compressed file: 272
 * KB can contain 2.6 GB.  So the payloads of tables with strings may have at most this number of
 * bytes together, which is far more than recordings have; blocks beyond the limit are left out.
 */
#define TEXT_BYTES(file_size)	((16ULL << 20) + 16 * (file_size))

bool file_read(const struct reader *r, uint64_t offset, void *buf, size_t size)
{
	size_t done = 0;

	if (offset > r->file_size || size > r->file_size - offset)
		return false;
	while (done < size) {
		ssize_t n = pread(r->fd, (char *)buf + done, size - done, offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += n;
	}
	return true;
}

bool header_is_plausible(const struct reader *r, const struct ldb_block_header *h,
			 uint64_t offset)
{
	const struct schema *s = schema_find(h->kind);

	if (h->magic != LDB_BLOCK_MAGIC || h->rows > LDB_BLOCK_ROWS ||
	    h->bytes > LDB_BLOCK_BYTES_MAX || h->raw_bytes > LDB_BLOCK_BYTES_MAX)
		return false;
	if (offset > r->file_size || r->file_size - offset < sizeof(*h) + h->bytes)
		return false;
	/* Each value takes at least a byte, and there is at least one column. */
	return !s || (uint64_t)h->rows + 4 <= h->raw_bytes;
}

bool block_is_whole(const struct ldb_block_header *h, const void *payload)
{
	struct ldb_block_header bare = *h;

	bare.crc = 0;
	return crc32c(crc32c(0, &bare, sizeof(bare)), payload, h->bytes) == h->crc;
}

void damage_add(struct reader *r, uint64_t offset, uint64_t nr_blocks, uint64_t bytes)
{
	int64_t first = r->damage_offset;

	atomic_fetch_add(&r->nr_bad, nr_blocks);
	atomic_fetch_add(&r->bytes_skipped, bytes);
	while ((first < 0 || first > (int64_t)offset) &&
	       !atomic_compare_exchange_weak(&r->damage_offset, &first, (int64_t)offset))
		;
}

static int blocks_add(struct reader *r, const struct ldb_row_index *row, bool is_whole)
{
	if (!array_room(&r->blocks, &r->room_blocks, r->nr_blocks, sizeof(*r->blocks)))
		return -ENOMEM;
	if (!schema_find(row->kind))
		atomic_fetch_add(&r->nr_unknown, 1);
	r->blocks[r->nr_blocks].i = *row;
	r->blocks[r->nr_blocks].bad = false;
	r->blocks[r->nr_blocks].is_whole = is_whole;
	r->nr_blocks++;
	return 0;
}

static int blocks_add_header(struct reader *r, const struct ldb_block_header *h, uint64_t offset)
{
	struct ldb_row_index row = {
		.kind = h->version == 1 ? h->kind : UINT32_MAX, .rows = h->rows,
		.offset = offset, .bytes = sizeof(*h) + h->bytes,
		.t_min = h->t_min, .t_max = h->t_max, .id_min = h->id_min, .id_max = h->id_max,
		.max_dur = h->max_dur,
	};

	if (h->kind == LDB_BLK_INDEX)
		return 0;
	return blocks_add(r, &row, true);
}

/* The index */

static bool footer_read(const struct reader *r, uint64_t offset, struct ldb_file_footer *f)
{
	return file_read(r, offset, f, sizeof(*f)) &&
	       !memcmp(f->magic, LDB_FOOTER_MAGIC, sizeof(f->magic)) &&
	       f->crc == crc32c(0, f, offsetof(struct ldb_file_footer, crc));
}

/* Returns true if the row cannot be that of a block in [from, to). */
static bool index_row_is_wrong(const struct ldb_row_index *row, uint64_t from, uint64_t to)
{
	return row->offset < from || row->offset > to ||
	       row->bytes < sizeof(struct ldb_block_header) || row->bytes > to - row->offset ||
	       row->rows > LDB_BLOCK_ROWS || row->kind == LDB_BLK_INDEX;
}

/* Returns 1: the index was read; 0: there is no usable one; -ENOMEM. */
static int index_read(struct reader *r)
{
	uint64_t offset, end = r->file_size - sizeof(struct ldb_file_footer);
	uint64_t from = r->header.header_size;
	struct ldb_file_footer f;
	struct decoder d = { 0 };
	int rc = 1;

	if (r->file_size < from + sizeof(f) || !footer_read(r, end, &f) ||
	    f.file_size != r->file_size || f.index_offset < from)
		return 0;
	for (offset = f.index_offset; rc == 1 && offset < end;) {
		struct ldb_block_header h;
		const struct ldb_row_index *row;
		size_t nr;

		rc = decoder_load(&d, r, offset, end - offset, LDB_BLK_INDEX, &h);
		if (rc == 1)
			rc = decoder_rows(&d, &h, NULL, &nr);
		if (rc != 1)
			break;
		row = (const void *)d.rows;
		for (size_t i = 0; i < nr && rc == 1; i++, row++) {
			if (index_row_is_wrong(row, from, f.index_offset))
				rc = 0;
			else if (blocks_add(r, row, false))
				rc = -ENOMEM;
			from = row->offset + row->bytes;
		}
		offset += sizeof(h) + h.bytes;
	}
	if (rc == 1 && (offset != end || r->nr_blocks != f.nr_blocks))
		rc = 0;
	r->index_offset = f.index_offset;
	decoder_exit(&d);
	return rc;
}

/* Without an index */

struct search {
	uint8_t *buf;		/* SEARCH_STEP bytes of the file, or a payload */
	size_t room;
};

/*
 * Returns 1 if a complete block is at offset, else 0, or -ENOMEM; h->bytes is how many bytes were
 * checked.
 */
static int block_at(struct reader *r, struct search *s, uint64_t offset,
		    struct ldb_block_header *h)
{
	if (!file_read(r, offset, h, sizeof(*h)) || !header_is_plausible(r, h, offset)) {
		h->bytes = 0;
		return 0;
	}
	if (!buffer_room(&s->buf, &s->room, h->bytes))
		return -ENOMEM;
	if (!file_read(r, offset + sizeof(*h), s->buf, h->bytes))
		return 0;
	return block_is_whole(h, s->buf);
}

/*
 * Finds the next offset in [offset, end) where a complete block starts; `end`: there is none, or
 * the budget is used up.
 */
static int block_search(struct reader *r, uint64_t offset, uint64_t end, uint64_t *found)
{
	struct search s = { 0 }, candidate = { 0 };
	const uint32_t magic = LDB_BLOCK_MAGIC;
	int rc = buffer_room(&s.buf, &s.room, SEARCH_STEP) ? 0 : -ENOMEM;

	*found = end;
	while (!rc && end > offset && end - offset >= sizeof(struct ldb_block_header)) {
		size_t n = end - offset < SEARCH_STEP ? end - offset : SEARCH_STEP;
		const uint8_t *p = s.buf;

		if (!file_read(r, offset, s.buf, n))
			break;
		while (!rc && (p = memmem(p, s.buf + n - p, &magic, sizeof(magic)))) {
			struct ldb_block_header h;

			*found = offset + (p++ - s.buf);
			rc = block_at(r, &candidate, *found, &h);
			if (r->search_budget < h.bytes)
				goto err_give_up;
			r->search_budget -= h.bytes;
		}
		offset += n - (sizeof(magic) - 1);
	}
err_give_up:
	if (rc != 1)
		*found = end;
	free(s.buf);
	free(candidate.buf);
	return rc < 0 ? rc : 0;
}

static int blocks_scan(struct reader *r)
{
	uint64_t offset = r->header.header_size, end = r->file_size, next;
	struct ldb_file_footer f;
	struct search s = { 0 };
	int rc = 0;

	r->no_footer = end < sizeof(f) || !footer_read(r, end - sizeof(f), &f) ||
		       f.file_size != end;
	if (!r->no_footer)
		end -= sizeof(f);
	r->search_budget = SEARCH_BUDGET(r->file_size);
	while (offset < end) {
		struct ldb_block_header h;

		rc = block_at(r, &s, offset, &h);
		if (rc == 1) {
			rc = blocks_add_header(r, &h, offset);
			next = offset + sizeof(h) + h.bytes;
		} else if (!rc) {
			rc = block_search(r, offset + 1, end, &next);
			/*
			 * An incomplete block that the recorder was writing when it died does not
			 * count as a bad block; only its bytes are counted.
			 */
			if (!rc)
				damage_add(r, offset, next < end || !r->no_footer, next - offset);
		}
		if (rc)
			break;
		offset = next;
	}
	free(s.buf);
	return rc;
}

/*
 * Leaves out blocks beyond TEXT_BYTES, by the sizes in their headers: reading a block finds out
 * whether its payload has that size.
 */
static void leave_out_text(struct reader *r)
{
	uint64_t left = TEXT_BYTES(r->file_size);

	for (size_t i = 0; i < r->nr_blocks; i++) {
		const struct schema *s = schema_find(r->blocks[i].i.kind);
		struct ldb_block_header h;

		if (!s || !s->nr_strings || !file_read(r, r->blocks[i].i.offset, &h, sizeof(h)))
			continue;
		if (h.raw_bytes <= left) {
			left -= h.raw_bytes;
			continue;
		}
		block_set_bad(r, &r->blocks[i]);
		r->nr_too_large++;
	}
}

int file_find_blocks(struct reader *r)
{
	int rc = index_read(r);

	if (rc == 1) {
		r->has_index = true;
		rc = 0;
	} else if (!rc) {
		r->nr_blocks = 0;
		r->nr_unknown = 0;
		r->nr_bad = 0;
		r->bytes_skipped = 0;
		r->damage_offset = -1;
		rc = blocks_scan(r);
	}
	if (!rc)
		leave_out_text(r);
	return rc;
}
