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

static bool in_stack(const struct scan_state *st, uintptr_t addr)
{
	uintptr_t lo, hi;

	if (addr % 8)
		return false;
	if (addr >= st->t->stack_lo && addr + sizeof(struct ldb_frame) <= st->t->stack_hi)
		return true;
	return stack_foreign(addr, &lo, &hi) && addr + sizeof(struct ldb_frame) <= hi;
}

void frame_walk(struct walk *w, const struct scan_state *st, unsigned block,
		uintptr_t top, uint64_t gen)
{
	const struct ldb_stack_frame *known = st->stack->frame;
	uint64_t below = GEN_OF(gen) + LDB_GEN_ONE;	/* must be less than this */
	int k = (int)st->depth - 1;
	uintptr_t addr = top;

	w->nr = 0;
	w->known = -1;
	for (; addr; w->nr++) {
		struct scan_frame *f;
		uint64_t word;

		w->end = WALK_FOREIGN;
		if (!in_stack(st, addr))
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
