// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Derives requests from what the program reads from connections and writes to them.
 *
 * A request begins with the first byte of its message that the program reads, and ends with the
 * last byte of the answer.  Where the protocol does not show these (MESSAGE_OTHER), it begins
 * with the first read, and ends with the first write after that.
 *
 * A thread works on the requests of one connection at a time: the one that it last read from or
 * wrote to, which is called its current connection.  It stops working on them when it begins to
 * work on those of another connection, or waits for descriptors (epoll_wait() and the like).  After
 * such a wait it is not known for which request it works, until it reads or writes again.  If the
 * program has opened the connection itself (to a database, or another server), what it reads from
 * this connection belongs to the request for which it last wrote to it.  A request moves to the
 * thread that writes its answer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <ldb/ldb.h>
#include <ldb/control.h>
#include "request/context.h"
#include "request/request.h"
#include "runtime/runtime.h"
#include "conn.h"
#include "track.h"

/* The connection on which the calling thread works: fd is the descriptor + 1; 0: there is none. */
struct current {
	int fd;
	uint32_t serial;
	/*
	 * the current request is a guess: an answer was read from a server to which several
	 * requests wrote
	 */
	bool is_guess;
};

static TLS_IE struct current current;

/*
 * An event loop learns that bytes have arrived when it next waits for descriptors.  The bytes that
 * it then reads have arrived since the wait before that, or during the wait.  If that may be long
 * ago, the kernel is asked when the last bytes have arrived.
 */
/* a wait that is shorter than this found bytes that had already arrived */
#define AT_ONCE_NS	20000
/* the kernel knows the age to within one of its ticks, 1 to 10 ms */
#define AGE_MIN_NS	1000000

static TLS_IE struct {
	uint64_t began, ended;	/* the last wait; 0: there was none */
	uint64_t since;		/* all bytes that are not read yet have arrived after this time */
	uint64_t slept;		/* the end of the last wait that did not return at once */
} waits;

/* A call of the program and its connection. */
struct call {
	struct thread *t;
	struct conn *c;
	const struct transfer *x;
	bool is_reported;		/* exchange.h reports messages of this connection */
	uint64_t fed;			/* bytes that were parsed before this call */
};

static bool is_current(const struct conn *c, int fd)
{
	return current.fd == fd + 1 && current.serial == c->serial;
}

static void set_current(struct conn *c, int fd)
{
	current = (struct current){ .fd = fd + 1, .serial = c->serial };
	c->has_asked = false;
}

static bool has_open(const struct conn *c)
{
	return c->first_id != c->next_id;
}

/*
 * Links the connection's request to the trace context that the thread has published.  This context
 * belongs to the request on which the thread works now.  So the link is made only if the connection
 * has no other request, and if the thread does not work on several requests whose operations
 * io_uring has completed together.
 */
static void note_context(const struct call *k)
{
	if (context_may_be() && !k->x->is_ring && k->c->next_id - k->c->first_id == 1)
		request_link_published(k->c->first_id);
}

static void end_first(const struct call *k)
{
	struct conn *c = k->c;

	note_context(k);
	request_end(c->first_id++, (void *)k->x->site);
	if (c->nr_read)
		c->nr_read--;
	if (has_open(c))
		return;
	c->tid = 0;
	c->is_quiet = false;
	if (is_current(c, k->x->fd))
		current.fd = 0;
}

static void end_all(const struct call *k)
{
	while (has_open(k->c))
		end_first(k);
}

/*
 * Makes the thread stop working on a connection.  Returns false if the thread continues to work on
 * it, because io_uring is still writing the answer.
 */
