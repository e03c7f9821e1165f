/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports the messages of a TCP connection, whose other end may be in another recorded program:
 * which bytes of the connection a request has sent, and with which byte each received request
 * begins.  Both ends see the same addresses, and count the same bytes.  So a reader of both traces
 * finds for each request the request of the other program whose message started it
 * (tools/trace/join-messages.c).
 *
 * The wrappers count the bytes that they transfer, beginning with the number that the kernel has
 * counted before.  The count becomes wrong if bytes are transferred in another way (by a copy of
 * the descriptor in another process, or by a call that is not interposed).  So it is compared with
 * the kernel's count before the 2nd, 5th, 17th and 65th message, then every 64 messages, and at the
 * end.  The two directions have separate counts, and the thread that transfers in a direction makes
 * the comparison for this direction, because another thread may have transferred bytes in the other
 * direction and not have counted them yet.
 */
#ifndef SOCKET_EXCHANGE_H
#define SOCKET_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

struct conn;

enum exchange_state {			/* the state of one direction */
	EXCHANGE_UNKNOWN,	/* nothing has been transferred yet */
	EXCHANGE_COUNTED,
	/* the bytes cannot be counted, or no system call may be made to ask the kernel */
	EXCHANGE_OFF,
};

/* One direction of the stream. */
struct exchange_way {
	uint8_t state;			/* enum exchange_state */
	bool is_new;			/* messages were reported since the last comparison */
	/* messages that were reported; the number of messages at the next comparison */
	uint32_t nr, check_at;
	/* direction sent: number of writes that have begun; never 0 after the first */
	uint32_t nr_begun;
	uint64_t bytes;			/* bytes transferred before the current transfer */
};

struct exchange {
	bool has_addresses;
	/* the client end has sent a message: the first bytes of the answer are to be reported */
	bool awaits;
	uint16_t own_port, peer_port;
	/* IPv6 addresses, or IPv4 addresses as ::ffff:a.b.c.d */
	unsigned char own[16], peer[16];
	struct exchange_way received, sent;
	uint64_t id;			/* the request that sent the last message */
};

#pragma GCC visibility push(hidden)

/*
 * The caller of these functions has locked the entry.  exchange_begin() is called after a transfer
 * of n bytes, before the bytes are parsed, and determines how many bytes were transferred before.
 * It returns false if messages of this connection are not reported.
 */
bool exchange_begin(struct conn *c, int fd, bool is_read, uint64_t n, uint32_t tid);
/*
 * Called before a write; returns the write's number.  If a later write has begun before this write
 * ends, it is not known which of them put its bytes into the stream first.  Then
 * exchange_overlaps() is called instead of exchange_begin(), and no more sent messages are reported
 * for this connection.
 */
uint32_t exchange_write_begins(struct conn *c);
void exchange_overlaps(struct conn *c, uint32_t tid);
/*
 * Called when the bytes of the transfer of exchange_begin() have been parsed: adds them to the
 * count.
 */
void exchange_end(struct conn *c, bool is_read, uint64_t n);
/* Stops reporting messages of this connection, because its bytes cannot be counted. */
void exchange_leave(struct conn *c);
/*
 * Reports that the request was started by a message that begins at this offset and has been
 * received.
 */
void exchange_request(struct conn *c, uint64_t id, uint64_t offset, uint32_t tid);
/* Reports that the request has sent the n bytes of this transfer, which began at this time. */
void exchange_sent(struct conn *c, uint64_t id, uint64_t n, uint64_t began, uint32_t tid);
/* Reports that the n bytes of this transfer answer the request that sent the last message. */
void exchange_answered(struct conn *c, uint64_t n, uint32_t tid);
/* Called when the descriptor is about to be closed. */
void exchange_close(struct conn *c, int fd, uint32_t tid);

#pragma GCC visibility pop
#endif /* SOCKET_EXCHANGE_H */
