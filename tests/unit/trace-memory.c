// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Equal values need hardly any space in a file.  A small hostile file must not take gigabytes of
 * memory in the reader, and the reader must report what was left out.
 */
#include <limits.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <zstd.h>
#include "facts/model.h"
#include "trace/crc32c.h"
#include "trace-sample.h"

#define FILE_BYTES	(272U << 10)
/* limit: text of 20 MB as payload, as rows, and as a copy; and the rows themselves */
#define MEMORY_KB	(128U << 10)

static uint8_t payload[LDB_BLOCK_BYTES_MAX];

static size_t put_varint(uint8_t *at, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		at[n++] = v | 0x80;
	at[n++] = v;
	return n;
}

/* Writes a column of nr equal strings and returns its bytes. */
static size_t put_strings(uint8_t *at, size_t nr, size_t length)
{
	size_t n = 4;
	uint32_t bytes;

	for (size_t i = 0; i < nr; i++) {
		n += put_varint(at + n, length);
		memset(at + n, 'x', length);
		n += length;
	}
	bytes = n - 4;
	memcpy(at, &bytes, 4);
	return n;
}

static size_t put_zeros(uint8_t *at, size_t nr)
{
	uint32_t bytes = nr;

	memcpy(at, &bytes, 4);
	memset(at + 4, 0, nr);
	return nr + 4;
}

/* Makes nr rows with strings of the given length. */
static size_t make_payload(unsigned kind, size_t nr, size_t length)
{
	size_t n = 0;

	if (kind == LDB_BLK_META) {
		n += put_strings(payload + n, nr, length ? 1 : 0);
		return n + put_strings(payload + n, nr, length);
	}
	for (int column = 0; column < 6; column++)	/* MODULE's numbers */
		n += put_zeros(payload + n, nr);
	n += put_strings(payload + n, nr, 0);
	return n + put_strings(payload + n, nr, length);
}

/* Writes the same block repeatedly, without an index. */
static void make_file(const char *path, unsigned kind, size_t nr, size_t length)
{
	struct ldb_file_header fh = sample_header;
	struct ldb_block_header h = { .magic = LDB_BLOCK_MAGIC, .kind = kind, .version = 1, .rows = nr };
	size_t bytes = make_payload(kind, nr, length);
	FILE *f = fopen(path, "w");
	static uint8_t packed[1 << 20];

	memcpy(fh.magic, LDB_FILE_MAGIC, sizeof(fh.magic));
	fh.version = LDB_FILE_VERSION;
	fh.header_size = sizeof(fh);
	fh.crc = crc32c(0, &fh, offsetof(struct ldb_file_header, crc));
	h.raw_bytes = bytes;
	h.bytes = ZSTD_compress(packed, sizeof(packed), payload, bytes, 3);
	h.crc = crc32c(crc32c(0, &h, sizeof(h)), packed, h.bytes);
	if (!f || fwrite(&fh, sizeof(fh), 1, f) != 1)
		bail_out("cannot write");
	while ((size_t)ftell(f) + sizeof(h) + h.bytes <= FILE_BYTES)
		if (fwrite(&h, sizeof(h), 1, f) != 1 || fwrite(packed, h.bytes, 1, f) != 1)
			bail_out("cannot write");
	fclose(f);
}

/* Reads the file in a separate process, and returns by how much this raised the peak memory. */
static long peak_kb(const char *path, char *text, size_t size)
{
	struct rusage before, after;
	int out[2], status;
	pid_t pid;

	if (pipe(out))
		bail_out("pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct symtab *st = symtab_open(NULL);
		struct reader *r;
		struct model *m;
		char err[512];

		getrusage(RUSAGE_SELF, &before);
		r = reader_open(path, err, sizeof(err));
		m = r ? model_open(r, st, err, sizeof(err)) : NULL;
		if (m)
			reader_check(r);
		reader_damage_text(r, err, sizeof(err));
		getrusage(RUSAGE_SELF, &after);
		dprintf(out[1], "%ld %s", after.ru_maxrss - before.ru_maxrss, m ? err : "not opened");
		_exit(0);
	}
	close(out[1]);
	memset(text, 0, size);
	for (ssize_t n = 0, got; n < (ssize_t)size - 1; n += got)
		if ((got = read(out[0], text + n, size - 1 - n)) <= 0)
			break;
	close(out[0]);
	waitpid(pid, &status, 0);
	return status ? LONG_MAX : atol(text);
}

static void test(unsigned kind, size_t nr, size_t length, const char *name)
{
	const char *path = sample_path("alike");
	char text[1024];
	long kb;

	make_file(path, kind, nr, length);
	kb = peak_kb(path, text, sizeof(text));
	ok(kb < MEMORY_KB, "%s: %u KB of file take %ld KB", name, FILE_BYTES >> 10, kb);
	ok(strstr(text, "more text than a trace of its size can have"), "and what was left out is reported");
	diag("%s", text);
	unlink(path);
}

/* A real recording does not come near the limit, however small its file is. */
static void test_real(void)
{
	const char *path = sample_path("real");
	char err[256];
	struct writer *w = writer_open(path, &sample_header, err, sizeof(err));
	struct reader *r;
	size_t nr;

	for (int i = 0; i < 5000; i++)
		writer_add_meta(w, "warning", "the same line of text again and again, a long one, at that");
	writer_close(w);
	r = reader_open(path, err, sizeof(err));
	ok(r && !reader_is_damaged(r), "a warning that repeats is no damage");
	reader_metas(r, &nr);
	is_int(nr, 5000, "and each of them is there");
	is_str(reader_metas(r, &nr)[4999].key, "warning", "as it was written");
	reader_close(r);
	unlink(path);
}

int main(void)
{
	test(LDB_BLK_META, 2, 1 << 20, "META, long values");
	test(LDB_BLK_META, 65536, 0, "META, no values");
	test(LDB_BLK_META, 65536, 60, "META, many values");
	test(LDB_BLK_MODULE, 65536, 60, "MODULE, long paths");
	test_real();
	return done();
}
