/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares the parts of one recording, from finding the program to closing the file.  Prototypes
 * are grouped by defining file.
 */
#ifndef RECORD_RUN_RECORD_H
#define RECORD_RUN_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ldb/control.h>
#include <ldb/trace-format.h>
#include "record/probes/call-ids.h"
#include "record/probes/queues.h"
#include "record/flight/flight.h"

/*
 * When the kernel reads chains of frames: at switches and in between (FRAMES_AUTO: only while the
 * scanner is hardly running).
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

/* The state of a recording while it runs; counts are since its beginning. */
struct record_status {
	pid_t pid;
	int64_t now_ns, begin_ns;	/* CLOCK_MONOTONIC */
	int64_t tick;			/* all older rows have been delivered */
	uint64_t made, seen;		/* invocations, of all threads */
	uint64_t nr_threads;		/* threads that have not ended */
	uint64_t nr_events, nr_lost;
	/* reason for the end, as in META "end"; NULL: the recording continues */
	const char *end;
};

/*
 * For recordings that are shown while they run, and are not stored in a file.  Blocks are delivered
 * as they are made.  In each period all rows that describe addresses and threads are delivered
 * again, so that older blocks can be dropped.
 */
struct record_live {
	int (*block)(void *arg, const void *data, size_t size);	/* writer_block_fn */
	/*
	 * Called before the describing rows are delivered again, which makes the earlier ones
	 * obsolete.
	 */
	void (*anew)(void *arg);
	void (*period)(void *arg, const struct record_status *status);
	void *arg;
	uint64_t period_ns;
	int stop_fd;		/* becomes readable when the recording must end */
};

struct record_ask {
	uint64_t addr;
	bool is_data;		/* the address of a variable, and not of a function */
};

/*
 * Finds the names of functions and variables by their addresses, in a separate process, because the
 * debug information comes from the program and is not trusted.
 */
struct record_lookup {
	/* root folder of the program; NULL: same as the recorder's */
	const char *root;
	const struct ldb_row_module *modules;
	size_t nr_modules;
	int64_t tick;
	const struct record_ask *asks;
	size_t nr_asks;
	/* Called with each result; a variable that is not known has the name "". */
	void (*name)(void *arg, uint64_t addr, const char *name, const char *file, const char *module);
	void *arg;
};

/*
 * Finds out what requests spent their time on, from the caller's blocks of the last minute, in a
 * separate process.
 */
struct record_explain {
	const uint64_t *ids;
	/*
	 * if not 0: the request has no id, and is the one on which this thread worked at `tick`
	 */
	const uint32_t *tids;
	const int64_t *starts, *ends;	/* ticks */
	size_t nr;
	/* returns the name of a function or variable; NULL: there are no names */
	const char *(*known)(void *arg, uint64_t addr);
	void *known_arg;
	/* Called for each state of request i; the durations add up to its latency. */
	void (*part)(void *arg, size_t i, const char *state, const char *name, int64_t ns);
	void *arg;
};

