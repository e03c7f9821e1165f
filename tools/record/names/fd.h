/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the files and sockets behind a process's descriptors, from /proc: "svc.dat", "a pipe",
 * "eventfd", "socket 10.0.0.1:80", as calls_descriptor() does.
 */
#ifndef RECORD_NAMES_FD_H
#define RECORD_NAMES_FD_H

#include <sys/types.h>

struct fd_names;

/* Returns NULL if there is no memory. */
struct fd_names *fd_names_alloc(pid_t pid);
void fd_names_free(struct fd_names *f);

/* Returns the name of a descriptor; "": not known.  The string is valid until fd_names_free(). */
const char *fd_names_get(struct fd_names *f, int fd);

/* Forgets all names: descriptors may refer to other files from now on. */
void fd_names_forget(struct fd_names *f);

#endif
