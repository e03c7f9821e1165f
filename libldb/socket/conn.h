/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table of the program's connections by descriptor.
 *
 * An entry belongs to one recording (conn_epoch), so the table need not be cleared.  An entry is
 * locked while a hook uses it, for less than a microsecond.  Threads wait for it only for a limited
 * time, because the holder may be off its CPU, or be interrupted by a signal handler that wants the
 * same entry.  If the wait is in vain, the event is left out and counted.
 */
#ifndef SOCKET_CONN_H
#define SOCKET_CONN_H

#include <stdbool.h>
#include <stdint.h>
#include "exchange.h"
#include "internal.h"
#include "message.h"

enum conn_kind {
	CONN_UNKNOWN,
	CONN_NONE,		/* not a stream socket, or not connected */
	CONN_SERVER,		/* the program has accepted it, and receives requests from it */
	CONN_CLIENT,		/* the program has connected it, and sends requests to it */
};

struct conn {
	_Atomic uint32_t lock;		/* tid of the holder; 0: free */
	/* the recording to which kind and all members below belong */
	_Atomic uint32_t epoch;
	uint32_t kind;			/* enum conn_kind */
	/* a different number for each connection, because descriptors are reused */
	uint32_t serial;

	/* CONN_SERVER: requests first_id up to next_id - 1 are open. */
	uint64_t first_id, next_id;
	uint32_t nr_read;		/* how many of these have been read completely */
	uint32_t tid;			/* the thread that works on them; 0: none */
	/* the queue in which they wait, if no thread works on them */
	uint64_t queue;
	uint64_t since;			/* a new connection: its first bytes arrived after this; 0: not known */
	bool has_asked;			/* its request waits for the answer of another server */
	bool is_quiet;			/* the last request has no answer */
	bool is_head;			/* the answer to the last request has no body */
	uint32_t nr_writes;		/* submitted to a ring, and not completed */
	struct message in, out;
	struct exchange exchange;

	/* CONN_CLIENT: the server connection for whose request it was last written to */
	int owner_fd;
	uint32_t owner_serial;
	bool owner_waits;		/* nothing has come since */
	bool is_shared;			/* it was written to for another one, too, before an answer had come */
};

/*
 * io_uring has descriptors that are indices in a table of each ring.  They have numbers of their own
 * here, above all that the program is likely to use.
 */
#define CONN_RING_FD	(1 << 19)

#pragma GCC visibility push(hidden)

/*
 * Locks and returns the entry of this recording, which is CONN_UNKNOWN at first; NULL if the event
 * must be left out.
 */
struct conn *conn_lock(int fd, uint32_t tid);
void conn_unlock(struct conn *c);
/* Is the descriptor known to be of no interest?  This takes no lock. */
bool conn_is_none(int fd);
/*
 * Returns whether a descriptor in [*from, to] has an entry of this recording; *from becomes the
 * first such descriptor.
 */
bool conn_any(unsigned *from, unsigned to);
/* May conn_ask() make system calls?  Not if the program has a seccomp filter. */
bool conn_may_ask(void);
/* Asks the kernel what the descriptor is.  */
enum conn_kind conn_ask(int fd);
/* Returns how long ago the last bytes arrived, to within a tick of the kernel; 0: not known. */
uint64_t conn_age_ns(int fd);
/* Makes the locked entry that of a new connection. */
void conn_renew(struct conn *c, enum conn_kind kind);
/* Gives the connection the next number, with which the ids of its further requests begin. */
void conn_renumber(struct conn *c);
void conn_left_out(enum ldb_socket_left why);

#pragma GCC visibility pop
#endif /* SOCKET_CONN_H */
