/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records the children of the program, too: processes that are forked from it and programs that
 * these execute.
 *
 * Each announces itself to this recorder (LDB_MSG_CHILD), which starts another one for it: the
 * same tool with the same options, that gets the connection and writes a trace of its own beside
 * this one.  So whatever happens to one process or one recorder, the other traces are whole.  At
 * the end they are joined.
 *
 * The number of recorders at a time, and how fast they are started, are limited.  What is not
 * recorded is counted: programs without records by their names, processes that ended before a
 * recorder came, and those beyond the limits.
 */
#ifndef RECORD_CHILDREN_H
#define RECORD_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ldb/control.h>

struct recording;

#define CHILDREN_PENDING	64	/* announced, and not decided yet */
#define CHILDREN_NAMES		32	/* of programs without records; more are counted together */

struct child_pending {
	int sock;
	pid_t pid;
	uid_t uid;
	int64_t since_ns;
	bool has_said;
	struct ldb_msg_child said;
};

struct child {			/* a process that is recorded */
	pid_t pid;
	pid_t recorder;		/* 0: has ended */
	bool is_recorded;	/* there is a trace */
	char *file;
};

struct children {
	bool on, is_serving;
	bool is_over;		/* no more recorders are started */
	char secret[LDB_SECRET_MAX];
	int epoll;		/* readable: something is to be done; -1: none */
	struct child_pending pending[CHILDREN_PENDING];
	unsigned nr_pending;
	struct child *list;
	size_t nr, room;
	unsigned nr_alive;	/* recorders */
	pid_t *known;		/* processes that have announced themselves */
	size_t nr_known, room_known;
	double starts;		/* how many recorders may be started now: limits the rate */
	int64_t starts_ns;
	int64_t since_ns, idle_ns, scanned_ns;
	bool must_name;		/* the first trace has no names yet */
	uint64_t nr_heard;	/* children of the first process */
	uint64_t nr_short, nr_refused, nr_failed;
	struct {
		char name[16];
		uint64_t nr;
	} plain[CHILDREN_NAMES];
	unsigned nr_plain;
	uint64_t nr_plain_other;
};

/* These are passed to the recorder of a child in its environment, under this name. */
#define CHILD_ENV	"LDB_RECORD_CHILD"

struct child_options {
	pid_t parent;		/* the first recorder */
	int sock;		/* connected to the runtime; -1: attach to the process */
	pid_t pid;
	char first[64], secret[LDB_SECRET_MAX];	/* where its own children announce themselves */
	bool is_crowded;	/* there are more recorders than CPUs for their scanners */
	bool without_kernel;	/* enough others record kernel events already */
	char output[4096];
};

/* Is this process a recorder of a child?  False if the text is wrong. */
bool child_options_read(const char *text, struct child_options *o);

/* Call it when the recorder's socket is open, before the program runs. */
void children_begin(struct recording *r);
/* The children of a process that runs already. */
void children_attach(struct recording *r);
/* Accepts what connects to the recorder, starts recorders, and notices that they have ended. */
void children_serve(struct recording *r);
/* Does it until nothing waits for a decision: closing a trace takes long. */
void children_serve_all(struct recording *r);
/* Has the process announced itself again?  Then it has executed another program. */
bool children_has_new(const struct recording *r, pid_t pid);
/* Milliseconds after which children_serve() has something to do; -1: nothing is known. */
int children_timeout(const struct recording *r);
/* Are there some that are recorded, or will be?  The program has ended, or its recording has. */
bool children_go_on(struct recording *r);
/* All recordings end. */
void children_stop(struct recording *r);
/* Joins the traces, and says what was recorded and what was not. */
void children_end(struct recording *r);

/* children-start.c */
bool children_start(struct recording *r, pid_t pid, int sock);
void children_reap(struct recording *r);

#endif
