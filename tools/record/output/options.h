/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the options of a recording. */
#ifndef RECORD_OUTPUT_OPTIONS_H
#define RECORD_OUTPUT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ldb/control.h>
#include "record/filter/lookup.h"
#include "record/flight/flight.h"
#include "record/metrics/explain.h"
#include "record/output/live.h"
#include "record/probes/call-ids.h"
#include "record/probes/queues.h"

struct child_options;

/*
 * When the kernel reads chains of frames: at switches and in between (FRAMES_AUTO: in between only
 * while the CPUs are busy and the scanner hardly runs).
 */
enum frames_choice { FRAMES_OFF, FRAMES_ON, FRAMES_AUTO };

/* The system calls that are recorded (--syscalls). */
enum call_choice {
	CALLS_OFF,
	CALLS_SLEEP,		/* those in which a thread sleeps */
	CALLS_ALL,		/* also all others that last call_threshold_ns or longer */
};

/* Where kernel events come from (--kernel). */
enum kernel_choice {
	KERNEL_AUTO,		/* the first of the following that works */
	KERNEL_MODULE,
	KERNEL_BPF,
	KERNEL_PERF,
	/* no events, only counters that the runtime reads; needs no privileges */
	KERNEL_SCHEDSTAT,
	KERNEL_NONE,
};

struct record_options {
	/* words of --request, separated by newlines; NULL: tagged requests, or socket_requests */
	const char *request;
	/* rows are delivered to this, instead of being written into `output`; or NULL */
	const struct record_live *live;
	const char *output;
	char **argv;		/* the program to launch, or NULL */
	pid_t pid;		/* the program to attach to, or 0 */
	const pid_t *more;	/* further programs to attach to, if children are recorded */
	size_t nr_more;
	/* the options by which pid and further processes are selected, or NULL */
	const char *of_name, *of_cgroup;
	uint64_t duration_ns;	/* 0: until the program ends */
	uint32_t budget_ppm;
	/* share of the program's CPU time that recording interrupts may cost, in 1/1000000 */
	uint32_t kernel_budget_ppm;
	int mutex_level;	/* enum ldb_mutex_level */
	uint64_t lock_threshold_ns, func_threshold_ns;
	uint64_t scan_interval_ns;
	uint64_t nr_scanners;
	int scanner_cpu;	/* -1: not pinned */
	uint64_t ring_bytes, max_bytes;
	bool ring_given;
	const char *libldb;	/* the runtime to preload, or NULL */
	bool monotonic;		/* use CLOCK_MONOTONIC even if the TSC can be used */
	int kernel;		/* enum kernel_choice */
	int calls;		/* enum call_choice */
	uint64_t call_threshold_ns;	/* CALLS_ALL: shorter system calls are only counted */
	int kernel_frames;	/* enum frames_choice */
	uint64_t samples_hz;	/* samples per second of CPU time; 0: no samples */
	/* take samples without privileges, too, which makes switches slower */
	bool may_slow_samples;
	bool flows;		/* record calls between modules, in any program */
	uint64_t flows_threshold_ns;
	const char *functions, *classes;	/* words as in filter.h; NULL: all are recorded */
	const char *metrics;	/* file for the sums for monitoring, or NULL */
	const char *metrics_listen;	/* where to serve these sums: a path, or :PORT; or NULL */
	bool paused;		/* the recording begins paused */
	bool slow_scanner;	/* the scanners always sleep between their rounds */
	bool socket_requests;	/* make requests from what the program reads and writes */
	/* record each turn of an event loop, also after a wait that did not sleep */
	bool loop_turns;
	bool only_requests;	/* invocations outside of requests are only counted */
	struct flight_options flight;
	bool kernel_only;	/* record no functions, locks and requests, and use no runtime */
	const char *const *queues;	/* valid words of --queue */
	size_t nr_queues;
	queue_find_fn *find_probes;	/* NULL: no queues can be followed */
	call_ids_find_fn *find_id;	/* NULL: no ids are read from arguments of calls */
	void (*lookup)(const struct record_lookup *l);	/* NULL: functions cannot be selected */
	void (*explain)(const struct record_explain *e);	/* NULL: the slowest requests are not explained */
	bool quiet, verbose;
	bool children;		/* record children of the program, too */
	/* options if this is the recorder of a child; or NULL */
	const struct child_options *child;
	char **self;		/* this tool's own arguments, for recorders of children */
	/*
	 * Called when the trace is closed, to write names into it; or NULL.  `pid` is that of the
	 * program, which may have ended; `name` is what the user calls the trace.  Returns how many
	 * bytes were added.
	 */
	uint64_t (*store_names)(const char *path, const char *name, pid_t pid);
};

/* Default options of every tool that records. */
#define RECORD_DEFAULTS								\
	.budget_ppm = 50000, .kernel_budget_ppm = 10000, .mutex_level = LDB_MUTEX_WAIT, .lock_threshold_ns = 1000, \
	.calls = CALLS_SLEEP, .call_threshold_ns = 10000, .nr_scanners = 1, .scanner_cpu = -1, .ring_bytes = 64 << 20

/* Names of enum ldb_mutex_level, in its order, and a NULL. */
extern const char *const record_mutex_levels[];

#endif
