/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executes commands for a running recording, from ldb-ctl or from any permitted program.  A command
 * is one line; the answer is one line that begins with "ok" or with "error: ".
 *
 * The socket has the abstract name LDB_COMMAND_NAME.  The process at its other end must belong to
 * the recorder's user, or to root.
 */
#ifndef RECORD_RUN_COMMAND_H
#define RECORD_RUN_COMMAND_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

struct recording;

#define COMMAND_CLIENTS	8
#define COMMAND_FDS	(COMMAND_CLIENTS + 1)

struct command {
	int listen_fd;		/* -1: none */
	bool wants_stop;	/* stop the recording when the answer has been sent */
	struct command_client {
		int fd;		/* -1: free */
		size_t nr;
		char line[4096];
	} clients[COMMAND_CLIENTS];
};

/*
 * Opens the socket, when the recording of a process begins.  If the name is taken already, there is
 * no socket, and --verbose says so.
 */
void command_open(struct recording *r);
void command_close(struct recording *r);

/*
 * command_poll() fills in what to poll for; after poll(), command_serve() executes the commands
 * that have arrived.  It returns true if the recording must be stopped.
 */
void command_poll(const struct recording *r, struct pollfd p[COMMAND_FDS]);
bool command_serve(struct recording *r, const struct pollfd p[COMMAND_FDS]);

/* Executes one line, which is modified.  The answer has no newline. */
void command_execute(struct recording *r, char *line, char *answer, size_t size);

#endif
