/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares what the files inject*.c share.  inject-stop.c chooses and stops a thread; inject.c
 * makes it execute the runtime's door, and inject-load.c makes it load the runtime.
 */
#ifndef RECORD_INJECT_PRIVATE_H
#define RECORD_INJECT_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "record/inject.h"
#include "record/inject-regs.h"

enum inject_outcome {
	INJECT_DONE,
	INJECT_MOVED,		/* this thread cannot do it now */
	INJECT_BUSY,		/* no thread can do it now: another recorder is at work */
	INJECT_REFUSED,		/* no thread will be able to: a message was printed */
	INJECT_REPLACED,	/* the process executes another program now: nothing was printed */
};

struct inject_task {
	/* Called before each attempt, with a thread that is seized; may be NULL. */
	bool (*prepare)(const struct inject_task *t, pid_t gate);
	/* Returns how bad it would be to stop this thread (inject_call_rank()); may be NULL. */
	int (*rank)(const struct inject_task *t, pid_t pid, pid_t tid);
	/* Does the task with a stopped thread, which it releases in any case. */
	enum inject_outcome (*visit)(const struct inject_task *t, pid_t pid, pid_t tid);
	/* Returns the result of a visit that was DONE; may be NULL. */
	enum inject_outcome (*answer)(const struct inject_task *t, pid_t pid, pid_t gate);
	const struct image_id *id;	/* of the program that is to do it */
	const struct image *image;
	const char *name;		/* of the recorder's socket */
	const struct libc *libc;
	const struct libc_code *code;
	const char *library;		/* path of the runtime, as the process sees it; NULL: it is there */
	uint64_t late;			/* LDB_DOOR_*, for its function */
	void (*meanwhile)(void *arg);	/* called while the other process does it; may be NULL */
	void *arg;
	pid_t only;			/* this thread, or nothing; and if it cannot, nothing is said */
};

/* Runs a task in a separate process, with one thread of process pid. */
enum inject_end inject_run(pid_t pid, const struct inject_task *t);

/* Rates how bad it would be to stop this thread, given what it is doing. */
int inject_rank(pid_t pid, pid_t tid);

/* For visits */

/*
 * Explains a failure by what the process did meanwhile.  Returns INJECT_REFUSED if it has ended,
 * which was printed; INJECT_REPLACED if it executes another program; INJECT_DONE if neither.  tid is
 * the thread that was to do something; 0: none.
 */
enum inject_outcome inject_lost(pid_t pid, const struct inject_task *t, pid_t tid);

#define INJECT_PASS_NS	2000000000LL	/* for what the thread is to do */

/* Waits for the next stop: returns a wait status; 0: none in time; -1: the thread is gone. */
int inject_next_stop(pid_t tid, int64_t timeout_ns);
/* Stops a thread that runs; signals on the way are delivered as they would have been. */
bool inject_stop(pid_t tid);
bool inject_is_call_stop(int status);		/* entry or exit of a system call */
bool inject_is_event_stop(int status);		/* as by inject_stop(), or by SIGSTOP */
/*
 * Lets the thread run to its next stop at a system call.  Returns false if it did not stop there.
 */
bool inject_next_call(pid_t tid, int64_t timeout_ns);
/*
 * Reads the registers of a thread that is stopped, so that inject_regs_put() lets it go on as if
 * nothing had happened.  Returns false if it must be left alone now.
 */
bool inject_take(pid_t pid, pid_t tid, struct inject_regs *r);
/* Stops it where the kernel decides on the restart of interrupted calls. */
bool inject_stop_for_return(pid_t tid);

#endif
