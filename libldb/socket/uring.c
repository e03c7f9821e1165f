// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Implements uring.h.
 *
 * A completion contains only the number that the program gave to its operation (user_data).  So
 * each operation on a descriptor is stored in a table from the call that submits it until it has
 * completed.  If several operations have the same number, the oldest one is taken.
 *
 * The bytes of a message are copied from the program's buffer by a system call, which fails if the
 * buffer is no longer mapped: another thread may find the completion first, and free the buffer.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include "arch/cpu.h"
#include "runtime/runtime.h"
#include "conn.h"
#include "track.h"
#include "uring.h"

#define RINGS_MAX	32
#define RING_FDS	8192	/* entries of a ring's table of descriptors that are followed */
#define OPS_MAX		16384	/* operations of a ring that have not completed */
#define BUCKETS		4096
#define IOVS		4	/* struct iovecs that are stored for one operation */
#define COPY		65536	/* bytes at a time */
#define ASKS_MAX	64	/* writes that one call submits */
#define WAIT_MIN_NS	20000	/* shorter waits are not recorded */
#define TRIES		1000
#define YIELDS		100
#define NONE		0

_Static_assert(RINGS_MAX * RING_FDS <= CONN_RING_FD, "the table of connections has a million entries");

enum op_kind { OP_OTHER, OP_READ, OP_WRITE, OP_ACCEPT };

struct op {
	uint64_t user_data;
	/* the next younger operation of the same bucket, or the next free entry */
	uint32_t next;
	int fd;
	uint32_t serial;	/* number of the connection; 0: not known */
	uint8_t kind;		/* enum op_kind */
	uint8_t opcode;
	uint8_t nr_iov;
	bool is_message;	/* the operation receives a message, so its descriptor is no file */
	/* the program has chosen the new connection's index: fd is this index */
	bool accepts_at;
	bool accepts_fixed;	/* the result is an index */
	uintptr_t site;
	struct iovec iov[IOVS];
};

struct ops {			/* entries 1 .. OPS_MAX of a table; index 0 means none */
	uint32_t free, nr_used;
	uint32_t first[BUCKETS], last[BUCKETS];
	struct op at[OPS_MAX + 1];
	char copy[COPY];
};

struct ring {
	_Atomic uint32_t lock;	/* tid of the holder; 0: free */
	uint32_t epoch;
	int fd;
	uint32_t pid;
	const _Atomic uint32_t *cq_tail;
	uint32_t seen_sq, seen_cq;
	struct ops *ops;
	/* descriptors that the current call uses, and that may be connections to other servers */
	int asks[ASKS_MAX];
	uint32_t nr_asks;
};

static struct ring rings[RINGS_MAX];

void uring_left_out(void)
{
	order_any_add_word(&session_info()->uring_left, 1);
}

/* Rings */

static bool take(struct ring *r, uint32_t tid)
{
	uint32_t holder;

	for (unsigned i = 0; i < TRIES; i++) {
		holder = 0;
		if (order_conn_take(&r->lock, &holder, tid) || holder == tid)
			return true;
		cpu_relax();
	}
	return false;
}

static void give(struct ring *r)
{
	order_conn_give(&r->lock);
}

static bool is_ring(const struct ring *r, const struct uring_view *v)
{
	return r->epoch == uring_now() && r->cq_tail == v->cq_tail && r->fd == v->fd;
}

/*
 * Begins to follow the ring of v.  Operations that the kernel has already taken, and completions
 * that the program has already consumed, are skipped.
 */
static bool ring_start(struct ring *r, const struct uring_view *v)
{
	if (!r->ops)
		r->ops = raw_map(sizeof(*r->ops));
	if (!r->ops)
		return false;
	r->ops->free = NONE;
	r->ops->nr_used = 0;
	r->nr_asks = 0;
	memset(r->ops->first, 0, sizeof(r->ops->first));
	r->fd = v->fd;
	r->pid = sys(SYS_getpid);
	r->cq_tail = v->cq_tail;
	r->seen_sq = order_ring_tail(v->sq_head);
	r->seen_cq = order_ring_tail(v->cq_head);
	r->epoch = uring_now();
	order_any_add_word(&session_info()->urings, 1);
	return true;
}

static struct ring *ring_new(const struct uring_view *v, uint32_t tid)
{
	for (unsigned i = 0; i < RINGS_MAX; i++) {
		struct ring *r = &rings[i];

		if (r->epoch == uring_now() || !take(r, tid))
			continue;
		if (r->epoch != uring_now() && ring_start(r, v))
			return r;
		give(r);
	}
	uring_left_out();
	return NULL;
}

