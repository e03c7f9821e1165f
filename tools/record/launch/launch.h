/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts the program. */
#ifndef RECORD_LAUNCH_LAUNCH_H
#define RECORD_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "record/launch/target.h"

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
 * Creates the process, which waits for launch_go().  `runtime`: the library to preload, which
 * connects to `name`; NULL: none.  `secret` is "" if the program's children do not connect.
 * `flows`: the runtime connects even if the program has no instrumented functions.  Returns false
 * on failure, after printing why.
 */
bool launch_start(struct launch *l, const struct target *t, char **argv, const char *runtime,
		  const char *name, const char *secret, bool flows);

/* Lets the process execute the program.  Returns false on failure, after printing why. */
bool launch_go(struct launch *l, const char *program);

/*
 * Replaces the program's standard streams by /dev/null, if they are terminals: its output would
 * disturb the terminal.  Must be called before launch_start().
 */
void launch_hide_output(void);

/* Collects the status of the program if it has ended. */
void launch_reap(struct launch *l);
int launch_exit_status(const struct launch *l);

#endif
