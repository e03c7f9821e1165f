// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns a recipe into a trace file; see trace-recipe.h. */
#include <stdlib.h>
#include "trace/columns.h"
#include "trace/crc32c.h"
#include "trace-recipe.h"

#define ROWS_MAX	64	/* greatest number of rows of cells in a block */
#define BLOCKS_MAX	64

static uint8_t file[RECIPE_BYTES_MAX];
static size_t nr_bytes;
static struct ldb_row_index blocks[BLOCKS_MAX];
static size_t nr_blocks;
static size_t index_offset;

static bool put(const void *data, size_t size)
{
	if (size > sizeof(file) - nr_bytes)
		return false;
	memcpy(file + nr_bytes, data, size);
	nr_bytes += size;
	return true;
}

/*
 * Writes a block as zstd makes it: of incompressible bytes (type 0), or of a byte that is repeated
 * (type 1).
 */
static bool put_zstd_block(unsigned type, size_t size, bool is_last, const uint8_t *data)
{
	uint32_t header = is_last | type << 1 | size << 3;

	return put(&header, 3) && put(data, type ? 1 : size);
}

/* Writes a frame as zstd makes it of incompressible bytes, followed by a run of one byte. */
static bool put_frame(const uint8_t *data, size_t size, uint8_t run, size_t nr_run)
{
	uint32_t magic = 0xfd2fb528, raw = size + nr_run;
	uint8_t descriptor = 0xa0;	/* frame header: a single segment, and a size of 4 bytes */

	return put(&magic, 4) && put(&descriptor, 1) && put(&raw, 4) &&
	       (!(size || !nr_run) || put_zstd_block(0, size, !nr_run, data)) &&
	       (!nr_run || put_zstd_block(1, nr_run, true, &run));
}

static void finish_block(size_t at, struct ldb_block_header *h, bool is_bad)
{
	h->bytes = nr_bytes - at - sizeof(*h);
	h->crc = 0;
	h->crc = crc32c(crc32c(0, h, sizeof(*h)), file + at + sizeof(*h), h->bytes) ^ is_bad;
	memcpy(file + at, h, sizeof(*h));
	if (h->kind == LDB_BLK_INDEX || nr_blocks == BLOCKS_MAX)
		return;
	blocks[nr_blocks++] = (struct ldb_row_index){
		.kind = h->kind, .rows = h->rows, .offset = at, .bytes = nr_bytes - at,
		.t_min = h->t_min, .t_max = h->t_max, .id_min = h->id_min, .id_max = h->id_max,
		.max_dur = h->max_dur,
	};
}

/* Cells */

static void take_cell(struct input *in, const struct schema_column *c, char *row, const char *before,
		      char **strings)
{
	uint64_t v, base = 0;
	size_t size;
	const uint8_t *text;

	if (c->coding == COLUMN_S) {
		text = take_bytes(in, take8(in), &size);
		memcpy(*strings, text, size);
		(*strings)[size] = '\0';
		memcpy(row + c->offset, strings, sizeof(*strings));
		*strings += size + 1;
		return;
	}
	v = take_number(in);
	if (c->coding == COLUMN_D && before)
		memcpy(&base, before + c->offset, c->size);
	if (c->coding == COLUMN_R || c->coding == COLUMN_Z)
		memcpy(&base, row + c->base, 8);
	v += base;
	memcpy(row + c->offset, &v, c->size);
}

static void extent_of(unsigned kind, const void *rows, size_t nr, struct ldb_block_header *h)
{
	struct extent e = EXTENT_NONE;

	if (kind == LDB_BLK_INDEX || !nr)
		return;
	schema_extents(kind, rows, nr, &e);
	h->t_min = e.t_min;
	h->t_max = e.t_max;
	h->id_min = e.id_min;
	h->id_max = e.id_max;
	h->max_dur = e.dur;
}

/* Takes the payload of rows of cells, and sets *size. */
static const uint8_t *take_cells(struct input *in, unsigned kind, struct ldb_block_header *h,
				 size_t *size)
{
	static char rows[ROWS_MAX * 256] __attribute__((aligned(16)));
	static char strings[ROWS_MAX * 2 * 256];
	static uint8_t payload[ROWS_MAX * 1024];
	const struct schema *s = schema_find(kind);
	struct encoder e = { .schema = s };
	unsigned wanted = take8(in) % (ROWS_MAX + 1), nr = 0;
	char *string = strings;

	*size = 0;
	if (!s || !wanted)
		return payload;
	memset(rows, 0, wanted * s->row_bytes);
	for (; nr < wanted && (in->left || !nr); nr++) {
		char *row = rows + nr * s->row_bytes;

		for (unsigned c = 0; c < s->nr_columns; c++)
			take_cell(in, &s->columns[c], row, nr ? row - s->row_bytes : NULL, &string);
	}
	h->rows += nr;
	if (encoder_add(&e, rows, nr) || encoder_bytes(&e) > sizeof(payload))
		broken("rows that cannot be encoded");
	*size = encoder_bytes(&e);
	encoder_put(&e, payload);
	encoder_exit(&e);
	extent_of(kind, rows, nr, h);
	return payload;
}