/*
 * Locks and returns the ring; NULL if it is locked or does not exist any more, or if there are too
 * many rings.
 */
static struct ring *ring_lock(const struct uring_view *v, uint32_t tid, bool may_be_new)
{
	for (unsigned i = 0; i < RINGS_MAX; i++) {
		if (!is_ring(&rings[i], v))
			continue;
		if (!take(&rings[i], tid))
			return NULL;
		if (is_ring(&rings[i], v))
			return &rings[i];
		give(&rings[i]);
	}
	return may_be_new ? ring_new(v, tid) : NULL;
}

void uring_gone(int fd, uintptr_t lo, uintptr_t hi)
{
	struct thread *t = thread_self();
	uint32_t tid = t ? t->tid : UINT32_MAX;

	for (unsigned i = 0; i < RINGS_MAX; i++) {
		struct ring *r = &rings[i];
		uintptr_t at = (uintptr_t)r->cq_tail;
		/* a signal handler has interrupted a hook of this thread */
		bool is_mine = order_any_load(&r->lock) == tid;

		if (r->epoch != uring_now() || (r->fd != fd && (at < lo || at >= hi)))
			continue;
		/* Another thread may be reading the ring's memory at the end of a call. */
		for (unsigned n = 0; !is_mine && !take(r, tid) && n < YIELDS; n++)
			if (conn_may_ask())
				sys(SYS_sched_yield);
		r->epoch = uring_now() - 1;
		if (!is_mine && order_any_load(&r->lock) == tid)
			give(r);
	}
}

void uring_unmapped(uintptr_t lo, uintptr_t hi)
{
	uring_gone(INT_MIN, lo, hi);
	uring_found_unmapped(lo, hi);
}

void uring_fork_child(void)
{
	uring_forget_all();
	for (unsigned i = 0; i < RINGS_MAX; i++) {
		if (atomic_load(&rings[i].lock))
			atomic_store(&rings[i].lock, 0);
	}
}

/* Operations that have not completed */

static uint32_t bucket_of(uint64_t user_data)
{
	return (user_data * 0x9e3779b97f4a7c15ULL) >> 52;
}

static void op_add(struct ring *r, const struct op *op)
{
	struct ops *o = r->ops;
	uint32_t bucket = bucket_of(op->user_data), n = o->free;

	if (n != NONE) {
		o->free = o->at[n].next;
	} else if (o->nr_used < OPS_MAX) {
		n = ++o->nr_used;
	} else {
		uring_left_out();
		return;
	}
	o->at[n] = *op;
	o->at[n].next = NONE;
	if (o->first[bucket] == NONE)
		o->first[bucket] = n;
	else
		o->at[o->last[bucket]].next = n;
	o->last[bucket] = n;
}

/*
 * Finds the operation with this number, and copies it to *op.  is_last: no further completion of it
 * will come, so the operation is removed.
 */
static bool op_find(struct ring *r, uint64_t user_data, bool is_last, struct op *op)
{
	struct ops *o = r->ops;
	uint32_t bucket = bucket_of(user_data), before = NONE, n = o->first[bucket];

	for (; n != NONE && o->at[n].user_data != user_data; before = n)
		n = o->at[n].next;
	if (n == NONE)
		return false;
	*op = o->at[n];
	if (!is_last)
		return true;
	*(before == NONE ? &o->first[bucket] : &o->at[before].next) = op->next;
	if (o->last[bucket] == n)
		o->last[bucket] = before;
	o->at[n].next = o->free;
	o->free = n;
	return true;
}

/* Copies memory of the program that may be unmapped.  Returns how many bytes were copied. */
static size_t copy(const struct ring *r, void *to, uint64_t from, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)from, n };
	long ret;

	if (!conn_may_ask())
		return 0;
	ret = sys(SYS_process_vm_readv, r->pid, &here, 1, &there, 1, 0);
	return ret > 0 ? ret : 0;
}

/* Submission */

