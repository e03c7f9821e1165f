/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records also the children of the program: processes that are forked from it, and programs that
 * these execute.
 *
 * Each child announces itself to this recorder (LDB_MSG_CHILD), which starts another recorder for
 * it: the same tool with the same options, which is given the connection and writes a trace of its
 * own beside this one.  So whatever happens to one process or recorder, the other traces stay
 * complete.  At the end all traces are joined into one.
 *
 * The number of recorders at a time, and how fast they are started, are limited.  What is not
 * recorded is counted: uninstrumented programs by their names, processes that ended before their
 * recorder was ready, and processes beyond the limits.
 */
#ifndef RECORD_CHILDREN_H
#define RECORD_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ldb/control.h>

struct recording;

#define CHILDREN_PENDING	64	/* connections that are not decided on yet */
/* names of uninstrumented programs; further ones are counted together */
#define CHILDREN_NAMES		32

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
	pid_t recorder;		/* 0: it has ended */
	bool is_recorded;	/* there is a trace of it */
	char *file;
};

struct children {
	bool on, is_serving;
	bool is_over;		/* no more recorders are started */
	char secret[LDB_SECRET_MAX];
	/* it is readable when there is something to do; -1: children are not recorded */
	int epoll;
	struct child_pending pending[CHILDREN_PENDING];
	unsigned nr_pending;
	struct child *list;
	size_t nr, room;
	unsigned nr_alive;	/* recorders that run */
	pid_t *known;		/* processes that have announced themselves */
	size_t nr_known, room_known;
	double starts;		/* how many recorders may be started now: limits the rate */
	int64_t starts_ns;
	int64_t since_ns, idle_ns, scanned_ns;
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

/*
 * The options that the recorder of a child gets in its environment, in a variable with this name.
 */
#define CHILD_ENV	"LDB_RECORD_CHILD"

struct child_options {
	pid_t parent;		/* the first recorder */
	int sock;		/* connected to the runtime; -1: attach to the process */
	pid_t pid;
	/* where the child's own children announce themselves */
	char first[64], secret[LDB_SECRET_MAX];
	bool is_crowded;	/* there are more recorders than CPUs for their scanners */
	bool without_kernel;	/* enough other recorders record kernel events already */
	char output[4096];
};

/* Reads the options of a child's recorder.  Returns false if the text is wrong. */
bool child_options_read(const char *text, struct child_options *o);

/* Must be called when the recorder's socket is open and before the program runs. */
void children_begin(struct recording *r);
/* Attaches to the children of a process that runs already. */
void children_attach(struct recording *r);
/* Accepts what connects to the recorder, starts recorders, and notices that they have ended. */
void children_serve(struct recording *r);
/*
 * Does so until no connection waits for a decision.  It is called before a trace is closed, because
 * that takes long.
 */
void children_serve_all(struct recording *r);
/* Has the process announced itself again?  Then it has executed another program. */
bool children_has_new(const struct recording *r, pid_t pid);
/*
 * Returns after how many milliseconds children_serve() has something to do; -1 if nothing is
 * pending.
 */
int children_timeout(const struct recording *r);
/*
 * Are there children that are recorded or will be?  Called when the program or its recording has
 * ended.
 */
bool children_go_on(struct recording *r);
/* Ends all recordings of children. */
void children_stop(struct recording *r);
/* Joins the traces, and tells the user what was recorded and what was not. */
void children_end(struct recording *r);

/* children-start.c */
bool children_start(struct recording *r, pid_t pid, int sock);
void children_reap(struct recording *r);

#endif
