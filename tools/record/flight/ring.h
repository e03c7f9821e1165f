/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores the blocks of the last seconds in memory, or in a file, of a fixed size.  When it is full,
 * the oldest blocks are dropped.
 *
 * One thread adds and drops blocks.  Others may read at the same time; of a block that was dropped
 * before, they get nothing.  Blocks are numbered in the order in which they were added.
 */
#ifndef RECORD_FLIGHT_RING_H
#define RECORD_FLIGHT_RING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct flight_ring;

/* file NULL: in memory.  Returns NULL on failure, with one line in err. */
struct flight_ring *flight_ring_open(const char *file, uint64_t bytes, char *err, size_t err_size);
/* Also removes the file. */
void flight_ring_close(struct flight_ring *r);

/*
 * Adds a block.  now_ns is the time of any monotonic clock; `tick` is the time now in the trace.
 * Returns 0; or -errno, in which case the block was not added.
 */
int flight_ring_add(struct flight_ring *r, const void *block, size_t size, int64_t now_ns, int64_t tick);

/* Drops blocks that were added before this time. */
void flight_ring_expire(struct flight_ring *r, int64_t before_ns);

uint64_t flight_ring_first(const struct flight_ring *r);	/* number of the oldest block */
uint64_t flight_ring_next(const struct flight_ring *r);		/* number of the next block */
uint64_t flight_ring_bytes(const struct flight_ring *r);

/* Returns the tick up to which rows may have been dropped; INT64_MIN: none were. */
int64_t flight_ring_cut(const struct flight_ring *r);

/*
 * Reads a block into *buffer of *room bytes, which is enlarged if necessary.  Returns the block's
 * size; 0: the block was dropped; or -errno.  Any thread may call it.
 */
ssize_t flight_ring_read(struct flight_ring *r, uint64_t number, void **buffer, size_t *room);

#endif
