/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the state of a recording, for record.c and the files that it calls. */
#ifndef RECORD_RUN_RECORDING_H
#define RECORD_RUN_RECORDING_H

#include "record/filter/filter.h"
#include "record/filter/naming.h"
#include "record/flight/flight.h"
#include "record/kernel/source.h"
#include "record/launch/control.h"
#include "record/launch/launch.h"
#include "record/metrics/scrape.h"
#include "record/names/modules.h"
#include "record/output/options.h"
#include "record/perf/samples.h"
#include "record/probes/call-ids.h"
#include "record/requests/made.h"
#include "record/rows/drain.h"
#include "record/rows/flow-sums.h"
#include "record/rows/pack.h"
#include "record/rows/threads.h"
#include "record/run/children.h"
#include "record/run/command.h"
#include "record/run/giveway.h"
#include "record/session/session.h"
#include "trace/writer.h"

enum phase {
	PHASE_PROGRAM,		/* the program was started; no runtime has connected yet */
	PHASE_HELLO,		/* the runtime has connected */
	PHASE_ATTACH,		/* the session was sent */
	PHASE_READY,		/* the runtime has attached; it reports its modules */
	PHASE_RUNNING,
	PHASE_AWAY,		/* the runtime has disconnected, and will connect again */
	PHASE_RESUME,		/* the runtime has connected again, but has not answered yet */
	PHASE_DETACH,		/* waiting for the runtime to stop writing */
	PHASE_CLOSED,		/* not recording */
};

struct recording {
	const struct record_options *o;
	struct target target;
	struct launch launch;
	int signal_fd;
	int sock;		/* connection to the runtime; -1: none */
	int listen_fd;		/* the runtime connects here; -1: none */
	char name[64];		/* abstract name of listen_fd */
	int pidfd;		/* pidfd of the program; -1: none */
	pid_t pid;		/* the program that is recorded */
	enum phase phase;
	int64_t phase_since_ns;	/* all times in ns: CLOCK_MONOTONIC */
	int64_t begin_ns, end_ns;	/* beginning and end of the recording */
	int64_t next_second_ns, next_progress_ns, next_flush_ns;
	unsigned drain_ms;
	struct giveway *giveway;	/* NULL: priorities stay as they are */
	bool has_tried_giveway;
	struct ldb_tune tune;	/* settings of the runtime */
	bool is_paused, must_tune;
	int64_t pause_tick;	/* the time at which the pause began */
	uint64_t nr_pauses;
	uint64_t left_total[FILTER_NR_LEFT];
	uint64_t lock_threshold_ns;	/* the filter applies it, too */
	struct command command;
	struct children children;
	bool recorded;		/* the runtime has sent HELLO */
	bool has_run;		/* the runtime has sent READY */
	bool has_trace;		/* a file was written and closed; it may contain no rows */
	bool failed;		/* exit status 1; the reason was printed */
	/* the user of a live recording wants to stop; is_left: without waiting */
	bool is_stopping, is_left;
	char end[32];		/* META "end" */

	unsigned clock_id;
	int64_t offset_ns;		/* clock_offset() of the program */
	struct ldb_row_clock first_clock;
	uint64_t t0;
	int64_t realtime_ns;	/* CLOCK_REALTIME at t0 */
	uint64_t slack;		/* slack_ticks of pack_alloc() */
	int64_t released_tick;	/* older rows have been written */

	enum kernel_choice kernel;	/* the source in use; AUTO only before it is chosen */
	char kernel_why[512];	/* why no better source is used; "": none is better */
	/* NULL: there are no events, or the module delivers them and reads no frames */
	struct kernel_source *source;
	/* number of CPUs that kernel_why lists because events are missing there */
	unsigned nr_deaf;
	struct {
		/* Values at the last check of the budgets. */
		uint64_t cpu_ns, nr_irqs;
		uint64_t polls, ran;	/* time of the scanners, in ticks */
		int64_t next_ns, held_ns;
		bool are_irqs_left_out;
		uint32_t missing;	/* LDB_GROUP_* that did not resume after a pause */
	} costs;		/* state of kernel_hold_budget() */

