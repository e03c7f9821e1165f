/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes invocations from chains of frames, and joins them with those that the scanner observes.
 * The kernel reads the chain of a thread when the thread leaves its CPU or is interrupted by the
 * CPU's timer (LDB_EV_FRAME).  This is called a reading.  Each invocation becomes at most one row,
 * with the narrowest bounds that follow from the two sources.
 *
 * A thread does nothing between leaving a CPU and coming back.  So a frame that is new since the
 * last reading began after the thread came back, and a frame that is gone ended after that.
 *
 * The scanner's rows are retained until all kernel events up to their time have been read.
 * Invocations that only the kernel has observed are retained until the scanner's rows of that time
 * have arrived, which takes long if the scanner does not run, or until a limit of time.  All values
 * are checked, because the program's memory may contain anything.
 */
#ifndef RECORD_CHAIN_CHAIN_H
#define RECORD_CHAIN_CHAIN_H

#include <stdbool.h>
#include <linux/ldb.h>
#include "trace/writer.h"

struct chains;

struct chains_ops {
	void (*out)(void *arg, const struct ldb_row_func *row);
	/* Returns the page of a thread; NULL if it has none, or if the page was not found yet. */
	const volatile struct ldb_page *(*page)(void *arg, uint32_t tid);
};

/*
 * t0 is the clock's value at tick 0, because pages contain clock values.  An invocation is retained
 * for the scanner's row about `wait` ticks at most.  An invocation that certainly took less than
 * `least` ticks gets no row unless the scanner has observed it.  Returns NULL if there is no
 * memory.
 */
struct chains *chains_alloc(uint64_t t0, int64_t wait, int64_t least, const struct chains_ops *ops,
			    void *arg);
void chains_free(struct chains *c);

/*
 * Must be called before the kernel reads chains.  Until then, chains_func() retains no rows.
 */
void chains_expect(struct chains *c);

/*
 * Sets whether invocations that only the kernel has read are left out: when only invocations inside
 * requests are recorded, the scanner alone knows which ones these are.
 */
void chains_only_scanned(struct chains *c, bool only);

/* Sets a tick before which the program was not running. */
void chains_set_first(struct chains *c, int64_t tick);

/*
 * Sets by how many ticks the kernel's time stamps may be wrong, if that is more than
 * LDB_KERNEL_SLACK.  Bounds that come from these stamps are widened by this.
 */
void chains_set_error(struct chains *c, int64_t ticks);

/*
 * Says that events were lost.  A reading at this tick may lack its first frames, and the next
 * readings may continue from a frame that is missing.
 */
void chains_lost(struct chains *c, int64_t tick);

/* Processes the records of one event LDB_EV_FRAME. */
void chains_frame(struct chains *c, int64_t tick, const struct ldb_rec *recs);

enum chain_step {
	CHAIN_ALL, CHAIN_FRAME, CHAIN_KNOWN, CHAIN_DONE,	/* for chains_frame() */
	/* the thread has left its CPU; the frames before this are a complete reading */
	CHAIN_OUT,
	/* the thread has left without a reading, or has come back at an unknown time */
	CHAIN_UNREAD,
	CHAIN_IN,	/* the thread has come back to a CPU */
	CHAIN_BORN,	/* the thread was created */
	CHAIN_BEGIN,	/* the thread is about to call its first function */
	CHAIN_EXIT,	/* the thread itself has reported that all of its functions have ended */
	/*
	 * the thread has ended, or executes another program: functions that were running have no
	 * known end
	 */
	CHAIN_GONE,
	/* these two concern all threads: see chains_lost(), chains_pause() */
	CHAIN_LOST, CHAIN_RESUMED,
};

/* Processes what has happened to a thread: CHAIN_OUT or one of the steps after it. */
void chains_thread(struct chains *c, int64_t tick, uint32_t tid, enum chain_step kind);

/*
 * Says that a thread has exited, unless this is already known, or a later thread has the same tid.
 */
void chains_exited(struct chains *c, int64_t tick, uint32_t tid);

/*
 * Processes a row of the scanner.  Returns true if the row is retained and will be written later;
 * false: the caller must write it.
 */
bool chains_func(struct chains *c, const struct ldb_row_func *row);

/* Says that threads may have run before this tick without being reported, as in a pause. */
void chains_pause(struct chains *c, int64_t tick);

/* Says that all events up to this tick have arrived. */
void chains_release(struct chains *c, int64_t tick);

/*
 * Ends the recording.  Invocations that are still running are marked as open, and end when they
 * were last observed.
 */
void chains_finish(struct chains *c);

/*
 * Copies all that is retained.  The copy can be finished while the original goes on.  Returns NULL
 * if there is no memory.
 */
struct chains *chains_copy(const struct chains *c, const struct chains_ops *ops, void *arg);

/* Returns true if chains_expect() was called. */
bool chains_are_read(const struct chains *c);

/*
 * Returns the correction to the scanner's count of the thread's observed invocations since the last
 * call: the number of invocations that were written, minus the number of rows that the scanner has
 * delivered.  Invocations that the thread's counter of calls leaves out are in neither number.
 */
int64_t chains_take_alone(struct chains *c, uint32_t tid);

/*
 * Returns how many invocations were dropped since the last call: they arrived after rows of their
 * callers, or of later invocations, had been written.
 */
uint64_t chains_take_late(struct chains *c);

#endif
