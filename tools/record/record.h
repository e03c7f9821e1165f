/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares the parts of one recording, from finding the program to closing the file.  Prototypes
 * are grouped by defining file.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ldb/control.h>
#include <ldb/trace-format.h>
#include "record/call-ids.h"
#include "record/flight.h"

/* The kernel reads chains of frames at switches, and in between, or only while the scanner has no CPU. */
enum frames_choice { FRAMES_OFF, FRAMES_ON, FRAMES_AUTO };

/* --syscalls says which are recorded. */
enum call_choice {
	CALLS_OFF,
	CALLS_SLEEP,		/* in which a thread sleeps */
	CALLS_ALL,		/* all of a length, too */
};

/* --kernel says where kernel events come from. */
enum kernel_choice {
	KERNEL_AUTO,		/* the first of the following that works */
	KERNEL_MODULE,
	KERNEL_BPF,
	KERNEL_PERF,
	KERNEL_SCHEDSTAT,	/* no events: counters that the runtime reads, without any right */
	KERNEL_NONE,
};

/* This is the state of a recording while it runs; counts are from its beginning. */
struct record_status {
	pid_t pid;
	int64_t now_ns, begin_ns;	/* CLOCK_MONOTONIC */
	int64_t tick;			/* all older rows have been delivered */
	uint64_t made, seen;		/* invocations, of all threads */
	uint64_t nr_threads;		/* that live */
	uint64_t nr_events, nr_lost;
	const char *end;		/* META "end"; NULL: the recording continues */
};

/*
 * This is for a recording that is shown while it runs, and is not stored in a file: its blocks
 * are delivered as they come, and in each period all rows that describe addresses and threads
 * are delivered again, so that older blocks can be dropped.
 */
struct record_live {
	int (*block)(void *arg, const void *data, size_t size);	/* writer_block_fn */
	/* Called before these rows are delivered again; earlier ones are obsolete. */
	void (*anew)(void *arg);
	void (*period)(void *arg, const struct record_status *status);
	void *arg;
	uint64_t period_ns;
	int stop_fd;		/* readable: the recording must end */
};

struct record_ask {
	uint64_t addr;
	bool is_data;		/* what variable has it, and not what function */
};

/*
 * Finds functions and variables by their addresses, in a process of its own: debug information
 * comes from the program and is not trusted.
 */
struct record_lookup {
	const char *root;		/* root folder of the program; NULL: the recorder's */
	const struct ldb_row_module *modules;
	size_t nr_modules;
	int64_t tick;
	const struct record_ask *asks;
	size_t nr_asks;
	/* A variable that is not known has the name "". */
	void (*name)(void *arg, uint64_t addr, const char *name, const char *file, const char *module);
	void *arg;
};

/*
 * Says what requests spent their time on, from what the caller has of the last minute's blocks; in
 * a process of its own.
 */
struct record_explain {
	const uint64_t *ids;
	const uint32_t *tids;	/* not 0: the request is what the thread did at that time, and has no id */
	const int64_t *starts, *ends;	/* ticks */
	size_t nr;
	const char *(*known)(void *arg, uint64_t addr);	/* names of functions and variables; NULL: none */
	void *known_arg;
	/* Of request i, one state; they add up to its latency. */
	void (*part)(void *arg, size_t i, const char *state, const char *name, int64_t ns);
	void *arg;
};

struct record_options {
	const char *request;	/* what requests are for the tools, with newlines between; NULL: tags */
	const struct record_live *live;	/* instead of output, or NULL */
	const char *output;
	char **argv;		/* the program to launch, or NULL */
	pid_t pid;		/* the program to attach to, or 0 */
	const pid_t *more;	/* with children: further programs to attach to */
	size_t nr_more;
	const char *of_name, *of_cgroup; /* by what pid and these were selected, or NULL */
	uint64_t duration_ns;	/* 0: until the program ends */
	uint32_t budget_ppm;
	uint32_t kernel_budget_ppm;	/* of the program's CPU time: what interrupts may cost */
	int mutex_level;	/* enum ldb_mutex_level */
	uint64_t lock_threshold_ns, func_threshold_ns;
	uint64_t scan_interval_ns;
	uint64_t nr_scanners;
	int scanner_cpu;	/* -1: not pinned */
	uint64_t ring_bytes, max_bytes;
	bool ring_given;
	const char *libldb;	/* the runtime to preload, or NULL */
	bool monotonic;		/* CLOCK_MONOTONIC even where the TSC could be used */
	int kernel;		/* enum kernel_choice */
	int calls;		/* enum call_choice */
	uint64_t call_threshold_ns;	/* CALLS_ALL: shorter ones are counted */
	int kernel_frames;	/* enum frames_choice; KERNEL_BPF alone can (chain.h) */
	uint64_t samples_hz;	/* of each CPU's time; 0: none are taken */
	bool may_slow_samples;	/* without privileges, too; it makes switches slower */
	bool flows;		/* calls between modules are followed, in any program */
	uint64_t flows_threshold_ns;
	const char *functions, *classes;	/* words as in filter.h; NULL: all */
	const char *metrics;	/* file of sums for monitoring, or NULL */
	const char *metrics_listen;	/* where they can be fetched from: a path, or :PORT; or NULL */
	bool paused;		/* the recording begins paused */
	bool slow_scanner;	/* it sleeps between polls as if it shared its core */
	bool socket_requests;	/* made from what the program reads and writes */
	bool loop_turns;	/* each turn of an event loop is recorded, also after a wait that was none */
	bool only_requests;	/* invocations outside requests are only counted */
	struct flight_options flight;
	bool kernel_only;	/* no functions, locks and requests; without the runtime */
	call_ids_find_fn *find_id;	/* NULL: requests have no ids of their own */
	void (*lookup)(const struct record_lookup *l);	/* NULL: functions cannot be chosen */
	void (*explain)(const struct record_explain *e);	/* NULL: the slowest requests are not explained */
	bool quiet, verbose;
	bool children;		/* children of the program are recorded, too */
	const struct child_options *child;	/* this is the recorder of a child; or NULL */
	char **self;		/* this tool's own arguments, for recorders of children */
	/*
	 * This is called when the trace is closed: writes names into it, or NULL.  pid is that
	 * of the program, which may be gone; name is what the user calls the trace.  Returns how
	 * many bytes it has added.
	 */
	uint64_t (*store_names)(const char *path, const char *name, pid_t pid);
};

