// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes the least time in which one thread can read a trace: bench-inflate FILE reads the file and
 * decompresses every block, and does nothing with the result.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>
#include <ldb/trace-format.h>

int main(int argc, char **argv)
{
	uint8_t *in = malloc(LDB_BLOCK_BYTES_MAX), *out = malloc(LDB_BLOCK_BYTES_MAX);
	FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
	struct ldb_file_header file;
	struct ldb_block_header h;
	size_t n;

	if (!f || !in || !out || fread(&file, sizeof(file), 1, f) != 1) {
		fputs("usage: bench-inflate FILE\n", stderr);
		return 2;
	}
	while (fread(&h, sizeof(h), 1, f) == 1 && h.magic == LDB_BLOCK_MAGIC) {
		if (h.bytes > LDB_BLOCK_BYTES_MAX || fread(in, 1, h.bytes, f) != h.bytes)
			return 1;
		n = ZSTD_decompress(out, LDB_BLOCK_BYTES_MAX, in, h.bytes);
		if (n != h.raw_bytes)
			return 1;
	}
	return 0;
}
