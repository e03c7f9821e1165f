/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums events for monitoring, in memory of a fixed size: distributions of the durations of
 * functions, requests by class, waits for locks, and waits for a CPU, since the recording began;
 * and the slowest requests of the last minute, with their states.
 *
 * The sums are written to a file from time to time: as OpenMetrics text, or as OTLP's JSON if the
 * file's name ends in .json.  The file is replaced as a whole.  The sums can also be fetched from a
 * socket: scrape.h.
 */
#ifndef RECORD_METRICS_METRICS_H
#define RECORD_METRICS_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <ldb/trace-format.h>
#include "record/filter/filter.h"
#include "record/requests/pauses.h"

struct metrics;
struct record_explain;

struct metrics_options {
	const char *path;		/* name of the file, or NULL */
	void (*explain)(const struct record_explain *e);	/* see explain.h; or NULL */
};

/* f knows the names of functions and locks.  Returns NULL if there is no memory. */
struct metrics *metrics_alloc(const struct metrics_options *o, double ns_per_tick, struct filter *f);
void metrics_free(struct metrics *m);

/*
 * Returns true if tid is a thread of the program, and not one of ldb's own.  Without this function
 * all threads count as the program's.
 */
typedef bool metrics_thread_fn(void *arg, uint32_t tid);
void metrics_on_thread(struct metrics *m, metrics_thread_fn *fn, void *arg);

/*
 * Sets the pauses of the recording.  Invocations whose start or end may be in a pause, and waits
 * for a CPU that overlap one, are not summed.  If this is not called, there are no pauses.
 */
void metrics_on_pauses(struct metrics *m, const struct pauses *pauses);

void metrics_func(struct metrics *m, const struct ldb_row_func *row);
void metrics_lock(struct metrics *m, const struct ldb_row_lock *row);
void metrics_class(struct metrics *m, uint64_t id, int64_t tick, const char *name);
/* These two take rows in order of time. */
void metrics_requests(struct metrics *m, const struct ldb_row_req *rows, size_t nr);
void metrics_sched(struct metrics *m, const struct ldb_row_sched *rows, size_t nr);

/*
 * Takes a request that was made from a call or a turn; its name is its class.  Used instead of
 * metrics_requests().
 */
struct made_request;
void metrics_made(struct metrics *m, const struct made_request *request);

struct metrics_state {
	int64_t begin_ns, now_ns;	/* CLOCK_REALTIME */
	uint64_t calls, observed_calls, nr_lost, nr_threads;
};

/* Must be called every few seconds, and before the sums are shown: a minute may have ended. */
void metrics_poll(struct metrics *m, const struct metrics_state *state);
/*
 * Called when the recording is over: waits for some 2 s at most until the slowest requests are
 * explained.
 */
void metrics_finish(struct metrics *m, const struct metrics_state *state);

/* Writes the file.  Returns 0 or -errno; or OUTFILE_OTHERS of cli/outfile.h. */
int metrics_write(struct metrics *m, const struct metrics_state *state);

/*
 * Makes a text that the caller frees, in the format OpenMetrics or Prometheus.  Returns 0 or
 * -errno.
 */
int metrics_render(struct metrics *m, const struct metrics_state *state, bool is_openmetrics, char **text,
		   size_t *size);

#endif
