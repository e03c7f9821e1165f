/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Follows io_uring rings, to derive requests from connections, and to record which operation ended
 * a wait.  Before and after each call that enters the kernel (uring-wrap.c), the runtime reads from
 * the rings' memory which operations the program submits and which have completed.
 *
 * A program prepares operations and finds completions by plain loads and stores, which cannot be
 * observed.  But it must call the kernel to submit the operations and to wait.  So the runtime
 * notices a completion at the end of the first call after the completion was posted.  The program
 * finds it at the same time, unless it reads the ring without a call.
 */
#ifndef SOCKET_URING_H
#define SOCKET_URING_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/io_uring.h>
#include "internal.h"

/* Where a ring's memory is, in this process. */
struct uring_view {
	/* distinguishes rings that have the same memory one after another */
	int fd;
	uint32_t sq_mask, cq_mask;
	const _Atomic uint32_t *sq_head, *cq_head, *cq_tail;
	uint32_t sq_end;	/* the program has prepared operations up to here */
	const uint32_t *array;	/* positions of SQEs; NULL: they are in order */
	const struct io_uring_sqe *sqes;
	const struct io_uring_cqe *cqes;
};

/* One call that enters the kernel for a ring. */
struct uring_call {
	struct uring_view view;
	uintptr_t site;
	unsigned nr;		/* the number of completions for which the call waits */
	/* the call submits operations; if it only waits, another thread may be preparing some */
	bool submits;
	/* uring_begins() sets these: */
	uint64_t began;
	/* index of the first completion that the program had not consumed */
	uint32_t head;
};

/*
 * The first members of liburing's struct io_uring, in all versions of liburing.so.2; liburing.so.1
 * lacks ring_mask to pad.
 */
struct liburing_ring {
	struct {
		_Atomic uint32_t *khead, *ktail;
		uint32_t *kring_mask, *kring_entries;
		_Atomic uint32_t *kflags, *kdropped;
		uint32_t *array;
		struct io_uring_sqe *sqes;
		uint32_t sqe_head, sqe_tail;
		size_t ring_size;
		void *ring_ptr;
		uint32_t ring_mask, ring_entries, pad[2];
	} sq;
	struct {
		_Atomic uint32_t *khead, *ktail;
		uint32_t *kring_mask, *kring_entries;
		_Atomic uint32_t *kflags, *koverflow;
		struct io_uring_cqe *cqes;
		size_t ring_size;
		void *ring_ptr;
		uint32_t ring_mask, ring_entries, pad[2];
	} cq;
	uint32_t flags;
	int ring_fd;
	uint32_t features;
};

#pragma GCC visibility push(hidden)

/* uring.c: called in a hook of the calling thread, before and after the call. */
void uring_begins(struct thread *t, struct uring_call *c);
void uring_ends(struct thread *t, const struct uring_call *c);
/* Forgets the rings with this descriptor, or with memory in [lo, hi), which are being removed. */
void uring_gone(int fd, uintptr_t lo, uintptr_t hi);
/* Counts a ring, or an operation in a ring, that could not be followed. */
void uring_left_out(void);

/*
 * uring-find.c: rings that the program uses by system calls.  These return false if the ring is
 * not known, or of a kind that is not followed.
 */
bool uring_view_of(int fd, struct uring_view *v);
bool uring_view_of_liburing(const struct liburing_ring *ring, struct uring_view *v);
/* Returns a number that changes when the runtime forgets all rings. */
uint32_t uring_now(void);
/*
 * Called when the program has created a ring, has mapped memory of a descriptor, or unmaps memory.
 */
void uring_made(int fd, const struct io_uring_params *p);
void uring_mapped(int fd, uint64_t offset, void *addr, size_t size);
void uring_found_unmapped(uintptr_t lo, uintptr_t hi);

#pragma GCC visibility pop
#endif /* SOCKET_URING_H */
