/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Knows what the program's descriptors are: a table of connections by descriptor.
 *
 * An entry belongs to one recording (conn_epoch), so nothing has to be cleared.  It is locked
 * while a hook uses it, for less than a microsecond.  Nobody waits for it without end: the holder
 * may be interrupted by a signal handler that comes here, or be off its CPU.  Then the event is
 * left out, and counted.
 */
#ifndef SOCKET_CONN_H
#define SOCKET_CONN_H

#include <stdbool.h>
#include <stdint.h>
#include "internal.h"
#include "message.h"

enum conn_kind {
	CONN_UNKNOWN,
	CONN_NONE,		/* no stream socket, or neither end of a connection */
	CONN_SERVER,		/* the program has accepted it: requests come from there */
	CONN_CLIENT,		/* the program has connected it: it asks others */
};

struct conn {
	_Atomic uint32_t lock;		/* tid of the holder; 0: free */
	_Atomic uint32_t epoch;		/* of the recording that kind and all below belong to */
	uint32_t kind;			/* enum conn_kind */
	uint32_t serial;		/* another one for each connection: descriptors are reused */

	/* CONN_SERVER: requests first_id up to next_id - 1 are open. */
	uint64_t first_id, next_id;
	uint32_t nr_read;		/* of them, how many have been read completely */
	uint32_t tid;			/* the thread that works on them; 0: none */
	uint64_t queue;			/* what they wait for, if none does */
	bool is_quiet;			/* the last one has no answer */
	bool is_head;			/* nor has its answer a body */
	struct message in, out;

	/* CONN_CLIENT: the connection for whose request it was last written to. */
	int owner_fd;
	uint32_t owner_serial;
};

#pragma GCC visibility push(hidden)

/* Returns the entry, locked, as it is in this recording: CONN_UNKNOWN at first; NULL: it is left out. */
struct conn *conn_lock(int fd, uint32_t tid);
void conn_unlock(struct conn *c);
/* Is it known that the descriptor is of no interest?  Without a lock. */
bool conn_is_none(int fd);
/* Returns whether a descriptor in [*from, to] has an entry of this recording, and which is the first. */
bool conn_any(unsigned *from, unsigned to);
/* Asks the kernel what the descriptor is.  */
enum conn_kind conn_ask(int fd);
/* How long ago the last bytes came, to within a tick of the kernel's; 0: not known. */
uint64_t conn_age_ns(int fd);
/* The locked entry is that of a new connection. */
void conn_renew(struct conn *c, enum conn_kind kind);
/* The ids of the connection's next requests begin with the next number. */
void conn_renumber(struct conn *c);
void conn_left_out(enum ldb_socket_left why);

#pragma GCC visibility pop
#endif /* SOCKET_CONN_H */
