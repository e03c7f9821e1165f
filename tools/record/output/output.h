/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the trace of a recording: reads all sources of rows, and passes the rows to the file, to
 * the flight recorder and to the sums.  The trace is open from output_open() to output_close().
 */
#ifndef RECORD_OUTPUT_OUTPUT_H
#define RECORD_OUTPUT_OUTPUT_H

#include "record/filter/filter.h"
#include "record/filter/naming.h"
#include "record/flight/flight.h"
#include "record/kernel/source.h"
#include "record/metrics/metrics.h"
#include "record/names/modules.h"
#include "record/output/options.h"
#include "record/perf/samples.h"
#include "record/probes/call-ids.h"
#include "record/probes/queues.h"
#include "record/requests/made.h"
#include "record/rows/drain.h"
#include "record/rows/flow-sums.h"
#include "record/rows/pack.h"
#include "record/rows/threads.h"
#include "record/session/session.h"
#include "trace/writer.h"

/* The source of kernel events: kernel.c */
struct output_kernel {
	enum kernel_choice choice;	/* the source in use; AUTO only before it is chosen */
	/* why no better source is used, and what this one does not deliver; or "" */
	char why[512];
	/* NULL: there are no events, or the module delivers them and reads no frames */
	struct kernel_source *source;
	/* number of CPUs that `why` lists because events are missing there */
	unsigned nr_deaf;
	struct {
		/* Values at the last check of the budgets. */
		uint64_t cpu_ns, nr_irqs;
		uint64_t polls, ran;	/* of count_scanners(), in ticks */
		int64_t next_ns, held_ns;	/* times of the next check, and of the last one */
		bool are_irqs_left_out;
		uint32_t missing;	/* LDB_GROUP_* that did not resume after a pause */
	} costs;		/* state of kernel_hold_budget() */
};

/* Operations of io_uring: rings.c */
struct output_rings {
	struct fd_names *names;		/* of their descriptors */
	unsigned nr;			/* greatest number of rings at one time */
	/* when the rings are counted next, and the interval until the count after that */
	int64_t next_ns, pause_ns;
	int64_t next_names_ns;		/* when the names expire */
};

/* What was recorded, for the summary and for progress. */
struct output_total {
	int64_t begin_ns, end_ns;	/* CLOCK_MONOTONIC */
	uint64_t nr_forks, nr_events, nr_pauses;
	uint64_t nr_lost, disk_lost;	/* rows that were lost before the writer, and in it */
	uint64_t bytes;			/* size of the file */
	uint64_t left[FILTER_NR_LEFT];	/* rows that were left out, by LDB_LEFT_* - LDB_LEFT_PAUSE */
	struct threads_total threads;
	struct flight_total flight;
	const char *samples_clock;	/* NULL: no samples were taken */
	char samples_why[128];		/* why requested samples are not taken; or "" */
	uint64_t nr_samples, nr_samples_lost;
	bool has_ids, has_queues;
	uint64_t nr_ids, nr_ids_lost, nr_ids_nowhere, nr_queues_lost;
	struct queues_total queues;
	uint64_t nr_socket, socket_left[LDB_SOCKET_LEFT_NR];
	uint64_t nr_rings_left;		/* operations left out in followed rings */
};

struct output {
	/* The following are set by the caller. */
	const struct record_options *o;
	pid_t pid;		/* the program that is recorded */
	const char *end;	/* META "end"; "" as long as the recording continues */
	bool is_launched;	/* the program does not run before output_open() has returned */
	bool is_scanned_in_requests;	/* LDB_TUNE_IN_REQUESTS is set when the trace is opened */
	bool has_records;	/* the program's file has instrumented functions */
	bool without_kernel;	/* other recorders record kernel events already */
	bool has_failed;	/* the exit status is 1, and the reason was printed */
	pack_rest_fn *rest;	/* see pack_on_rest() */
	void *rest_arg;

	/* The clock; the first three are set by the caller, and kernel_open() may choose another. */
	unsigned clock_id;
	int64_t offset_ns;		/* clock_offset() of the program */
	struct ldb_row_clock first_clock;
	uint64_t t0;
	int64_t realtime_ns;	/* CLOCK_REALTIME at t0 */
	uint64_t slack;		/* slack_ticks of pack_alloc() */
	int64_t released_tick;	/* older rows have been written */

	/* Where rows come from.  NULL: there are none of this kind. */
	struct session session;
	/* The bytes of the rings of all CPUs together: the session's rings, or the module's. */
	uint64_t ring_bytes;
	struct output_kernel kernel;
	struct drain *drain;
	struct threads *threads;
	struct modules *modules;
	struct flow_sums *flows;	/* calls between modules */
	struct samples *samples;
	struct call_ids *ids;		/* ids from arguments of calls */
	struct queues *queues;

	/* What makes, names and chooses rows. */
	struct pack *pack;
	struct filter *filter;
	struct naming naming;		/* looks up names for the filter */
	struct map_names *map_names;
	struct output_rings rings;

	/* Where rows go. */
	struct writer *writer;		/* NULL: the recording has not begun, or has ended */
	struct flight *flight;		/* NULL: all rows are written into the file */
	/* NULL: requests are tagged, or are not needed before the end */
	struct made_requests *made;
	struct metrics *metrics;	/* NULL: no metrics are written */
	int64_t next_metrics_ns;
	bool has_metrics_failed;	/* the error was reported */

	bool is_paused;
	int64_t pause_tick;		/* the time at which the pause began */
	uint64_t unobserved_reported, outside_reported;
	struct output_total total;
};

