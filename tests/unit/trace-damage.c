// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests damaged and hostile files: the reader never crashes (the same test runs under ASan and
 * UBSan), never shows a row that was not written, and says so when rows are missing.
 */
#include <inttypes.h>
#include <time.h>
#include <zstd.h>
#include "trace-sample.h"
#include "trace/crc32c.h"

#define NR_FUNC		3000
#define FLUSH_EVERY	500

/* Each file costs a millisecond: make check-all makes more of them. */
static bool do_all;

/* Makes rows that can be checked one by one. */
static struct ldb_row_func func_row(uint64_t i)
{
	return (struct ldb_row_func){
		.flags = i & 3, .tid = 100 + i % 5, .pc = 0x400000 + i % 97 * 16,
		.ret = 0x500000 + i % 89, .gen = i << 16, .parent_gen = i ? (i - 1) << 16 : 0,
		.depth = i % 7, .start_max = i * 1000, .end_max = i * 1000 + i % 777,
		.start_unc = i % 50, .end_unc = i % 60,
	};
}

static bool func_is_right(const struct ldb_row_func *f)
{
	struct ldb_row_func want = func_row(f->gen >> 16);

	return f->gen >> 16 < NR_FUNC && f->flags == want.flags && f->tid == want.tid &&
	       f->pc == want.pc && f->ret == want.ret && f->gen == want.gen &&
	       f->parent_gen == want.parent_gen && f->depth == want.depth &&
	       f->start_max == want.start_max && f->end_max == want.end_max &&
	       f->start_unc == want.start_unc && f->end_unc == want.end_unc;
}

static void make_file(const char *path)
{
	char err[256];
	struct writer *w = writer_open(path, &sample_header, err, sizeof(err));
	struct sample_strings s;
	union sample_row r;

	if (!w)
		bail_out(err);
	for (uint64_t i = 0; i < NR_FUNC; i++) {
		struct ldb_row_func row = func_row(i);

		writer_add_func(w, &row);
		for (size_t k = 0; i % 100 == 0 && k < SAMPLE_KINDS; k++) {
			if (sample_kinds[k] == LDB_BLK_FUNC)
				continue;
			sample_row(sample_kinds[k], &r, &s, i);
			sample_write(w, sample_kinds[k], &r);
		}
		if (i % FLUSH_EVERY == FLUSH_EVERY - 1)
			writer_flush(w);
	}
	if (writer_close(w))
		bail_out("writer_close");
}

struct outcome {
	bool opened, damaged;
	size_t nr, wrong;
	size_t nr_shared;	/* rows that several threads read as columns */
	struct reader_damage d;
	char err[256];
};

static int count_funcs(void *arg, struct cursor *c)
{
	struct reader_funcs funcs;
	size_t *nr = arg;
	int rc;

	while ((rc = cursor_next_funcs(c, true, &funcs)) > 0)
		*nr += funcs.nr;
	return rc;
}

/* Each thread has its own reader, so that several find damage at a time. */
static size_t share_funcs(struct reader *r)
{
	size_t nr[3] = { 0 };

	if (reader_share(r, LDB_BLK_FUNC, NULL, 3, count_funcs,
			 (void *[]){ &nr[0], &nr[1], &nr[2] }))
		bail_out("reader_share");
	return nr[0] + nr[1] + nr[2];
}

/* Reads everything in the file. */
static void read_all(const char *path, struct outcome *o)
{
	const struct ldb_row_reqtab *requests;
	struct reader_rows rows;
	struct reader *r;
	size_t nr;

	memset(o, 0, sizeof(*o));
	r = reader_open(path, o->err, sizeof(o->err));
	if (!r)
		return;
	o->opened = true;
	o->nr_shared = share_funcs(r);
	for (unsigned kind = 0; kind < 40; kind++) {
		struct cursor *c = reader_cursor(r, kind, NULL);

		while (cursor_next(c, &rows) > 0) {
			for (size_t i = 0; kind == LDB_BLK_FUNC && i < rows.nr; i++) {
				o->nr++;
				o->wrong += !func_is_right(&rows.func[i]);
			}
		}
		cursor_close(c);
	}
	reader_check(r);
	reader_requests(r, &requests, &nr);
	reader_ns(r, reader_end_tick(r));
	reader_damage(r, &o->d);
	o->damaged = reader_is_damaged(r);
	reader_damage_text(r, o->err, sizeof(o->err));
	reader_close(r);
}

