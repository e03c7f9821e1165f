/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares what the files of this directory share: threads with their stacks and readings, and
 * invocations that have ended.
 */
#ifndef RECORD_CHAIN_PRIVATE_H
#define RECORD_CHAIN_PRIVATE_H

#include "base/backlog.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "record/chain/chain.h"

#define THREADS_MAX	65536
#define ENDED_MAX	(1U << 18)	/* invocations that have ended and are not written yet */
/* invocations written without the scanner's row, until that row comes */
#define ALONE_MAX	(1U << 18)
#define READINGS_MAX	(1U << 16)	/* remembered readings of a thread */
#define BLOCK(gen)	((uint16_t)(gen))
#define NOT_KNOWN	INT64_MIN

/* The invocations whose bounds are compared; see nest.c. */
struct chain_nest {
	struct nested {
		struct seen *s, *parent;
		/* generation of the nearest caller in its block; 0: none, or not known */
		uint64_t caller;
		size_t above;		/* index of the caller, or NO_NESTED */
		uint64_t last_callee;	/* generation of its last callee; 0: none */
		bool is_known;		/* `caller` is known */
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

/* An invocation whose frame the kernel has read, or of which the scanner has delivered a row. */
struct seen {
	uint32_t tid, flags;	/* LDB_FUNC_F_* */
	uint16_t depth;
	bool is_placed;		/* depth and parent are known */
	bool by_kernel;
	bool by_scanner;	/* the scanner's row has arrived */
	/* the scanner's row says that the invocation still runs; the row is not written yet */
	bool is_left;
	uint64_t gen, parent, pc, ret, addr;
	/* the two minima may be NOT_KNOWN */
	int64_t start_min, start_max, end_min, end_max;
	/* latest possible end: at this time, something was observed that began after the end */
	int64_t ends_by;
	struct bounds {
		int64_t start_min, start_max, end_min, end_max;
		uint32_t flags;
	} scanned;		/* from the scanner's row, if by_scanner */
};

/*
 * A reading: the kernel has read the thread's frames at `tick`.  If the thread left its CPU then,
 * `came` is when it came back, if that is known; otherwise `came` is equal to `tick`.
 */
struct reading {
	int64_t tick, came;
};

struct chain {			/* what is known of a thread */
	uint32_t tid;
	/* the thread called no function before this tick; NOT_KNOWN: it may have */
	int64_t born;
	const volatile struct ldb_page *page;	/* the thread's page; NULL: not found yet */
	uint64_t stack_lo, stack_hi;
	/*
	 * the program uses other stacks in the thread, so its chain is not followed; the scanner's
	 * rows are used as they are
	 */
	bool is_left_alone;
	bool was_read;		/* the kernel has read the thread's chain */
	bool is_broken;		/* frames are missing, until a reading has all of them */
	bool is_all;		/* the reading that is being received has all frames */
	/* the thread is off its CPU, and its frames were read when it left */
	bool is_away;
	/* the thread has ended, so later readings do not contain its functions */
	bool has_ended;
	struct reading *readings; /* the last readings */
	size_t nr_readings, room_readings;
	struct seen *stack;	/* the current frames, the outermost first */
	size_t nr, room;
	/* frames of one block in the reading that is being received, the innermost first */
	struct step *fresh;
	size_t nr_fresh, room_fresh;
	int64_t last;		/* tick of the last step */
	int64_t written;	/* latest end of the thread's rows that are written */
	/* last tick for which the scanner knew the thread's state; or NOT_KNOWN */
	int64_t polled;
	/*
	 * number of rows that were written and counted, minus the number of those that the scanner
	 * counts as well
	 */
	int64_t nr_alone;
};

struct chains {
	uint64_t t0;
	int64_t wait, least;
	int64_t error;		/* by how much the kernel's stamps may be wrong */
	const struct chains_ops *ops;
	void *arg;
	bool is_on;		/* the kernel reads chains */
	bool only_scanned;	/* invocations that only the kernel has read get no row */
	int64_t cut;		/* a reading at this tick may be incomplete */
	/* no recorded function began before this tick; NOT_KNOWN: some may have */
	int64_t first;
	struct backlog steps;
	struct chain *chains;
	size_t nr_chains, room_chains;
	struct hash by_tid;
	/* Rows of the scanner that are not processed yet, in the order of their arrival. */
	struct ldb_row_func *rows;
	size_t nr_rows, room_rows;
	/*
	 * Rows that say that an invocation still runs.  They are used when the thread or the
	 * recording has ended.
	 */
	struct ldb_row_func *open;
	size_t nr_open, room_open;
	/*
	 * Invocations that have ended, or were running when the recording ended, and are not
	 * written yet; in any order.
	 */
	struct seen *ended;
	size_t nr_ended, room_ended;
	struct hash by_gen;
	/*
	 * copies of ended[] with consistent bounds; while rows are written, only the invocations
	 * that get rows
	 */
	struct seen *bounded;
	size_t nr_bounded, room_bounded;
	int64_t released;	/* tick of the last chain_rows_release() that wrote rows */
	struct chain_nest nest;
	uint64_t nr_late;	/* see chains_take_late() */
	/*
	 * Invocations that are not retained any more, and whose row of the scanner may still come.
	 * They were written without it, or dropped; is_left_out: because of c->only_scanned.
	 */
	struct alone {
		uint32_t tid;
		bool is_left_out;
		uint64_t gen;
	} *alone;
	size_t nr_alone, room_alone;
	struct hash by_alone;
};

/* Returns NULL if no step of the thread has been processed. */
static inline struct chain *chain_of(const struct chains *c, uint32_t tid)
{
	uint32_t n;

	hash_each(&c->by_tid, hash_mix(0, tid), n)
		if (c->chains[n].tid == tid)
			return &c->chains[n];
	return NULL;
}

/* Returns the frame with that generation in the last reading, or NULL. */
static inline struct seen *chain_find(const struct chain *t, uint64_t gen)
{
	/* Of frames in the same block, inner ones are newer. */
	for (size_t i = t->nr; i; i--) {
		struct seen *s = &t->stack[i - 1];

		if (BLOCK(s->gen) == BLOCK(gen) && s->gen <= gen)
			return s->gen == gen ? s : NULL;
	}
	return NULL;
}

/*
 * Returns the earliest tick at which the thread can have run after its last reading, or, without a
 * reading, after its creation; NOT_KNOWN: there was no reading, and the creation is not known.
 */
static inline int64_t chain_running_since(const struct chains *c, const struct chain *t)
{
	if (!t->nr_readings)
		return t->born;
	return max(t->readings[t->nr_readings - 1].came - c->error, t->born);
}

/* Returns the earliest possible end of an invocation of the last reading. */
static inline int64_t chain_ends_after(const struct chains *c, const struct chain *t, const struct seen *s)
{
	return max(max(chain_running_since(c, t), s->start_min), s->end_min);
}

/* Sets the end of an invocation of the last reading; it ended at s->ends_by at the latest. */
static inline void chain_end_known(const struct chains *c, const struct chain *t, struct seen *s)
{
	s->end_min = chain_ends_after(c, t, s);
	s->end_max = max(s->ends_by, s->end_min);
}

/*
 * Functions of rows.c.  chain_rows_end() takes an invocation that has ended, and retains it until
 * the scanner's row arrives, or a limit of time is reached.
 */
void chain_rows_end(struct chains *c, const struct seen *s);

/*
 * Takes an invocation of a thread's last reading when the recording ends.  The scanner will not
 * deliver another row of it.
 */
void chain_rows_open(struct chains *c, const struct seen *s);

/*
 * Of a thread's retained invocations, writes those that the scanner has observed, and drops the
 * others.
 */
void chain_rows_give_back(struct chains *c, const struct chain *t);

/* Stops following the chain of a thread that uses stacks of the program's own. */
void chain_leave_alone(struct chains *c, struct chain *t);

/*
 * Called when a thread has ended: its invocations end at `tick` at the latest, or at their
 * start_max.
 */
void chain_rows_cut(struct chains *c, uint32_t tid, int64_t tick);

/*
 * Processes the scanner's rows up to the tick, and writes the invocations that have waited long
 * enough.
 */
void chain_rows_release(struct chains *c, int64_t tick);

/*
 * Invocations that seem to be running may have ended.  Bounds their ends by those of invocations
 * that have ended for certain.
 */
void chain_rows_bound_running(struct chains *c);

/* Writes all remaining invocations. */
void chain_rows_finish(struct chains *c);

/* Functions of nest.c, which makes bounds consistent. */
void chain_nest_begin(struct chain_nest *n);
void chain_nest_add(struct chain_nest *n, struct seen *s);
void chain_nest_finish(struct chain_nest *n);
void chain_nest_free(struct chain_nest *n);

#endif
