/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares what the files chain*.c share: threads with their stacks and readings, and invocations
 * that have ended.
 */
#ifndef RECORD_CHAIN_PRIVATE_H
#define RECORD_CHAIN_PRIVATE_H

#include "base/hash.h"
#include "record/backlog.h"
#include "record/chain.h"

#define THREADS_MAX	65536
#define ENDED_MAX	(1U << 18)	/* invocations that are not written yet */
#define ALONE_MAX	(1U << 18)	/* invocations that are remembered */
#define READINGS_MAX	(1U << 16)	/* readings of a thread that are remembered */
#define BLOCK(gen)	((uint16_t)(gen))
#define NOT_KNOWN	INT64_MIN

/* The invocations whose bounds are compared; see chain-nest.c. */
struct chain_nest {
	struct nested {
		struct seen *s, *parent;
		/* generation of the nearest caller in its block; 0: none, or not known */
		uint64_t caller;
		size_t above;		/* index of the caller, or NO_NESTED */
		uint64_t last_callee;	/* generation of its last callee; 0: none */
		bool is_known;		/* it is known whether it has a caller */
	} *all;
	size_t nr, room;
	size_t *stack;		/* indices of invocations that have not returned */
	size_t room_stack;
};
#define NO_NESTED	SIZE_MAX

struct step {
	int64_t tick;
	uint32_t tid;
	enum chain_step kind;
	uint64_t gen, pc, ret, addr;
};

/* An invocation whose frame the kernel has read, or for which the scanner has a row. */
struct seen {
	uint32_t tid, flags;	/* LDB_FUNC_F_* */
	uint16_t depth;
	bool is_placed;		/* depth and parent are known */
	bool by_kernel;
	bool by_scanner;	/* the scanner's row of it has come */
	bool is_left;		/* that row says that it is running, and is not written yet */
	uint64_t gen, parent, pc, ret, addr;
	/* of these, the two minima may be NOT_KNOWN */
	int64_t start_min, start_max, end_min, end_max;
	/* it ended by then, because something that began after its end was observed at that time */
	int64_t ends_by;
	struct bounds {
		int64_t start_min, start_max, end_min, end_max;
		uint32_t flags;
	} scanned;		/* what the scanner's row says, if by_scanner */
};

/* A reading was made when the thread left its CPU at tick; it came back later. */
struct reading {
	int64_t tick, came;
};

struct chain {			/* what is known of a thread */
	uint32_t tid;
	/* the thread called no function before this; NOT_KNOWN: it may have */
	int64_t born;
	const volatile struct ldb_page *page;	/* the thread's page; NULL: it was not found yet */
	uint64_t stack_lo, stack_hi;
	/* the program gave the thread other stacks, so only the scanner follows it */
	bool is_left_alone;
	bool was_read;		/* a frame of it was read */
	bool is_broken;		/* frames are missing, until a reading has all of them */
	bool is_all;		/* the reading that is being received has all frames */
	bool is_away;		/* the thread is off its CPU, and was read when it left that */
	/* the thread has ended, and later readings do not show its functions */
	bool has_ended;
	struct reading *readings; /* the last readings */
	size_t nr_readings, room_readings;
	struct seen *stack;	/* the current frames, the outermost first */
	size_t nr, room;
	/* frames of a block in the reading that is being received, the innermost first */
	struct step *fresh;
	size_t nr_fresh, room_fresh;
	int64_t last;		/* tick of the last step of a reading */
	int64_t written;	/* the latest end of its rows that are written */
	int64_t polled;		/* the scanner knew the thread's state at this tick; or NOT_KNOWN */
	/*
	 * number of rows that were written and counted, minus those that the scanner has counted as
	 * well
	 */
	int64_t nr_alone;
};

struct chains {
	uint64_t t0;
	int64_t wait, least;
	const struct chains_ops *ops;
	void *arg;
	bool is_on;		/* the kernel reads chains */
	bool only_scanned;	/* what only the kernel has read gets no row */
	int64_t cut;		/* a reading at this tick may not be whole */
	/* no recorded function began before this; NOT_KNOWN: some may have */
	int64_t first;
	struct backlog steps;
	struct chain *chains;
	size_t nr_chains, room_chains;
	struct hash by_tid;
	/* Rows of the scanner that are not processed yet, in the order of their arrival. */
	struct ldb_row_func *rows;
	size_t nr_rows, room_rows;
	/* Rows that say that an invocation is still running.  They wait for the last reading. */
	struct ldb_row_func *open;
	size_t nr_open, room_open;
	/*
	 * Invocations that the kernel has read, and that have ended but are not written yet, in any
	 * order.
	 */
	struct seen *ended;
	size_t nr_ended, room_ended;
	struct hash by_gen;
	struct seen *bounded;	/* copies of these, with consistent bounds; then those that are written */
	size_t nr_bounded, room_bounded;
	int64_t released;	/* up to which tick rows have been written */
	struct chain_nest nest;
	uint64_t nr_late;	/* invocations that came when later ones had been written */
	/* Invocations that were written without the scanner's row, which may still come. */
	struct alone {
		uint32_t tid;
		uint64_t gen;
	} *alone;
	size_t nr_alone, room_alone;
	struct hash by_alone;
};

/* The next functions are in chain.c.  chain_of() returns NULL if the thread has never been read. */
struct chain *chain_of(const struct chains *c, uint32_t tid);

/* Returns the frame with that generation in the last reading, or NULL. */
struct seen *chain_find(const struct chain *t, uint64_t gen);

/*
 * Returns the earliest time since which the thread can have been running; NOT_KNOWN if it was never
 * read before.
 */
int64_t chain_running_since(const struct chain *t);

/* Sets when an invocation of the last reading ended that has ended by s->ends_by. */
void chain_end_known(const struct chain *t, struct seen *s);

/* Stops following the chain of a thread that uses other stacks than its own. */
void chain_leave_alone(struct chains *c, struct chain *t);

/*
 * The next functions are in chain-rows.c.  chain_rows_end() takes an invocation that has ended; it
 * waits for the scanner's row.
 */
void chain_rows_end(struct chains *c, const struct seen *s);

/*
 * Takes an invocation that ran until the recording ended.  The scanner will not deliver a row of it
 * any more.
 */
void chain_rows_open(struct chains *c, const struct seen *s);

/* Writes the invocations of a thread that the scanner has observed, and drops those that only the kernel has read. */
void chain_rows_give_back(struct chains *c, const struct chain *t);

/* Ends the invocations of a thread that has ended, unless a later reading found them. */
void chain_rows_cut(struct chains *c, uint32_t tid, int64_t tick);

/*
 * Processes the scanner's rows up to the tick, and writes the invocations that have waited long
 * enough.
 */
void chain_rows_release(struct chains *c, int64_t tick);

/*
 * Bounds the invocations that still seem to be running by those that have ended, because they may
 * have ended, too.
 */
void chain_rows_bound_running(struct chains *c);

/* Writes all invocations that are left. */
void chain_rows_finish(struct chains *c);

/* The next functions are in chain-nest.c, and make bounds consistent. */
void chain_nest_begin(struct chain_nest *n);
void chain_nest_add(struct chain_nest *n, struct seen *s);
void chain_nest_finish(struct chain_nest *n);
void chain_nest_free(struct chain_nest *n);

#endif