struct record_options {
	/* words of --request, separated by newlines; NULL: tagged requests */
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
	/* share of the program's CPU time that recording interrupts may cost */
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
	bool slow_scanner;	/* the scanner sleeps between polls as if it shared its core */
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
	 * Called when the trace is closed, to write names into it; or NULL.  pid is that of the
	 * program, which may have ended; name is what the user calls the trace.  Returns how many
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

/* record.c: makes a recording; returns the exit status. */
int record_run(const struct record_options *o);

/* target.c: examines a program before it is started. */

enum target_kind {
	TARGET_DYNAMIC,		/* ELF with an interpreter */
	TARGET_SCRIPT,		/* another file, which the kernel or a shell may execute */
};

struct target {
	char path[4096];	/* what will be executed */
	enum target_kind kind;
	bool lost_records;	/* compiled with the plugin, but linked (-flto) without it */
	bool has_records;	/* the file itself contains a .note.ldb */
	/* name of a sanitizer's library that must be loaded first; "": none */
	char sanitizer[64];
};

/*
 * Returns a path below which the files of a process in a chroot or container are found.  Returns
 * NULL if its root folder is that of this process, or if the process has ended.
 */
const char *target_root(pid_t pid, char *path, size_t size);

/*
 * Returns false if the program cannot be recorded, after printing why.  kernel_only: no runtime is
 * needed.
 */
bool target_examine(const char *program, bool kernel_only, struct target *t);

/* launch.c: starts the program. */

struct launch {
	pid_t pid;		/* 0: not started */
	bool ended;
	int status;		/* wait status, if ended */
	int go_fd, error_fd;	/* pipes, closed in launch_go() */
};

/*
 * Finds the absolute path of the runtime's library.  Returns false if there is none, after printing
 * why.
 */
bool launch_find_runtime(const char *given, char *path, size_t size);

/*
 * Creates the process, which waits for launch_go().  runtime: the library to preload, which
 * connects to name; NULL: none.  secret "": its children do not connect.  flows: preload even if
 * the program has no instrumented functions.  Returns false on failure, after printing why.
 */
bool launch_start(struct launch *l, const struct target *t, char **argv, const char *runtime,
		  const char *name, const char *secret, bool flows);

/* Lets the process execute the program.  Returns false on failure, after printing why. */
bool launch_go(struct launch *l, const char *program);

/*
 * Discards the program's output, which would disturb the terminal.  Must be called before
 * launch_start().
 */
void launch_hide_output(void);

/* Collects the status of the program if it has ended. */
void launch_reap(struct launch *l);
int launch_exit_status(const struct launch *l);

/* attach.c */

/* Prints that the program has no instrumented functions. */
void attach_no_records(pid_t pid);

/* Can kernel events of the process be recorded?  If not, prints why. */
bool attach_check(pid_t pid);

/*
 * Returns a connection to the runtime of a running process, or -1 after printing why not.  The
 * runtime connects to listen_fd, whose abstract name is `name`.  If the process has no runtime,
 * loads o->libldb, or what launch_find_runtime() finds; if o->live is set, only into programs that
 * have instrumented functions.
 */
int attach_connect(pid_t pid, int listen_fd, const char *name, const struct record_options *o);

/*
 * Makes a thread of a recorded process begin to follow calls between modules.  Returns false on
 * failure, after printing why.  Returns true if a thread was reached; it has not begun if it held a
 * lock of the runtime.  meanwhile is called repeatedly until then.
 */
bool attach_flows(pid_t pid, void (*meanwhile)(void *arg), void *arg);

/* listen.c */

/*
 * Returns a socket to which a process (0: any) can connect, and its abstract name; -1 after
 * printing why not.
 */
int listen_open(pid_t pid, char *name, size_t size);

/* signals.c: signals from the user. */

/* Adds a signal to those that the descriptor delivers.  Must be called before signals_open(). */
void signals_add(int signal);
/* Returns a signalfd.  The signals are blocked; signals_child() unblocks them in a child. */
int signals_open(void);
void signals_child(void);
/* Returns the next signal; 0: none is pending. */
int signals_next(int fd);

/* control.c: the socket to the runtime. */

union control_message {
	struct ldb_msg m;
	struct ldb_msg_hello hello;
	struct ldb_msg_attach attach;
	struct ldb_msg_flows flows;
	struct ldb_msg_tune tune;
	struct ldb_msg_command command;
	struct ldb_msg_attached attached;
	struct ldb_msg_text text;
	struct ldb_msg_leaving leaving;
	struct ldb_msg_module module;
	struct ldb_msg_unloaded unloaded;
	struct ldb_msg_blocks blocks;
	struct ldb_msg_child child;
};

/*
 * Sends a message, after filling in m.type and m.size.  fd: a descriptor to pass, or -1.  Returns 0
 * or -errno.
 */
int control_send(int sock, union control_message *m, unsigned type, int fd);

/*
 * Returns 1: a message was received; 0: there is none now; -ECONNRESET: the other end has closed
 * the connection; -EPROTO: the message is invalid.
 */
int control_receive(int sock, union control_message *m);

/* Finds the process at the other end of the connection. */
bool control_peer(int sock, pid_t *pid, uid_t *uid);

#endif
