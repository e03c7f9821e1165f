/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declares the functions with which the wrappers (wrap.c) report the program's calls.  All are
 * called in a hook of the calling thread (hook_enter() of shim/held.h), and may change errno.
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
	bool is_ring;			/* a ring of io_uring does it: the thread may work on others, too */
	/* track_write_begins() fills these in, if the connection is followed */
	uint64_t began;			/* when; 0: it is not known */
	uint32_t write;			/* exchange_write_begins() */
};

#pragma GCC visibility push(hidden)

/*
 * Called before and after a call that reads from, or writes to, a descriptor.  n is what the call
 * returned.
 */
void track_read_begins(struct thread *t, const struct transfer *x);
void track_read(struct thread *t, const struct transfer *x, long n, int error);
void track_write_begins(struct thread *t, struct transfer *x);
void track_write(struct thread *t, const struct transfer *x, long n);
/*
 * The same for a ring of io_uring.  What has completed is delivered to the thread at once, and in what
 * order it then works on it is not known, so it works on all of it.  A write is begun by the call that
 * submits it, which returns the connection's number for its end; until then the thread does not stop
 * working on the request because it waits.
 */
void track_ring_read(struct thread *t, const struct transfer *x, long n);
uint32_t track_ring_write_begins(struct thread *t, struct transfer *x);
/* Returns the number of a connection that the program has accepted; 0: it is none. */
uint32_t track_ring_serial(struct thread *t, int fd);
void track_ring_write_ends(struct thread *t, int fd, uint32_t serial);
/*
 * Called for a connection to another server that is made or written to, when all that is submitted
 * with it is known: then the request for which this is may be the only one without an answer.
 */
void track_ring_asks(struct thread *t, const struct transfer *x);
/* Called before and after the thread waits for descriptors. */
void track_wait_begins(struct thread *t, uintptr_t site);
void track_wait(void);
/*
 * Reports that a turn of an event loop begins, after a wait that began at this tick.  The caller need not
 * be in a hook; errno does not change.
 */
void track_turn(uint64_t began);
/* Called before the thread waits for a new connection. */
void track_leave(struct thread *t, uintptr_t site);
/*
 * Reports that a descriptor is a new connection, which the program has accepted, or which it has
 * made or is about to make.
 */
void track_new(struct thread *t, int fd, bool is_accepted);
/* Reports that the descriptor is about to be closed, or to refer to another file. */
void track_close(struct thread *t, int fd, uintptr_t site);

#pragma GCC visibility pop
#endif /* SOCKET_TRACK_H */
