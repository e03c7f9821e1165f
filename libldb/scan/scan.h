/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declares the scanner's own structures.  scanner.c starts and ends the scanner threads; watch.c
 * decides which threads to poll, pace.c when, share.c whether the scanner has a core to itself;
 * look.c polls a thread, and frame.c walks a chain of frame records that has changed; track.c
 * compares the chain with what was known, and writes an event for each invocation that has ended,
 * unless it is only counted; schedstat.c reads the kernel's counters of threads that do not change.
 */
#ifndef LDB_SCAN_H
#define LDB_SCAN_H

#include "runtime/runtime.h"

#pragma GCC visibility push(hidden)

#define SCAN_DEPTH_MAX	LDB_STACK_MAX

/*
 * A generation word contains the generation and, in its low 16 bits, a record's canary or, in a
 * known frame, the number of its thread block.
 */
#define GEN_OF(word)	((word) & ~(LDB_GEN_ONE - 1))
#define GEN_LOW(word)	((word) & (LDB_GEN_ONE - 1))

/*
 * A frame record as it was read; its members may not belong together until the caller has found out
 * that they did not change.
 */
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
	int known;		/* index of the known record that was reached; -1: none */
	uint32_t nr;		/* new records, innermost first */
	bool switched;		/* there were records on a registered stack */
	struct scan_frame f[SCAN_DEPTH_MAX];
};

/*
 * The result of a poll that did not read the stack, or could not: the block was in this state
 * between lo and hi.
 */
struct scan_mark {
	uint64_t gen;		/* 0: there was no such poll */
	uintptr_t top;
	uint64_t lo, hi;
};

struct scan_block {
	/* generation when the chain was last read; 0: it must be read again */
	uint64_t gen;
	uintptr_t top;
	struct scan_mark mark;	/* valid if it was made since the state was last known */
	uint64_t calls_from;	/* generation when the recording began */
	uint64_t calls_to;	/* generation at the last poll */
	uint64_t ok_gen;	/* generation when the state was last known; 0: never */
	uint64_t known_gen;	/* generation of the youngest record that was ever known */
	bool bad;		/* the chain could not be read in this state */
};

/* The state of one thread in its scanner.  The fields that each poll needs come first. */
struct scan_state {
	struct thread *t;
	struct ldb_page *page;
	uint64_t next_poll;	/* the earliest time of the next poll */
	uint64_t last_ok;	/* the last time at which the state was known */
	uint64_t looked;	/* time of the previous poll */
	uint64_t look_from;	/* start of the last poll that found a change */
	/* the kernel's counters are read if it has not changed until then */
	uint64_t count_at;
	uint32_t nr_blocks;
	/* the owner, which may give the thread to another scanner */
	_Atomic uint32_t scanner;
	int32_t place;		/* index in the owner's active[]; -1: not in it */
	uint32_t asleep_seq;	/* page->k_seq if it was off its CPU at the last poll; else 0 */
	/* nr_blocks when it was registered with the module; -1: it was not */
	int32_t reg_blocks;
	bool existing;		/* existed before the recording began */
	bool fresh;		/* not polled yet */
	bool failed;		/* a poll failed since last_ok */
	bool settling;		/* its stack is not read before next_poll: see pace.c */
	bool in_step;		/* ... and its state was known until this change */
	bool switches;		/* was observed on a registered stack */
	uint8_t tries;		/* polls since its state was last known that found it changing */
	uint32_t settle;	/* the pause before a walk, in steps */
	int32_t trust;		/* trust in the current length of the pause: see pace.c */
	uint32_t trusted;	/* valid walks since trust reached its maximum */
	uint32_t depth;
	struct ldb_stack *stack;
	uintptr_t lowest_top;	/* lowest address known to have been in use on its own stack */
	uint64_t owed;		/* cost, not charged yet, of polls while it was settling */
	uint64_t changed;	/* time of the last poll that found a change */
	uint64_t ran;		/* the thread ran after this poll, the one before `changed` */
	bool is_counted;	/* the counters were read since `changed` */
	/* enum ldb_sched_state, read after the thread had left a CPU for the known_left-th time */
	uint8_t state;
	uint32_t known_left;	/* modulo 2^32 */
	struct scan_block b[LDB_BLOCKS_MAX];
};

#define STINT_MAX	8	/* threads polled between two updates of the hazards */

struct scanner {
	struct raw_thread thread;
	unsigned id;
	bool resumes;			/* the scanner ran before in this session */
	_Atomic uint32_t stop;
	/*
	 * Hazard pointers: the scanner may be reading these threads' memory.  A thread that exits
	 * waits until it is not among them.
	 */
	struct thread *_Atomic looking[STINT_MAX];
	_Atomic uint64_t walks;		/* odd while it reads a stack */
	/* number of its threads that change; read by other scanners */
	_Atomic uint32_t nr_busy;