static bool leave_one(struct thread *t, int fd, uint32_t serial, uintptr_t site, bool is_only)
{
	struct transfer x = { .fd = fd, .site = site, .is_ring = !is_only };
	struct call k = { .t = t, .c = conn_lock(fd, t->tid), .x = &x };
	uint64_t queue;
	bool is_writing;

	if (!k.c)
		return true;
	is_writing = k.c->serial == serial && k.c->nr_writes;
	if (k.c->serial == serial && k.c->tid == t->tid && !is_writing) {
		if (k.c->is_quiet)
			end_all(&k);
		queue = k.c->has_asked ? LDB_QUEUE_UPSTREAM : LDB_QUEUE_LOOP;
		note_context(&k);
		for (uint64_t id = k.c->first_id; id != k.c->next_id; id++)
			request_block(id, (void *)queue, (void *)site);
		k.c->queue = queue;
		k.c->tid = 0;
	}
	conn_unlock(k.c);
	return !is_writing;
}

/*
 * Ends the thread's work on the connections in works[], except those to which io_uring is still
 * writing.
 */
static void leave_others(struct thread *t, uintptr_t site)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < t->nr_works; i++)
		if (!leave_one(t, t->works[i].fd, t->works[i].serial, site, false))
			t->works[left++] = t->works[i];
	t->nr_works = left;
}

/*
 * Makes the thread stop working on all connections, except those to which io_uring is still
 * writing.
 */
static void leave(struct thread *t, uintptr_t site)
{
	bool is_only = !t->nr_works;

	if (!is_only)
		leave_others(t, site);
	if (current.fd && leave_one(t, current.fd - 1, current.serial, site, is_only))
		current.fd = 0;
}

/*
 * Makes the thread continue to work on its current connection, although another connection becomes
 * the current one.
 */
static void retain_current(struct thread *t, const struct transfer *x)
{
	uint32_t n = 0;

	if (!current.fd || current.fd == x->fd + 1)
		return;
	while (n < t->nr_works && t->works[n].fd != current.fd - 1)
		n++;
	if (n == sizeof(t->works) / sizeof(*t->works)) {
		leave_one(t, t->works[0].fd, t->works[0].serial, x->site, false);
		memmove(&t->works[0], &t->works[1], sizeof(t->works) - sizeof(*t->works));
		n--;
	}
	t->works[n].fd = current.fd - 1;
	t->works[n].serial = current.serial;
	if (n >= t->nr_works)
		t->nr_works = n + 1;
}

/*
 * Makes the thread work on the connection's requests.  The thread that worked on them until now
 * stops.
 */
static void work_on(const struct call *k)
{
	struct conn *c = k->c;

	if (!has_open(c) || c->tid == k->t->tid)
		return;
	for (uint64_t id = c->first_id; id != c->next_id; id++) {
		if (c->tid)
			request_block_of(c->tid, id);
		request_start(id, c->tid ? NULL : (void *)c->queue, (void *)k->x->site);
	}
	c->tid = k->t->tid;
	set_current(c, k->x->fd);
}

/* The contents of messages */

/*
 * Returns for how long the bytes had been in the socket before this read; 0 if that time was short
 * or is not known.
 */
static uint64_t age_ns(struct conn *c, int fd)
{
	uint64_t since = c->since ? c->since : waits.since, most, ns;

	c->since = 0;
	if (!since)
		return 0;
	most = (unsigned __int128)(session_clock() - since) * 1000000000 / session.hz;
	if (most < AGE_MIN_NS)
		return 0;
	ns = conn_age_ns(fd);
	return ns < AGE_MIN_NS ? 0 : ns < most ? ns : most;
}

static void on_begin(void *arg)
{
	const struct call *k = arg;
	struct conn *c = k->c;
	uint64_t ns;

	if (c->is_quiet)
		end_all(k);
	conn_renumber(c);
	ns = age_ns(c, k->x->fd);
	if (ns)
		request_arrived(c->next_id, (void *)LDB_QUEUE_UNREAD, ns);
	if (context_may_be())
		context_forget(c->next_id);
	request_start_socket(c->next_id++, ns ? LDB_QUEUE_UNREAD : 0, (void *)k->x->site);
	if (k->is_reported)
		exchange_request(c, c->next_id - 1, c->exchange.received.bytes + (c->in.nr_fed - k->fed), k->t->tid);
	c->is_head = false;
	c->tid = k->t->tid;
	set_current(c, k->x->fd);
}

