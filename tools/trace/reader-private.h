/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the reader share. */
#ifndef TRACE_READER_PRIVATE_H
#define TRACE_READER_PRIVATE_H

#include <stdatomic.h>
#include <zstd.h>
#include "trace/columns.h"
#include "trace/reader.h"
#include "trace/reqtab.h"

struct block {
	struct ldb_row_index i;
	_Atomic bool bad;	/* counted as damaged already */
};

struct reader {
	int fd;
	uint64_t file_size;	/* when it was opened; a live file may grow */
	struct ldb_file_header header;
	struct block *blocks;	/* in the order of the file */
	size_t nr_blocks, room_blocks;
	int64_t end_tick;

	bool has_index;		/* blocks are from it */
	uint64_t search_budget;	/* bytes that may still be checked in search of blocks */

	/* damage */
	bool no_footer;
	_Atomic uint64_t nr_bad, bytes_skipped, nr_unknown;
	_Atomic int64_t damage_offset;

	/* clock: ns = tick * ns_mult / 2^ns_shift */
	int64_t ns_mult;
	unsigned ns_shift;

	struct ldb_row_meta *metas;
	size_t nr_metas, room_metas;

	bool has_requests;
	struct reqtab *reqtab;		/* made here, or NULL: */
	struct ldb_row_reqtab *requests; /* from the file */
	size_t nr_requests;
};

/* reader-file.c */

/* size bytes at offset, all or nothing. */
bool file_read(const struct reader *r, uint64_t offset, void *buf, size_t size);

/* Could this be the header of a block at offset?  Says nothing about its payload. */
bool header_is_plausible(const struct reader *r, const struct ldb_block_header *h,
			 uint64_t offset);

/* The CRC of a header and its payload is right. */
bool block_is_whole(const struct ldb_block_header *h, const void *payload);

void damage_add(struct reader *r, uint64_t offset, uint64_t nr_blocks, uint64_t bytes);

/* Fills blocks[]: from the index, or block by block.  -ENOMEM or -EIO. */
int file_find_blocks(struct reader *r);

/* cursor.c */

/* Private scratch of one thread that decodes blocks. */
struct decoder {
	ZSTD_DCtx *zstd;
	uint8_t *file, *raw;
	char *rows, *strings;
	size_t file_room, raw_room, rows_room, strings_room;
};

void decoder_exit(struct decoder *d);

/* 1: d->rows holds h->rows rows; 0: damaged; -ENOMEM. */
int decoder_decode(struct decoder *d, struct reader *r, uint64_t offset, uint64_t bytes,
		   unsigned kind, struct ldb_block_header *h);

#endif
