/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records the children of the program, too: processes that it forks, and programs that these
 * execute.
 *
 * Each child connects to this recorder (LDB_MSG_CHILD), which starts another recorder for it: the
 * same tool with the same options.  That recorder gets the connection, and writes a separate trace
 * beside this one.  So whatever happens to one process or recorder, the other traces remain
 * complete.  At the end the traces are joined into one, if the disk has room.
 *
 * The number of recorders at a time, and the rate of their starts, are limited.  Processes without
 * a trace are counted: uninstrumented programs by their names, processes that ended before their
 * recorder was ready, and processes beyond the limits.
 */
#ifndef RECORD_RUN_CHILDREN_H
#define RECORD_RUN_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ldb/control.h>

struct recording;

/* connections whose first message has not been handled yet */
#define CHILDREN_PENDING	64
/* different names of uninstrumented programs; further ones are counted together */
#define CHILDREN_NAMES		32

/*
 * greatest number of further recorders of kernel events: with BPF programs, each one adds 0.27 us
 * to the wake-up and switch of any thread on the machine (overhead.md)
 */
#define CHILDREN_KERNEL_MAX	15

struct child_pending {
	int sock;
	pid_t pid;
	uid_t uid;
	int64_t since_ns;
	bool has_said;
	struct ldb_msg_child said;
};

struct child {			/* a child that is recorded */
	pid_t pid;
	pid_t recorder;		/* 0: the recorder has ended */
	bool is_recorded;	/* there is a trace of the child */
	bool without_kernel;	/* see child_options */
	char *file;
};

struct children {
	bool on, is_serving;
	bool is_over;		/* no more recorders are started */
	char secret[LDB_SECRET_MAX];
	/* readable when children_serve() has something to do; -1: none */
	int epoll;
	struct child_pending pending[CHILDREN_PENDING];
	unsigned nr_pending;
	struct child *list;
	size_t nr, room;
	unsigned nr_alive;	/* recorders that are running */
	/* processes that have connected, or were found by children_attach() */
	pid_t *known;
	size_t nr_known, room_known;
	/* recorders that may be started now: a token bucket limits the rate */
	double starts;
	int64_t starts_ns;
	int64_t idle_ns, scanned_ns;
	bool must_name;		/* the names of addresses are not stored in the first trace yet */
	uint64_t nr_heard;	/* children of the first process that have announced themselves */
	uint64_t nr_short, nr_refused, nr_failed;
	struct {
		char name[16];
		uint64_t nr;
	} plain[CHILDREN_NAMES];
	unsigned nr_plain;
	uint64_t nr_plain_other;
};

/* The environment variable by which the recorder of a child gets its options. */
#define CHILD_ENV	"LDB_RECORD_CHILD"

struct child_options {
	pid_t parent;		/* the first recorder */
	int sock;		/* connection to the runtime; -1: attach to the process */
	pid_t pid;
	/*
	 * name of the first recorder's socket, to which the child's own children connect; and the
	 * secret
	 */
	char first[64], secret[LDB_SECRET_MAX];
	bool is_crowded;	/* the scanners of all recorders need more than half of the CPUs */
	bool without_kernel;	/* enough other recorders record kernel events already */
	char output[4096];
};

/* Reads the options of a child's recorder.  Returns false if the text is wrong. */
bool child_options_read(const char *text, struct child_options *o);

/* Must be called when the recorder's socket is open, before any program connects. */
void children_begin(struct recording *r);
/*
 * Attaches to the further processes that the user has named, and to descendants of these and of the
 * first process that have the runtime and instrumented functions.  Other descendants are only
 * counted.
 */
void children_attach(struct recording *r);
/* Accepts connections, and starts recorders.  Stops them when the recording's duration is over. */
void children_serve(struct recording *r);
/*
 * Calls children_serve() until each connection has been handled, for 10 ms at most.  Called before
 * a trace is closed, because closing takes long.
 */
void children_serve_all(struct recording *r);
/*
 * Returns true if the process has connected to the recorder again, because it has executed another
 * program.
 */
bool children_has_new(const struct recording *r, pid_t pid);
/*
 * Returns after how many milliseconds children_serve() must be called at the latest; -1: not before
 * the epoll descriptor is readable.
 */
int children_timeout(const struct recording *r);
/*
 * Returns true if children are being recorded, or will be.  Called when the program or its
 * recording has ended.
 */
bool children_go_on(struct recording *r);
/* Ends all recordings of children. */
void children_stop(struct recording *r);
/* Joins the traces, and reports what was recorded and what was not. */
void children_end(struct recording *r);

/* children-start.c */
bool children_start(struct recording *r, pid_t pid, int sock);
void children_reap(struct recording *r);

#endif