static void on_class(void *arg, const char *text, size_t len)
{
	const struct call *k = arg;
	struct conn *c = k->c;
	char name[LDB_CLASS_MAX + 1];

	if (len > LDB_CLASS_MAX)
		len = LDB_CLASS_MAX;
	for (size_t i = 0; i < len; i++)	/* redis accepts both "get" and "GET" */
		name[i] = c->in.kind == MESSAGE_RESP && text[i] >= 'a' && text[i] <= 'z' ?
			  text[i] - ('a' - 'A') : text[i];
	name[len] = '\0';
	request_class(c->next_id - 1, name);
	c->is_head = c->in.kind == MESSAGE_HTTP && !strcmp(name, "HEAD");
}

static void on_path(void *arg, const char *text, size_t len)
{
	const struct call *k = arg;
	char path[LDB_NOTE_VALUE_MAX + 1];

	if (len > LDB_NOTE_VALUE_MAX)
		len = LDB_NOTE_VALUE_MAX;
	memcpy(path, text, len);
	path[len] = '\0';
	note_text(k->c->next_id - 1, "path", path);
}

static void on_trace(void *arg, const unsigned char *trace, const unsigned char *span)
{
	const struct call *k = arg;

	request_link(k->c->next_id - 1, trace, span);
}

static void on_end(void *arg)
{
	const struct call *k = arg;
	struct conn *c = k->c;

	c->nr_read++;
	c->is_quiet = c->in.is_quiet && c->next_id - c->first_id == 1;
}

static const struct message_events request_events = {
	.begins = on_begin, .class_is = on_class, .path_is = on_path, .trace_is = on_trace, .ends = on_end,
};

static void on_answered(void *arg)
{
	const struct call *k = arg;

	if (has_open(k->c))
		end_first(k);
}

static const struct message_events answer_events = { .ends = on_answered };

static void feed(struct call *k, struct message *m, const struct message_events *e, size_t n)
{
	const struct transfer *x = k->x;

	if (!x->iov) {
		message_pass(m, e, k, n);
		return;
	}
	for (unsigned i = 0; i < x->nr_iov && n; i++) {
		size_t part = x->iov[i].iov_len < n ? x->iov[i].iov_len : n;

		message_feed(m, e, k, x->iov[i].iov_base, part);
		n -= part;
	}
}

/* The calls */

static struct conn *find(struct thread *t, int fd)
{
	struct conn *c;

	if (conn_is_none(fd))
		return NULL;
	c = conn_lock(fd, t->tid);
	if (c && c->kind == CONN_UNKNOWN)
		conn_renew(c, conn_ask(fd));
	if (c && c->kind == CONN_NONE) {
		conn_unlock(c);
		return NULL;
	}
	return c;
}

/*
 * Called before the thread uses another connection: it stops working on the current one, unless
 * io_uring makes the transfer.
 */
static void leave_for(struct thread *t, const struct transfer *x, uint32_t serial)
{
	if (x->is_ring)
		retain_current(t, x);
	else if (current.fd && (current.fd != x->fd + 1 || current.serial != serial))
		leave(t, x->site);
}

/*
 * Makes the thread continue to work on the requests of connection fd, for which it uses a
 * connection to another server.
 */
static void resume_owner(struct thread *t, const struct transfer *x, int fd, uint32_t serial)
{
	struct transfer owner = { .fd = fd, .site = x->site, .is_ring = x->is_ring };
	struct call k = { .t = t, .x = &owner };

	if (fd < 0)
		return;
	leave_for(t, &owner, serial);
	k.c = conn_lock(fd, t->tid);
	if (k.c && k.c->kind == CONN_SERVER && k.c->serial == serial) {
		work_on(&k);
		k.c->has_asked = false;
	}
	if (k.c)
		conn_unlock(k.c);
}

