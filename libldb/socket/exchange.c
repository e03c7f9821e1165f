// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reports messages between programs; see exchange.h. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <linux/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include "request/request.h"
#include "runtime/runtime.h"
#include "conn.h"
#include "exchange.h"

#define CHECK_EVERY	64	/* messages */
#define TRIES		5	/* to find the kernel's counts unchanged */

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* Stores an address as that of IPv6.  Returns false if it is of another family. */
static bool address_get(long number, int fd, unsigned char *to, uint16_t *port)
{
	union address a;
	socklen_t len = sizeof(a);

	if (sys(number, fd, &a, &len))
		return false;
	if (a.sa.sa_family == AF_INET6) {
		memcpy(to, &a.in6.sin6_addr, 16);
		*port = ntohs(a.in6.sin6_port);
		return true;
	}
	if (a.sa.sa_family != AF_INET)
		return false;
	memset(to, 0, 10);
	memset(to + 10, 0xff, 2);
	memcpy(to + 12, &a.in.sin_addr, 4);
	*port = ntohs(a.in.sin_port);
	return true;
}

/* How many bytes the kernel has counted until now: those that were read, and those that were sent. */
struct counted {
	uint64_t received, sent;
};

static bool ask_kernel(int fd, struct counted *n)
{
	struct tcp_info info;
	int before, unread = 0;

	if (!conn_may_ask())
		return false;
	for (unsigned i = 0; i < TRIES; i++) {
		socklen_t len = sizeof(info);

		if (sys(SYS_ioctl, fd, FIONREAD, &before) ||
		    sys(SYS_getsockopt, fd, IPPROTO_TCP, TCP_INFO, &info, &len, 0) ||
		    len < offsetof(struct tcp_info, tcpi_bytes_retrans) + sizeof(info.tcpi_bytes_retrans) ||
		    sys(SYS_ioctl, fd, FIONREAD, &unread))
			return false;
		if (before != unread)	/* bytes have come meanwhile */
			continue;
		n->received = info.tcpi_bytes_received - (uint32_t)unread;
		n->sent = info.tcpi_bytes_sent - info.tcpi_bytes_retrans + info.tcpi_notsent_bytes;
		return true;
	}
	return false;
}

/* The payload of a record: see struct ldb_row_message. */
union payload {
	struct {
		unsigned char own[16], peer[16];
		uint64_t offset;
		uint16_t own_port, peer_port;
		uint32_t serial, bytes;
	} __attribute__((packed)) message;
	char bytes[LDB_PAYLOAD(3)];
};

_Static_assert(sizeof(union payload) == LDB_PAYLOAD(3), "it fits");

static void put(struct conn *c, uint64_t id, uint16_t flags, uint64_t offset, uint64_t n, uint64_t at, uint32_t tid)
{
	const struct exchange *x = &c->exchange;
	union payload p = { .message = {
		.offset = offset, .own_port = x->own_port, .peer_port = x->peer_port, .serial = c->serial,
		.bytes = n > UINT32_MAX ? UINT32_MAX : n,
	} };

	memcpy(p.message.own, x->own, 16);
	memcpy(p.message.peer, x->peer, 16);
	note_message(id, flags | (c->kind == CONN_CLIENT ? LDB_MESSAGE_F_CLIENT : 0), at, tid, p.bytes);
}

static bool begin(struct conn *c, int fd, bool is_read, uint64_t n)
{
	struct exchange *x = &c->exchange;
	struct counted now;

	if (!ask_kernel(fd, &now) || !address_get(SYS_getsockname, fd, x->own, &x->own_port) ||
	    !address_get(SYS_getpeername, fd, x->peer, &x->peer_port))
		return false;
	if ((is_read ? now.received : now.sent) < n)
		return false;
	x->received = now.received - (is_read ? n : 0);
	x->sent = now.sent - (is_read ? 0 : n);
	return true;
}

/*
 * Compares with what the kernel has counted, n bytes after what was counted here.  The kernel also
 * counts the end of the stream, as a byte that was received.
 */
static void check(struct conn *c, int fd, uint64_t read, uint64_t written, uint32_t tid)
{
	struct exchange *x = &c->exchange;
	struct counted now;
	bool is_right;

	if (!ask_kernel(fd, &now))
		return;
	is_right = now.received - (x->received + read) <= 1 && now.sent == x->sent + written;
	put(c, 0, is_right ? LDB_MESSAGE_F_RIGHT : LDB_MESSAGE_F_WRONG, 0, 0, session_clock(), tid);
	if (!is_right)
		x->state = EXCHANGE_OFF;
}

bool exchange_begin(struct conn *c, int fd, bool is_read, uint64_t n, uint32_t tid)
{
	struct exchange *x = &c->exchange;

	if (x->state == EXCHANGE_UNKNOWN)
		x->state = begin(c, fd, is_read, n) ? EXCHANGE_COUNTED : EXCHANGE_OFF;
	else if (x->state == EXCHANGE_COUNTED && x->nr % CHECK_EVERY == CHECK_EVERY - 1) {
		x->nr++;
		check(c, fd, is_read ? n : 0, is_read ? 0 : n, tid);
	}
	return x->state == EXCHANGE_COUNTED;
}

void exchange_end(struct conn *c, bool is_read, uint64_t n)
{
	*(is_read ? &c->exchange.received : &c->exchange.sent) += n;
}

void exchange_leave(struct conn *c)
{
	c->exchange.state = EXCHANGE_OFF;
}

void exchange_request(struct conn *c, uint64_t id, uint64_t offset, uint32_t tid)
{
	c->exchange.nr++;
	put(c, id, 0, offset, 1, session_clock(), tid);
}

void exchange_sent(struct conn *c, uint64_t id, uint64_t n, uint64_t began, uint32_t tid)
{
	struct exchange *x = &c->exchange;

	/* Of an answer, the first bytes are sufficient. */
	if (c->kind == CONN_SERVER && x->id == id)
		return;
	x->nr++;
	x->id = id;
	x->awaits = c->kind == CONN_CLIENT;
	put(c, id, LDB_MESSAGE_F_SENT, x->sent, n, began, tid);
}

void exchange_answered(struct conn *c, uint64_t n, uint32_t tid)
{
	struct exchange *x = &c->exchange;

	if (!x->awaits)
		return;
	x->awaits = false;
	x->nr++;
	put(c, x->id, 0, x->received, n, session_clock(), tid);
}

void exchange_close(struct conn *c, int fd, uint32_t tid)
{
	if (c->exchange.state == EXCHANGE_COUNTED && c->exchange.nr)
		check(c, fd, 0, 0, tid);
}