static enum op_kind kind_of(const struct io_uring_sqe *sqe)
{
	switch (sqe->opcode) {
	case IORING_OP_RECV:
	case IORING_OP_RECVMSG:
		return sqe->msg_flags & MSG_PEEK ? OP_OTHER : OP_READ;
	case IORING_OP_READ:
	case IORING_OP_READV:
	case IORING_OP_READ_FIXED:
		return OP_READ;
	case IORING_OP_SEND:
	case IORING_OP_SENDMSG:
	case IORING_OP_SEND_ZC:
	case IORING_OP_SENDMSG_ZC:
	case IORING_OP_WRITE:
	case IORING_OP_WRITEV:
	case IORING_OP_WRITE_FIXED:
	case IORING_OP_SPLICE:
		return OP_WRITE;
	case IORING_OP_ACCEPT:
		return OP_ACCEPT;
	default:
		return OP_OTHER;
	}
}

static int fd_of(const struct ring *r, int fd, bool is_fixed)
{
	if (!is_fixed)
		return fd;
	return fd >= 0 && fd < RING_FDS ? CONN_RING_FD + (int)(r - rings) * RING_FDS + fd : -1;
}

/*
 * Stores where the operation's buffers are, because the program may reuse the structs that describe
 * them.
 */
static void set_memory(const struct ring *r, struct op *op, const struct io_uring_sqe *sqe)
{
	struct { void *iov; uint64_t nr; } at = { (void *)sqe->addr, sqe->len };
	struct msghdr msg;

	if (sqe->flags & IOSQE_BUFFER_SELECT)
		return;
	switch (sqe->opcode) {
	case IORING_OP_SPLICE:
		return;
	case IORING_OP_RECVMSG:
	case IORING_OP_SENDMSG:
	case IORING_OP_SENDMSG_ZC:
		if (copy(r, &msg, sqe->addr, sizeof(msg)) < sizeof(msg))
			return;
		at.iov = msg.msg_iov;
		at.nr = msg.msg_iovlen;
		break;
	case IORING_OP_READV:
	case IORING_OP_WRITEV:
		break;
	default:
		if (sqe->opcode == IORING_OP_RECV && sqe->msg_flags & MSG_TRUNC)
			return;
		op->iov[0] = (struct iovec){ (void *)sqe->addr, sqe->len };
		op->nr_iov = 1;
		return;
	}
	if (at.nr > IOVS)
		at.nr = IOVS;
	op->nr_iov = copy(r, op->iov, (uintptr_t)at.iov, at.nr * sizeof(*op->iov)) / sizeof(*op->iov);
}

/*
 * Reports that an operation of a ring has read or written n bytes.  Bytes that could not be copied
 * are reported as bytes that are not in memory.
 */
static void report(struct ring *r, struct thread *t, const struct op *op, uint64_t n)
{
	void (*done)(struct thread *, const struct transfer *, long) =
		op->kind == OP_READ ? track_ring_read : track_write;
	struct transfer x = { .fd = op->fd, .site = op->site, .is_ring = true };

	/*
	 * After the first bytes at the latest it is known if the descriptor is a file; then the
	 * rest is not copied.
	 */
	for (unsigned i = 0; i < op->nr_iov && n; i++)
		for (size_t at = 0; at < op->iov[i].iov_len && n && !conn_is_none(op->fd);) {
			struct iovec part = { r->ops->copy, op->iov[i].iov_len - at };

			part.iov_len = part.iov_len > COPY ? COPY : part.iov_len;
			part.iov_len = part.iov_len > n ? n : part.iov_len;
			part.iov_len = copy(r, part.iov_base, (uintptr_t)op->iov[i].iov_base + at, part.iov_len);
			if (!part.iov_len)
				break;
			x.iov = &part;
			x.nr_iov = 1;
			done(t, &x, part.iov_len);
			at += part.iov_len;
			n -= part.iov_len;
		}
	x.iov = NULL;
	if (n)
		done(t, &x, n);
	if (op->is_message && op->fd >= CONN_RING_FD && conn_is_none(op->fd))
		uring_left_out();
}

/*
 * Stores a descriptor that may be a connection to another server, until all submitted operations
 * are known.
 */
static void asks_later(struct ring *r, int fd)
{
	if (r->nr_asks < ASKS_MAX)
		r->asks[r->nr_asks++] = fd;
}

static uint64_t bytes_of(const struct op *op, const struct io_uring_sqe *sqe)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < op->nr_iov; i++)
		n += op->iov[i].iov_len;
	return op->nr_iov ? n : sqe->len;
}

