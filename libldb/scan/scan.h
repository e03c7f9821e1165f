/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declares the scanner's own structures.  The data flow is this: scanner.c begins and ends its
 * threads; watch.c decides which threads to poll, pace.c when, share.c whether there is a core
 * to do it on; look.c polls, and has frame.c walk a chain of records that changed; track.c
 * compares it with what was known, and writes an event for each invocation that has ended.
 * schedstat.c asks the kernel about threads that do not change.
 */
#ifndef LDB_SCAN_H
#define LDB_SCAN_H

#include "runtime/runtime.h"

#pragma GCC visibility push(hidden)

#define SCAN_DEPTH_MAX	LDB_STACK_MAX

/*
 * A generation word contains the count, and below it a record's canary or, for a known frame,
 * the number of its block.
 */
#define GEN_OF(word)	((word) & ~(LDB_GEN_ONE - 1))
#define GEN_LOW(word)	((word) & (LDB_GEN_ONE - 1))

/* This is a record as it was read; it may be torn until two reads agree. */
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
	bool switched;		/* there were records on a registered stack */
	struct scan_frame f[SCAN_DEPTH_MAX];
};

/* This is a poll of a block that had changed: between lo and hi it was in this state. */
struct scan_mark {
	uint64_t gen;		/* 0: there was none */
	uintptr_t top;
	uint64_t lo, hi;
};

struct scan_block {
	uint64_t gen;		/* as last observed; 0: it counts as changed */
	uintptr_t top;
	struct scan_mark mark;	/* since the state was last known */
	uint64_t calls_from;	/* generation when the recording began */
	uint64_t calls_to;	/* ... at the last poll */
	uint64_t ok_gen;	/* ... when the state was last known; 0: never */
	uint64_t known_gen;	/* of the youngest record that was ever known */
	bool bad;		/* the chain could not be read in this state */
};

/* This is what one scanner knows of one thread.  The fields that each poll needs are in front. */
struct scan_state {
	struct thread *t;
	struct ldb_page *page;
	uint64_t next_poll;	/* not before */
	uint64_t last_ok;	/* the state was known at this time */
	uint64_t looked;	/* the poll before */
	uint64_t look_from;	/* the present one, which found a change */
	uint64_t count_at;	/* the kernel is asked if it has not changed until then */
	uint32_t nr_blocks;
	_Atomic uint32_t scanner;	/* whose it is; that scanner may give it away */
	int32_t place;		/* index in that scanner's active[]; -1: not there */
	uint32_t asleep_seq;	/* page->k_seq while it slept and was polled; 0: it did not */
	int32_t reg_blocks;	/* blocks when it was registered with the module; -1: it is not */
	bool existing;		/* ran before the recording began */
	bool fresh;		/* not polled yet */
	bool failed;		/* a poll failed since last_ok */
	bool settling;		/* found moving; next_poll is when to read its stack */
	bool in_step;		/* ... and that was observed from the start */
	bool switches;		/* was observed on a registered stack */
	uint8_t tries;		/* polls that found it moving and unknown */
	uint32_t settle;	/* for how long a change is left alone, in steps */
	int32_t trust;		/* how well that serves */
	uint32_t trusted;	/* valid walks since it served best */
	uint32_t depth;
	struct ldb_stack *stack;
	uintptr_t lowest_top;	/* deepest address known to be in use on its own stack */
	uint64_t owed;		/* cost of polls that found it moving */
	uint64_t changed;	/* when it was last found changed */
	uint64_t ran;		/* ... and the poll before, after which it has run; 0: there was none */
	bool is_counted;	/* its counters were read since */
	uint8_t state;		/* enum ldb_sched_state, as read when it had left a CPU this many times: */
	uint32_t known_left;
	struct scan_block b[LDB_BLOCKS_MAX];
};

#define STINT_MAX	8	/* threads polled between two updates of the hazards */

struct scanner {
	struct raw_thread thread;
	unsigned id;
	bool resumes;			/* it ran before, in this session */
	_Atomic uint32_t stop;
	/*
	 * Hazards: these threads' memory may be read now.  A thread that exits waits until it is
	 * not among them.
	 */
	struct thread *_Atomic looking[STINT_MAX];
	_Atomic uint64_t walks;		/* odd: reads a stack now */
	_Atomic uint32_t nr_busy;	/* threads that change, for the other scanners */