/* Checks the conditions that must be met for any damaged file. */
static bool outcome_is_honest(const struct outcome *o)
{
	if (!o->opened)
		return o->err[0] && !strchr(o->err, '\n');
	if (o->damaged != !!o->err[0])
		return false;
	return !o->wrong && o->nr_shared == o->nr && (o->damaged || o->nr == NR_FUNC);
}

static void test_truncate(const uint8_t *bytes, size_t size, const char *path)
{
	size_t wrong = 0, step = 1, least = 0;
	struct outcome o;

	for (size_t n = 0; n < size; n += step) {
		sample_store(path, bytes, n);
		read_all(path, &o);
		if (!outcome_is_honest(&o) || (o.opened && !o.d.no_footer) || o.nr < least) {
			diag("cut at %zu: %s", n, o.err);
			wrong++;
		}
		least = o.nr;	/* a longer file never shows less */
		/*
		 * The loop tries every offset of the head and tail, where the structures are,
		 * and many between.
		 */
		step = n < 400 || n > size - 600 ? 1 : do_all ? 13 : 67;
	}
	ok(!wrong, "cut anywhere: what is left is shown, and that it was cut");
	sample_store(path, bytes, size - 1);
	read_all(path, &o);
	ok(o.nr == NR_FUNC && o.d.no_footer, "without its last byte all rows are shown: %s", o.err);
}

static void test_flips(uint8_t *bytes, size_t size, const char *path)
{
	size_t wrong = 0, refused = 0, partly = 0, harmless = 0;
	unsigned nr_files = do_all ? 4000 : 1000;
	struct outcome o;

	for (unsigned i = 0; i < nr_files; i++) {
		unsigned nr = i % 2 ? 1 : 1 + sample_random() % 8;
		uint64_t saved = sample_state;

		for (unsigned k = 0; k < nr; k++)
			bytes[sample_random() % size] ^= 1 << sample_random() % 8;
		sample_store(path, bytes, size);
		read_all(path, &o);
		refused += !o.opened;
		partly += o.opened && o.damaged;
		harmless += o.opened && !o.damaged;
		if (!outcome_is_honest(&o)) {
			diag("flips %u: opened %d damaged %d rows %zu wrong %zu: %s", i, o.opened,
			     o.damaged, o.nr, o.wrong, o.err);
			wrong++;
		}
		sample_state = saved;	/* undoes the damage */
		for (unsigned k = 0; k < nr; k++)
			bytes[sample_random() % size] ^= 1 << sample_random() % 8;
	}
	ok(!wrong, "%u files with flipped bits: %zu refused, %zu partly shown, %zu whole",
	   nr_files, refused, partly, harmless);
	ok(partly > nr_files * 3 / 4, "most are partly shown");
}

/* Each block in turn is destroyed; all others must be shown. */
static void test_blocks(uint8_t *bytes, size_t size, const char *path)
{
	size_t nr = 0, wrong = 0, offset = sizeof(struct ldb_file_header);
	size_t data = size - sizeof(struct ldb_file_footer);

	for (; offset < data; nr++) {
		struct ldb_block_header h;
		struct outcome o;
		size_t lost, length;

		memcpy(&h, bytes + offset, sizeof(h));
		length = sizeof(h) + h.bytes;
		lost = h.kind == LDB_BLK_FUNC ? h.rows : 0;
		for (int where = 0; where < 3; where++) {	/* magic, size, payload */
			size_t at = offset + (where == 0 ? 0 : where == 1 ? 17 : sizeof(h) + 3);

			bytes[at] ^= 0x40;
			sample_store(path, bytes, size);
			read_all(path, &o);
			bytes[at] ^= 0x40;
			if (o.nr != NR_FUNC - lost || o.wrong || o.d.nr_bad_blocks != 1 ||
			    o.d.bytes_skipped != length || o.d.no_footer ||
			    o.d.offset != (int64_t)offset) {
				diag("block %zu kind %u at %zu, place %d: %zu rows, bad %" PRIu64
				     " bytes %" PRIu64 " offset %" PRId64, nr, h.kind, offset,
				     where, o.nr, o.d.nr_bad_blocks, o.d.bytes_skipped,
				     o.d.offset);
				wrong++;
			}
		}
		offset += length;
	}
	ok(nr > 30 && !wrong, "each of %zu blocks destroyed: the others are shown", nr);
}

