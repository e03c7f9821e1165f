/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes requests from calls of functions, or from turns of event loops (--request), while the
 * recording runs, for the triggers of a flight recorder and for the sums for monitoring.  They are
 * not stored in the trace; the tools that read it make them again.
 *
 * The name of a function becomes known some tenths of a second after its first call; calls are
 * retained until then.
 */
#ifndef RECORD_REQUESTS_MADE_H
#define RECORD_REQUESTS_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <ldb/trace-format.h>
#include "record/filter/filter.h"
#include "record/requests/loops.h"

struct made_requests;

struct made_request {
	uint32_t tid;
	int64_t start, end;	/* ticks */
	const char *name;	/* name of the function, or "loop" */
};

/*
 * Called when a request has ended, and again, with is_counted, when it is counted.  Turns are
 * counted at once.  A call is counted one or two seconds later, or earlier if there are many,
 * unless a request that contains it ends before that.
 */
typedef void made_request_fn(void *arg, const struct made_request *request, bool is_counted);

struct made_options {
	const char *words;		/* words of --request, separated by newlines */
	struct filter *filter;		/* a filter that knows the names of functions */
	int64_t second;			/* a second, in ticks */
	made_request_fn *made;
	void *arg;
	loops_thread_fn *is_of_program;	/* or NULL */
	void *thread_arg;
};

/* Returns NULL if there is no memory. */
struct made_requests *made_requests_alloc(const struct made_options *o);
void made_requests_free(struct made_requests *m);

/*
 * Returns true if the words ask for requests that are made from calls or turns: not if `words` is
 * NULL, or asks for tagged requests, or for requests that the runtime makes from sockets.
 */
bool made_requests_are(const char *words);

void made_requests_func(struct made_requests *m, const struct ldb_row_func *row);
void made_requests_calls(struct made_requests *m, const struct ldb_row_syscall *rows, size_t nr);
void made_requests_sched(struct made_requests *m, const struct ldb_row_sched *rows, size_t nr);
/*
 * Sets the pauses of the recording: a call that was open during a pause is not a request.  If this
 * is not called, there are no pauses.
 */
struct pauses;
void made_requests_on_pauses(struct made_requests *m, const struct pauses *pauses);
/* The recording was paused, or resumed, at this tick. */
void made_requests_cut(struct made_requests *m, int64_t tick);

/* Must be called after each pass over the rings: handles calls whose names have become known. */
void made_requests_poll(struct made_requests *m, int64_t tick);

/* Called when the recording is over, and no more names will arrive. */
void made_requests_finish(struct made_requests *m);

/*
 * Returns how many calls were dropped because their names did not arrive, or there was no memory.
 */
uint64_t made_requests_forgotten(const struct made_requests *m);

#endif
