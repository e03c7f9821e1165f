/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes invocations from chains of frames, and joins them with those that the scanner observes.
 * The kernel reads the chain of a thread when it leaves its CPU or is interrupted by the CPU's
 * timer (LDB_EV_FRAME).  Each invocation becomes one row, with the narrowest bounds that follow
 * from the two sources.
 *
 * A thread that left its CPU stands still until it comes back.  So a frame that is new since the
 * last reading began after the thread came back, and a frame that is gone ended after that.
 *
 * Rows of the scanner wait until the kernel's events of that time are read; invocations that only
 * the kernel has observed wait for the scanner, which reports late when it has no CPU.  Nothing
 * that was read is trusted, because the program's memory may contain any value.
 */
#ifndef RECORD_CHAIN_H
#define RECORD_CHAIN_H

#include <stdbool.h>
#include <linux/ldb.h>
#include "trace/writer.h"

struct chains;

struct chains_ops {
	void (*out)(void *arg, const struct ldb_row_func *row);
	/* Returns the page of a thread; NULL if the thread is not observed. */
	const volatile struct ldb_page *(*page)(void *arg, uint32_t tid);
};

/*
 * t0 is the clock's value at tick 0, because pages contain clock values.  An invocation waits at
 * most `wait` ticks for the scanner's row.  An invocation that certainly took less than `least`
 * ticks gets no row unless the scanner has observed it.  Returns NULL if there is no memory.
 */
struct chains *chains_alloc(uint64_t t0, int64_t wait, int64_t least, const struct chains_ops *ops,
			    void *arg);
void chains_free(struct chains *c);

/* Prepares for readings by the kernel.  Before this call, rows of the scanner are not held back. */
void chains_expect(struct chains *c);

/*
 * Sets whether invocations that only the kernel has read are left out, because the scanner alone knows
 * which of them are recorded.
 */
void chains_only_scanned(struct chains *c, bool only);

/* Sets a tick before which the program was not running. */
void chains_set_first(struct chains *c, int64_t tick);

/*
 * Tells that events were lost.  A reading at this tick may lack its first frames, and what follows may
 * continue from one that is missing.
 */
void chains_lost(struct chains *c, int64_t tick);

/* Processes the records of one event LDB_EV_FRAME. */
void chains_frame(struct chains *c, int64_t tick, const struct ldb_rec *recs);

enum chain_step {
	CHAIN_ALL, CHAIN_FRAME, CHAIN_KNOWN, CHAIN_DONE,	/* chains_frame() */
	/* the thread has left its CPU; the frames before this are a complete reading */
	CHAIN_OUT,
	/* the thread has left and was not read, or has come back at a time that is not known */
	CHAIN_UNREAD,
	CHAIN_IN,	/* the thread has come back to a CPU */
	CHAIN_BORN,	/* the thread was created */
	CHAIN_BEGIN,	/* the thread is about to call its first function */
	CHAIN_EXIT,	/* the thread itself has reported that its functions have ended */
	/*
	 * the thread is gone, or executes another program: invocations that were running have no
	 * end
	 */
	CHAIN_GONE,
	CHAIN_LOST, CHAIN_RESUMED,	/* of all threads: chains_lost(), chains_pause() */
};

/* Processes what has happened to a thread: CHAIN_OUT or one of the steps after it. */
void chains_thread(struct chains *c, int64_t tick, uint32_t tid, enum chain_step kind);

/* Takes a row of the scanner.  Returns true if the row is held back and will be written later. */
bool chains_func(struct chains *c, const struct ldb_row_func *row);

/* Tells that threads may have run before this tick, because nothing was reported for a while. */
void chains_pause(struct chains *c, int64_t tick);

/* Tells that all events of this tick or older have arrived. */
void chains_release(struct chains *c, int64_t tick);

/*
 * Ends the recording.  Invocations that are still running are marked as open, and end where they
 * were read last.
 */
void chains_finish(struct chains *c);

/* Was chains_expect() called? */
bool chains_are_read(const struct chains *c);

/*
 * Returns how many rows since the last call describe invocations that the scanner has not observed,
 * minus the number of those that the scanner has counted but that have no row or are no longer
 * counted.
 */
int64_t chains_take_alone(struct chains *c, uint32_t tid);

/*
 * Returns how many invocations were dropped since the last call: they came so late that rows of their
 * callers, or of what ran after them, had been written.
 */
uint64_t chains_take_late(struct chains *c);

#endif
