/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends and receives messages on the socket to the runtime. */
#ifndef RECORD_LAUNCH_CONTROL_H
#define RECORD_LAUNCH_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>
#include <ldb/control.h>

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