	struct scan_state *stint[STINT_MAX];	/* those it polls until the next stint */
	unsigned nr_stint, stint_rounds;
	uint32_t next_active;		/* where the next stint begins */
	uint32_t next_live;		/* where the sweep continues */
	uint32_t nr_known;		/* live threads when new ones were last searched for */
	struct thread *active[SESSION_THREADS_MAX];
	uint32_t nr_active;
	uint64_t round_begin;
	bool behind;			/* the last round was too long for all */
	uint32_t nr_tagged;		/* threads in a request, in this round */
	uint64_t balance_at;

	uint64_t stamp;			/* end of the poll before */
	bool sharing;			/* no core to itself: sleeps between rounds */
	bool was_away;			/* lost its CPU since it last got one */
	uint64_t check_at, retry_at;	/* for a core */
	int loadavg_fd;
	uint64_t nr_turns, cpu_ns, turn_ns;	/* share.c: what a turn costs */
	struct ldb_scan_stats *stats;
	struct walk walk[2];
};

/* frame.c */

/* Walks from top to the first known record.  gen is the thread's, read before top. */
void frame_walk(struct walk *w, const struct scan_state *st, unsigned block,
		uintptr_t top, uint64_t gen);

/* look.c */

/* lo is a stamp before it.  The caller holds the hazard. */
void look(struct scanner *s, struct scan_state *st, uint64_t lo);
/* Adds blocks that were registered since; there are n of them now. */
void look_blocks_new(struct scan_state *st, uint32_t n);
void look_count_calls(struct scan_state *st);

/* pace.c */

void pace_init(void);
/* Between two stamps no thread was polled: an observation gap if that was long. */
void pace_stamp(struct scanner *s, uint64_t now);
void pace_gap(struct scanner *s, uint32_t tid, uint64_t begin, uint64_t end);
bool pace_is_gap(uint64_t ticks);
/*
 * The thread was found changed at lo.  known: until now its state was known.  still: it is the
 * same as at the last poll.  Returns true if the stack should not be read now.
 */
bool pace_settle(struct scan_state *st, uint64_t lo, bool known, bool still);
/* Learns from a walk whether the pause before it was long enough. */
void pace_walked(struct scan_state *st, bool valid);
/* A poll found a change: its loads, among them those of nr records, took this long. */
void pace_pay(struct scanner *s, struct scan_state *st, uint64_t took, uint32_t frames);

/* schedstat.c */

void schedstat_end(void);	/* no scanner runs */
void schedstat_thread_new(struct scan_state *st);
/* The thread has not changed until count_at; or it has, if session.schedstat_after is not 0. */
void schedstat_still(struct scanner *s, struct scan_state *st, uint64_t lo);
void schedstat_changed(struct scanner *s, struct scan_state *st, uint64_t lo);

/* share.c */

void share_init(void);
void share_begin(struct scanner *s);
/* This is called after each stint: it sleeps if the scanner shares its core. */
void share_core(struct scanner *s, uint64_t stint_ticks);
void share_end(struct scanner *s);

/* watch.c */

/* The sizes are LDB_MAX_SCANNERS and SESSION_THREADS_MAX; NULL until the first recording. */
extern struct scanner *scanners;
extern struct scan_state *states;

void watch_begin(struct scanner *s);
/* Polls each thread of the stint that is due.  Returns whether any was. */
bool watch_round(struct scanner *s);
/* Ends the stint, whose threads may exit then, and chooses those of the next one. */
void watch_stint(struct scanner *s);
void watch_release(struct scanner *s);

/* track.c */

/* Replaces what is known of a block by what was walked, see struct walk. */
void track_apply(struct scanner *s, struct scan_state *st, unsigned block,
		 int known, const struct scan_frame *f, uint32_t nr, uint64_t hi);
/* The thread itself calls this at its exit: it ends every known invocation, at the latest at hi. */
void track_flush(struct scan_state *st, uint64_t hi);

static inline bool scan_on_own_stack(const struct scan_state *st, uintptr_t addr)
{
	return addr >= st->t->stack_lo && addr < st->t->stack_hi;
}

/* This is a value of a thread's own top: its page has been used. */
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
