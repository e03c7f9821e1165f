/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes requests of calls of functions, or of turns of event loops (--request), while the recording
 * runs: triggers of a flight recorder and sums for monitoring need them.  The trace has none of them; the
 * tools make them again.
 *
 * Names of functions are known some tenths of a second after their first call; calls wait for that.
 */
#ifndef RECORD_MADE_REQUESTS_H
#define RECORD_MADE_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <ldb/trace-format.h>
#include "record/filter.h"
#include "record/loops.h"

struct made_requests;

struct made_request {
	uint32_t tid;
	int64_t start, end;	/* ticks */
	const char *name;	/* of the function, or "loop" */
};

/*
 * Each request is delivered twice: as soon as it has ended, and, is_counted, when it is known that it is
 * not inside of another one of its thread, which is a second or two later.  Only if the outer one takes
 * longer than a second, those inside of it that ended before count, too.
 */
typedef void made_request_fn(void *arg, const struct made_request *request, bool is_counted);

struct made_options {
	const char *words;		/* with newlines between */
	struct filter *filter;		/* has the names */
	int64_t second;			/* ticks */
	made_request_fn *made;
	void *arg;
	loops_thread_fn *is_of_program;	/* or NULL */
	void *thread_arg;
};

/* Returns NULL if there is no memory. */
struct made_requests *made_requests_alloc(const struct made_options *o);
void made_requests_free(struct made_requests *m);

/* Are they made of these words?  NULL: no.  Tags, and what the runtime makes of sockets, are not. */
bool made_requests_are(const char *words);

void made_requests_func(struct made_requests *m, const struct ldb_row_func *row);
void made_requests_calls(struct made_requests *m, const struct ldb_row_syscall *rows, size_t nr);
void made_requests_sched(struct made_requests *m, const struct ldb_row_sched *rows, size_t nr);
/* What was open at a pause is no request.  Without this function there is none. */
struct pauses;
void made_requests_on_pauses(struct made_requests *m, const struct pauses *pauses);
/* The recording was paused, or goes on. */
void made_requests_cut(struct made_requests *m, int64_t tick);

/* Call it after each pass over the rings: names may have come. */
void made_requests_poll(struct made_requests *m, int64_t tick);

/* The recording is over, and the names that can come have come. */
void made_requests_finish(struct made_requests *m);

/* How many calls were forgotten because their names did not come. */
uint64_t made_requests_forgotten(const struct made_requests *m);

#endif
