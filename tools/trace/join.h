/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins complete traces, each of one process, into one ordinary trace: with one header, one clock,
 * one table of requests and one index, so that readers need not know that it was joined.
 *
 *	clock		Ticks are those of one clock.  Traces of one machine have it already; of
 *			others the times of day are compared, and what requests say that were sent
 *			from one to the other: see struct ldb_row_process, clock_err.
 *	addresses	get the number of their process, see there; so two processes' locks are two.
 *	requests	get ids that are unique; links to a trace id (W3C) stay as they are.
 *	losses		stay as they are, and what could not be read is one more.
 *
 * Rows of one kind are merged by time, each part in its own order.  The memory needed is that of
 * a block for each part.
 */
#ifndef TRACE_JOIN_H
#define TRACE_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct join_options {
	/*
	 * If not NULL, called for each block that is read, with two numbers of bytes.  If it
	 * returns false, joining ends with -EINTR.
	 */
	bool (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
};

/*
 * Writes the joined trace to fd, which must be an empty regular file, and is closed also after a
 * failure.  Returns 0, or -errno with one line in err, without the tool's name.  A file that is no
 * trace is an error; damaged traces are joined as far as they can be read.  options may be NULL.
 */
int trace_join(const char *const *paths, size_t nr, int fd, const struct join_options *options,
	       char *err, size_t err_size);

/*
 * Does the same, and writes to the file of that name, which is replaced only when the new one is
 * complete; it may be one of paths.
 */
int trace_join_file(const char *const *paths, size_t nr, const char *path,
		    const struct join_options *options, char *err, size_t err_size);

#endif
