/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Implements the flight recorder: only the events of the last seconds are retained.  When a
 * condition is met, they are written into a trace, which is called a dump.
 *
 * Blocks of events are in a ring of a fixed size.  Rows that describe these events (modules,
 * threads, names, open requests) are retained outside of the ring and are written into each dump,
 * so that each dump is an ordinary trace.  Separate threads write the dumps; the recorder waits for
 * them only at its end.
 */
#ifndef RECORD_FLIGHT_FLIGHT_H
#define RECORD_FLIGHT_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "record/flight/file.h"
#include "trace/writer.h"

struct flight;
struct flight_triggers;
struct made_request;
struct pack;
struct samples;
struct threads;

struct flight_options {
	uint64_t ns;			/* least time of retaining events; 0: no flight recorder */
	uint64_t bytes;			/* greatest size of these events */
	const char *file;		/* file for these events; NULL: memory */
	const char *const *triggers;	/* conditions for a dump, with valid syntax */
	size_t nr_triggers;
	uint64_t after_ns;		/* a dump ends no earlier than this after its trigger */
	uint64_t max_dumps, max_per_minute;
};

/* What a flight recorder must know of the recording. */
struct flight_recording {
	const char *output;	/* dumps are NAME.1, NAME.2 ... */
	pid_t pid;
	uint64_t max_bytes;	/* of all dumps together */
	bool quiet, verbose;
	bool kernel_only;	/* no pages show which threads are the program's, so all are */
	flight_names_fn *store_names;	/* looks up names of functions, or NULL */
	const char *end;	/* META "end"; "" as long as the recording continues */
	/* Writes all rows that can be written now. */
	void (*flush)(void *arg);
	/*
	 * Writes all rows that describe others, with their current values.  is_last: those that are
	 * written at the end of the recording in any case are left out.
	 */
	void (*describe)(void *arg, bool is_last);
	/* Copies the counters of the scanners, one row for each. */
	void (*copy_scans)(void *arg, struct ldb_row_scan *rows);
	void *arg;
};

/* Objects of the recording that are created after the writer. */
struct flight_sources {
	struct pack *pack;
	struct threads *threads;
	struct samples *samples;	/* NULL: no samples are taken */
	bool has_made;		/* flight_made() reports the requests, and not the rows */
};

enum flight_limit { FLIGHT_RATE, FLIGHT_NUMBER, FLIGHT_SIZE, FLIGHT_DISK, FLIGHT_NR_LIMITS };

struct flight_total {
	/* nr_joined: triggers while the dump of an earlier trigger was not complete */
	uint64_t nr_triggers, nr_joined;
	uint64_t nr_dumps, nr_failed;
	uint64_t suppressed[FLIGHT_NR_LIMITS];
};

/*
 * Makes the writer of the recording; the flight recorder gets its blocks.  The options must stay
 * valid.  Returns NULL on failure, after it has printed why.
 */
struct flight *flight_open(const struct flight_options *o, const struct flight_recording *r,
			   const struct ldb_file_header *header, struct writer **writer);

/* Must be called when the sources exist, before rows of events are written. */
void flight_set_sources(struct flight *f, const struct flight_sources *from);

/* In all following functions f may be NULL: there is no flight recorder. */

void flight_close(struct flight *f);

/*
 * Requests a dump of the seconds before and after now.  `why` is one line, which is copied.
 * Returns true if there will be a dump, perhaps the one that an earlier trigger has begun.  Returns
 * false if there is no flight recorder, if the rows of a dump are being written at this moment, or
 * if a limit of dumps was reached, which is counted.
 */
bool flight_trigger(struct flight *f, const char *why);

/* Returns the triggers; NULL: there is no flight recorder. */
struct flight_triggers *flight_triggers_of(struct flight *f);

/*
 * Must be called after each pass over the rings, when all rows older than the tick `released` have
 * been written.
 */
void flight_poll(struct flight *f, int64_t released);
/* Must be called once a second, after the writer was flushed. */
void flight_second(struct flight *f, int64_t released);
void flight_signal(struct flight *f, int signal);
/*
 * Reports requests that are made from calls or turns while the recording runs, each twice, as
 * described at made_request_fn (requests/made.h).  f must not be NULL.
 */
void flight_made(struct flight *f, const struct made_request *request, bool is_counted);

/*
 * Called when the recording has ended and all rows were written: makes the last dump, if it was
 * triggered, and waits until all are written.  *total is not changed if there is no flight
 * recorder.
 */
void flight_finish(struct flight *f, struct flight_total *total);

/* Writes one line about triggers without a dump, by limits; "": there were none. */
const char *flight_suppressed(const struct flight_total *total, char *text, size_t size);

#endif
