/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports the messages of a connection whose other end is another program's: which bytes of the
 * stream a request has sent, and with which byte a request begins that was received.  Both ends see
 * the same addresses, and count the same bytes; so the reader of both traces can tell which request
 * was made for which (tools/trace/join-messages.c).
 *
 * Bytes are counted as the hooks see them, beginning with what the kernel has counted before.  What a
 * hook does not see (a copy of the descriptor in another process, a call that is not interposed) would
 * make the count wrong; so it is compared with the kernel's before the 2nd, 5th, 17th and 65th message, then
 * every 64 messages, and at the end.  Each direction is counted and compared for itself, by the thread that
 * transfers: another one may be between a transfer in the other direction and its hook.
 */
#ifndef SOCKET_EXCHANGE_H
#define SOCKET_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

struct conn;

enum exchange_state {			/* of each direction */
	EXCHANGE_UNKNOWN,	/* nothing has been transferred yet */
	EXCHANGE_COUNTED,
	EXCHANGE_OFF,		/* the bytes are not known, or the kernel may not be asked */
};

/* One direction of the stream. */
struct exchange_way {
	uint8_t state;			/* enum exchange_state */
	bool is_new;			/* messages were reported since the count was last compared */
	uint32_t nr, check_at;		/* messages that were reported, and how many when it is compared next */
	uint32_t nr_begun;		/* sent: writes that have begun; never 0 after the first */
	uint64_t bytes;			/* before the transfer that is reported now */
};

struct exchange {
	bool has_addresses;
	bool awaits;			/* a client has asked: the answer's first bytes are reported */
	uint16_t own_port, peer_port;
	unsigned char own[16], peer[16];	/* as IPv6 has them */
	struct exchange_way received, sent;
	uint64_t id;			/* of the last message that was sent */
};

#pragma GCC visibility push(hidden)

/*
 * For all of them the entry is locked.  Called after a transfer of n bytes, before what it means is
 * worked out: counts what was before it.  Returns false if messages of this connection are not reported.
 */
bool exchange_begin(struct conn *c, int fd, bool is_read, uint64_t n, uint32_t tid);
/*
 * Called before a write; returns its number.  A write that ends when a later one has begun may have put its
 * bytes before or after that one's: then exchange_overlaps() is called instead of exchange_begin(), and
 * nothing more is reported of what is sent.
 */
uint32_t exchange_write_begins(struct conn *c);
void exchange_overlaps(struct conn *c, uint32_t tid);
/* The same transfer is over. */
void exchange_end(struct conn *c, bool is_read, uint64_t n);
/* Nothing more is reported of this connection, because its bytes cannot be counted. */
void exchange_leave(struct conn *c);
/* The request has been made from a message that begins with this byte, which had come by now. */
void exchange_request(struct conn *c, uint64_t id, uint64_t offset, uint32_t tid);
/* The n bytes of this transfer, which began at this time, were sent by the request. */
void exchange_sent(struct conn *c, uint64_t id, uint64_t n, uint64_t began, uint32_t tid);
/* The n bytes of this transfer answer the request that sent last. */
void exchange_answered(struct conn *c, uint64_t n, uint32_t tid);
/* The descriptor is about to be closed. */
void exchange_close(struct conn *c, int fd, uint32_t tid);

#pragma GCC visibility pop
#endif /* SOCKET_EXCHANGE_H */