/* Blocks come behind a hole without any structure, and there is no index. */
static void test_resync(uint8_t *bytes, size_t size, const char *path)
{
	size_t hole = 300000;
	uint8_t *buf = malloc(size + hole);
	size_t half = size / 2;
	struct outcome o;

	memcpy(buf, bytes, half);
	for (size_t i = 0; i < hole; i++)
		buf[half + i] = i % 64 < 4 ? (uint8_t)"BLBK"[i % 4] : sample_random() % 256;
	memcpy(buf + half + hole, bytes + half, size - half);
	sample_store(path, buf, size + hole);
	read_all(path, &o);
	ok(o.opened && o.damaged && !o.wrong && o.nr >= NR_FUNC - FLUSH_EVERY &&
	   o.d.bytes_skipped >= hole && o.d.nr_bad_blocks == 1,
	   "finds the blocks behind a hole: %zu rows; %s", o.nr, o.err);
	free(buf);
}

static size_t put_block(uint8_t *out, unsigned kind, uint32_t rows, const uint8_t *raw,
			size_t raw_bytes)
{
	struct ldb_block_header h = {
		.magic = LDB_BLOCK_MAGIC, .kind = kind, .version = 1 + (sample_random() % 50 == 0),
		.rows = rows, .raw_bytes = raw_bytes, .t_max = INT64_MAX, .id_max = UINT64_MAX,
		.max_dur = UINT64_MAX,
	};

	h.bytes = ZSTD_compress(out + sizeof(h), 100000, raw, raw_bytes, 1);
	h.crc = crc32c(crc32c(0, &h, sizeof(h)), out + sizeof(h), h.bytes);
	memcpy(out, &h, sizeof(h));
	return sizeof(h) + h.bytes;
}

/* The checksums are right, but the content is wrong, as in a file by an attacker. */
static void test_hostile(const uint8_t *bytes, const char *path)
{
	static uint8_t raw[40000], file[400000];
	size_t nr_opened = 0, wrong = 0;
	unsigned nr_files = do_all ? 3000 : 1000;
	struct outcome o;

	for (unsigned n = 0; n < nr_files; n++) {
		size_t size = sizeof(struct ldb_file_header);

		memcpy(file, bytes, size);
		for (unsigned b = 0; b < 6; b++) {
			size_t raw_bytes = sample_random() % (b % 2 ? 300 : 30000);
			uint32_t rows = sample_random() % (1 + raw_bytes / 4);
			unsigned kind = sample_random() % 15;
			uint32_t length = raw_bytes / 12;
			size_t at = 0;

			if (sample_random() % 20 == 0)
				rows = sample_random();
			for (size_t i = 0; i < raw_bytes; i++)
				raw[i] = sample_random() % 4 ? sample_random() & 0x7f :
							       sample_random();
			/* The columns have likely sizes, so that decoding gets further. */
			for (unsigned c = 0; c < 15 && at + 4 < raw_bytes; c++) {
				uint32_t column = n % 3 ? rows : length;

				if (sample_random() % 30 == 0)
					column = sample_random();
				memcpy(raw + at, &column, 4);
				at += 4;
				for (uint32_t i = 0; n % 3 && i < rows && at + i < raw_bytes; i++)
					raw[at + i] &= 0x7f;
				at += column < raw_bytes ? column : 0;
			}
			size += put_block(file + size, kind, rows, raw, raw_bytes);
		}
		sample_store(path, file, size);
		read_all(path, &o);
		nr_opened += o.opened;
		wrong += !o.opened && !o.err[0];
	}
	ok(nr_opened > nr_files * 29 / 30 && !wrong,
	   "%u hostile files with right checksums: no crash (%zu opened)", nr_files, nr_opened);
}

