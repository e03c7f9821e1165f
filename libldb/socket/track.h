/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the wrappers (wrap.c) report of the program's calls.  All are called in a hook of the
 * calling thread (hook_enter() of shim/held.h), and may change errno.
 */
#ifndef SOCKET_TRACK_H
#define SOCKET_TRACK_H

#include <stdint.h>
#include <sys/uio.h>
#include "internal.h"

struct transfer {
	int fd;
	const struct iovec *iov;	/* NULL: the bytes are not in memory */
	unsigned nr_iov;
	uintptr_t site;
};

#pragma GCC visibility push(hidden)

/* Before and after a call that reads from, or writes to, a descriptor; n is what it returned. */
void track_read_begins(struct thread *t, const struct transfer *x);
void track_read(struct thread *t, const struct transfer *x, long n, int error);
void track_write_begins(struct thread *t, const struct transfer *x);
void track_write(struct thread *t, const struct transfer *x, long n);
/* Before the thread waits for descriptors, and after that. */
void track_wait_begins(struct thread *t, uintptr_t site);
void track_wait(void);
/* Before it waits for something else of this kind: a new connection. */
void track_leave(struct thread *t, uintptr_t site);
/* A descriptor is a new connection, accepted by the program or (about to be) made by it. */
void track_new(struct thread *t, int fd, bool is_accepted);
/* It is about to be closed, or to become another file. */
void track_close(struct thread *t, int fd, uintptr_t site);

#pragma GCC visibility pop
#endif /* SOCKET_TRACK_H */
