/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The scanner's own structures.  Data flows: scanner.c decides whom to look at
 * and when; frame.c walks a chain of records; track.c compares it with what was
 * known, and writes an event for each invocation that is gone.
 */
#ifndef LDB_SCAN_H
#define LDB_SCAN_H

#include "runtime/runtime.h"

#pragma GCC visibility push(hidden)

#define SCAN_DEPTH_MAX	LDB_STACK_MAX

/* A record as it was read; it may be torn until two reads agree. */
struct scan_frame {
	uintptr_t addr, prev;
	uint64_t gen;		/* as in ldb_func_rec: generation << 16 | block */
	uintptr_t pc, ret;
};

enum walk_end {
	WALK_KNOWN,		/* reached a record that is already known */
	WALK_BOTTOM,		/* reached the end of the chain */
	WALK_FOREIGN,		/* left the thread's stacks */
	WALK_DISORDER,		/* canary, order or generation wrong */
	WALK_DEEP,		/* more new records than there is room for */
};

struct walk {
	enum walk_end end;
	int known;		/* index of the known record, -1 bottom */
	uint32_t nr;		/* new records, innermost first */
	struct scan_frame f[SCAN_DEPTH_MAX];
};

struct scan_block {
	uint64_t gen;		/* as last seen; 0: look again whatever is there */
	uintptr_t top;
	uint64_t made_from;	/* generation when the recording began */
	uint64_t made_to;	/* ... at the last look */
	bool bad;		/* the chain could not be read in this state */
};

/* What one scanner knows of one thread. */
struct scan_state {
	struct thread *t;
	struct ldb_page *page;
	struct ldb_stack *stack;
	uint32_t depth;
	uint32_t scanner;
	uint32_t nr_blocks;
	uintptr_t lowest_top;	/* deepest address seen in use on its own stack */
	bool existing;		/* ran before the recording began */
	bool fresh;		/* not seen yet */
	bool failed;		/* a look failed since last_ok */
	uint64_t last_ok;	/* the state was known at this time */
	uint64_t next_look;	/* not before */
	uint32_t asleep_seq;	/* page->k_seq while it slept and was looked at; 0: it did not */
	int32_t reg_blocks;	/* blocks it had when the module was told of it; -1: not told */
	struct scan_block b[BLOCKS_MAX];
};

struct scanner {
	struct raw_thread thread;
	unsigned id;
	_Atomic uint32_t stop;
	struct thread *_Atomic looking;	/* hazard: its stack may be read now */
	_Atomic uint64_t rounds;
	uint64_t stamp;			/* end of the look before */
	bool sharing;			/* no core to itself: sleeps between rounds */
	bool was_away;			/* kept off the CPU since it last had one */
	uint64_t check_at, retry_at;	/* for a core */
	int loadavg_fd;
	struct ldb_scan_stats *stats;
	struct walk walk[2];
};

/* frame.c */

/* Walks from top to the first known record.  gen: the thread's, read before top. */
void frame_walk(struct walk *w, const struct scan_state *st, unsigned block,
		uintptr_t top, uint64_t gen);

/* track.c */

/* Replaces what is known of a block by what was walked, see struct walk. */
void track_apply(struct scanner *s, struct scan_state *st, unsigned block,
		 int known, const struct scan_frame *f, uint32_t nr, uint64_t hi);
/* Every known invocation has ended by hi; written by the thread itself. */
void track_flush(struct scan_state *st, uint64_t hi);

/* A value of a thread's own top: its page has been used. */
static inline void scan_top_seen(struct scan_state *st, uintptr_t top)
{
	if (top >= st->t->stack_lo && top < st->lowest_top)
		st->lowest_top = top;
}

static inline uint64_t scan_clock(void)
{
	if (likely(session.clock_id != LDB_CLOCK_MONO))
		return cpu_tsc();
	return session_clock();
}

/* Time stamp no load can pass. */
static inline uint64_t scan_stamp(void)
{
	uint64_t t;

	if (likely(session.clock_id != LDB_CLOCK_MONO))
		return cpu_tsc_fenced();
	cpu_load_fence();
	t = session_clock();
	cpu_load_fence();
	return t;
}

#pragma GCC visibility pop
#endif /* LDB_SCAN_H */
