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

struct chains_ops {
	void (*out)(void *arg, const struct ldb_row_func *row);
	/* Each thread that is observed has one; NULL: it is not. */
	const volatile struct ldb_page *(*page)(void *arg, uint32_t tid);
};

/*
 * t0: tick 0 in pages.  wait: ticks that an invocation waits for the scanner, at most.  least: an
 * invocation that surely was shorter has no row, unless the scanner has observed it.  NULL: out of
 * memory.
 */
struct chains *chains_alloc(uint64_t t0, int64_t wait, int64_t least, const struct chains_ops *ops,
			    void *arg);
void chains_free(struct chains *c);

/* The kernel is going to read chains.  Before this call, rows of the scanner are not taken over. */
void chains_expect(struct chains *c);

/* The program was not running before this tick. */
void chains_set_first(struct chains *c, int64_t tick);

/* The records of one event LDB_EV_FRAME. */
void chains_frame(struct chains *c, int64_t tick, const struct ldb_rec *recs);

enum chain_step {
	CHAIN_ALL, CHAIN_FRAME, CHAIN_KNOWN, CHAIN_DONE,	/* chains_frame() */
	CHAIN_OUT,	/* it has left its CPU; its frames before this are a reading, all of it */
	CHAIN_UNREAD,	/* it has left and was not read, or has come at a time that is not known */
	CHAIN_IN,	/* it has come */
	CHAIN_BORN,	/* it was created */
	CHAIN_BEGIN,	/* its first function is going to be called */
	CHAIN_EXIT,	/* it reported itself that its functions have ended */
	CHAIN_GONE,	/* it is gone, or executes another program: invocations that were running have no end */
};

/* What has happened to a thread: CHAIN_OUT and those after it. */
void chains_thread(struct chains *c, int64_t tick, uint32_t tid, enum chain_step kind);

/* A row of the scanner.  True: it is taken, and comes out later. */
bool chains_func(struct chains *c, const struct ldb_row_func *row);

/* All events of this tick or older have arrived. */
void chains_release(struct chains *c, int64_t tick);

/* The recording has ended: what is still running is open, and ends where it was read last. */
void chains_finish(struct chains *c);

/* Were readings expected? */
bool chains_are_read(const struct chains *c);

/*
 * How many rows since the last call are of invocations that the scanner has not observed, less
 * those that it has counted and that have no row, or count no more.
 */
int64_t chains_take_alone(struct chains *c, uint32_t tid);

#endif
