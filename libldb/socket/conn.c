// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of connections; see conn.h.
 *
 * A descriptor that has no entry in this recording was opened earlier, or by a call that is not
 * interposed.  Then the program is taken to be the server of the connection if a socket listened on
 * the connection's own port when the recording began (/proc/self/net/tcp, tcp6), or if it is a Unix
 * socket with a name.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "runtime/runtime.h"
#include "conn.h"

#define CHUNK		256
#define CHUNKS_MAX	4096		/* enough for descriptors up to a million */
/* attempts, which take some microseconds; after that the holder may need this CPU */
#define TRIES		200
#define YIELDS		100
/* ids of requests that belong to one number of a connection */
#define NUMBER_IDS	1000000
#define TCP_LISTENS	0x0a		/* TCP_LISTEN in /proc/net/tcp */

static struct conn *_Atomic chunks[CHUNKS_MAX];
static _Atomic uint32_t conn_epoch;
static _Atomic uint32_t nr_serials;
static _Atomic uint64_t nr_numbers;
/* the kernel may be asked about descriptors, because the program has no seccomp filter */
static _Atomic uint32_t is_asking;
static uint64_t listens[65536 / 64];	/* one bit for each port on which a socket listened */

void conn_left_out(enum ldb_socket_left why)
{
	order_any_add_word(&session_info()->socket_left[why], 1);
}

static struct conn *entry(int fd)
{
	struct conn *c;

	if (fd < 0 || fd >= CHUNK * CHUNKS_MAX)
		return NULL;
	c = order_conn_chunk(&chunks[fd / CHUNK]);
	return c ? c + fd % CHUNK : NULL;
}

static struct conn *new_entry(int fd)
{
	struct conn *none = NULL, *mapped;

	if (fd < 0 || fd >= CHUNK * CHUNKS_MAX)
		return NULL;
	mapped = raw_map(CHUNK * sizeof(*mapped));
	/*
	 * If two threads map memory at the same time, the memory of the later thread is never
	 * touched.
	 */
	if (mapped)
		atomic_compare_exchange_strong(&chunks[fd / CHUNK], &none, mapped);
	return entry(fd);
}

bool conn_is_none(int fd)
{
	const struct conn *c = entry(fd);

	return c && order_any_load(&c->epoch) == order_any_load(&conn_epoch) && c->kind == CONN_NONE;
}

bool conn_any(unsigned *from, unsigned to)
{
	for (; *from <= to && *from < CHUNK * CHUNKS_MAX; ++*from) {
		const struct conn *c = entry(*from);

		if (c && order_any_load(&c->epoch) == order_any_load(&conn_epoch) && c->kind != CONN_UNKNOWN)
			return true;
		if (!c)
			*from |= CHUNK - 1;
	}
	return false;
}

/*
 * Locks the entry.  If a signal handler has jumped out of a hook of this thread, the entry is still
 * locked by the thread itself: see unwind.c.
 */
static bool take(struct conn *c, uint32_t tid)
{
	uint32_t holder;

	for (unsigned i = 0; i < TRIES + YIELDS; i++) {
		holder = 0;
		if (order_conn_take(&c->lock, &holder, tid) || holder == tid)
			return true;
		if (i < TRIES)
			cpu_relax();
		else if (order_any_load(&is_asking))
			sys(SYS_sched_yield);
	}
	return false;
}

struct conn *conn_lock(int fd, uint32_t tid)
{
	struct conn *c = entry(fd) ?: new_entry(fd);
	uint32_t epoch = order_any_load(&conn_epoch);

	if (fd < 0)
		return NULL;
	if (!c) {
		conn_left_out(LDB_SOCKET_LEFT_TABLE);
		return NULL;
	}
	if (!take(c, tid)) {
		conn_left_out(LDB_SOCKET_LEFT_BUSY);
		return NULL;
	}
	if (order_any_load(&c->epoch) != epoch) {
		conn_renew(c, CONN_UNKNOWN);
		order_any_store(&c->epoch, epoch);
	}
	return c;
}

void conn_unlock(struct conn *c)
{
	order_conn_give(&c->lock);
}