/* The index is wrong, with right checksums. */
static void test_hostile_index(const uint8_t *bytes, const char *path)
{
	static uint8_t raw[40000], file[400000];
	unsigned nr_files = do_all ? 2000 : 700;
	struct outcome o;
	size_t opened = 0;

	for (unsigned n = 0; n < nr_files; n++) {
		size_t size = sizeof(struct ldb_file_header), at = 0;
		struct ldb_file_footer f = { .nr_blocks = 1 + n % 3 };

		memcpy(file, bytes, size);
		memset(raw, 0, sizeof(raw));
		f.index_offset = n % 2 ? size : sample_value();
		for (unsigned c = 0; c < 9; c++) {
			uint32_t length = 0;

			for (unsigned i = 0; i < f.nr_blocks; i++) {
				uint64_t v = c == 0 ? sample_random() % 14 :
					     c == 2 ? sample_value() : sample_value() % 1000;

				do {
					raw[at + 4 + length++] = (v & 0x7f) | (v > 0x7f) << 7;
					v >>= 7;
				} while (v);
			}
			memcpy(raw + at, &length, 4);
			at += 4 + length;
		}
		size += put_block(file + size, LDB_BLK_INDEX, f.nr_blocks, raw, at);
		memcpy(f.magic, LDB_FOOTER_MAGIC, 8);
		f.file_size = size + sizeof(f);
		f.crc = crc32c(0, &f, offsetof(struct ldb_file_footer, crc));
		memcpy(file + size, &f, sizeof(f));
		sample_store(path, file, size + sizeof(f));
		read_all(path, &o);
		opened += o.opened;
	}
	ok(opened > nr_files * 19 / 20, "%u lying indexes: no crash", nr_files);
}

/* Each block claims the rest of the file as its payload.  This must not take quadratic time. */
static void test_magic_flood(const uint8_t *bytes, const char *path)
{
	size_t size = 24 << 20, at = sizeof(struct ldb_file_header);
	uint8_t *buf = calloc(1, size);
	struct timespec begin, end;
	struct outcome o;

	memcpy(buf, bytes, at);
	for (; at + 64 <= size; at += 64) {
		struct ldb_block_header h = {
			.magic = LDB_BLOCK_MAGIC, .kind = 99, .version = 1,
			.bytes = size - at - 64,
		};

		memcpy(buf + at, &h, sizeof(h));
	}
	sample_store(path, buf, size);
	free(buf);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	read_all(path, &o);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	ok(o.opened && o.damaged && end.tv_sec - begin.tv_sec < 20,
	   "a file of nothing but magic numbers ends in time: %s", o.err);
}

static void test_refused(uint8_t *bytes, size_t size, const char *path)
{
	struct ldb_file_header h, good;
	struct outcome o;

	memcpy(&good, bytes, sizeof(good));
#define REFUSED(change, text) \
	do { \
		h = good; \
		change; \
		h.crc = crc32c(0, &h, offsetof(struct ldb_file_header, crc)); \
		memcpy(bytes, &h, sizeof(h)); \
		sample_store(path, bytes, size); \
		read_all(path, &o); \
		ok(!o.opened && strstr(o.err, text), "refused: %s", o.err); \
	} while (0)
	REFUSED(h.magic[0] = 'X', "not a trace");
	REFUSED(h.version = LDB_FILE_VERSION + 1, "format version");
	REFUSED(h.version = 0, "format version 0");
	REFUSED(h.features = 4, "features");
	REFUSED(h.clock_hz = 0, "no sense");
	REFUSED(h.header_size = 8, "no sense");
	h = good;
	h.version = LDB_FILE_VERSION_MIN;
	h.crc = crc32c(0, &h, offsetof(struct ldb_file_header, crc));
	memcpy(bytes, &h, sizeof(h));
	sample_store(path, bytes, size);
	read_all(path, &o);
	ok(o.opened, "the oldest version is read");
	memcpy(bytes, &good, sizeof(good));
	sample_store(path, bytes, 0);
	read_all(path, &o);
	ok(!o.opened, "refused: %s", o.err);
	read_all("/", &o);
	ok(!o.opened, "refused: %s", o.err);
	read_all("/nonexistent", &o);
	ok(!o.opened, "refused: %s", o.err);
}

