/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is the only writer of the trace file.
 *
 * Rows are buffered until there are LDB_BLOCK_ROWS of a kind, or 8 MiB of a kind with strings, or
 * until writer_flush(), and are written as one block by one write().  The file always is a sequence
 * of complete blocks: an incomplete write is undone.  Disk space for the index is reserved, so that
 * a full disk still leaves a properly closed file.
 *
 * Functions return 0 or -errno.  After an error, the lost rows are counted (writer_lost_rows())
 * and, if possible, recorded as LDB_LOST_DISK.  The writer stays usable, and later calls try to
 * write again.
 *
 * Only one thread may use a writer at a time.
 */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ldb/trace-format.h>

struct writer;

/*
 * Creates a file with features, clock_id, t0, clock_hz and realtime_ns of header.  An existing file
 * is renamed to PATH.old.  If it returns NULL, err has one line.
 */
struct writer *writer_open(const char *path, const struct ldb_file_header *header, char *err,
			   size_t err_size);

/*
 * Opens a trace that was closed, which must not be damaged, and appends to it.  From the first
 * write until writer_close() it has no index and no footer.  If this function returns NULL, err has
 * one line, without the path, and the file is unchanged.
 */
struct writer *writer_reopen(const char *path, char *err, size_t err_size);

/*
 * Opens a writer without a file: passes the header, and then each block, to block(), which returns
 * 0 or -errno.  There is no index and no request table, whose memory would grow; readers work
 * without them.  If it returns NULL, err has one line.
 */
typedef int writer_block_fn(void *arg, const void *data, size_t size);
struct writer *writer_open_blocks(const struct ldb_file_header *header, writer_block_fn *block,
				  void *arg, char *err, size_t err_size);

/*
 * As writer_open(), for an open, empty file, which is closed with the writer, or after a failure.
 */
struct writer *writer_open_fd(int fd, const struct ldb_file_header *header, char *err, size_t err_size);

/*
 * From now on fn() is called with all rows that are added; if it returns true, they are not
 * written.
 */
typedef bool writer_rows_fn(void *arg, unsigned kind, const void *rows, size_t nr);
void writer_on_rows(struct writer *w, writer_rows_fn *fn, void *arg);

/* Appends a complete block that another writer has passed to block(). */
int writer_add_block(struct writer *w, const void *block, size_t size);

/*
 * Adds rows of any kind, LDB_BLK_*; they and their strings are copied.  Adding many at once is
 * much cheaper than one by one.
 */
int writer_add(struct writer *w, unsigned kind, const void *rows, size_t nr);

static inline int writer_add_meta(struct writer *w, const char *key, const char *value)
{
	return writer_add(w, LDB_BLK_META, &(struct ldb_row_meta){ key, value }, 1);
}

/*
 * Declares writer_add_NAME(w, row) and writer_add_NAMEs(w, rows, nr) for each name of schemas.def.
 */
#define OWN_ROWS(KIND, name, when, bulk, columns)
#define ROWS(KIND, name, when, bulk, columns)						\
	static inline int writer_add_##name(struct writer *w, const struct ldb_row_##name *row) \
	{										\
		return writer_add(w, LDB_BLK_##KIND, row, 1);				\
	}										\
	static inline int writer_add_##name##s(struct writer *w,			\
					       const struct ldb_row_##name *rows, size_t nr) \
	{										\
		return writer_add(w, LDB_BLK_##KIND, rows, nr);				\
	}
#include "trace/schemas.def"

/* Writes the buffered rows; returns the first error since the last call of this function. */
int writer_flush(struct writer *w);

uint64_t writer_bytes(const struct writer *w);		/* size of the file */
uint64_t writer_lost_rows(const struct writer *w);	/* rows that could not be written */

/* Flushes, writes request table, index and footer, frees w. */
int writer_close(struct writer *w);

#endif
