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

/* messages between two comparisons of the counts, after the first comparisons */
#define CHECK_EVERY	64
/* attempts to read the kernel's two counts without a change in between */
#define TRIES		5

/* values of tcpi_state: <netinet/tcp.h> has them, but not all members of struct tcp_info */
enum { FIN_WAIT1 = 4, CLOSED = 7, CLOSE_WAIT = 8, LAST_ACK = 9, CLOSING = 11 };

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* Stores an address as an IPv6 address.  Returns false if it belongs to another family. */
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

static bool ask_info(int fd, struct tcp_info *info)
{
	socklen_t len = sizeof(*info);

	return !sys(SYS_getsockopt, fd, IPPROTO_TCP, TCP_INFO, info, &len, 0) &&
	       len >= offsetof(struct tcp_info, tcpi_bytes_retrans) + sizeof(info->tcpi_bytes_retrans);
}

/* How many bytes the kernel has counted until now in one direction. */
struct counted {
	uint64_t bytes;
	bool has_end;		/* the kernel may have counted the end of the stream as a byte */
};

/*
 * The kernel counts bytes when they arrive, so bytes that the program has not read yet are
 * subtracted.  The two numbers belong together if no byte is unread, or if no byte has arrived
 * before the next reading.
 */
static bool ask_received(int fd, struct counted *n)
{
	struct tcp_info info;
	uint64_t before = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		int unread = 0;

		if (!ask_info(fd, &info))
			return false;
		if (i && info.tcpi_bytes_received == before)
			return true;
		before = info.tcpi_bytes_received;
		if (sys(SYS_ioctl, fd, FIONREAD, &unread))
			return false;
		n->bytes = before - (uint32_t)unread;
		n->has_end = info.tcpi_state == CLOSED || info.tcpi_state == CLOSE_WAIT ||
			     info.tcpi_state == LAST_ACK || info.tcpi_state == CLOSING;
		if (!unread)
			return true;
	}
	return false;
}

static bool ask_sent(int fd, struct counted *n)
{
	struct tcp_info info;

	if (!ask_info(fd, &info))
		return false;
	n->bytes = info.tcpi_bytes_sent - info.tcpi_bytes_retrans + info.tcpi_notsent_bytes;
	n->has_end = info.tcpi_state == FIN_WAIT1 || info.tcpi_state == LAST_ACK || info.tcpi_state == CLOSING;
	return true;
}

static bool ask_kernel(int fd, bool is_read, struct counted *n)
{
	return conn_may_ask() && (is_read ? ask_received(fd, n) : ask_sent(fd, n));
}

union payload {
	struct ldb_message message;
	char bytes[LDB_PAYLOAD(3)];
};

_Static_assert(sizeof(struct ldb_message) == LDB_PAYLOAD(3), "it fits");

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

static struct exchange_way *way(struct conn *c, bool is_read)
{
	return is_read ? &c->exchange.received : &c->exchange.sent;
}

/* Counts a reported message. */
static void add(struct exchange_way *w)
{
	w->nr++;
	w->is_new = true;
}

static bool begin(struct conn *c, int fd, bool is_read, uint64_t n)
{
	struct exchange *x = &c->exchange;
	struct exchange_way *w = way(c, is_read);
	struct counted now;

	if (!ask_kernel(fd, is_read, &now) || now.bytes < n)
		return false;
	if (!x->has_addresses)
		x->has_addresses = address_get(SYS_getsockname, fd, x->own, &x->own_port) &&
				   address_get(SYS_getpeername, fd, x->peer, &x->peer_port);
	w->bytes = now.bytes - n;
	w->check_at = 1;
	return x->has_addresses;
}

static void say(struct conn *c, bool is_read, bool is_right, uint32_t tid)
{
	struct exchange_way *w = way(c, is_read);
	uint16_t flags = is_right ? LDB_MESSAGE_F_RIGHT : LDB_MESSAGE_F_WRONG;

	put(c, 0, flags | (is_read ? 0 : LDB_MESSAGE_F_SENT), 0, 0, session_clock(), tid);
	w->is_new = false;
	if (!is_right)
		w->state = EXCHANGE_OFF;
}

/* Compares the count of bytes, plus n, with the kernel's count, and reports the result. */
static void check(struct conn *c, int fd, bool is_read, uint64_t n, uint32_t tid)
{
	struct exchange_way *w = way(c, is_read);
	struct counted now;
	uint64_t more;

	w->check_at = w->nr + (w->nr < CHECK_EVERY ? 3 * w->nr : CHECK_EVERY);
	if (!ask_kernel(fd, is_read, &now))
		return;
	more = now.bytes - (w->bytes + n);
	say(c, is_read, !more || (more == 1 && now.has_end), tid);
}

bool exchange_begin(struct conn *c, int fd, bool is_read, uint64_t n, uint32_t tid)
{
	struct exchange_way *w = way(c, is_read);

	if (w->state == EXCHANGE_UNKNOWN)
		w->state = begin(c, fd, is_read, n) ? EXCHANGE_COUNTED : EXCHANGE_OFF;
	else if (w->state == EXCHANGE_COUNTED && w->nr >= w->check_at)
		check(c, fd, is_read, n, tid);
	return w->state == EXCHANGE_COUNTED;
}

uint32_t exchange_write_begins(struct conn *c)
{
	uint32_t *nr = &c->exchange.sent.nr_begun;

	*nr += *nr == UINT32_MAX ? 2 : 1;
	return *nr;
}

void exchange_overlaps(struct conn *c, uint32_t tid)
{
	if (c->exchange.sent.state == EXCHANGE_COUNTED)
		say(c, false, false, tid);
	c->exchange.sent.state = EXCHANGE_OFF;
}

void exchange_end(struct conn *c, bool is_read, uint64_t n)
{
	way(c, is_read)->bytes += n;
}

void exchange_leave(struct conn *c)
{
	c->exchange.received.state = c->exchange.sent.state = EXCHANGE_OFF;
}

void exchange_request(struct conn *c, uint64_t id, uint64_t offset, uint32_t tid)
{
	add(&c->exchange.received);
	put(c, id, 0, offset, 1, session_clock(), tid);
}

void exchange_sent(struct conn *c, uint64_t id, uint64_t n, uint64_t began, uint32_t tid)
{
	struct exchange *x = &c->exchange;

	/* It is sufficient to report the first bytes of an answer. */
	if (c->kind == CONN_SERVER && x->id == id)
		return;
	add(&x->sent);
	x->id = id;
	x->awaits = c->kind == CONN_CLIENT;
	put(c, id, LDB_MESSAGE_F_SENT, x->sent.bytes, n, began, tid);
}

void exchange_answered(struct conn *c, uint64_t n, uint32_t tid)
{
	struct exchange *x = &c->exchange;

	if (!x->awaits)
		return;
	x->awaits = false;
	add(&x->received);
	put(c, x->id, 0, x->received.bytes, n, session_clock(), tid);
}

void exchange_close(struct conn *c, int fd, uint32_t tid)
{
	for (int is_read = 0; is_read < 2; is_read++) {
		struct exchange_way *w = way(c, is_read);

		if (w->state == EXCHANGE_COUNTED && w->is_new)
			check(c, fd, is_read, 0, tid);
	}
}
