/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes THREAD rows from thread pages; at the end, and for dumps, also rows of functions that are
 * still running.
 */
#ifndef RECORD_ROWS_THREADS_H
#define RECORD_ROWS_THREADS_H

#include "record/rows/pack.h"
#include "record/session/session.h"
#include "trace/writer.h"

struct threads;

struct threads_total {
	uint64_t nr_threads, made, seen, outside_requests, nr_open;
};

struct threads *threads_alloc(const struct session *s, struct writer *w, struct pack *p,
			      uint64_t t0);
void threads_free(struct threads *t);

/* Writes rows of new threads, and of threads that have exited; must be called from time to time. */
void threads_poll(struct threads *t);

/*
 * Returns the sums of all threads, as of the last poll; nr_threads counts threads that have not
 * ended.
 */
struct threads_total threads_now(const struct threads *t);

/*
 * Does what threads_poll() does; also repeats the rows of all existing threads, and writes the
 * functions that have been running since the last call of this function or of threads_note(), as
 * if the recording ended.
 */
void threads_write(struct threads *t, int64_t end);
/*
 * The two halves of threads_write(), without threads_poll(): the first writes the functions that
 * are running, and those of which more may become known (pack_waiting_begin()); the second writes
 * the rows, whose counts include these functions.  A dump must call threads_poll() before it takes
 * rows: rows of threads that have ended are written only once, and further dumps need them.
 */
void threads_write_funcs(struct threads *t, int64_t end);
void threads_write_counted(struct threads *t);
/* Calls threads_poll(), and repeats the rows of all existing threads, but writes no functions. */
void threads_write_known(struct threads *t);

/*
 * Only stores which functions are running, for the next threads_write(), which writes those that
 * still are.
 */
void threads_note(struct threads *t);

/*
 * Copies the rows of all existing threads, as of the last poll, without names; returns their
 * number.  Where FUNC rows are counted (pack_func_counts()), these counts are the observed calls,
 * here and in threads_write().
 */
size_t threads_copy(const struct threads *t, struct ldb_row_thread *rows, size_t max);

/*
 * Must be called when nothing is written any more: writes the remaining rows, and the functions
 * that were running at tick `end`.
 */
void threads_finish(struct threads *t, int64_t end, struct threads_total *total);

#endif