void conn_renew(struct conn *c, enum conn_kind kind)
{
	c->kind = kind;
	c->serial = atomic_fetch_add(&nr_serials, 1) + 1;
	c->first_id = c->next_id = 0;
	c->nr_read = 0;
	c->tid = 0;
	c->queue = 0;
	c->since = 0;
	c->has_asked = c->is_quiet = c->is_head = false;
	memset(&c->in, 0, offsetof(struct message, line));
	memset(&c->out, 0, offsetof(struct message, line));
	c->out.is_answer = true;
	c->owner_fd = -1;
	c->owner_serial = 0;
	c->owner_waits = c->is_shared = false;
	c->nr_writes = 0;
	memset(&c->exchange, 0, sizeof(c->exchange));
}

void conn_renumber(struct conn *c)
{
	if (c->next_id % NUMBER_IDS == 0 && c->first_id == c->next_id)
		c->first_id = c->next_id = (atomic_fetch_add(&nr_numbers, 1) + 1) * NUMBER_IDS + 1;
}

static bool port_is_listened(unsigned port)
{
	return listens[port / 64] >> port % 64 & 1;
}

enum conn_kind conn_ask(int fd)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} own;
	socklen_t len = sizeof(int);
	int type;

	if (!order_any_load(&is_asking))
		return CONN_NONE;
	if (sys(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &len, 0) || type != SOCK_STREAM)
		return CONN_NONE;
	len = sizeof(own);
	if (sys(SYS_getsockname, fd, &own, &len))
		return CONN_NONE;
	switch (own.sa.sa_family) {
	case AF_INET:
		return port_is_listened(ntohs(own.in.sin_port)) ? CONN_SERVER : CONN_CLIENT;
	case AF_INET6:
		return port_is_listened(ntohs(own.in6.sin6_port)) ? CONN_SERVER : CONN_CLIENT;
	case AF_UNIX:
		/* An accepted socket has the same name as the socket that listens. */
		return len > offsetof(struct sockaddr_un, sun_path) ? CONN_SERVER : CONN_CLIENT;
	default:
		return CONN_NONE;
	}
}

bool conn_may_ask(void)
{
	return order_any_load(&is_asking);
}

uint64_t conn_age_ns(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	if (!order_any_load(&is_asking) ||
	    sys(SYS_getsockopt, fd, IPPROTO_TCP, TCP_INFO, &info, &len, 0) ||
	    len < offsetof(struct tcp_info, tcpi_last_data_recv) + sizeof(info.tcpi_last_data_recv))
		return 0;
	return info.tcpi_last_data_recv * 1000000ULL;
}

/* Parses "  sl  local_address rem_address   st ...", a character at a time (raw thread). */
struct ports {
	unsigned field, port, state;
	bool is_port, was_blank;
};

static void ports_char(struct ports *p, char c)
{
	unsigned digit = c <= '9' ? c - '0' : c - 'A' + 10;

	if (c == '\n') {
		if (p->state == TCP_LISTENS && p->port < 65536)
			listens[p->port / 64] |= 1ULL << p->port % 64;
		*p = (struct ports){ .was_blank = true };
		return;
	}
	if (c == ' ') {
		p->was_blank = true;
		return;
	}
	p->field += p->was_blank;
	p->was_blank = false;
	if (p->field == 2 && c == ':')
		p->is_port = true;
	else if (p->field == 2 && p->is_port)
		p->port = p->port << 4 | digit;
	else if (p->field == 4)
		p->state = p->state << 4 | digit;
}

static void ports_read(const char *file)
{
	struct ports p = { .was_blank = true };
	char buf[4096];
	long fd = sys(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC, 0), n;

	if (fd < 0)
		return;
	while ((n = sys(SYS_read, fd, buf, sizeof(buf))) > 0)
		for (long i = 0; i < n; i++)
			ports_char(&p, buf[i]);
	sys(SYS_close, fd);
}

void conn_begin(void)
{
	memset(listens, 0, sizeof(listens));
	ports_read("/proc/self/net/tcp");
	ports_read("/proc/self/net/tcp6");
	order_any_store(&is_asking, !priority_any_filter());
	atomic_fetch_add(&conn_epoch, 1);
}

/* Frees all locks in a fork child, which does not have the threads that may have held them. */
void conn_fork_child(void)
{
	atomic_fetch_add(&conn_epoch, 1);
	for (unsigned i = 0; i < CHUNKS_MAX; i++) {
		struct conn *c = order_conn_chunk(&chunks[i]);

		for (unsigned k = 0; c && k < CHUNK; k++)
			if (atomic_load(&c[k].lock))
				atomic_store(&c[k].lock, 0);
	}
}
