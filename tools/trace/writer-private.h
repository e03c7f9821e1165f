/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what the files of the writer share; join.c uses WRITER_KINDS. */
#ifndef TRACE_WRITER_PRIVATE_H
#define TRACE_WRITER_PRIVATE_H

#include <stdbool.h>
#include <zstd.h>
#include "trace/columns.h"
#include "trace/reqtab.h"
#include "trace/writer.h"

/* The size of this union is the greatest kind plus one. */
union writer_kinds {
#define ROWS(KIND, name, when, bulk, columns)	char name[LDB_BLK_##KIND + 1];
#include "trace/schemas.def"
};
#define WRITER_KINDS		sizeof(union writer_kinds)

struct batch {			/* the buffered rows of one kind */
	struct encoder encoder;
	struct extent extent;
	struct ldb_row_req *reqs;	/* REQ: rows that are encoded only when they are sorted */
	size_t nr_reqs;
};

struct writer {
	int fd;			/* -1: the blocks go to block() */
	writer_block_fn *block;
	void *block_arg;
	writer_rows_fn *on_rows;	/* or NULL */
	void *rows_arg;
	bool regular;		/* it is a regular file, which can be truncated */
	bool cut;		/* there are bytes after offset, which must be cut off */
	uint64_t offset;
	uint64_t reserved_end;	/* disk space is reserved up to this offset */
	struct batch batch[WRITER_KINDS];
	struct ldb_row_index *index;
	size_t nr_index, room_index;
	struct reqtab *reqtab;	/* NULL: the file gets no table, and readers make their own */
	int64_t last_tick;	/* the greatest tick of all rows */
	uint64_t lost_rows, lost_reported;
	int error;		/* the first error since the last writer_flush() */
	ZSTD_CCtx *zstd;
	/* raw: scratch memory for a payload; out: for a header and the compressed payload */
	uint8_t *raw, *out;
	size_t raw_room, out_room;
};

/* writer.c */

/* Reserves disk space for size bytes, and for closing the file after them. */
int file_reserve(struct writer *w, size_t size);

/* Writes all bytes or none. */
int file_append(struct writer *w, const void *data, size_t size);

void batch_clear(struct batch *b);

/* Frees everything except the descriptor, which is closed already, or not open yet. */
void writer_free(struct writer *w);

/* Makes room for one more row of the index. */
int index_reserve(struct writer *w);

#endif
