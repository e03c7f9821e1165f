/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files chain*.c share threads, with their stacks and readings, and ended invocations. */
#ifndef RECORD_CHAIN_PRIVATE_H
#define RECORD_CHAIN_PRIVATE_H

#include "base/hash.h"
#include "record/backlog.h"
#include "record/chain.h"

#define THREADS_MAX	65536
#define ENDED_MAX	(1U << 18)	/* that are not written yet */
#define ALONE_MAX	(1U << 18)	/* remembered */
#define READINGS_MAX	(1U << 16)	/* of a thread, remembered */
#define BLOCK(gen)	((uint16_t)(gen))
#define NOT_KNOWN	INT64_MIN

/* Invocations whose bounds are compared: chain-nest.c. */
struct chain_nest {
	struct nested {
		struct seen *s;
		uint64_t caller;	/* the nearest in its block; 0: none, or not known */
		size_t above;		/* number of the caller, or NO_NESTED */
		uint64_t last_callee;	/* the last that it has called; 0: none */
		bool is_known;		/* it is known whether it has a caller */
	} *all;
	size_t nr, room;
	size_t *stack;		/* numbers of those that have not returned */
	size_t room_stack;
};
#define NO_NESTED	SIZE_MAX

struct step {
	int64_t tick;
	uint32_t tid;
	enum chain_step kind;
	uint64_t gen, pc, ret, addr;
};

/* An invocation of which the kernel has read the frame, or of which the scanner has a row. */
struct seen {
	uint32_t tid, flags;	/* LDB_FUNC_F_* */
	uint16_t depth;
	bool is_placed;		/* depth and parent are known */
	bool by_kernel;
	bool by_scanner;	/* its row has come */
	bool is_left;		/* its row says that it is running, and is not written yet */
	uint64_t gen, parent, pc, ret, addr;
	int64_t start_min, start_max, end_min, end_max;	/* of those, min may be NOT_KNOWN */
	int64_t ends_by;	/* its end is not later: something that began after it was observed then */
	struct bounds {
		int64_t start_min, start_max, end_min, end_max;
		uint32_t flags;
	} scanned;		/* by_scanner: what its row says */
};

/* The thread left at tick, and came back. */
struct reading {
	int64_t tick, came;
};

struct chain {			/* of a thread */
	uint32_t tid;
	int64_t born;		/* it made no call before; NOT_KNOWN: it may have */
	const volatile struct ldb_page *page;	/* NULL: none was found yet */
	uint64_t stack_lo, stack_hi;
	bool is_left_alone;	/* the program gave it other stacks: only the scanner follows it */
	bool is_broken;		/* frames are missing, until a reading has all of them */
	bool is_all;		/* the reading that is on its way has all */
	bool is_away;		/* it is off its CPU, and was read when it left */
	bool has_ended;		/* later readings do not show its functions */
	struct reading *readings; /* the last ones */
	size_t nr_readings, room_readings;
	struct seen *stack;	/* the outermost first */
	size_t nr, room;
	struct step *fresh;	/* frames of a block in the reading that is on its way, the innermost first */
	size_t nr_fresh, room_fresh;
	int64_t last;		/* tick of its last step */
	int64_t polled;		/* the scanner knew its state then; NOT_KNOWN */
	int64_t nr_alone;	/* counted rows that were written, minus those that the scanner has counted */
};

struct chains {
	uint64_t t0;
	int64_t wait, least;
	const struct chains_ops *ops;
	void *arg;
	bool is_on;		/* the kernel reads chains */
	int64_t first;		/* no function that is recorded began before; NOT_KNOWN: some may have */
	struct backlog steps;
	struct chain *chains;
	size_t nr_chains, room_chains;
	struct hash by_tid;
	/* Rows of the scanner, in the order of their arrival; the first ones are processed. */
	struct ldb_row_func *rows;
	size_t nr_rows, room_rows, nr_done;
	/* Those that say that an invocation is running; they wait for the last reading. */
	struct ldb_row_func *open;
	size_t nr_open, room_open;
	/* Invocations that the kernel has read, that have ended, and that are not written yet, in any order. */
	struct seen *ended;
	size_t nr_ended, room_ended;
	struct hash by_gen;
	struct seen *bounded;	/* copies of these, with bounds that agree */
	size_t room_bounded;
	int64_t released;	/* when some were written last */
	struct chain_nest nest;
	/* Invocations that were written without a row of the scanner, which may still come. */
	struct alone {
		uint32_t tid;
		uint64_t gen;
	} *alone;
	size_t nr_alone, room_alone;
	struct hash by_alone;
};

/* chain.c: NULL: it has never been read. */
struct chain *chain_of(const struct chains *c, uint32_t tid);

/* The frame with that generation in the last reading; NULL: it is not there. */
struct seen *chain_find(const struct chain *t, uint64_t gen);

/* Returns a time since which the thread may have been running, and not longer; NOT_KNOWN: it was never read before. */
int64_t chain_running_since(const struct chain *t);

/* The thread uses other stacks than its own, so its chain is not followed any more. */
void chain_leave_alone(struct chains *c, struct chain *t);

/* chain-rows.c: the invocation has ended; it waits for the scanner. */
void chain_rows_end(struct chains *c, const struct seen *s);

/* The scanner will not deliver this invocation any more, but it has run until the recording ended. */
void chain_rows_open(struct chains *c, const struct seen *s);

/* Writes the invocations of a thread that the scanner has observed, and drops those that only the kernel has read. */
void chain_rows_give_back(struct chains *c, const struct chain *t);

/* The thread has ended, and so have those of its invocations that no later reading found. */
void chain_rows_cut(struct chains *c, uint32_t tid, int64_t tick);

/* Takes the scanner's rows up to the tick, and writes what has waited long enough. */
void chain_rows_release(struct chains *c, int64_t tick);

/* Invocations that are still running get bounds from those that have ended, because they may have ended, too. */
void chain_rows_bound_running(struct chains *c);

/* Writes all that are left. */
void chain_rows_finish(struct chains *c);

/* chain-nest.c: makes bounds agree. */
void chain_nest_begin(struct chain_nest *n);
void chain_nest_add(struct chain_nest *n, struct seen *s);
void chain_nest_finish(struct chain_nest *n);
void chain_nest_free(struct chain_nest *n);

#endif