void track_read_begins(struct thread *t, const struct transfer *x)
{
	struct conn *c = current.fd && current.fd != x->fd + 1 ? find(t, x->fd) : NULL;
	bool is_other = c && c->kind == CONN_SERVER;

	if (c)
		conn_unlock(c);
	if (is_other)
		leave(t, x->site);
}

static void read_server(struct call *k, size_t n)
{
	struct conn *c = k->c;

	work_on(k);
	/* If the bytes are not in memory, messages cannot be recognised. */
	if (!k->x->iov && c->in.kind == MESSAGE_UNKNOWN)
		c->in.kind = MESSAGE_OTHER;
	if (c->in.kind != MESSAGE_OTHER)
		feed(k, &c->in, &request_events, n);
	if (c->in.kind == MESSAGE_OTHER && !has_open(c))
		on_begin(k);
}

/* Begins to report a transfer of n bytes. */
static void report_begin(struct call *k, bool is_read, uint64_t n)
{
	/* The order in which io_uring transfers bytes is not known. */
	if (k->x->is_ring)
		exchange_leave(k->c);
	else
		k->is_reported = exchange_begin(k->c, k->x->fd, is_read, n, k->t->tid);
	k->fed = k->c->in.nr_fed;
}

static void report_end(struct call *k, bool is_read, uint64_t n)
{
	if (k->is_reported)
		exchange_end(k->c, is_read, n);
}

void track_read(struct thread *t, const struct transfer *x, long n, int error)
{
	struct call k = { .t = t, .x = x };
	uint32_t serial;
	bool is_shared;
	int owner;

	if (n < 0 && (error == EAGAIN || error == EINTR))
		return;
	k.c = find(t, x->fd);
	if (!k.c)
		return;
	if (n > 0)
		report_begin(&k, true, n);
	if (k.c->kind == CONN_SERVER) {
		if (n > 0)
			read_server(&k, n);
		report_end(&k, true, n);
		conn_unlock(k.c);
		return;
	}
	if (k.is_reported)
		exchange_answered(k.c, n, t->tid);
	report_end(&k, true, n);
	owner = k.c->owner_fd;
	serial = k.c->owner_serial;
	is_shared = k.c->is_shared;
	k.c->owner_waits = false;
	conn_unlock(k.c);
	resume_owner(t, x, owner, serial);
	if (is_shared)
		current.is_guess = true;
}

void track_write_begins(struct thread *t, struct transfer *x)
{
	struct call k = { .t = t, .c = find(t, x->fd), .x = x };
	bool resumes = k.c && k.c->kind == CONN_SERVER && has_open(k.c) && k.c->tid != t->tid;
	uint32_t serial;

	if (!k.c)
		return;
	x->began = session_clock();
	x->write = exchange_write_begins(k.c);
	serial = k.c->serial;
	conn_unlock(k.c);
	if (!resumes)
		return;
	leave_for(t, x, serial);
	k.c = conn_lock(x->fd, t->tid);
	if (k.c && k.c->serial == serial)
		work_on(&k);
	if (k.c)
		conn_unlock(k.c);
}

static void write_server(struct call *k, size_t n)
{
	struct conn *c = k->c;

	if (!c->next_id)
		conn_left_out(LDB_SOCKET_LEFT_UNREAD);
	if (c->out.kind == MESSAGE_UNKNOWN)
		c->out.kind = c->in.kind;
	c->out.has_no_body = c->is_head;
	if (c->in.kind != MESSAGE_OTHER && c->out.kind != MESSAGE_OTHER)
		feed(k, &c->out, &answer_events, n);
	if (c->in.kind == MESSAGE_OTHER || c->out.kind == MESSAGE_OTHER)
		end_all(k);
}

