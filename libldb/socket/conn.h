/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table of the program's connections by descriptor.
 *
 * An entry belongs to one recording (conn_epoch), so the table need not be cleared.  An entry is
 * locked while a hook uses it.  Threads wait for it only for a limited time, because the holder may
 * be off its CPU, or be interrupted by a signal handler that wants the same entry.  If the entry
 * stays locked, the read or write is not evaluated, but counted.
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
	CONN_NONE,		/* not a TCP or Unix stream socket, or it is not known */
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

	/* CONN_SERVER: the requests with ids from first_id to next_id - 1 are open. */
	uint64_t first_id, next_id;
	uint32_t nr_read;		/* how many of these have been read completely */
	uint32_t tid;			/* the thread that works on them; 0: none */
	/* the queue in which they wait, if no thread works on them */
	uint64_t queue;
	/* a new connection: its first bytes arrived after this time; 0: not known */
	uint64_t since;
	bool has_asked;			/* its request waits for the answer of another server */
	bool is_quiet;			/* the last request has no answer */
	bool is_head;			/* the answer to the last request has no body */
	/* number of writes that were submitted to io_uring and have not completed */
	uint32_t nr_writes;
	struct message in, out;
	struct exchange exchange;

	/*
	 * CONN_CLIENT: the connection, of kind CONN_SERVER, for whose request it was last written
	 * to
	 */
	int owner_fd;
	uint32_t owner_serial;
	bool owner_waits;		/* no answer has been received since */
	/* it was written to for another request, too, before an answer had been received */
	bool is_shared;
};

/*
 * io_uring can use descriptors that are indices in a table of the ring.  In this table of
 * connections they have numbers above all descriptors that a program is likely to use.
 */
#define CONN_RING_FD	(1 << 19)

#pragma GCC visibility push(hidden)

/*
 * Locks and returns the entry of this recording, which is CONN_UNKNOWN at first; NULL if the event
 * must be left out.
 */
struct conn *conn_lock(int fd, uint32_t tid);
void conn_unlock(struct conn *c);
/* Returns true if it is known that the descriptor is not a connection.  Takes no lock. */
bool conn_is_none(int fd);
/*
 * Returns true if a descriptor in [*from, to] has an entry of this recording that is not
 * CONN_UNKNOWN; *from becomes the first such descriptor.
 */
bool conn_any(unsigned *from, unsigned to);
/*
 * Returns true if conn_ask() may make system calls; it may not if the program has a seccomp filter.
 */
bool conn_may_ask(void);
/* Asks the kernel what the descriptor is.  */
enum conn_kind conn_ask(int fd);
/* Returns how long ago the last bytes arrived, to within a tick of the kernel; 0: not known. */
uint64_t conn_age_ns(int fd);
/* Initialises the locked entry for a new connection. */
void conn_renew(struct conn *c, enum conn_kind kind);
/*
 * Gives the connection the next number, with which the ids of its further requests begin, if it has
 * none, or has used up the ids of its number and has no open request.
 */
void conn_renumber(struct conn *c);
void conn_left_out(enum ldb_socket_left why);

#pragma GCC visibility pop
#endif /* SOCKET_CONN_H */
