/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes invocations of the chains of frames that the kernel reads of threads that leave their
 * CPU, or are interrupted by its timer (LDB_EV_FRAME), and joins them with those of the scanner:
 * each invocation becomes one row, with the narrower of the bounds that the two know.
 *
 * A thread that left its CPU stands still until it comes back.  So a frame that was not there at
 * the last reading began after the thread came back from that, and a frame that is gone ended
 * after that.
 *
 * Rows of the scanner wait until the kernel's events of that time are read; invocations that only
 * the kernel has observed wait for the scanner, which reports late when it has no CPU.  Nothing
 * here is believed: the program may have any value in its memory.
 */
#ifndef RECORD_CHAIN_H
#define RECORD_CHAIN_H

#include <stdbool.h>
#include <linux/ldb.h>
#include "trace/writer.h"

struct chains;

/*
 * wait: ticks that an invocation waits for the scanner.  least: an invocation that
 * surely was shorter has no row, unless the scanner has observed it.  NULL: out of memory.
 */
struct chains *chains_alloc(int64_t wait, int64_t least,
			    void (*out)(void *arg, const struct ldb_row_func *row), void *arg);
void chains_free(struct chains *c);

/* The kernel is going to read chains.  Before this, rows of the scanner are not taken. */
void chains_expect(struct chains *c);

/* The program was not running before this tick. */
void chains_set_first(struct chains *c, int64_t tick);

/* The records of one event LDB_EV_FRAME. */
void chains_frame(struct chains *c, int64_t tick, const struct ldb_rec *recs);

/* A thread has left its CPU; is_read: its frames before this are a reading, all of it. */
void chains_out(struct chains *c, int64_t tick, uint32_t tid, bool is_read);

/* A thread has come; if not is_exact, it may have come before, too. */
void chains_in(struct chains *c, int64_t tick, uint32_t tid, bool is_exact);

/* A thread is made. */
void chains_born(struct chains *c, int64_t tick, uint32_t tid);

/* Its first function is going to be called. */
void chains_begin(struct chains *c, int64_t tick, uint32_t tid);

/* A thread has ended, or begins another program. */
void chains_exit(struct chains *c, int64_t tick, uint32_t tid);

/* A row of the scanner.  True: it is taken, and comes out later. */
bool chains_func(struct chains *c, const struct ldb_row_func *row);

/* All of this tick or older is there. */
void chains_release(struct chains *c, int64_t tick);

/* The recording has ended: what is still running is open, and ends where it was read last. */
void chains_finish(struct chains *c);

/* Was any expected? */
bool chains_are_read(const struct chains *c);

/* How many rows, since this was asked last, are of invocations that the scanner has not observed. */
int64_t chains_take_alone(struct chains *c, uint32_t tid);

#endif
