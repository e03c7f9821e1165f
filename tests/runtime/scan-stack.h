/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulates a thread in memory, for scan-stack.c and scan-switch.c: calls and returns are written
 * as compiled code would write them, and the scanner's calls of the rest of the runtime are
 * recorded.  The clock advances by ten ticks with each stamp, and calls a function of the test,
 * which may change the thread's memory in the middle of a poll.
 */
#ifndef RUNTIME_SCAN_STACK_H
#define RUNTIME_SCAN_STACK_H

#include "scan/scan.h"
#include "tap.h"

#define NR_FRAMES	64
#define NR_BLOCKS	2
#define TID		7
#define GAP		500	/* ticks */

struct session session;
union session_page session_page;
_Atomic uint32_t nr_blocks;
intptr_t block_off[LDB_BLOCKS_MAX];

static struct ldb_thread blocks[NR_BLOCKS];
/* `own` is the thread's stack, which is used from its end; `other` may be registered. */
static struct ldb_frame own[NR_FRAMES], other[NR_FRAMES];
static bool is_registered;
static struct ldb_stack stack;
static struct ldb_page page;
static struct ldb_scan_stats stats;
static struct scanner scanner;
static struct thread thread;
static struct scan_state st;

static uint64_t now;
static unsigned nr_stamps;
static void (*on_stamp)(unsigned nr);
static struct ldb_rec written[64][3];
/* contents of the page and the stack when a record is written */
static struct at_write {
	uint64_t seen, ending_gen, ending_seen;
	uint32_t depth;
} at_write[64];
static unsigned nr_written, nr_own_ring;
static bool settle, was_known, was_still, was_valid;
static unsigned nr_walked, nr_gaps;
static uint64_t gap_begin, gap_end, paid_took;
static uint32_t paid_frames;

uint64_t session_clock(void)
{
	now += 10;
	nr_stamps++;
	if (on_stamp)
		on_stamp(nr_stamps);
	return now;
}

static void keep(const struct ldb_rec *slots, unsigned nr)
{
	if (nr != 3 || nr_written == 64)
		bail_out("a record of another kind, or too many");
	at_write[nr_written] = (struct at_write){ page.seen, page.ending_gen, page.ending_seen, stack.depth };
	memcpy(written[nr_written++], slots, 3 * sizeof(*slots));
}

void ring_write_scan(unsigned id, struct ldb_rec *slots, unsigned nr)
{
	(void)id;
	keep(slots, nr);
}

void ring_write(struct ldb_rec *slots, unsigned nr)
{
	nr_own_ring++;
	keep(slots, nr);
}

bool stack_foreign(uintptr_t addr, uintptr_t *lo, uintptr_t *hi)
{
	*lo = (uintptr_t)other;
	*hi = (uintptr_t)(other + NR_FRAMES);
	return is_registered && addr >= *lo && addr < *hi;
}

bool pace_is_gap(uint64_t ticks)
{
	return ticks > GAP;
}

void pace_gap(struct scanner *s, uint32_t tid, uint64_t begin, uint64_t end)
{
	(void)s;
	nr_gaps += tid == TID;
	gap_begin = begin;
	gap_end = end;
}

void pace_stamp(struct scanner *s, uint64_t stamp)
{
	s->stamp = stamp;
}

bool pace_settle(struct scan_state *state, uint64_t lo, bool known, bool still)
{
	(void)state;
	(void)lo;
	was_known = known;
	was_still = still;
	return settle;
}

void pace_walked(struct scan_state *state, bool valid)
{
	(void)state;
	nr_walked++;
	was_valid = valid;
}

void pace_pay(struct scanner *s, struct scan_state *state, uint64_t took, uint32_t frames)
{
	(void)s;
	(void)state;
	paid_took = took;
	paid_frames = frames;
}

/* The recorder does not want the kernel's counters. */
void schedstat_changed(struct scanner *s, struct scan_state *state, uint64_t lo)
{
	(void)s, (void)state, (void)lo;
}

void schedstat_still(struct scanner *s, struct scan_state *state, uint64_t lo)
{
	(void)s, (void)state, (void)lo;
}

/* The program */

static uint64_t gen_word(uint64_t gen)
{
	return gen << LDB_GEN_SHIFT | LDB_CANARY;
}

static void enter(unsigned block, struct ldb_frame *f)
{
	struct ldb_thread *b = &blocks[block];

	b->gen += LDB_GEN_ONE;
	*f = (struct ldb_frame){
		.prev = b->top, .gen = b->gen, .pc = (void *)(0x1000 + (b->gen >> LDB_GEN_SHIFT)),
		.ret = (void *)(0x2000 + (b->gen >> LDB_GEN_SHIFT)),
	};
	b->top = f;
}

static void leave(unsigned block)
{
	blocks[block].top = blocks[block].top->prev;
}

/* Returns the frame at a depth: deeper ones are at lower addresses. */
static struct ldb_frame *at(unsigned depth)
{
	return &own[NR_FRAMES - 1 - depth];
}

/* Makes a thread with `depth` frames, which was not polled yet. */
static void begin(unsigned depth, bool existing)
{
	memset(blocks, 0, sizeof(blocks));
	memset(own, 0, sizeof(own));
	memset(other, 0, sizeof(other));
	memset(&page, 0, sizeof(page));
	memset(&stats, 0, sizeof(stats));
	memset(&st, 0, sizeof(st));
	memset(&stack, 0, sizeof(stack));
	session.clock_id = LDB_CLOCK_MONO;
	session_page.a.func_threshold = 0;
	now = 100000;
	nr_stamps = nr_written = nr_own_ring = nr_gaps = nr_walked = 0;
	on_stamp = NULL;
	settle = is_registered = false;
	for (unsigned b = 0; b < NR_BLOCKS; b++) {
		block_off[b] = (intptr_t)&blocks[b];
		blocks[b].gen = gen_word(0);
	}
	for (unsigned i = 0; i < depth; i++)
		enter(0, at(i));
	atomic_store(&nr_blocks, 1);
	thread = (struct thread){
		.tid = TID, .stack_lo = (uintptr_t)own, .stack_hi = (uintptr_t)(own + NR_FRAMES),
		.scan = &st,
	};
	scanner = (struct scanner){ .stats = &stats, .stamp = now };
	st = (struct scan_state){
		.t = &thread, .page = &page, .stack = &stack, .last_ok = 90000, .fresh = true,
		.existing = existing, .lowest_top = thread.stack_hi,
	};
	look_blocks_new(&st, 1);
}

static uint64_t looked_at;

static void look_now(void)
{
	now += 100;
	looked_at = now;
	look(&scanner, &st, now);
}

static const struct ldb_func_rec *record(unsigned n)
{
	return (const struct ldb_func_rec *)written[n];
}

#endif
