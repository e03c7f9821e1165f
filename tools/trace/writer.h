/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one writer of the trace file.
 *
 * Rows are kept until LDB_BLOCK_ROWS of a kind are together, or until
 * writer_flush(), and leave as one block with one write().  Whatever happens,
 * the file is a sequence of whole blocks: a write that fails halfway is taken
 * back.  Room for the index is kept reserved on the disk, so that a full disk
 * still leaves a properly closed file.
 *
 * Functions return 0 or -errno.  After an error the rows concerned are counted
 * (writer_lost_rows()) and written down as LDB_LOST_DISK if that is possible at
 * all; the writer stays usable and every call tries again.
 *
 * One thread at a time.
 */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <ldb/trace-format.h>

struct writer;

/*
 * Of header, features, clock_id, t0, clock_hz and realtime_ns are used.  A file
 * of that name is renamed to PATH.old.  NULL: one line in err.
 */
struct writer *writer_open(const char *path, const struct ldb_file_header *header, char *err,
			   size_t err_size);

/*
 * Goes on with a trace that was closed, which must not be damaged: what is added comes
 * after what is there.  Until writer_close() it has no index and no footer.  NULL: why is
 * in err, without the path, and the file is as before.
 */
struct writer *writer_reopen(const char *path, char *err, size_t err_size);

/*
 * The same without a file: the header, and then each block, go to block(), which
 * returns 0 or -errno.  What grows with a file, its index and its request table, is
 * not made: a reader does without.  NULL: one line in err.
 */
typedef int writer_block_fn(void *arg, const void *data, size_t size);
struct writer *writer_open_blocks(const struct ldb_file_header *header, writer_block_fn *block,
				  void *arg, char *err, size_t err_size);

/* Rows and their strings are copied. */
int writer_add_meta(struct writer *w, const char *key, const char *value);
int writer_add_clock(struct writer *w, const struct ldb_row_clock *row);
int writer_add_module(struct writer *w, const struct ldb_row_module *row);
int writer_add_thread(struct writer *w, const struct ldb_row_thread *row);
int writer_add_func(struct writer *w, const struct ldb_row_func *row);
int writer_add_lock(struct writer *w, const struct ldb_row_lock *row);
int writer_add_req(struct writer *w, const struct ldb_row_req *row);
int writer_add_reqname(struct writer *w, const struct ldb_row_reqname *row);
int writer_add_gap(struct writer *w, const struct ldb_row_gap *row);
int writer_add_lost(struct writer *w, const struct ldb_row_lost *row);
int writer_add_scan(struct writer *w, const struct ldb_row_scan *row);
int writer_add_sched(struct writer *w, const struct ldb_row_sched *row);
int writer_add_file(struct writer *w, const struct ldb_row_file *row);
int writer_add_symbol(struct writer *w, const struct ldb_row_symbol *row);
int writer_add_call(struct writer *w, const struct ldb_row_call *row);
int writer_add_task(struct writer *w, const struct ldb_row_task *row);
int writer_add_fault(struct writer *w, const struct ldb_row_fault *row);
int writer_add_irq(struct writer *w, const struct ldb_row_irq *row);

/*
 * Many at once cost a fraction of what they cost one by one.  The first takes rows of any
 * kind, LDB_BLK_*.
 */
int writer_add(struct writer *w, unsigned kind, const void *rows, size_t nr);
int writer_add_funcs(struct writer *w, const struct ldb_row_func *rows, size_t nr);
int writer_add_locks(struct writer *w, const struct ldb_row_lock *rows, size_t nr);
int writer_add_reqs(struct writer *w, const struct ldb_row_req *rows, size_t nr);
int writer_add_scheds(struct writer *w, const struct ldb_row_sched *rows, size_t nr);
int writer_add_faults(struct writer *w, const struct ldb_row_fault *rows, size_t nr);
int writer_add_irqs(struct writer *w, const struct ldb_row_irq *rows, size_t nr);

/* Writes what is kept; the first error of all kinds. */
int writer_flush(struct writer *w);

uint64_t writer_bytes(const struct writer *w);		/* in the file */
uint64_t writer_lost_rows(const struct writer *w);	/* could not be written */

/* Flushes, writes request table, index and footer, frees w. */
int writer_close(struct writer *w);

#endif