/* Handles the submission of an operation, if requests are derived from connections. */
static void submit_connection(struct ring *r, struct thread *t, const struct io_uring_sqe *sqe, uintptr_t site)
{
	struct op op = {
		.user_data = sqe->user_data, .kind = kind_of(sqe), .opcode = sqe->opcode, .site = site,
		.fd = fd_of(r, sqe->fd, sqe->flags & IOSQE_FIXED_FILE),
	};
	struct transfer x = { .fd = op.fd, .site = site, .is_ring = true };

	if (sqe->opcode == IORING_OP_CLOSE) {
		op.fd = sqe->file_index ? fd_of(r, sqe->file_index - 1, true) : sqe->fd;
		track_close(t, op.fd, site);
	} else if (sqe->opcode == IORING_OP_CONNECT) {
		track_new(t, op.fd, false);
	}
	if (sqe->opcode == IORING_OP_CONNECT || op.kind == OP_WRITE)
		asks_later(r, op.fd);
	if ((op.kind == OP_READ || op.kind == OP_WRITE) && !conn_is_none(op.fd))
		set_memory(r, &op, sqe);
	op.is_message = sqe->opcode == IORING_OP_RECV || sqe->opcode == IORING_OP_RECVMSG;
	if (op.kind == OP_ACCEPT && sqe->file_index) {
		op.accepts_fixed = true;
		op.accepts_at = sqe->file_index != IORING_FILE_INDEX_ALLOC;
		op.fd = fd_of(r, sqe->file_index - 1, true);
	}
	if (op.kind == OP_WRITE)
		op.serial = track_ring_write_begins(t, &x);
	else if (op.kind == OP_READ)
		op.serial = track_ring_serial(t, op.fd);
	/* A success posts no completion, so the operation would never be removed from the table. */
	if (sqe->flags & IOSQE_CQE_SKIP_SUCCESS) {
		if (op.kind == OP_WRITE) {
			track_ring_write_ends(t, op.fd, op.serial);
			report(r, t, &op, bytes_of(&op, sqe));
		}
		return;
	}
	op_add(r, &op);
}

static void submit(struct ring *r, struct thread *t, const struct io_uring_sqe *sqe, uintptr_t site)
{
	if (session_wants_sockets())
		submit_connection(r, t, sqe, site);
	else if (!(sqe->flags & IOSQE_CQE_SKIP_SUCCESS))
		op_add(r, &(struct op){
			.user_data = sqe->user_data, .kind = OP_OTHER, .opcode = sqe->opcode,
			.fd = fd_of(r, sqe->fd, sqe->flags & IOSQE_FIXED_FILE),
		});
}

static void see_submitted(struct ring *r, struct thread *t, const struct uring_call *c)
{
	const struct uring_view *v = &c->view;
	uint32_t nr = v->sq_mask + 1, at;
	struct io_uring_sqe sqe;

	/* The call of another thread has already handled these submissions. */
	if ((int32_t)(v->sq_end - r->seen_sq) <= 0)
		return;
	/*
	 * The kernel has taken operations without a call of the program (SQPOLL), and their entries
	 * have been reused.
	 */
	if (v->sq_end - r->seen_sq > nr) {
		uring_left_out();
		r->seen_sq = v->sq_end - nr;
	}
	for (; r->seen_sq != v->sq_end; r->seen_sq++) {
		at = r->seen_sq & v->sq_mask;
		if (v->array)
			at = order_any_load_word(&v->array[at]);
		if (at > v->sq_mask)
			continue;
		memcpy(&sqe, &v->sqes[at], sizeof(sqe));
		submit(r, t, &sqe, c->site);
	}
	for (uint32_t i = 0; i < r->nr_asks; i++)
		track_ring_asks(t, &(struct transfer){ .fd = r->asks[i], .site = c->site, .is_ring = true });
	r->nr_asks = 0;
}

/* Completion */

static void complete_connection(struct ring *r, struct thread *t, const struct op *op, int32_t result)
{
	if (op->kind == OP_WRITE)
		track_ring_write_ends(t, op->fd, op->serial);
	/* The descriptor now belongs to another connection. */
	if (op->serial && result > 0 && track_ring_serial(t, op->fd) != op->serial) {
		if (op->kind == OP_READ)
			uring_left_out();
		return;
	}
	if (op->kind == OP_ACCEPT && result >= 0)
		track_new(t, op->accepts_at ? op->fd : fd_of(r, result, op->accepts_fixed), true);
	else if ((op->kind == OP_READ || op->kind == OP_WRITE) && result > 0)
		report(r, t, op, result);
}

/* The completion that ended a wait. */
struct ended {
	bool is_known;
	uint8_t opcode;
	int fd;
	int32_t result;
};