/* A later version may add columns and kinds. */
static void test_newer(const uint8_t *bytes, const char *path)
{
	static uint8_t file[10000], raw[1000];
	size_t size = sizeof(struct ldb_file_header), at = 0;
	struct reader_rows rows;
	struct reader_damage d;
	struct reader *r;
	struct cursor *c;
	char err[256];

	memcpy(file, bytes, size);
	for (unsigned column = 0; column < 5; column++) {	/* GAP: tid, begin, dur; unknown */
		uint32_t one = 1;

		memcpy(raw + at, &one, 4);
		raw[at + 4] = 6;
		at += 5;
	}
	sample_state = 7;	/* makes put_block() write version 1 */
	size += put_block(file + size, LDB_BLK_GAP, 1, raw, at);
	size += put_block(file + size, 63, 1, raw, at);
	sample_store(path, file, size);
	r = reader_open(path, err, sizeof(err));
	c = r ? reader_cursor(r, LDB_BLK_GAP, NULL) : NULL;
	ok(c && cursor_next(c, &rows) == 1 && rows.nr == 1 && rows.gap->tid == 6 &&
	   rows.gap->begin == 3 && rows.gap->end == 9, "columns of a later version are ignored");
	cursor_close(c);
	reader_damage(r, &d);
	ok(d.nr_unknown == 1 && !d.nr_bad_blocks, "an unknown kind of block is counted, no damage");
	reader_close(r);
}

/*
 * A block of FUNC rows is right except for one value of one column: these bytes replace the second
 * value.  When read as columns, the block must also be accepted completely or not at all.
 */
static void test_wrong_column(const uint8_t *bytes, const char *path)
{
	static const struct {
		unsigned column;
		const char *value, *name;
		size_t nr;		/* number of rows left */
	} cases[] = {
		{ 0, "\x01", "a right one", 500 },
		{ 0, "\x81\x82\x83\x84\x02", "flags of 30 bits", 500 },
		{ 0, "\x81\x82\x83\x84\x7f", "flags of 35 bits", 0 },
		{ 1, "\xfe\xff\xff\xff\x1f", "a difference that makes the tid greater than 32 bits", 0 },
		{ 1, "\x7f", "one that makes it less than 0", 0 },
		{ 8, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "the greatest start_unc", 500 },
		{ 8, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "a start_unc of 65 bits", 0 },
		{ 8, "\x01\x01", "a value too many", 0 },
		{ 8, "", "a value too few", 0 },
		{ 10, "\x81", "a value that takes the next one's byte", 0 },
	};
	static uint8_t file[20000], raw[20000];

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		size_t size = sizeof(struct ldb_file_header), at = 0, nr = 0, shared = 0;
		struct reader_rows rows;
		struct reader *r;
		struct cursor *c;
		char err[256];

		memcpy(file, bytes, size);
		for (unsigned column = 0; column < 11; column++) {
			bool is_it = column == cases[n].column;
			uint32_t length = 499 + (is_it ? strlen(cases[n].value) : 1);

			memcpy(raw + at, &length, 4);
			memset(raw + at + 4, 6, length);
			if (is_it)
				memcpy(raw + at + 5, cases[n].value, strlen(cases[n].value));
			at += 4 + length;
		}
		sample_state = 7;	/* makes put_block() write version 1 */
		size += put_block(file + size, LDB_BLK_FUNC, 500, raw, at);
		sample_store(path, file, size);
		r = reader_open(path, err, sizeof(err));
		if (!r)
			bail_out(err);
		shared = share_funcs(r);
		ok(shared == cases[n].nr && reader_is_damaged(r), "as columns: %s: %zu",
		   cases[n].name, shared);
		c = reader_cursor(r, LDB_BLK_FUNC, NULL);
		while (cursor_next(c, &rows) > 0)
			nr += rows.nr;
		ok(nr == cases[n].nr, "as rows: %s: %zu", cases[n].name, nr);
		cursor_close(c);
		reader_close(r);
	}
}

