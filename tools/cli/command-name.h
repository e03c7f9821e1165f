/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the socket on which the recorder of a process listens for commands, for ldb-record and
 * ldb-ctl.
 */
#ifndef CLI_COMMAND_NAME_H
#define CLI_COMMAND_NAME_H

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

/* Fills in the abstract address; pid is in the caller's namespace.  Returns the length. */
socklen_t command_name(pid_t pid, struct sockaddr_un *sa);

#endif