/* Every tool that records begins with these options. */
#define RECORD_DEFAULTS								\
	.budget_ppm = 50000, .kernel_budget_ppm = 10000, .mutex_level = LDB_MUTEX_WAIT, .lock_threshold_ns = 1000, \
	.calls = CALLS_SLEEP, .call_threshold_ns = 10000, .nr_scanners = 1, .scanner_cpu = -1, .ring_bytes = 64 << 20

/* These are the names of enum ldb_mutex_level, in its order; it ends with NULL. */
extern const char *const record_mutex_levels[];

/* record.c: makes a recording; returns the exit status. */
int record_run(const struct record_options *o);

/* target.c: examines a program before it runs. */

enum target_kind {
	TARGET_DYNAMIC,		/* ELF with an interpreter */
	TARGET_SCRIPT,		/* another file, which the kernel or a shell may execute */
};

struct target {
	char path[4096];	/* what will be executed */
	enum target_kind kind;
	bool lost_records;	/* compiled with the plugin, linked (-flto) without */
	bool has_records;	/* a .note.ldb in the file itself */
	char sanitizer[64];	/* library that insists on being loaded first, "" none */
};

/*
 * Finds where the files of a process in a chroot or a container are: below path, which is
 * returned; NULL: its root is that of this process, or it is gone.
 */
const char *target_root(pid_t pid, char *path, size_t size);

/*
 * If it returns false, it printed one line why it cannot be recorded.  kernel_only: without the
 * runtime.
 */
bool target_examine(const char *program, bool kernel_only, struct target *t);

/* launch.c: the child. */

struct launch {
	pid_t pid;		/* 0: not started */
	bool ended;
	int status;		/* of waitpid() */
	int go_fd, error_fd;	/* before launch_go() */
};

/*
 * Finds the absolute path of the runtime's library; if it returns false, it printed why there is
 * none.
 */
bool launch_find_runtime(const char *given, char *path, size_t size);

/*
 * Makes the process, which waits for launch_go().  runtime NULL: none, else it connects to name;
 * secret "": its children do not; flows: also if the program has no records.
 * If it returns false, it printed why.
 */
bool launch_start(struct launch *l, const struct target *t, char **argv, const char *runtime,
		  const char *name, const char *secret, bool flows);

/* Starts the program.  If it returns false, it printed why not. */
bool launch_go(struct launch *l, const char *program);

/*
 * Discards the program's output, which would disturb the terminal.  Call it before
 * launch_start().
 */
void launch_hide_output(void);

/* Collects the status of the program if it has ended. */
void launch_reap(struct launch *l);
int launch_exit_status(const struct launch *l);

/* attach.c */

/* Prints the line for a program that was not compiled for ldb, where its functions are needed. */
void attach_no_records(pid_t pid);

/* Can kernel events of the process be recorded?  If not, it printed why. */
bool attach_check(pid_t pid);

/*
 * Returns a connection to the runtime of a running process, or -1 after one line.  The runtime
 * connects to listen_fd, whose name is given.  If the process has none, it loads that of o->libldb,
 * or of launch_find_runtime(); with o->live not into a program that was not compiled for ldb.
 */
int attach_connect(pid_t pid, int listen_fd, const char *name, const struct record_options *o);

/*
 * While it is recorded, has one of its threads begin to follow calls between modules.  Returns
 * false after one line; else it was there, and has begun unless it held a lock of the runtime's.
 * meanwhile is called again and again until then.
 */
bool attach_flows(pid_t pid, void (*meanwhile)(void *arg), void *arg);

/* listen.c */

/*
 * Returns a socket to which a process (0: any) can connect, and its abstract name; -1 after one
 * line.
 */
int listen_open(pid_t pid, char *name, size_t size);

/* signals.c: signals from the user. */

/* One more signal is read from the descriptor; call it before signals_open(). */
void signals_add(int signal);
/* Returns a signalfd; the signals are blocked until signals_child(), in a child, undoes it. */
int signals_open(void);
void signals_child(void);
/* 0: none is waiting. */
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

/* m.type and m.size are filled in.  fd -1: none.  Returns 0 or -errno. */
int control_send(int sock, union control_message *m, unsigned type, int fd);

/* Returns 1: a message; 0: none now; -ECONNRESET: the other end is gone; -EPROTO: invalid. */
int control_receive(int sock, union control_message *m);

/* Finds the process at the other end. */
bool control_peer(int sock, pid_t *pid, uid_t *uid);

#endif
