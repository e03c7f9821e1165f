/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a recording, for record.c and the files that it calls. */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

#include "record/call-ids.h"
#include "record/children.h"
#include "record/command.h"
#include "record/drain.h"
#include "record/filter.h"
#include "record/flight.h"
#include "record/flow-sums.h"
#include "record/giveway.h"
#include "record/kernel-source.h"
#include "record/made-requests.h"
#include "record/modules.h"
#include "record/naming.h"
#include "record/pack.h"
#include "record/record.h"
#include "record/samples.h"
#include "record/scrape.h"
#include "record/session.h"
#include "record/threads.h"
#include "trace/writer.h"

enum phase {
	PHASE_PROGRAM,		/* launched; no runtime has connected yet */
	PHASE_HELLO,		/* connected */
	PHASE_ATTACH,		/* session sent */
	PHASE_READY,		/* attached; modules are coming in */
	PHASE_RUNNING,
	PHASE_AWAY,		/* the runtime has disconnected, and will connect again */
	PHASE_RESUME,		/* it has connected again, but has not answered yet */
	PHASE_DETACH,		/* waiting for the runtime to stop writing */
	PHASE_CLOSED,		/* not recording */
};

struct recording {
	const struct record_options *o;
	struct target target;
	struct launch launch;
	int signal_fd;
	int sock;		/* to the runtime, -1 none */
	int listen_fd;		/* the runtime connects here; -1 none */
	char name[64];		/* abstract, of listen_fd */
	int pidfd;		/* of the program, -1 none */
	pid_t pid;		/* of the program that is recorded */
	enum phase phase;
	int64_t phase_since_ns;	/* all _ns: CLOCK_MONOTONIC */
	int64_t begin_ns, end_ns;	/* of the recording */
	int64_t next_second_ns, next_progress_ns, next_flush_ns;
	unsigned drain_ms;
	struct giveway *giveway;	/* while it runs; NULL: it does not */
	bool has_tried_giveway;
	struct ldb_tune tune;	/* settings of the runtime */
	bool is_paused, must_tune;
	int64_t pause_tick;	/* since when */
	uint64_t nr_pauses;
	uint64_t left_total[FILTER_NR_LEFT];
	uint64_t lock_threshold_ns;	/* also applied by the filter */
	struct command command;
	struct children children;
	bool recorded;		/* the program got as far as HELLO */
	bool has_run;		/* ... and as far as READY */
	bool has_trace;		/* there is a file, which was closed; it may have no rows */
	bool failed;		/* exit status 1; was explained */
	bool is_stopping, is_left; /* live: the user wants to stop, and wants it now */
	char end[32];		/* META "end" */

	unsigned clock_id;
	int64_t offset_ns;		/* clock_offset() of the program */
	struct ldb_row_clock first_clock;
	uint64_t t0;
	int64_t realtime_ns;	/* CLOCK_REALTIME at t0 */
	uint64_t slack;		/* of pack_alloc() */
	int64_t released_tick;	/* older rows have been written */

	enum kernel_choice kernel;	/* what was chosen: not AUTO once it runs */
	char kernel_why[512];	/* why not a better one; "" if there is none */
	struct kernel_source *source;	/* NULL: KERNEL_MODULE without readings, or no events */
	unsigned nr_deaf;		/* deaf CPUs that kernel_why names */
	struct {
		/* Values at the last check of the budgets. */
		uint64_t cpu_ns, nr_irqs;
		uint64_t polls, ran;	/* of the scanners, ticks */
		int64_t next_ns, held_ns;
		bool are_irqs_left_out;
		uint32_t missing;	/* LDB_GROUP_* that did not come again after a pause */
	} costs;		/* kernel_hold_budget() */

	/* These exist from output_open() to output_close(), else they are NULL. */
	struct session session;
	uint64_t ring_bytes;		/* of all CPUs together: the session's, or the module's */
	struct map_names *map_names;
	struct writer *writer;
	struct drain *drain;
	struct pack *pack;
	struct threads *threads;
	struct modules *modules;
	struct filter *filter;
	struct metrics *metrics;	/* NULL: none are written */
	struct made_requests *made;	/* NULL: requests are tagged, or nobody needs them before the end */
	struct scrape *scrape;		/* who fetches them; NULL: nobody can */
	int64_t next_metrics_ns;
	bool has_metrics_failed;	/* the error was reported */
	struct naming naming;		/* of its functions */
	struct flow_sums *flows;		/* NULL: calls between modules are not followed */
	struct samples *samples;	/* NULL: none are taken */
	struct call_ids *ids;		/* NULL: requests have no ids of their own */
	struct flight *flight;		/* NULL: all goes into the file */
	char samples_why[128];		/* why there are none although requested; "" */
	uint64_t unwatched_reported, outside_reported;
	uint64_t disk_lost;

	/* for the summary */
	uint64_t nr_forks, nr_events, nr_lost, bytes, nr_samples, nr_samples_lost, nr_socket;
	uint64_t socket_left[LDB_SOCKET_LEFT_NR];
	/* of io_uring: how many the program had at once, what was left out in those that are followed */
	unsigned nr_rings;
	uint64_t nr_rings_left;
	int64_t next_rings_ns, rings_pause_ns, next_names_ns;
	struct fd_names *fd_names;
	bool has_ids;
	uint64_t nr_ids, nr_ids_lost, nr_ids_nowhere;
	const char *samples_clock;	/* NULL: none were taken */
	struct threads_total threads_total;
	struct flight_total flight_total;
};

static inline int64_t recording_tick(const struct recording *r, uint64_t tsc)
{
	return (int64_t)(tsc - r->t0);
}