	/*
	 * Most of the following exist only from output_open() to output_close(); otherwise pointers
	 * are NULL.
	 */
	struct session session;
	/* The bytes of the rings of all CPUs together: the session's rings, or the module's. */
	uint64_t ring_bytes;
	struct map_names *map_names;
	struct writer *writer;
	struct drain *drain;
	struct pack *pack;
	struct threads *threads;
	struct modules *modules;
	struct filter *filter;
	struct metrics *metrics;	/* NULL: no metrics are written */
	/* NULL: requests are tagged, or are not needed before the end */
	struct made_requests *made;
	struct scrape *scrape;		/* serves the metrics; NULL: not requested */
	int64_t next_metrics_ns;
	bool has_metrics_failed;	/* the error was reported */
	struct naming naming;		/* looks up names for the filter */
	struct flow_sums *flows;		/* NULL: calls between modules are not followed */
	struct samples *samples;	/* NULL: no samples are taken */
	struct call_ids *ids;		/* NULL: no ids are read from arguments of calls */
	struct queues *queues;		/* NULL: no queues are followed */
	struct flight *flight;		/* NULL: all rows are written into the file */
	char samples_why[128];		/* why requested samples are not taken; or "" */
	uint64_t unwatched_reported, outside_reported;
	uint64_t disk_lost;

	/* the following are for the summary */
	uint64_t nr_forks, nr_events, nr_lost, bytes, nr_samples, nr_samples_lost, nr_socket;
	uint64_t socket_left[LDB_SOCKET_LEFT_NR];
	/*
	 * io_uring: greatest number of rings at one time, and operations left out in followed rings
	 */
	unsigned nr_rings;
	uint64_t nr_rings_left;
	int64_t next_rings_ns, rings_pause_ns, next_names_ns;
	struct fd_names *fd_names;
	bool has_ids, has_queues;
	uint64_t nr_ids, nr_ids_lost, nr_ids_nowhere, nr_queues_lost;
	struct queues_total queues_total;
	const char *samples_clock;	/* NULL: no samples were taken */
	struct threads_total threads_total;
	struct flight_total flight_total;
};

static inline int64_t recording_tick(const struct recording *r, uint64_t tsc)
{
	return (int64_t)(tsc - r->t0);
}

/* Returns the number of events that the program has written, or the kernel for the program. */
static inline uint64_t recording_events(const struct recording *r)
{
	return drain_events(r->drain) + pack_nr_rows(r->pack);
}

/* phase.c */

void recording_enter(struct recording *r, enum phase phase);

/* Returns true while there is a session to which the program may write. */
bool recording_is_open(const struct recording *r);

/* Returns true if only kernel events are recorded, without a runtime. */
bool recording_is_kernel_only(const struct recording *r);

/* Sets META "end", unless it is set already. */
void recording_set_end(struct recording *r, const char *end);

/*
 * Asks the runtime to stop writing.  If it does not answer within 10 s, check_answer() of record.c
 * closes the recording.
 */
void recording_detach(struct recording *r, const char *end);

void recording_hang_up(struct recording *r);
bool recording_is_gone(const struct recording *r);

/*
 * Called when the runtime has closed the connection: the program has ended, or has executed another
 * one.
 */
void recording_hung_up(struct recording *r);

void recording_close(struct recording *r);

/* Ends a recording that could not begin, after the reason was printed. */
void recording_give_up(struct recording *r);

/* pause.c */

/*
 * Pauses or resumes the recording.  During a pause no events of the program and of the kernel are
 * written, and the runtime's scanner sleeps.  Open requests are cut.  Rows of threads and modules
 * remain complete.
 */
void recording_pause(struct recording *r, bool pause);

/*
 * Called at the beginning of the recording: if the options say so, it begins in a pause.  And at
 * its end: a pause ends there.
 */
void recording_begin_paused(struct recording *r);
void recording_end_paused(struct recording *r);

/*
 * Sends r->tune to the runtime.  Returns 0 or -errno.  If there is no connection now, r->tune is
 * sent later.
 */
int recording_tune(struct recording *r);
/* Sends r->tune again if it could not be sent. */
void recording_tune_again(struct recording *r);

/* messages.c */

/* Receives and handles all messages of the runtime that have arrived. */
void messages_receive(struct recording *r);

