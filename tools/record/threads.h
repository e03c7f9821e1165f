/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes THREAD rows of thread pages, and at the end the functions still running. */
#ifndef RECORD_THREADS_H
#define RECORD_THREADS_H

#include "record/pack.h"
#include "record/session.h"
#include "trace/writer.h"

struct threads;

struct threads_total {
	uint64_t nr_threads, made, seen, below_threshold, outside_requests, nr_open;
};

struct threads *threads_alloc(const struct session *s, struct writer *w, struct pack *p,
			      uint64_t t0);
void threads_free(struct threads *t);

/* Writes rows of threads not written yet; it is called once in a while. */
void threads_poll(struct threads *t);

/* Returns the sums of all threads so far; nr_threads is the number of existing ones. */
struct threads_total threads_now(const struct threads *t);

/*
 * Does what threads_poll() does; also repeats the rows of all threads that exist, and writes the
 * functions that have been running since the last call, as if the recording ended.
 */
void threads_write(struct threads *t, int64_t end);
/* Writes what is known of the threads, and not what they are executing. */
void threads_write_known(struct threads *t);

/* Only stores which functions are running, for the next threads_write(). */
void threads_note(struct threads *t);

/*
 * Copies the rows of all threads that exist, as of the last poll; returns how many.  They have no
 * names.  Where FUNC rows are counted (pack_func_counts()), these are what was observed: here,
 * and in threads_write().
 */
size_t threads_copy(const struct threads *t, struct ldb_row_thread *rows, size_t max);

/*
 * Call it when nothing is written any more: writes the remaining rows, and functions that ran at
 * tick end.
 */
void threads_finish(struct threads *t, int64_t end, struct threads_total *total);

#endif
