/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares recordings that are shown while they run. */
#ifndef RECORD_OUTPUT_LIVE_H
#define RECORD_OUTPUT_LIVE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The state of a recording while it runs; counts are since its beginning. */
struct record_status {
	pid_t pid;
	int64_t now_ns, begin_ns;	/* CLOCK_MONOTONIC */
	int64_t tick;			/* all older rows have been delivered */
	uint64_t made, seen;		/* invocations, of all threads */
	uint64_t nr_threads;		/* threads that have not ended; at the end: all threads */
	uint64_t nr_events, nr_lost;
	/* reason for the end, as in META "end"; NULL: the recording continues */
	const char *end;
};

/*
 * For recordings that are shown while they run, and are not stored in a file.  Blocks are delivered
 * as they are made.  In each period all rows that describe addresses and threads are delivered
 * again, so that older blocks can be dropped.
 */
struct record_live {
	int (*block)(void *arg, const void *data, size_t size);	/* writer_block_fn */
	/*
	 * Called before the describing rows are delivered again, which makes the earlier ones
	 * obsolete.
	 */
	void (*anew)(void *arg);
	void (*period)(void *arg, const struct record_status *status);
	void *arg;
	uint64_t period_ns;
	int stop_fd;		/* becomes readable when the recording must end */
};

#endif
