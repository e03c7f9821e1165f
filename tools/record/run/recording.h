/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the state of a recording, for record.c and the files that it calls. */
#ifndef RECORD_RUN_RECORDING_H
#define RECORD_RUN_RECORDING_H

#include "record/launch/control.h"
#include "record/launch/launch.h"
#include "record/metrics/scrape.h"
#include "record/output/output.h"
#include "record/run/children.h"
#include "record/run/command.h"
#include "record/run/giveway.h"

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

	/* The program, and the runtime in it. */
	struct target target;
	struct launch launch;
	pid_t pid;		/* the program that is recorded */
	int pidfd;		/* pidfd of the program; -1: none */
	int listen_fd;		/* the runtime connects here; -1: none */
	char name[64];		/* abstract name of listen_fd */
	int sock;		/* connection to the runtime; -1: none */
	struct ldb_tune tune;	/* settings of the runtime */
	bool must_tune;		/* they could not be sent */
	uint64_t lock_threshold_ns;	/* the filter applies it, too */

	/* The state.  All times in ns: CLOCK_MONOTONIC. */
	enum phase phase;
	int64_t phase_since_ns;
	int64_t run_since_ns;	/* when PHASE_RUNNING was first entered; 0: not yet */
	int64_t next_second_ns, next_progress_ns, next_flush_ns;
	unsigned drain_ms;
	/* the runtime has sent HELLO, or a recording of kernel events only has begun */
	bool recorded;
	bool has_run;		/* the runtime has sent READY */
	bool has_trace;		/* a file was written and closed; it may contain no rows */
	bool failed;		/* exit status 1; the reason was printed */
	/* the user of a live recording wants to stop; is_left: without waiting */
	bool is_stopping, is_left;
	char end[32];		/* META "end" */

	/* The trace. */
	struct output out;

	/* Who else is served while the recording runs. */
	int signal_fd;
	struct command command;
	struct children children;
	struct scrape *scrape;		/* serves the metrics; NULL: not requested */
	struct giveway *giveway;	/* NULL: priorities stay as they are */
	bool has_tried_giveway;
};

static inline void recording_enter(struct recording *r, enum phase phase)
{
	r->phase = phase;
	r->phase_since_ns = clock_mono_ns();
	if (phase == PHASE_RUNNING && !r->run_since_ns)
		r->run_since_ns = r->phase_since_ns;
}

/* Returns true while there is a session to which the program may write. */
static inline bool recording_is_open(const struct recording *r)
{
	return r->out.writer;
}

/* Returns true if only kernel events are recorded, without a runtime. */
static inline bool recording_is_kernel_only(const struct recording *r)
{
	return r->o->kernel_only;
}

/* phase.c */

/*
 * Opens the session and begins to write the trace.  Returns false on failure, after printing why.
 */
bool recording_open(struct recording *r);

/* Sets META "end", unless it is set already. */
void recording_set_end(struct recording *r, const char *end);

/*
 * Asks the runtime to stop writing.  If it does not answer within 10 s, check_answer() of record.c
 * closes the recording.  Without a runtime, the recording is closed at once.
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

/* Ends a recording that has failed, or could not begin, after the reason was printed. */
void recording_give_up(struct recording *r);

/* pause.c */

/*
 * Pauses or resumes the recording.  During a pause no events of the program and of the kernel are
 * written, and no scanner of the runtime runs.  Open requests are cut.  Rows of threads and modules
 * remain complete.
 */
void recording_pause(struct recording *r, bool pause);

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

/* summary.c */
void summary_progress(const struct recording *r, int64_t now_ns);
/* Warns if root records another user's program, or starts a program as root. */
void summary_root(const struct recording *r);
void summary_print(const struct recording *r);

#endif