/* Handles invalid data from the connection. */
void messages_invalid(struct recording *r);
/* Handles one message. */
void messages_handle(struct recording *r, const union control_message *m);

/* kernel.c: chooses the source of kernel events. */

/*
 * Opens the session and the source of kernel events, which together choose the clock; *hz is its
 * rate.  The recording's time begins here.  Returns false on failure, after printing why.
 */
bool kernel_open(struct recording *r, uint64_t *hz);
void kernel_close(struct recording *r);
void kernel_metas(struct recording *r);
/*
 * Must be called in each pass before the session's rings are read, and once before the last pass.
 * Returns how full the fullest of the source's buffers was, in 1/1000.
 */
unsigned kernel_poll(struct recording *r);
/* Stops or resumes kernel events.  If some do not resume, writes that into the trace. */
void kernel_pause(struct recording *r, bool pause);
void kernel_finish(struct recording *r);
/* If recording interrupts costs too much, stops recording them.  May be called at any time. */
void kernel_hold_budget(struct recording *r, int64_t now_ns);
/* Returns "module", "bpf", "perf", "schedstat" or "none". */
const char *kernel_name(const struct recording *r);

/* output.c: writes the file. */

/* Checks for a directory that cannot be written, or a full disk, before the program is started. */
bool output_check(const char *path);

bool output_open(struct recording *r);

/* Makes one pass over the rings; returns how full they were, in 1/1000. */
unsigned output_drain(struct recording *r);

/* Writes all rows that can be written now. */
void output_flush(struct recording *r);
/* Writes the rows that are normally written at the end, with their current values. */
void output_snapshot(struct recording *r);

/* output/made.c: makes the requests of --request, if they are needed during the recording. */
void output_made_open(struct recording *r);
void output_made_finish(struct recording *r);

/* output/ids.c: reads the ids of requests from arguments of calls, as --request says. */
void output_ids_open(struct recording *r);
void output_ids_poll(struct recording *r);
void output_ids_finish(struct recording *r);

/* output/queues.c */
void output_queues_open(struct recording *r);
void output_queues_poll(struct recording *r);
void output_queues_finish(struct recording *r);

/* Writes buffered data to the disk; called once a second. */
void output_second(struct recording *r);

/*
 * Writes all rows that describe others, with their current values.  is_last: those that are written
 * at the end of the recording in any case are left out.
 */
void output_describe(struct recording *r, bool is_last);

/* Copies the counters of the scanners, one row for each. */
void output_copy_scans(const struct recording *r, struct ldb_row_scan *rows);

/* Replaces output_second() for struct record_live: delivers all rows and repeats older ones. */
void output_live(struct recording *r);

/*
 * Returns why the recording cannot continue: one line for the user, and META "end" in *end; NULL:
 * it can.
 */
const char *output_must_stop(struct recording *r, const char **end);

/* Ends the recording.  Must be called when nothing writes to the session any more. */
void output_close(struct recording *r);

/* output/meta.c: writes META rows. */

/* Returns an existing thread of the program, for /proc; the first thread may have ended. */
pid_t output_living(const struct recording *r);

void output_meta_number(struct recording *r, const char *key, uint64_t value);

/* Writes rows that are known at the beginning of the recording. */
void output_write_metas(struct recording *r);

/*
 * Returns a number that identifies the program's network namespace on this machine until the next
 * boot.
 */
uint64_t output_network(const struct recording *r);

/* Writes rows that describe the program, when its libraries are mapped. */
void output_program(struct recording *r);

/* Shows the user a warning, and writes it into the file. */
void output_warning(struct recording *r, const char *text);

/* output/metrics.c: implements --metrics; called from time to time, and at the end. */
void output_metrics_open(struct recording *r);
void output_metrics(struct recording *r);
void output_metrics_finish(struct recording *r);
int output_metrics_render(void *recording, bool is_openmetrics, char **text, size_t *size);	/* a scrape_fn */

/* summary.c */
void summary_progress(const struct recording *r, int64_t now_ns);
/* Warns if root records another user's program, or starts a program as root. */
void summary_root(const struct recording *r);
void summary_print(const struct recording *r);

#endif
