/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Implements the flight recorder: only the events of the last seconds are retained.  When a
 * condition is met, they are written into a trace, which is called a dump.
 *
 * Blocks of events are in a ring of a fixed size.  Rows that describe these events (modules,
 * threads, names, open requests) are retained outside of the ring and are written into each dump,
 * so that each dump is an ordinary trace.  Separate threads write the dumps; the recorder never
 * waits for them.
 */
#ifndef RECORD_FLIGHT_FLIGHT_H
#define RECORD_FLIGHT_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording;
struct ldb_file_header;
struct flight;
struct flight_triggers;
struct made_request;

struct flight_options {
	uint64_t ns;			/* how long events are retained; 0: no flight recorder */
	uint64_t bytes;			/* greatest size of these events */
	const char *file;		/* file for these events; NULL: memory */
	const char *const *triggers;	/* conditions for a dump, with valid syntax */
	size_t nr_triggers;
	uint64_t after_ns;		/* a dump ends this long after its trigger */
	uint64_t max_dumps, max_per_minute;
};

enum flight_limit { FLIGHT_RATE, FLIGHT_NUMBER, FLIGHT_SIZE, FLIGHT_DISK, FLIGHT_NR_LIMITS };

struct flight_total {
	/* joined: triggers during an earlier trigger's dump */
	uint64_t nr_triggers, nr_joined;
	uint64_t nr_dumps, nr_failed;
	uint64_t suppressed[FLIGHT_NR_LIMITS];
};

/*
 * Requests a dump of the seconds before and after now.  why is one line, which is copied.  Returns
 * true if there will be a dump, perhaps the one that an earlier trigger has begun.  Returns false
 * if there is no flight recorder, or if a limit of dumps was reached, which is counted.
 */
bool flight_trigger(struct recording *r, const char *why);

/* Returns the triggers; NULL: there is no flight recorder. */
struct flight_triggers *flight_triggers_of(struct recording *r);

/* The following functions are called by the recorder only. */

/*
 * Makes the writer of the recording; the flight recorder gets its blocks.  Returns false on
 * failure, after it has printed why.
 */
bool flight_open(struct recording *r, const struct ldb_file_header *header);
void flight_close(struct recording *r);

/* Must be called after each pass over the rings. */
void flight_poll(struct recording *r);
/* Must be called once a second, after the writer was flushed. */
void flight_second(struct recording *r);
/* Reports requests that are made from calls while the recording runs: see requests/made.h. */
void flight_made(struct recording *r, const struct made_request *request, bool is_counted);
void flight_signal(struct recording *r, int signal);

/* Called when the recording has ended and all rows were written: makes the last dumps. */
void flight_finish(struct recording *r);

/* Writes one line about dumps that were suppressed; "": none were. */
const char *flight_suppressed(const struct flight_total *total, char *text, size_t size);

#endif