/* Blocks */

static bool put_again(struct input *in)
{
	size_t back = take(in, 2), size = take8(in);

	back = back < nr_bytes ? back : nr_bytes;
	return put(file + nr_bytes - back, size < back ? size : back);
}

static bool put_block(struct input *in)
{
	unsigned kind = take8(in), flags = take8(in), form = flags & BLOCK_FORM;
	struct ldb_block_header h = {
		.magic = LDB_BLOCK_MAGIC, .kind = kind, .version = 1, .t_min = INT64_MIN,
		.t_max = INT64_MAX, .id_max = UINT64_MAX, .max_dur = UINT64_MAX,
	};
	size_t at = nr_bytes, size, nr_run = 0;
	const uint8_t *payload;
	uint8_t run = 0;

	if (form == BLOCK_AGAIN)
		return put_again(in);
	if (flags & BLOCK_VERSION)
		h.version = take8(in);
	if (form != BLOCK_CELLS)
		h.rows = take(in, 2);
	if (form == BLOCK_FRAME)
		h.raw_bytes = take(in, 4);
	if (flags & BLOCK_RUN) {
		run = take8(in);
		nr_run = take(in, 2);
		h.rows += take8(in) * 256;
	}
	if (form == BLOCK_CELLS)
		payload = take_cells(in, kind, &h, &size);
	else
		payload = take_bytes(in, take(in, 2), &size);
	if (flags & BLOCK_EXTENT) {
		h.t_min = take_number(in);
		h.t_max = take_number(in);
		h.id_min = take_number(in);
		h.id_max = take_number(in);
		h.max_dur = take_number(in);
	}
	if (kind == LDB_BLK_INDEX && index_offset == SIZE_MAX)
		index_offset = at;
	if (form != BLOCK_FRAME)
		h.raw_bytes = size + nr_run;
	if (!put(&h, sizeof(h)) ||
	    !(form == BLOCK_FRAME ? put(payload, size) : put_frame(payload, size, run, nr_run))) {
		nr_bytes = at;
		return false;
	}
	finish_block(at, &h, flags & BLOCK_BAD_CRC);
	return true;
}

/* Writes the index and the footer as a writer does. */
static void put_index(void)
{
	static uint8_t payload[BLOCKS_MAX * 256];
	struct encoder e = { .schema = schema_find(LDB_BLK_INDEX) };
	struct ldb_block_header h = {
		.magic = LDB_BLOCK_MAGIC, .kind = LDB_BLK_INDEX, .version = 1, .rows = nr_blocks,
	};
	size_t at = nr_bytes;

	index_offset = at;
	if (!nr_blocks)
		return;
	if (encoder_add(&e, blocks, nr_blocks) || encoder_bytes(&e) > sizeof(payload))
		broken("an index that cannot be encoded");
	encoder_put(&e, payload);
	h.raw_bytes = encoder_bytes(&e);
	if (put(&h, sizeof(h)) && put_frame(payload, h.raw_bytes, 0, 0))
		finish_block(at, &h, false);
	else
		nr_bytes = at;
	encoder_exit(&e);
}

static void put_header(struct input *in, unsigned flags)
{
	struct ldb_file_header h = {
		.version = LDB_FILE_VERSION, .header_size = sizeof(h), .clock_id = 1,
		.clock_hz = 1000000000, .t0 = 1000,
	};

	memcpy(h.magic, LDB_FILE_MAGIC, sizeof(h.magic));
	if (flags & FILE_HEADER) {
		h.t0 = take(in, 8);
		h.clock_hz = take(in, 8);
		h.realtime_ns = take(in, 8);
		h.clock_id = take8(in);
		h.header_size += take8(in);
	}
	h.crc = crc32c(0, &h, offsetof(struct ldb_file_header, crc));
	put(&h, sizeof(h));
	memset(file + nr_bytes, 0, h.header_size - sizeof(h));
	nr_bytes = h.header_size;
}

static void put_footer(void)
{
	struct ldb_file_footer f = {
		.index_offset = index_offset, .file_size = nr_bytes + sizeof(f), .nr_blocks = nr_blocks,
	};

	memcpy(f.magic, LDB_FOOTER_MAGIC, sizeof(f.magic));
	f.crc = crc32c(0, &f, offsetof(struct ldb_file_footer, crc));
	put(&f, sizeof(f));
}

const uint8_t *recipe_file(struct input *in, size_t *size)
{
	unsigned flags = take8(in), cut = flags & FILE_CUT ? take8(in) : 0;

	nr_bytes = nr_blocks = 0;
	index_offset = SIZE_MAX;
	put_header(in, flags);
	while (in->left && nr_blocks < BLOCKS_MAX && put_block(in))
		;
	if (!(flags & FILE_NO_INDEX)) {
		if (!(flags & FILE_OWN_INDEX))
			put_index();
		if (!(flags & FILE_NO_FOOTER))
			put_footer();
	}
	*size = cut < nr_bytes ? nr_bytes - cut : 0;
	return file;
}
