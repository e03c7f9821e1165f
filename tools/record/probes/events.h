/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets probes of the kernel in a program's code (uprobes.h) and reads their events, in order of
 * time.  The user of this file says which values the kernel reads at each probe, and makes rows of
 * them.
 */
#ifndef RECORD_PROBES_EVENTS_H
#define RECORD_PROBES_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/backlog.h"

struct perf_field;
struct probe_events;

struct probe_event {
	uint64_t time;		/* in the kernel's clock: see probe_events_tick() */
	uint64_t ip;
	uint32_t tid;
	unsigned probe;		/* the number that probe_events_add() returned */
	/* raw data of the event: the values that the kernel has read, at the fields' offsets */
	const void *raw;
	size_t raw_size;
};

struct probe_events_options {
	pid_t pid;
	unsigned clock_id;	/* enum ldb_clock: the clock of the ticks */
	uint64_t t0;		/* clock value that is tick 0 */
	int64_t offset_ns;	/* clock_offset() of the program */
	size_t row_bytes;
	/* Adds one row for an event, by probe_events_row(), or none. */
	void (*take)(void *arg, const struct probe_event *e);
	backlog_out_fn *out;	/* receives the rows in order */
	void *arg;
};

/* Also removes the probes of recorders that have ended.  Returns NULL if there is no memory. */
struct probe_events *probe_events_alloc(const struct probe_events_options *o);
/* Removes the probes. */
void probe_events_free(struct probe_events *p);

/*
 * Adds a probe; the arguments are those of uprobe_add().  Returns its number, or -1 on failure;
 * then `why` contains the reason in one line.
 */
int probe_events_add(struct probe_events *p, const char *file, uint64_t offset, uint64_t semaphore, const char *args,
		     char *why, size_t why_size);
/*
 * Finds the position of an argument of the last added probe.  Returns false if the probe has no
 * such argument.
 */
bool probe_events_field(const struct probe_events *p, const char *arg, struct perf_field *field);
/* Removes the last added probe. */
void probe_events_drop(struct probe_events *p);

/*
 * Starts all added probes.  Returns false on failure, and writes the reason into `why` as one line.
 */
bool probe_events_open(struct probe_events *p, char *why, size_t why_size);

void *probe_events_row(struct probe_events *p, const struct probe_event *e);
int64_t probe_events_tick(struct probe_events *p, uint64_t time);

/* Delivers the rows of new events, except those of the last 20 ms. */
void probe_events_poll(struct probe_events *p);
/* While the probes are paused, they cost the program nothing. */
void probe_events_pause(struct probe_events *p, bool pause);
/* Ends the recording of events, and delivers the remaining rows. */
void probe_events_finish(struct probe_events *p);

uint64_t probe_events_err_ns(const struct probe_events *p);	/* greatest error of the times */
/* number of lost events; final after probe_events_finish() */
uint64_t probe_events_lost(const struct probe_events *p);

#endif
