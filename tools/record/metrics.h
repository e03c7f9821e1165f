/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums events for monitoring, in memory that does not grow: distributions of the durations of
 * functions, requests by class, waits for locks and waits for a CPU, from the beginning of the
 * recording on; and the slowest requests of the last minute, with what they spent their time on.
 *
 * They are written to a file from time to time: as OpenMetrics text, or as OTLP's JSON if the name
 * ends in .json.  The file is replaced as a whole.  Or they are fetched from a socket: scrape.h.
 */
#ifndef RECORD_METRICS_H
#define RECORD_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <ldb/trace-format.h>
#include "record/filter.h"
#include "record/pauses.h"

struct metrics;
struct record_explain;

struct metrics_options {
	const char *path;		/* of the file, or NULL */
	void (*explain)(const struct record_explain *e);	/* see record.h; or NULL */
};

/* Returns NULL if there is no memory.  f has the names of functions and locks. */
struct metrics *metrics_alloc(const struct metrics_options *o, double ns_per_tick, struct filter *f);
void metrics_free(struct metrics *m);

/*
 * Is it a thread of the program, and not one of ldb's own?  Without this function all threads are.
 */
typedef bool metrics_thread_fn(void *arg, uint32_t tid);
void metrics_on_thread(struct metrics *m, metrics_thread_fn *fn, void *arg);

/* What lasted into a pause, or out of one, has no known duration.  Without this function there is none. */
void metrics_on_pauses(struct metrics *m, const struct pauses *pauses);

void metrics_func(struct metrics *m, const struct ldb_row_func *row);
void metrics_lock(struct metrics *m, const struct ldb_row_lock *row);
void metrics_class(struct metrics *m, uint64_t id, int64_t tick, const char *name);
/* In order of time. */
void metrics_requests(struct metrics *m, const struct ldb_row_req *rows, size_t nr);
void metrics_sched(struct metrics *m, const struct ldb_row_sched *rows, size_t nr);

/* Or, without metrics_requests(), one that was made of something else; its class is its name. */
struct made_request;
void metrics_made(struct metrics *m, const struct made_request *request);

struct metrics_state {
	int64_t begin_ns, now_ns;	/* CLOCK_REALTIME */
	uint64_t calls, observed_calls, nr_lost, nr_threads;
};

/* Call it every few seconds, and before the sums are shown: a minute may be over. */
void metrics_poll(struct metrics *m, const struct metrics_state *state);
/* The recording is over: waits for a moment, for what the slowest requests spent their time on. */
void metrics_finish(struct metrics *m, const struct metrics_state *state);

/* Returns 0 or -errno; or OUTFILE_OTHERS of cli/outfile.h. */
int metrics_write(struct metrics *m, const struct metrics_state *state);

/* Makes the same as text, to be freed: OpenMetrics or Prometheus'.  Returns 0 or -errno. */
int metrics_render(struct metrics *m, const struct metrics_state *state, bool is_openmetrics, char **text,
		   size_t *size);

#endif
