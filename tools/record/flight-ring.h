/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores the blocks of the last seconds in memory, or in a file, of a fixed size.  The oldest
 * blocks are dropped, each as a whole.
 *
 * One thread adds and drops blocks; others may read meanwhile, and find that a block was dropped.
 * Blocks have numbers, in the order in which they came.
 */
#ifndef RECORD_FLIGHT_RING_H
#define RECORD_FLIGHT_RING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct flight_ring;

/* file NULL: in memory.  If it returns NULL, err has one line. */
struct flight_ring *flight_ring_open(const char *file, uint64_t bytes, char *err, size_t err_size);
/* Removes the file. */
void flight_ring_close(struct flight_ring *r);

/* now_ns: of any steady clock; tick: of the trace.  Returns 0 or -errno: then it was not added. */
int flight_ring_add(struct flight_ring *r, const void *block, size_t size, int64_t now_ns, int64_t tick);

/* Drops blocks that came before. */
void flight_ring_expire(struct flight_ring *r, int64_t before_ns);

uint64_t flight_ring_first(const struct flight_ring *r);	/* number of the oldest block */
uint64_t flight_ring_next(const struct flight_ring *r);		/* number of the next block */
uint64_t flight_ring_bytes(const struct flight_ring *r);

/* Rows of this tick and before may have been dropped; INT64_MIN: nothing was. */
int64_t flight_ring_cut(const struct flight_ring *r);

/*
 * Reads a block into *buffer, of *room bytes, which grows.  Returns its size; 0: it is not there
 * any more; -errno.  Any thread may call it.
 */
ssize_t flight_ring_read(struct flight_ring *r, uint64_t number, void **buffer, size_t *room);

#endif