/* reader_check() must find damage that no cursor has read, and must count it once. */
static void test_check(uint8_t *bytes, size_t size, const char *path)
{
	size_t missed = 0, by_check = 0, twice = 0;
	struct reader_damage d;
	struct reader *r;
	char err[256];

	for (size_t at = size / 4; at < size / 2; at += size / 50) {
		bytes[at] ^= 0x10;
		sample_store(path, bytes, size);
		bytes[at] ^= 0x10;
		r = reader_open(path, err, sizeof(err));
		if (!r)
			bail_out(err);
		by_check += !reader_is_damaged(r);
		if (reader_check(r) || reader_check(r))
			bail_out("reader_check");
		reader_damage(r, &d);
		missed += !d.nr_bad_blocks;
		twice += d.nr_bad_blocks > 1;
		reader_close(r);
	}
	ok(!missed && !twice && by_check > 5, "reader_check() finds what was not read: %zu missed",
	   missed);
	sample_store(path, bytes, size);
	r = reader_open(path, err, sizeof(err));
	ok(r && !reader_check(r) && !reader_is_damaged(r), "and nothing in a whole file");
	reader_close(r);
}

/* An earlier version had fewer columns. */
static void test_older(const uint8_t *bytes, const char *path)
{
	static uint8_t file[10000], raw[1000];
	size_t size = sizeof(struct ldb_file_header), at = 0;
	struct reader_rows rows;
	struct reader *r;
	struct cursor *c;
	char err[256];

	memcpy(file, bytes, size);
	for (unsigned column = 0; column < 10; column++) {	/* THREAD: of its columns, 10 */
		uint32_t one = 1;

		memcpy(raw + at, &one, 4);
		raw[at + 4] = 6;
		at += 5;
	}
	size += put_block(file + size, LDB_BLK_THREAD, 1, raw, at);
	/* The block is cut within a column, so it is not of an earlier version but damaged. */
	size += put_block(file + size, LDB_BLK_THREAD, 1, raw, at - 2);
	sample_store(path, file, size);
	r = reader_open(path, err, sizeof(err));
	c = r ? reader_cursor(r, LDB_BLK_THREAD, NULL) : NULL;
	ok(c && cursor_next(c, &rows) == 1 && rows.nr == 1 && rows.thread->tid == 6 &&
	   rows.thread->too_deep == 6 && !rows.thread->disorder && !rows.thread->creator &&
	   rows.thread->name && !*rows.thread->name, "columns of an earlier version are enough");
	ok(c && !cursor_next(c, &rows) && reader_is_damaged(r), "half a column is damage");
	cursor_close(c);
	reader_close(r);
}

int main(void)
{
	const char *whole = sample_path("whole"), *path = sample_path("damaged");
	struct outcome o;
	uint8_t *bytes;
	size_t size;

	do_all = getenv("LDB_TEST_ALL") && *getenv("LDB_TEST_ALL");
	make_file(whole);
	read_all(whole, &o);
	ok(o.opened && !o.damaged && o.nr == NR_FUNC && !o.wrong, "the whole file is right");
	bytes = sample_load(whole, &size);
	diag("%zu bytes", size);
	test_truncate(bytes, size, path);
	test_flips(bytes, size, path);
	test_blocks(bytes, size, path);
	test_resync(bytes, size, path);
	test_hostile(bytes, path);
	test_hostile_index(bytes, path);
	test_magic_flood(bytes, path);
	test_newer(bytes, path);
	test_older(bytes, path);
	test_check(bytes, size, path);
	test_wrong_column(bytes, path);
	test_refused(bytes, size, path);
	free(bytes);
	return done();
}
