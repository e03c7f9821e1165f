// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Walks one chain of frame records.  (raw thread)
 *
 * Nothing read here is believed: the caller decides by the seqlock, or by a
 * second walk, what was stable.  This file only guarantees that it ends and
 * that it loads nothing outside the thread's stacks.
 */
#include "scan.h"
#include "safe-load.h"

#define GEN_OF(word)	((word) & ~(LDB_GEN_ONE - 1))

#define PULL_MAX	24	/* records; there are few more buffers for lines under way */
#define LINE		64

struct region {
	uintptr_t lo, hi;	/* lo: nothing below it is known to be mapped */
};

static bool region_has(const struct region *r, uintptr_t addr)
{
	return addr >= r->lo && addr < r->hi;
}

/*
 * Whether the record at addr may be read, r being where the one before it lay.
 * Inside a region a record lies above the one before it: the main thread's
 * stack is not mapped below what has been used.  A chain enters that stack from
 * another one only where it has been seen in use.
 */
static bool may_read(const struct scan_state *st, uintptr_t addr, struct region *r)
{
	if (addr % 8)
		return false;
	if (!region_has(r, addr)) {
		r->lo = st->lowest_top > st->t->stack_lo ? st->lowest_top : st->t->stack_lo;
		r->hi = st->t->stack_hi;
		if (!region_has(r, addr) && !stack_foreign(addr, &r->lo, &r->hi))
			return false;
	}
	if (r->hi - addr < sizeof(struct ldb_frame))
		return false;
	r->lo = addr + sizeof(struct ldb_frame);
	return true;
}

/*
 * Each record is found through the one before it, and each is in a line that the
 * program has written: one transfer after the other.  The new ones mostly lie
 * where the former ones were, so all of those are asked for at once.  A line that
 * has not changed is near and costs nobody anything.
 */
static void pull(const struct scan_state *st, uintptr_t top)
{
	const struct ldb_stack_frame *known = st->stack->frame;
	uint32_t k = st->depth, to = k > PULL_MAX ? k - PULL_MAX : 0;

	while (k-- > to) {
		if (known[k].addr < top)
			continue;
		cpu_prefetch(known[k].addr);
		if (known[k].addr % LINE > LINE - sizeof(struct ldb_frame))
			cpu_prefetch(known[k].addr + sizeof(struct ldb_frame) - 1);
	}
}

void frame_walk(struct walk *w, const struct scan_state *st, unsigned block,
		uintptr_t top, uint64_t gen)
{
	const struct ldb_stack_frame *known = st->stack->frame;
	uint64_t below = GEN_OF(gen) + LDB_GEN_ONE;	/* must be less than this */
	int k = (int)st->depth - 1;
	struct region r = { 0, 0 };
	uintptr_t addr = top;

	pull(st, top);
	w->nr = 0;
	w->known = -1;
	for (; addr; w->nr++) {
		struct scan_frame *f;
		uint64_t word;

		w->end = WALK_FOREIGN;
		if (!may_read(st, addr, &r))
			return;
		word = safe_load(addr + offsetof(struct ldb_frame, gen));
		w->end = WALK_DISORDER;
		if ((word & (LDB_GEN_ONE - 1)) != LDB_CANARY || GEN_OF(word) >= below)
			return;
		below = GEN_OF(word);
		while (k >= 0 && ((known[k].gen & (LDB_GEN_ONE - 1)) != block ||
				  GEN_OF(known[k].gen) > below))
			k--;
		if (k >= 0 && GEN_OF(known[k].gen) == below && known[k].addr == addr) {
			w->end = WALK_KNOWN;
			w->known = k;
			return;
		}
		w->end = WALK_DEEP;
		if (w->nr == SCAN_DEPTH_MAX)
			return;
		f = &w->f[w->nr];
		f->addr = addr;
		f->gen = below | block;
		f->prev = safe_load(addr + offsetof(struct ldb_frame, prev));
		f->pc = safe_load(addr + offsetof(struct ldb_frame, pc));
		f->ret = safe_load(addr + offsetof(struct ldb_frame, ret));
		addr = f->prev;
	}
	w->end = WALK_BOTTOM;
}
