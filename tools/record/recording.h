/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of one recording, shared by record.c, output.c and summary.c. */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

#include "record/drain.h"
#include "record/modules.h"
#include "record/pack.h"
#include "record/record.h"
#include "record/session.h"
#include "record/threads.h"
#include "trace/writer.h"

enum phase {
	PHASE_PROGRAM,		/* launched; nobody has connected yet */
	PHASE_HELLO,		/* connected */
	PHASE_ATTACH,		/* session sent */
	PHASE_READY,		/* attached; modules are coming in */
	PHASE_RUNNING,
	PHASE_DETACH,		/* waiting for the runtime to stop writing */
	PHASE_CLOSED,		/* no recording, or no more */
};

struct recording {
	const struct record_options *o;
	struct target target;
	struct launch launch;
	int signal_fd;
	int sock;		/* to the runtime, -1 none */
	int pidfd;		/* of the program, -1 none */
	pid_t pid;		/* of the program that is recorded */
	enum phase phase;
	int64_t phase_since_ns;	/* all _ns: CLOCK_MONOTONIC */
	int64_t begin_ns, end_ns;	/* of the recording */
	int64_t next_second_ns, next_progress_ns;
	unsigned drain_ms;
	bool recorded;		/* the program got as far as HELLO */
	bool failed;		/* exit status 1; was explained */
	char end[32];		/* META "end" */

	unsigned clock_id;
	struct ldb_row_clock first_clock;
	uint64_t t0;

	/* From output_open() to output_close(), else NULL. */
	struct session session;
	struct writer *writer;
	struct drain *drain;
	struct pack *pack;
	struct threads *threads;
	struct modules *modules;
	uint64_t unwatched_told;
	uint64_t disk_lost;

	/* for the summary */
	uint64_t nr_events, nr_lost, bytes;
	struct threads_total threads_total;
};

static inline int64_t recording_tick(const struct recording *r, uint64_t tsc)
{
	return (int64_t)(tsc - r->t0);
}

/* output.c: the file and what fills it. */

/* Before anything is started: a folder that cannot be written to, a full disk. */
bool output_check(const char *path);

bool output_open(struct recording *r);

/* One pass over the rings; returns how full they were, in 1/1000. */
unsigned output_drain(struct recording *r);

/* Once a second: what is kept goes to the disk. */
void output_second(struct recording *r);

/* Why recording cannot go on: one line for the user, and META "end"; NULL: it can. */
const char *output_must_stop(struct recording *r, const char **end);

void output_warning(struct recording *r, const char *text);

/* Nobody writes into the session any more. */
void output_close(struct recording *r);

/* summary.c */
void summary_progress(const struct recording *r, int64_t now_ns);
void summary_print(const struct recording *r);

#endif
