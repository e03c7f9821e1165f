/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connects to the runtime of a running process. */
#ifndef RECORD_LAUNCH_ATTACH_H
#define RECORD_LAUNCH_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

struct attach_options {
	const char *libldb;	/* the runtime to load; NULL: what launch_find_runtime() finds */
	/* load it only into programs that have instrumented functions */
	bool must_have_records;
	/*
	 * every thread must register itself, because the runtime records what threads do in
	 * libraries
	 */
	bool must_adopt;
};

/* Prints that the program has no instrumented functions. */
void attach_no_records(pid_t pid);

/* Returns true if the process exists, and this user may record it.  Otherwise prints why not. */
bool attach_check(pid_t pid);

/*
 * Returns a connection to the runtime of a running process, or -1 after printing why not.  If the
 * process has no runtime, loads it, as the options say.  If the runtime does not listen
 * (LDB=listen), makes it connect to listen_fd, whose abstract name is `name`.
 */
int attach_connect(pid_t pid, int listen_fd, const char *name, const struct attach_options *o);

/*
 * Makes a thread of a recorded process begin to follow calls between modules.  Returns false on
 * failure, after printing why in some cases.  Returns true if a thread was reached; if that thread
 * held a lock of the runtime, it has not begun.  meanwhile() is called repeatedly while the thread
 * works.
 */
bool attach_flows(pid_t pid, void (*meanwhile)(void *arg), void *arg);

#endif