static inline int64_t output_tick(const struct output *out, uint64_t tsc)
{
	return (int64_t)(tsc - out->t0);
}

static inline int64_t output_now(const struct output *out)
{
	return output_tick(out, clock_now(out->clock_id));
}

/* Returns how many events were read from the rings, or delivered by other sources, so far. */
static inline uint64_t output_events(const struct output *out)
{
	return drain_events(out->drain) + pack_nr_rows(out->pack);
}

/* kernel.c: chooses the source of kernel events. */

/*
 * Opens the session and the source of kernel events, which together choose the clock; *hz is its
 * rate.  The recording's time begins here.  Returns false on failure, after printing why.
 */
bool kernel_open(struct output *out, uint64_t *hz);
void kernel_close(struct output *out);
void kernel_metas(struct output *out);
/*
 * Must be called in each pass before the session's rings are read.  Returns how full the fullest of
 * the source's buffers was, in 1/1000.
 */
unsigned kernel_poll(struct output *out);
/* Stops or resumes kernel events.  If some do not resume, writes that into the trace. */
void kernel_pause(struct output *out, bool pause);
void kernel_finish(struct output *out);
/*
 * Stops recording interrupts if that costs too much, and passes the other costs to the source,
 * which limits its readings of frames.  May be called at any time.
 */
void kernel_hold_budget(struct output *out, int64_t now_ns);
/* Returns "module", "bpf", "perf", "schedstat" or "none". */
const char *kernel_name(const struct output *out);

/* output.c: writes the file. */

/*
 * Checks before the program is started whether `path` can be written, and whether the disk is full.
 * Returns false on failure, after printing why.
 */
bool output_check(const char *path);

bool output_open(struct output *out);

/* Makes one pass over the rings; returns how full they were, in 1/1000. */
unsigned output_drain(struct output *out);

/*
 * Writes the rows of threads and modules and the sums of calls, with their current values, and all
 * buffered data, so that the file can be read while the recording continues.
 */
void output_snapshot(struct output *out);

/* Called once a second: writes buffered data to the disk, and the sums for monitoring. */
void output_second(struct output *out);

/*
 * Replaces output_second() for struct record_live: also repeats the rows that describe others, and
 * reports the status.
 */
void output_live(struct output *out);

/*
 * Returns why the recording cannot continue: one line for the user, and META "end" in *end; NULL:
 * it can.
 */
const char *output_must_stop(struct output *out, const char **end);

/* Ends the recording.  Must be called when nothing writes to the session any more. */
void output_close(struct output *out);

/* describe.c */
void output_write_clock(struct output *out);
void output_write_scans(struct output *out);
/* Copies the counters of the scanners, one row for each. */
void output_copy_scans(const struct output *out, struct ldb_row_scan *rows);
/*
 * Writes all rows that describe others, with their current values.  is_last: those that are written
 * at the end of the recording in any case are left out.
 */
void output_describe(struct output *out, bool is_last);
/* Writes the rows of new and ended threads, the losses and the clock, and all buffered data. */
void output_flush(struct output *out);

/* losses.c: writes how many rows were lost or left out since the last call. */
void output_write_losses(struct output *out);
/* Only invocations that were late (chains_take_late()), and rows that the filter has left out. */
void output_write_left(struct output *out);
/*
 * `all`: number of invocations outside of requests, which were only counted, of all threads so far.
 */
void output_write_outside(struct output *out, uint64_t all);

/* flight.c: the flight recorder, which makes the writer. */
bool output_flight_open(struct output *out, const struct ldb_file_header *h);
/* Must be called when the sources of rows are open. */
void output_flight_connect(struct output *out);

/* samples.c */
void output_samples_open(struct output *out);
void output_samples_finish(struct output *out);

/* made.c: makes the requests of --request, if they are needed during the recording. */
void output_made_open(struct output *out);
void output_made_finish(struct output *out);

/* ids.c: reads the ids of requests from arguments of calls, as --request says. */
void output_ids_open(struct output *out);
void output_ids_poll(struct output *out);
void output_ids_finish(struct output *out);

/* queues.c */
void output_queues_open(struct output *out);
void output_queues_poll(struct output *out);
void output_queues_finish(struct output *out);

/* pause.c: pauses the writing of rows, and their sources. */

/* From this tick on, no events are written.  The caller pauses the runtime. */
void output_pause(struct output *out, int64_t tick);
/* Events are written again.  is_observed: the scanner reports the observation gap itself. */
void output_resume(struct output *out, int64_t tick, bool is_observed);
/* Pauses or resumes the sources of rows other than the runtime. */
void output_pause_sources(struct output *out, bool pause);

/* meta.c: writes META rows. */

/* Returns an existing thread of the program, for /proc; the first thread may have ended. */
pid_t output_living(const struct output *out);

void output_meta_number(struct output *out, const char *key, uint64_t value);

/* Writes rows that are known at the beginning of the recording. */
void output_write_metas(struct output *out);

/*
 * Returns a number that identifies the program's network namespace on this machine until the next
 * boot.
 */
uint64_t output_network(const struct output *out);

/* Writes rows that describe the program; must be called when its libraries are mapped. */
void output_program(struct output *out);

/* Shows the user a warning, and writes it into the file. */
void output_warning(struct output *out, const char *text);

/* metrics.c: implements --metrics; called from time to time, and at the end. */
void output_metrics_open(struct output *out);
void output_metrics(struct output *out);
void output_metrics_finish(struct output *out);
int output_metrics_render(void *output, bool is_openmetrics, char **text, size_t *size);	/* a scrape_fn */

#endif
