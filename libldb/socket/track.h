/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declares the functions with which the wrappers (wrap.c) and uring.c report the program's calls.
 * All but track_turn() are called in a hook of the calling thread (hook_enter() of shim/held.h),
 * and may change errno.
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
	/* io_uring makes the transfer: the thread may work on other connections at the same time */
	bool is_ring;
	/* track_write_begins() fills these in, if the connection is followed */
	uint64_t began;			/* time of the call; 0: not known */
	uint32_t write;			/* exchange_write_begins() */
};

#pragma GCC visibility push(hidden)

/*
 * Called before and after a call that reads from, or writes to, a descriptor.  n is the result of
 * the call.
 */
void track_read_begins(struct thread *t, const struct transfer *x);
void track_read(struct thread *t, const struct transfer *x, long n, int error);
void track_write_begins(struct thread *t, struct transfer *x);
void track_write(struct thread *t, const struct transfer *x, long n);
/*
 * These report transfers by io_uring.  The thread gets several completions at the same time, and it
 * is not known in which order it works on their requests, so it counts as working on all of them.
 * track_ring_write_begins() is called when a write is submitted, and returns the connection's
 * number, which must be passed to track_ring_write_ends().  Until the write has ended, the thread
 * continues to work on the request even if it waits for descriptors.
 */
void track_ring_read(struct thread *t, const struct transfer *x, long n);
uint32_t track_ring_write_begins(struct thread *t, struct transfer *x);
/*
 * Returns the number of the descriptor's connection; 0: it is not a connection that the program has
 * accepted.
 */
uint32_t track_ring_serial(struct thread *t, int fd);
void track_ring_write_ends(struct thread *t, int fd, uint32_t serial);
/*
 * Called when the thread opens a connection to another server or writes to it, after all operations
 * that it submits in the same call are known.  The message is for the request for which the
 * connection was last used, if that has no answer yet; otherwise for the thread's only request
 * without an answer, if there is exactly one.
 */
void track_ring_asks(struct thread *t, const struct transfer *x);
/* Called before and after the thread waits for descriptors. */
void track_wait_begins(struct thread *t, uintptr_t site);
void track_wait(void);
/*
 * Reports that a turn of an event loop begins, after a wait that began at this tick.  The caller
 * need not be in a hook; errno does not change.
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
