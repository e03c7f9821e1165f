/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares what the files of the reader, and those that join traces or append to one, have in
 * common.
 */
#ifndef TRACE_READER_PRIVATE_H
#define TRACE_READER_PRIVATE_H

#include <stdatomic.h>
#include <zstd.h>
#include "base/intern.h"
#include "trace/columns.h"
#include "trace/reader.h"
#include "trace/reqtab.h"

struct block {
	struct ldb_row_index i;
	_Atomic bool bad;	/* counted as damaged already */
	_Atomic bool is_whole;	/* its checksum was correct */
};

struct reader {
	int fd;
	/* its size when it was opened; a file that is being recorded grows */
	uint64_t file_size;
	struct ldb_file_header header;
	struct block *blocks;	/* in the order of the file */
	size_t nr_blocks, room_blocks;
	int64_t end_tick;

	bool has_index;		/* blocks[] was read from the index, */
	uint64_t index_offset;	/* which is at this offset */
	uint64_t search_budget;	/* bytes that may still be checked in search of blocks */

	/* damage */
	bool no_footer;
	_Atomic uint64_t nr_bad, bytes_skipped, nr_unknown;
	uint64_t nr_too_large;	/* part of nr_bad: see TEXT_BYTES of reader-file.c */
	_Atomic int64_t damage_offset;

	/* clock: ns = tick * ns_mult / 2^ns_shift */
	int64_t ns_mult;
	unsigned ns_shift;
	double ns_per_tick;
	int64_t wall_ns, wall_at;	/* the time of day at reader_ns() wall_at, */
	double wall_rate;		/* and its rate, which NTP may adjust */

	struct ldb_row_meta *metas;
	size_t nr_metas, room_metas;
	struct intern texts;	/* memory of the texts in metas */

	struct retain *retain;		/* retain.c; NULL: nothing is retained */

	/* the trace from which rows about requests are read instead; NULL: none */
	struct reader *replaced;

	bool has_requests;
	struct reqtab *reqtab;		/* made of REQ rows, or NULL: `requests` is used */
	struct ldb_row_reqtab *requests; /* the REQTAB rows of the file */
	size_t nr_requests;
};

/* reader-file.c */

/* Reads size bytes at offset, all or nothing. */
bool file_read(const struct reader *r, uint64_t offset, void *buf, size_t size);

/* Returns true if h may be the header of a block at offset.  The payload is not checked. */
bool header_is_plausible(const struct reader *r, const struct ldb_block_header *h,
			 uint64_t offset);

/* Returns true if the CRC of a header and its payload is right. */
bool block_is_whole(const struct ldb_block_header *h, const void *payload);

void damage_add(struct reader *r, uint64_t offset, uint64_t nr_blocks, uint64_t bytes);

/* Fills blocks[]: from the index, or block by block.  Returns 0 or -ENOMEM. */
int file_find_blocks(struct reader *r);

/* decoder.c */

/* Scratch memory of one thread that decodes blocks. */
struct decoder {
	ZSTD_DCtx *zstd;
	uint8_t *file, *raw;
	char *rows, *strings;
	size_t file_room, raw_room, rows_room, strings_room;
};

void decoder_exit(struct decoder *d);

/*
 * Returns 1: d->raw has the payload of the block at offset, and *h is its header; 0: the block is
 * damaged, or not of that kind; -ENOMEM.
 */
int decoder_load(struct decoder *d, struct reader *r, uint64_t offset, uint64_t bytes,
		 unsigned kind, struct ldb_block_header *h);

/*
 * Decodes the payload that was loaded last.  Returns 1: d->rows has the *nr rows that are selected
 * (select NULL: all); 0: the payload is damaged; -ENOMEM.
 */
int decoder_rows(struct decoder *d, const struct ldb_block_header *h,
		 const struct columns_select *select, size_t *nr);

/* As decoder_load() and then decoder_rows(). */
int decoder_decode(struct decoder *d, struct reader *r, uint64_t offset, uint64_t bytes,
		   unsigned kind, const struct columns_select *select, size_t *nr);

/* cursor.c */

/* Selects rows of a kind. */
struct query {
	struct reader *r;
	unsigned kind;
	bool all;		/* no filter */
	size_t bytes;		/* see struct reader_filter */
	struct reader_filter filter;
};

bool query_wants(const struct query *q, const struct block *b);

/*
 * Decodes a block and selects its rows.  Returns 1: d->rows has *nr rows, at least one; 0: there
 * are none, or the block is damaged; -ENOMEM.
 */
int query_decode(const struct query *q, struct decoder *d, struct block *b, size_t *nr);

/* As query_decode(), with the caller's selection; NULL: all rows. */
int block_decode(struct reader *r, struct decoder *d, struct block *b,
		 const struct columns_select *select, size_t *nr);

/* Returns the extent that a row must match to be selected: see extent_matches(). */
struct extent query_extent(const struct query *q);

/* Copies the rows that q selects to `to`, which may be `rows`; returns their number. */
size_t query_filter(const struct query *q, char *to, const char *rows, size_t nr);

void block_set_bad(struct reader *r, struct block *b);

/* Returns the reader whose rows of that kind are used. */
struct reader *reader_of_kind(struct reader *r, unsigned kind);

/* ahead.c: decodes the next blocks while the rows of one are used */
struct ahead;

/* The CLOCK rows with the least and the greatest tick, if there are any. */
struct clock_span {
	struct ldb_row_clock first, last;
	bool any;
};

/* reader.c.  Returns 0 or -ENOMEM. */
int clock_span_read(struct reader *r, struct clock_span *s);

/* Returns NULL if reading ahead is not useful, or not possible. */
struct ahead *ahead_open(const struct query *q);
void ahead_close(struct ahead *a);

/* Returns 1 with the next rows, 0 at the end, or -ENOMEM, as cursor_next() does. */
int ahead_next(struct ahead *a, const void **rows, size_t *nr);

/* share.c: distributes blocks to several cursors */
struct share {
	_Atomic size_t next;	/* index of the next block */
};

#endif
