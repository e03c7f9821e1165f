/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares what the files of this directory share.  stop.c chooses and stops a thread; inject.c
 * makes it call the runtime's entry function, and load.c makes it load the runtime.
 */
#ifndef RECORD_INJECT_PRIVATE_H
#define RECORD_INJECT_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "record/inject/inject.h"
#include "record/inject/regs.h"

enum inject_outcome {
	INJECT_DONE,
	INJECT_MOVED,		/* this thread is not in a state in which it can do the task */
	/* no thread can do the task now, because another recorder is at work */
	INJECT_BUSY,
	/* no thread will ever be able to do the task; a message was printed */
	INJECT_REFUSED,
	INJECT_REPLACED,	/* the process executes another program now; nothing was printed */
};

struct inject_task {
	/* Called before each attempt, while the thread `gate` is seized; may be NULL. */
	bool (*prepare)(const struct inject_task *t, pid_t gate);
	/* Rates how harmful it would be to stop this thread; NULL: inject_rank() does. */
	int (*rank)(const struct inject_task *t, pid_t pid, pid_t tid);
	/* Does the task with a stopped thread; always lets the thread continue. */
	enum inject_outcome (*visit)(const struct inject_task *t, pid_t pid, pid_t tid);
	/* Returns the result of a task whose visit() returned INJECT_DONE; may be NULL. */
	enum inject_outcome (*answer)(const struct inject_task *t, pid_t pid, pid_t gate);
	const struct image_id *id;	/* the program that the process must be executing */
	const struct image *image;
	const char *name;		/* name of the recorder's socket */
	const struct libc *libc;
	const struct libc_code *code;
	/* path of the runtime as the process sees it; NULL: the runtime is loaded already */
	const char *library;
	uint64_t late;			/* LDB_DOOR_*: argument of the runtime's function */
	/* called repeatedly while the other process works; may be NULL */
	void (*meanwhile)(void *arg);
	void *arg;
	/* use only this thread; print nothing if it cannot be stopped */
	pid_t only;
};

/* Makes one thread of process pid do a task; a separate process controls the thread. */
enum inject_end inject_run(pid_t pid, const struct inject_task *t);

/* Rates how harmful it would be to stop this thread, from what the thread is doing. */
int inject_rank(pid_t pid, pid_t tid);

/* Functions for visit() */

/*
 * Explains a failure by what has happened to the process.  Returns INJECT_REFUSED if the process
 * has ended, after printing so; INJECT_REPLACED if it executes another program; INJECT_DONE if
 * neither.  tid is the thread that had to do the task; 0: none.
 */
enum inject_outcome inject_lost(pid_t pid, const struct inject_task *t, pid_t tid);

#define INJECT_PASS_NS	2000000000LL	/* timeout of the thread's part */

/* Waits for the thread's next stop.  Returns a wait status; 0: timeout; -1: the thread is gone. */
int inject_next_stop(pid_t tid, int64_t timeout_ns);
/* Stops a running thread; signals that arrive meanwhile are delivered as usual. */
bool inject_stop(pid_t tid);
bool inject_is_call_stop(int status);		/* entry or exit of a system call */
bool inject_is_event_stop(int status);		/* by inject_stop() or by SIGSTOP */
/*
 * Lets the thread run to its next stop at a system call.  Returns false if it did not stop there.
 */
bool inject_next_call(pid_t tid, int64_t timeout_ns);
/*
 * Reads the registers of a stopped thread.  After inject_regs_put() the thread continues as if it
 * had not been stopped.  Returns false if the thread must not be disturbed now.
 */
bool inject_take(pid_t pid, pid_t tid, struct inject_regs *r);
/*
 * Skips the system call that the thread is about to make, and stops the thread at the point where
 * the kernel decides whether an interrupted call is restarted.
 */
bool inject_stop_for_return(pid_t tid);

#endif
