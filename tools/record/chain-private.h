/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files chain*.c share threads, with their stacks and readings, and ended invocations. */
#ifndef RECORD_CHAIN_PRIVATE_H
#define RECORD_CHAIN_PRIVATE_H

#include "base/hash.h"
#include "record/backlog.h"
#include "record/chain.h"

#define THREADS_MAX	65536
#define ENDED_MAX	(1U << 18)	/* remembered */
#define READINGS_MAX	(1U << 16)	/* of a thread, remembered */
#define BLOCK(gen)	((uint16_t)(gen))
#define NOT_KNOWN	INT64_MIN

/* The kernel's stamps become the session's clock with an error of up to so many ticks. */
#define CLOCK_ERROR	1000

struct step {
	int64_t tick;
	uint32_t tid;
	enum chain_step kind;
	uint64_t gen, pc, ret, addr;
};

/* An invocation of which the kernel has read the frame. */
struct seen {
	uint32_t tid;
	uint16_t depth;
	bool is_placed;		/* depth and parent are known */
	bool is_written;
	uint64_t gen, parent, pc, ret, addr;
	int64_t start_min, start_max, end_min, end_max;
	int64_t gone;		/* the first reading without it */
	int64_t ends_by;	/* the scanner has observed what began after it had ended */
};

/* The thread left at tick, and came back. */
struct reading {
	int64_t tick, came;
	uint32_t nr_gone;	/* frames of the reading before that are not in it */
};

struct chain {			/* of a thread */
	uint32_t tid;
	int64_t born;		/* it made no call before; NOT_KNOWN: it may have */
	bool is_away;		/* it was read when it left */
	uint32_t nr_gone;	/* of the reading that is on its way */
	bool has_ended;		/* what is read of it later is not of its functions */
	struct reading *readings; /* the last ones */
	size_t nr_readings, room_readings;
	struct seen *stack;	/* the outermost first */
	size_t nr, room;
	struct step *fresh;	/* frames of the reading that is on its way, the innermost first */
	size_t nr_fresh, room_fresh;
	int64_t nr_alone;	/* rows of invocations that the scanner has not observed */
};

struct chains {
	int64_t wait, least;
	void (*out)(void *arg, const struct ldb_row_func *row);
	void *arg;
	bool is_on;		/* the kernel reads chains */
	int64_t first;		/* no function that is recorded began before; NOT_KNOWN: some may have */
	struct backlog steps;
	struct chain *chains;
	size_t nr_chains, room_chains;
	struct hash by_tid;
	/* Invocations that have ended, in that order: not written yet, then those that were. */
	struct seen *ended;
	size_t nr_ended, room_ended, nr_written;
	struct hash by_gen;
	/* Rows of the scanner, as they came; the first are done. */
	struct ldb_row_func *rows;
	size_t nr_rows, room_rows, nr_done;
};

/* chain.c: NULL: it has never been read. */
struct chain *chain_of(struct chains *c, uint32_t tid);

/* The frame with that generation in the last reading; NULL: it is not there. */
struct seen *chain_find(const struct chain *t, uint64_t gen);

/* Since when the thread has been running, at most; NOT_KNOWN: it was never read before. */
int64_t chain_running_since(const struct chain *t);

/* chain-rows.c: the invocation has ended; it waits for the scanner. */
void chain_rows_end(struct chains *c, const struct seen *s);

/* It will not come from the scanner any more, but has run until the recording ended. */
void chain_rows_open(struct chains *c, const struct seen *s);

/* Writes those that ended before, and the scanner's rows up to the tick. */
void chain_rows_release(struct chains *c, int64_t tick);

#endif
