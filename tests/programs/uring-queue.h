/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Implements a ring of io_uring with several operations in flight: by liburing, if LIBURING is
 * defined, or by system calls alone.
 */
#ifndef TESTS_URING_QUEUE_H
#define TESTS_URING_QUEUE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void queue_die(const char *what)
{
	perror(what);
	exit(1);
}

#ifdef LIBURING
#include <liburing.h>

struct queue {
	struct io_uring ring;
};

static inline void queue_open(struct queue *q, unsigned entries, unsigned flags)
{
	if (io_uring_queue_init(entries, &q->ring, flags))
		queue_die("io_uring_queue_init");
}

static inline struct io_uring_sqe *queue_sqe(struct queue *q)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&q->ring);

	if (!sqe && io_uring_submit(&q->ring) >= 0)
		sqe = io_uring_get_sqe(&q->ring);
	if (!sqe)
		queue_die("io_uring_get_sqe");
	memset(sqe, 0, sizeof(*sqe));
	return sqe;
}

static inline void queue_wait(struct queue *q)
{
	if (io_uring_submit_and_wait(&q->ring, 1) < 0)
		queue_die("io_uring_submit_and_wait");
}

static inline struct io_uring_cqe *queue_peek(struct queue *q)
{
	struct io_uring_cqe *cqe;

	return io_uring_peek_cqe(&q->ring, &cqe) ? NULL : cqe;
}

/* Returns the nth completion that the program has not consumed yet; NULL: there is none. */
static inline struct io_uring_cqe *queue_at(struct queue *q, unsigned n)
{
	return n < io_uring_cq_ready(&q->ring) ? &q->ring.cq.cqes[(*q->ring.cq.khead + n) & q->ring.cq.ring_mask] :
	       NULL;
}

static inline void queue_seen(struct queue *q)
{
	io_uring_cq_advance(&q->ring, 1);
}
#else
#include "uring.h"

struct queue {
	struct uring u;
};

static inline uint32_t *queue_word(char *ring, uint32_t at)
{
	return (uint32_t *)(ring + at);
}

static inline void queue_open(struct queue *q, unsigned entries, unsigned flags)
{
	if (uring_open_many(&q->u, entries, flags))
		queue_die("io_uring_setup");
}

static inline void queue_enter(struct queue *q, unsigned nr)
{
	uint32_t tail = *queue_word(q->u.sq, q->u.params.sq_off.tail);
	uint32_t head = __atomic_load_n(queue_word(q->u.sq, q->u.params.sq_off.head), __ATOMIC_ACQUIRE);

	if (syscall(SYS_io_uring_enter, q->u.fd, tail - head, nr, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		queue_die("io_uring_enter");
}

/*
 * Returns the next SQE; the kernel reads it only when it is entered, which happens here if the
 * queue is full.
 */
static inline struct io_uring_sqe *queue_sqe(struct queue *q)
{
	uint32_t *tail = queue_word(q->u.sq, q->u.params.sq_off.tail);
	uint32_t head = __atomic_load_n(queue_word(q->u.sq, q->u.params.sq_off.head), __ATOMIC_ACQUIRE);
	uint32_t at = *tail & (q->u.params.sq_entries - 1);

	if (*tail - head == q->u.params.sq_entries)
		queue_enter(q, 0);
	memset(&q->u.sqes[at], 0, sizeof(q->u.sqes[at]));
	queue_word(q->u.sq, q->u.params.sq_off.array)[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	return &q->u.sqes[at];
}

static inline void queue_wait(struct queue *q)
{
	queue_enter(q, 1);
}

/* Returns the nth completion that the program has not consumed yet; NULL: there is none. */
static inline struct io_uring_cqe *queue_at(struct queue *q, unsigned n)
{
	uint32_t head = *queue_word(q->u.cq, q->u.params.cq_off.head);
	uint32_t tail = __atomic_load_n(queue_word(q->u.cq, q->u.params.cq_off.tail), __ATOMIC_ACQUIRE);

	if (n >= tail - head)
		return NULL;
	return (struct io_uring_cqe *)(q->u.cq + q->u.params.cq_off.cqes) +
	       ((head + n) & (q->u.params.cq_entries - 1));
}

static inline struct io_uring_cqe *queue_peek(struct queue *q)
{
	return queue_at(q, 0);
}

static inline void queue_seen(struct queue *q)
{
	uint32_t *head = queue_word(q->u.cq, q->u.params.cq_off.head);

	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
}
#endif
#endif