/* Counts events that were written by the program, or by the kernel for it. */
static inline uint64_t recording_events(const struct recording *r)
{
	return drain_events(r->drain) + pack_nr_rows(r->pack);
}

/* phase.c */

void recording_enter(struct recording *r, enum phase phase);

/* Is there a session into which the program may write? */
bool recording_is_open(const struct recording *r);

/* Are kernel events alone recorded?  Then there is no runtime. */
bool recording_is_kernel_only(const struct recording *r);

/* Sets META "end"; the first reason stays. */
void recording_set_end(struct recording *r, const char *end);

/* Asks the runtime to stop writing; it answers, or check_answer() of record.c gives up. */
void recording_detach(struct recording *r, const char *end);

void recording_hang_up(struct recording *r);
bool recording_is_gone(const struct recording *r);

/* The runtime has closed its end: the program has ended, or runs another one. */
void recording_hung_up(struct recording *r);

void recording_close(struct recording *r);

/* Ends a recording that could not begin; the reason was printed. */
void recording_give_up(struct recording *r);

/* pause.c */

/*
 * Pauses the recording, or resumes it: nothing of the program's and the kernel's events is written
 * meanwhile, and the runtime's scanner sleeps.  Requests that are open are cut.  What the trace says
 * of threads and modules remains complete.
 */
void recording_pause(struct recording *r, bool pause);

/* Begin a recording paused, or end one that is paused. */
void recording_begin_paused(struct recording *r);
void recording_end_paused(struct recording *r);

/* Sends r->tune to the runtime.  Returns 0 or -errno; if there is none now, it gets it later. */
int recording_tune(struct recording *r);
/* Sends it again if it could not be sent. */
void recording_tune_again(struct recording *r);

/* messages.c */

/* Handles all messages that the runtime has sent by now. */
void messages_receive(struct recording *r);

/* What came is no message. */
void messages_invalid(struct recording *r);
/* Handles one. */
void messages_handle(struct recording *r, const union control_message *m);

/* kernel.c: where kernel events come from. */

/*
 * Opens the session and the source of kernel events, which together choose the clock; *hz is its
 * rate.  The recording's time begins here.  If it returns false, it printed why.
 */
bool kernel_open(struct recording *r, uint64_t *hz);
void kernel_close(struct recording *r);
void kernel_metas(struct recording *r);
/*
 * Call it before the rings of the session are read, in each pass, and once before the last one.
 * Returns how full the fullest of its buffers was, in 1/1000.
 */
unsigned kernel_poll(struct recording *r);
/* Ends the kernel's events, or begins them again; if they do not come back, that is written. */
void kernel_pause(struct recording *r, bool pause);
void kernel_finish(struct recording *r);
/* Call it at any time: it leaves interrupts out from then on if they are too expensive. */
void kernel_hold_budget(struct recording *r, int64_t now_ns);
/* Returns "module", "bpf", "perf" or "none". */
const char *kernel_name(const struct recording *r);

/* output.c: writes the file. */

/* Checks, before anything is started, for a folder that cannot be written or a full disk. */
bool output_check(const char *path);

/* May a recording write this many bytes?  It leaves a part of the disk free. */
bool output_disk_has_room(const char *path, uint64_t bytes);
bool output_disk_is_full(const char *path);

bool output_open(struct recording *r);

/* Makes one pass over the rings; returns how full they were, in 1/1000. */
unsigned output_drain(struct recording *r);

/* Writes all rows that are known now. */
void output_flush(struct recording *r);
/* Writes what else is only written at the end, as of now. */
void output_snapshot(struct recording *r);

/* output-made.c: requests of --request, if somebody needs them now; at the end, those that are left. */
void output_made_open(struct recording *r);
void output_made_finish(struct recording *r);

/* output-ids.c: ids of calls that are requests, if --request says where they are. */
void output_ids_open(struct recording *r);
void output_ids_poll(struct recording *r);
void output_ids_finish(struct recording *r);

/* Writes what is in memory to the disk; called once a second. */
void output_second(struct recording *r);

/*
 * Writes all rows that describe others, as of now.  is_last: what the end of the recording has
 * written is not repeated.
 */
void output_describe(struct recording *r, bool is_last);

/* The counters of the scanners, one row for each of them. */
void output_copy_scans(const struct recording *r, struct ldb_row_scan *rows);

/* Replaces output_second() for struct record_live: delivers all rows and repeats older ones. */
void output_live(struct recording *r);

/* Returns why recording cannot continue: one line for the user, and META "end"; NULL: it can. */
const char *output_must_stop(struct recording *r, const char **end);

/* Ends the recording; must be called when nothing writes into the session any more. */
void output_close(struct recording *r);

/* output-meta.c: writes META rows. */

/* Returns a thread that exists, for /proc; the first thread may have ended. */
pid_t output_living(const struct recording *r);

void output_meta_number(struct recording *r, const char *key, uint64_t value);

/* Writes what is known when the recording begins. */
void output_write_metas(struct recording *r);

/* Writes what is known of the program when its libraries are mapped. */
void output_program(struct recording *r);

/* Shows the user a warning, and writes it into the file. */
void output_warning(struct recording *r, const char *text);

/* output-metrics.c: with --metrics, these are called from time to time, and at the end. */
void output_metrics_open(struct recording *r);
void output_metrics(struct recording *r);
void output_metrics_finish(struct recording *r);
int output_metrics_render(void *recording, bool is_openmetrics, char **text, size_t *size);	/* a scrape_fn */

/* summary.c */
void summary_progress(const struct recording *r, int64_t now_ns);
/* Warns where root records another user's program, or starts one as root. */
void summary_root(const struct recording *r);
void summary_print(const struct recording *r);

#endif
