/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins traces, each of one process or itself joined, into one ordinary trace: with one header, one
 * clock, one table of requests and one index, so that readers need not know that it was joined.
 *
 *	clock		All ticks are of one clock.  Traces of one machine, since it was booted, have
 *			the same clock.  Other clocks are compared by the time of day, and by requests
 *			that were sent from one machine to another: see clock_err in struct
 *			ldb_row_process.
 *	addresses	contain the number of their process (struct ldb_row_process).  So locks of
 *			two processes stay two locks, unless these share the memory (join-shared.c).
 *	requests	get ids that are unique; links to a trace id (W3C) stay as they are.
 *	losses		stay as they are; damage of the parts is added.
 *
 * Rows of one kind are merged by time; those of one part stay in their order.  This needs memory
 * for one block of each part.
 */
#ifndef TRACE_JOIN_H
#define TRACE_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct join_options {
	/*
	 * If not NULL, called for each block that is read, with the bytes that were read and that
	 * are to be read in all.  If it returns false, joining ends with -EINTR.
	 */
	bool (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
};

/*
 * Writes the joined trace to fd, which must be an empty regular file; fd is closed, also after a
 * failure.  Returns 0, or -errno with one line in err, without the tool's name.  A file that is not
 * a trace is an error; damaged traces are joined as far as they can be read.  options may be NULL.
 */
int trace_join(const char *const *paths, size_t nr, int fd, const struct join_options *options,
	       char *err, size_t err_size);

/*
 * As trace_join(), but writes to the file `path`, which may be one of paths: it is replaced when
 * the new file is complete.
 */
int trace_join_file(const char *const *paths, size_t nr, const char *path,
		    const struct join_options *options, char *err, size_t err_size);

#endif
