/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements an io_uring with one operation at a time, without any library. */
#ifndef TESTS_URING_H
#define TESTS_URING_H

#include <linux/io_uring.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct uring {
	int fd;
	struct io_uring_params params;
	char *sq, *cq;
	struct io_uring_sqe *sqes;
};

/* Returns 0, or -1 with errno. */
static inline int uring_open_many(struct uring *u, unsigned entries, unsigned flags)
{
	size_t sq_size, cq_size;

	memset(u, 0, sizeof(*u));
	u->params.flags = flags;
	u->fd = syscall(SYS_io_uring_setup, entries, &u->params);
	if (u->fd < 0)
		return -1;
	sq_size = u->params.sq_off.array + u->params.sq_entries * sizeof(uint32_t);
	cq_size = u->params.cq_off.cqes + u->params.cq_entries * sizeof(struct io_uring_cqe);
	u->sq = (char *)mmap(NULL, sq_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, u->fd,
			     IORING_OFF_SQ_RING);
	u->cq = (char *)mmap(NULL, cq_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, u->fd,
			     IORING_OFF_CQ_RING);
	u->sqes = (struct io_uring_sqe *)mmap(NULL, u->params.sq_entries * sizeof(*u->sqes),
					      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, u->fd,
					      IORING_OFF_SQES);
	return u->sq == MAP_FAILED || u->cq == MAP_FAILED || u->sqes == MAP_FAILED ? -1 : 0;
}

static inline int uring_open(struct uring *u)
{
	return uring_open_many(u, 1, 0);
}

/* Does one operation, and waits for its completion; returns its result, or -1. */
static inline __attribute__((always_inline)) int uring_do(struct uring *u, const struct io_uring_sqe *sqe)
{
	uint32_t *tail = (uint32_t *)(u->sq + u->params.sq_off.tail);
	uint32_t mask = *(uint32_t *)(u->sq + u->params.sq_off.ring_mask);
	uint32_t *head = (uint32_t *)(u->cq + u->params.cq_off.head);
	uint32_t cq_mask = *(uint32_t *)(u->cq + u->params.cq_off.ring_mask);
	struct io_uring_cqe *cqes = (struct io_uring_cqe *)(u->cq + u->params.cq_off.cqes);
	int result;

	u->sqes[*tail & mask] = *sqe;
	((uint32_t *)(u->sq + u->params.sq_off.array))[*tail & mask] = *tail & mask;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, u->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return -1;
	if (*head == __atomic_load_n((uint32_t *)(u->cq + u->params.cq_off.tail), __ATOMIC_ACQUIRE))
		return -1;
	result = cqes[*head & cq_mask].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

#endif
