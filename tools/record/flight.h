/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Implements the flight recorder: only the last seconds are retained, and are written into a trace,
 * a dump, when a condition is met.
 *
 * Blocks of events are in a ring of a fixed size.  Rows that describe them (modules, threads,
 * names, requests that are open) are retained outside of it, and are in each dump, so that each is an
 * ordinary trace.  Threads write the dumps; the recorder never waits for them.
 */
#ifndef RECORD_FLIGHT_H
#define RECORD_FLIGHT_H

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
	uint64_t bytes;			/* greatest size of these */
	const char *file;		/* file for them; NULL: in memory */
	const char *const *triggers;	/* conditions for a dump, checked ones */
	size_t nr_triggers;
	uint64_t after_ns;		/* a dump reaches so far beyond its trigger */
	uint64_t max_dumps, max_per_minute;
};

enum flight_limit { FLIGHT_RATE, FLIGHT_NUMBER, FLIGHT_SIZE, FLIGHT_DISK, FLIGHT_NR_LIMITS };

struct flight_total {
	uint64_t nr_triggers, nr_joined;	/* joined: in the dump of an earlier trigger */
	uint64_t nr_dumps, nr_failed;
	uint64_t suppressed[FLIGHT_NR_LIMITS];
};

/*
 * Requests a dump of the seconds before now and after.  why is one line, which is copied.  Returns
 * false if there is no flight recorder, or if a limit of dumps was reached, which is counted.
 * Returns true if there will be a dump, which may be that of an earlier trigger.
 */
bool flight_trigger(struct recording *r, const char *why);

/* Returns the triggers, or NULL: there is no flight recorder. */
struct flight_triggers *flight_triggers_of(struct recording *r);

/* The rest is for the recorder. */

/* Makes the writer of the recording, whose blocks it retains.  If it returns false, it printed why. */
bool flight_open(struct recording *r, const struct ldb_file_header *header);
void flight_close(struct recording *r);

/* Call it after each pass over the rings. */
void flight_poll(struct recording *r);
/* The writer was just flushed; call it once a second. */
void flight_second(struct recording *r);
/* Requests that are made while the recording runs: made-requests.h. */
void flight_made(struct recording *r, const struct made_request *request, bool is_counted);
void flight_signal(struct recording *r, int signal);

/* The recording has ended and all its rows were written: the last dumps are made. */
void flight_finish(struct recording *r);

/* Writes one line about what was suppressed; "": nothing was. */
const char *flight_suppressed(const struct flight_total *total, char *text, size_t size);

#endif