	struct scan_state *stint[STINT_MAX];	/* the threads that it polls now, see watch.c */
	unsigned nr_stint, stint_rounds;
	uint32_t next_active;		/* index in active[] at which the next stint begins */
	uint32_t next_live;		/* index in live[] at which the sweep continues */
	uint32_t nr_known;		/* live threads when new ones were last searched for */
	struct thread *active[SESSION_THREADS_MAX];
	uint32_t nr_active;
	uint64_t round_begin;
	bool behind;			/* the last round took too long */
	uint32_t nr_tagged;		/* threads in a request that this round has found */
	uint64_t balance_at;

	uint64_t stamp;			/* the last pace_stamp(): no thread was polled since */
	bool sharing;			/* it has no core to itself, and sleeps between rounds */
	/* ... only until the kernel has moved a waiting thread to its core */
	bool lends;
	/* another task may have run on its CPU since the last stint */
	bool was_off;
	bool was_away;			/* it was preempted since it last had a core to itself */
	uint64_t check_at, retry_at;	/* when to search for a core; when to try without sleeps */
	uint64_t soonest_check;		/* more frequent checks would exceed the budget */
	int loadavg_fd;
	uint64_t nr_turns, cpu_ns, turn_ns;	/* share.c: the cost of a sleep and a round */
	struct ldb_scan_stats *stats;
	struct walk walk[2];
};

/* frame.c */

/* Walks from top to the first known record.  gen is the block's generation, read before top. */
void frame_walk(struct walk *w, const struct scan_state *st, unsigned block,
		uintptr_t top, uint64_t gen);

/* look.c */

/* Polls a thread.  lo is a time stamp before the poll.  The caller has set the hazard pointer. */
void look(struct scanner *s, struct scan_state *st, uint64_t lo);
/*
 * Adds the thread's blocks of modules that were loaded since the last call; n is their number now.
 */
void look_blocks_new(struct scan_state *st, uint32_t n);
void look_count_calls(struct scan_state *st);

/* pace.c */

void pace_init(void);
/* Sets the stamp.  No thread was polled since the last stamp: a long time is an observation gap. */
void pace_stamp(struct scanner *s, uint64_t now);
void pace_gap(struct scanner *s, uint32_t tid, uint64_t begin, uint64_t end);
bool pace_is_gap(uint64_t ticks);
/*
 * Called when a poll at lo has found a change.  `known`: the state was known until now.  `still`:
 * the blocks are as at the previous poll.  Returns true if the stack should not be read now.
 */
bool pace_settle(struct scan_state *st, uint64_t lo, bool known, bool still);
/* Adapts the pause to whether the walk after it was valid. */
void pace_walked(struct scan_state *st, bool valid);
/*
 * Charges a poll that found a change: its loads, including those of `frames` records, took `took`
 * ticks.
 */
void pace_pay(struct scanner *s, struct scan_state *st, uint64_t took, uint32_t frames);

/* schedstat.c */

void schedstat_end(void);	/* called when no scanner runs */
void schedstat_thread_new(struct scan_state *st);
/* Called when the thread has not changed until count_at. */
void schedstat_still(struct scanner *s, struct scan_state *st, uint64_t lo);
/* Called when the thread has changed, unless session.schedstat_after is 0. */
void schedstat_changed(struct scanner *s, struct scan_state *st, uint64_t lo);

/* share.c */

void share_init(void);
void share_begin(struct scanner *s);
/* Called after each stint: sleeps if the scanner has no core to itself. */
void share_core(struct scanner *s, uint64_t stint_ticks);
void share_end(struct scanner *s);

/* watch.c */

/* The sizes are LDB_MAX_SCANNERS and SESSION_THREADS_MAX; NULL until the first recording. */
extern struct scanner *scanners;
extern struct scan_state *states;

void watch_begin(struct scanner *s);
/* Polls each thread of the stint that is due.  Returns true if it polled any. */
bool watch_round(struct scanner *s);
/* Ends the stint, so that its threads may exit, and chooses the threads of the next one. */
void watch_stint(struct scanner *s);
void watch_release(struct scanner *s);

/* track.c */

/* Replaces the known frames of a block by the result of a walk, see struct walk. */
void track_apply(struct scanner *s, struct scan_state *st, unsigned block,
		 int known, const struct scan_frame *f, uint32_t nr, uint64_t hi);
/*
 * Called by the thread itself at its exit: writes the ends of all known invocations, which are at
 * `hi` at the latest.
 */
void track_flush(struct scan_state *st, uint64_t hi);

static inline bool scan_on_own_stack(const struct scan_state *st, uintptr_t addr)
{
	return addr >= st->t->stack_lo && addr < st->t->stack_hi;
}

/* Notes a value of the thread's own top: the stack from this address on has been in use. */
static inline void scan_top_seen(struct scan_state *st, uintptr_t top)
{
	if (top >= st->t->stack_lo && top < st->lowest_top)
		st->lowest_top = top;
}

/* Returns a time stamp that no later load can pass. */
static inline uint64_t scan_stamp_before(void)
{
	uint64_t t;

	if (likely(session.clock_id != LDB_CLOCK_MONO))
		return cpu_tsc_before();
	t = session_clock();
	cpu_load_fence();
	return t;
}

/* Returns a time stamp that no load can pass. */
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