/* Notes that the connection's request now waits for the answer of another server. */
static void has_asked(struct thread *t, int fd, uint32_t serial)
{
	struct conn *c = conn_lock(fd, t->tid);

	if (!c)
		return;
	if (c->serial == serial)
		c->has_asked = true;
	conn_unlock(c);
}

/*
 * Stores that the locked connection, to another server, is written to for the request of connection
 * *of.
 */
static void set_owner(struct conn *c, const struct current *of)
{
	if (c->owner_waits && (c->owner_fd != of->fd - 1 || c->owner_serial != of->serial))
		c->is_shared = true;
	c->owner_fd = of->fd - 1;
	c->owner_serial = of->serial;
	c->owner_waits = of->fd;
}

/*
 * Returns true, and the request's id in *id, if the message that the thread is sending to another
 * server is known to be for one request.
 */
static bool asker(struct thread *t, const struct transfer *x, uint64_t *id)
{
	struct conn *c;
	bool is_only;

	if (current.fd && current.is_guess)
		return false;
	if (!current.fd || x->is_ring || current.fd == x->fd + 1 || conn_is_none(x->fd))
		return !current.fd && request_tagged(id);
	c = conn_lock(current.fd - 1, t->tid);
	if (!c)
		return false;
	is_only = c->serial == current.serial && c->next_id - c->first_id == 1;
	*id = c->first_id;
	conn_unlock(c);
	return is_only;
}

static void report_write(struct call *k, bool has_asker, uint64_t asker, uint64_t n)
{
	struct conn *c = k->c;

	if (k->x->is_ring || (k->x->write && k->x->write == c->exchange.sent.nr_begun))
		report_begin(k, false, n);
	else
		exchange_overlaps(c, k->t->tid);
	if (!k->is_reported)
		return;
	if (c->kind == CONN_CLIENT && has_asker)
		exchange_sent(c, asker, n, k->x->began, k->t->tid);
	else if (c->kind == CONN_SERVER && has_open(c))
		exchange_sent(c, c->first_id, n, k->x->began, k->t->tid);
}

void track_write(struct thread *t, const struct transfer *x, long n)
{
	uint64_t id = 0;
	bool asks, has_asker = n > 0 && asker(t, x, &id);
	struct call k = { .t = t, .c = n > 0 ? find(t, x->fd) : NULL, .x = x };

	if (!k.c)
		return;
	asks = k.c->kind == CONN_CLIENT && !x->is_ring && current.fd;
	report_write(&k, has_asker, id, n);
	if (k.c->kind == CONN_SERVER)
		write_server(&k, n);
	report_end(&k, false, n);
	if (asks)
		set_owner(k.c, &current);
	conn_unlock(k.c);
	if (asks)
		has_asked(t, current.fd - 1, current.serial);
}

/* Rings */

void track_ring_read(struct thread *t, const struct transfer *x, long n)
{
	struct conn *c = find(t, x->fd);
	bool is_server = c && c->kind == CONN_SERVER;

	if (c)
		conn_unlock(c);
	if (is_server)
		retain_current(t, x);
	track_read(t, x, n, 0);
}

uint32_t track_ring_write_begins(struct thread *t, struct transfer *x)
{
	struct conn *c;
	uint32_t serial = 0;

	track_write_begins(t, x);
	c = find(t, x->fd);
	if (!c)
		return 0;
	if (c->kind == CONN_SERVER) {
		c->nr_writes++;
		serial = c->serial;
	}
	conn_unlock(c);
	return serial;
}

uint32_t track_ring_serial(struct thread *t, int fd)
{
	struct conn *c = find(t, fd);
	uint32_t serial = c && c->kind == CONN_SERVER ? c->serial : 0;

	if (c)
		conn_unlock(c);
	return serial;
}

void track_ring_write_ends(struct thread *t, int fd, uint32_t serial)
{
	struct conn *c = serial ? find(t, fd) : NULL;

	if (!c)
		return;
	if (c->serial == serial && c->nr_writes)
		c->nr_writes--;
	conn_unlock(c);
}