static void complete(struct ring *r, struct thread *t, const struct io_uring_cqe *cqe, struct ended *e)
{
	uint32_t flags = order_any_load_word(&cqe->flags);
	int32_t result = order_any_load_word(&cqe->res);
	struct op op;

	if (!op_find(r, order_any_load_word(&cqe->user_data), !(flags & IORING_CQE_F_MORE), &op)) {
		uring_left_out();
		return;
	}
	if (e)
		*e = (struct ended){ true, op.opcode, op.fd, result };
	if (!(flags & IORING_CQE_F_NOTIF) && session_wants_sockets())
		complete_connection(r, t, &op, result);
}

/*
 * Handles completions up to `end`.  Stores in *e the one with number `last`, if the ring still
 * contains it.
 */
static void see_completed(struct ring *r, struct thread *t, const struct uring_view *v, uint32_t end, uint32_t last,
			  struct ended *e)
{
	uint32_t nr = v->cq_mask + 1;

	if ((int32_t)(end - r->seen_cq) <= 0)
		return;
	if (end - r->seen_cq > nr) {
		uring_left_out();
		r->seen_cq = end - nr;
	}
	for (; r->seen_cq != end; r->seen_cq++)
		complete(r, t, &v->cqes[r->seen_cq & v->cq_mask], r->seen_cq == last ? e : NULL);
}

/*
 * Returns true if this kind of operation works on the file of its descriptor.  In other kinds the
 * descriptor may be that of a directory, or have no meaning.
 */
static bool has_descriptor(uint8_t opcode)
{
	switch (opcode) {
	case IORING_OP_READV:
	case IORING_OP_WRITEV:
	case IORING_OP_FSYNC:
	case IORING_OP_READ_FIXED:
	case IORING_OP_WRITE_FIXED:
	case IORING_OP_POLL_ADD:
	case IORING_OP_SYNC_FILE_RANGE:
	case IORING_OP_SENDMSG:
	case IORING_OP_RECVMSG:
	case IORING_OP_ACCEPT:
	case IORING_OP_CONNECT:
	case IORING_OP_FALLOCATE:
	case IORING_OP_READ:
	case IORING_OP_WRITE:
	case IORING_OP_SEND:
	case IORING_OP_RECV:
	case IORING_OP_SPLICE:
	case IORING_OP_SHUTDOWN:
	case IORING_OP_URING_CMD:
	case IORING_OP_SEND_ZC:
	case IORING_OP_SENDMSG_ZC:
		return true;
	default:
		return false;
	}
}

/* Records which operation ended a wait, because the kernel's events do not contain this. */
static void write_wait(const struct thread *t, const struct uring_call *c, uint64_t end, const struct ended *e)
{
	union {
		struct ldb_syscall_rec call;
		struct ldb_rec slot[3];
	} r = { .call = {
		.end = end, .tid = t->tid, .type = LDB_EV_SYSCALL, .begin = c->began,
		.nr = LDB_SYSCALL_NR_RING(e->opcode), .result = e->result, .cont1 = LDB_EV_CONT + 1,
		.arg0 = has_descriptor(e->opcode) && e->fd < CONN_RING_FD ? (uint64_t)e->fd : (uint64_t)-1,
	} };

	ring_write(r.slot, 2);
}

void uring_begins(struct thread *t, struct uring_call *c)
{
	struct ring *r = ring_lock(&c->view, t->tid, true);

	c->head = order_ring_tail(c->view.cq_head);
	if (r) {
		/* These are the completions that the program has consumed since the last call. */
		see_completed(r, t, &c->view, c->head, 0, NULL);
		if (c->submits)
			see_submitted(r, t, c);
		give(r);
	}
	if (c->nr && session_wants_sockets())
		track_wait_begins(t, c->site);
	c->began = session_clock();
}

void uring_ends(struct thread *t, const struct uring_call *c)
{
	struct ended e = { .is_known = false };
	uint64_t now = session_clock();
	struct ring *r;

	if (c->nr && session_wants_sockets())
		track_wait();
	/* Another thread may have unmapped the ring meanwhile; then there is nothing to do. */
	r = ring_lock(&c->view, t->tid, false);
	if (!r)
		return;
	see_completed(r, t, &c->view, order_ring_tail(c->view.cq_tail), c->head + c->nr - 1, c->nr ? &e : NULL);
	give(r);
	if (e.is_known && now - c->began > session_ticks(WAIT_MIN_NS))
		write_wait(t, c, now, &e);
}
