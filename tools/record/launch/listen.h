/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the socket to which the runtime connects. */
#ifndef RECORD_LAUNCH_LISTEN_H
#define RECORD_LAUNCH_LISTEN_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Returns a socket to which process `pid` (0: any in this network namespace) can connect, and its
 * abstract name; -1 after printing why not.
 */
int listen_open(pid_t pid, char *name, size_t size);

#endif