/*
 * Returns true if this connection has a request without an answer, and no answer is being written
 * by io_uring.  is_mine: the thread must also be working on the connection.
 */
static bool is_unanswered(struct thread *t, int fd, uint32_t serial, bool is_mine)
{
	struct conn *c = fd < 0 ? NULL : find(t, fd);
	bool ret;

	if (!c)
		return false;
	ret = c->serial == serial && has_open(c) && !c->nr_writes && (!is_mine || c->tid == t->tid);
	conn_unlock(c);
	return ret;
}

/*
 * Returns the only connection of the thread whose request has no answer yet; fd is 0 if there is
 * none, or if there are several.
 */
static struct current only_unanswered(struct thread *t)
{
	struct current only = { 0 };
	unsigned nr = 0;

	if (is_unanswered(t, current.fd - 1, current.serial, true)) {
		only = current;
		nr++;
	}
	for (uint32_t i = 0; i < t->nr_works; i++) {
		if (t->works[i].fd == current.fd - 1 ||
		    !is_unanswered(t, t->works[i].fd, t->works[i].serial, true))
			continue;
		only = (struct current){ .fd = t->works[i].fd + 1, .serial = t->works[i].serial };
		nr++;
	}
	return nr == 1 ? only : (struct current){ 0 };
}

void track_ring_asks(struct thread *t, const struct transfer *x)
{
	struct conn *c = find(t, x->fd);
	struct current owner;
	bool is_client = c && c->kind == CONN_CLIENT;

	if (!c)
		return;
	owner = (struct current){ .fd = c->owner_fd + 1, .serial = c->owner_serial };
	conn_unlock(c);
	if (!is_client)
		return;
	if (is_unanswered(t, owner.fd - 1, owner.serial, false))
		resume_owner(t, x, owner.fd - 1, owner.serial);
	else
		owner = only_unanswered(t);
	c = find(t, x->fd);
	if (!c)
		return;
	set_owner(c, &owner);
	conn_unlock(c);
	if (owner.fd)
		has_asked(t, owner.fd - 1, owner.serial);
}

void track_leave(struct thread *t, uintptr_t site)
{
	leave(t, site);
}

void track_wait_begins(struct thread *t, uintptr_t site)
{
	leave(t, site);
	waits.began = session_clock();
}

void track_wait(void)
{
	uint64_t now = session_clock();

	/*
	 * After a long wait, the bytes have just arrived; after a short one, they have arrived
	 * since the previous wait.
	 */
	if (now - waits.began > session_ticks(AT_ONCE_NS))
		waits.slept = waits.since = now;
	else
		waits.since = waits.ended;
	waits.ended = now;
}

void track_turn(uint64_t began)
{
	note_event(LDB_EVENT_TURN, (unsigned __int128)(session_clock() - began) * 1000000000 / session.hz);
}

void track_new(struct thread *t, int fd, bool is_accepted)
{
	struct conn *c = conn_lock(fd, t->tid);

	if (!c)
		return;
	conn_renew(c, is_accepted ? CONN_SERVER : CONN_CLIENT);
	/*
	 * The connection was made after the loop last slept, because none was waiting until then.
	 */
	c->since = is_accepted ? waits.slept : 0;
	conn_unlock(c);
}

void track_close(struct thread *t, int fd, uintptr_t site)
{
	struct transfer x = { .fd = fd, .site = site };
	struct call k = { .t = t, .x = &x };

	k.c = conn_lock(fd, t->tid);
	if (!k.c)
		return;
	if (k.c->kind == CONN_SERVER && has_open(k.c)) {
		work_on(&k);
		message_close(&k.c->out, &answer_events, &k);
		end_all(&k);
	}
	exchange_close(k.c, fd, t->tid);
	conn_renew(k.c, CONN_UNKNOWN);
	conn_unlock(k.c);
}
