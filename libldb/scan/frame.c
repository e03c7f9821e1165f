// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Walks one chain of frame records.  (raw thread)
 *
 * The thread may change the chain during the walk.  The caller finds out, by the seqlock or by a
 * second walk, which of the records were stable.  This file only guarantees that the walk ends and
 * that it loads nothing outside of the thread's own stack and the registered stacks.
 */
#include "scan.h"
#include "safe-load.h"


/* records; more prefetches than the CPU can buffer would be useless */
#define PULL_MAX	24
#define LINE		64

struct region {
	uintptr_t lo, hi;	/* lo: the next record must not be below it */
};

static bool region_has(const struct region *r, uintptr_t addr)
{
	return addr >= r->lo && addr < r->hi;
}

/*
 * Returns true if the record at addr may be read.  r is the region of the record that the walk read
 * before, and is updated.  In the same region the record must be at a higher address, because the
 * main thread's stack is not mapped below the part in use.  The chain may enter the thread's own
 * stack only at an address that is known to have been in use.
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
 * Prefetches the cache lines of the innermost known records.  A walk finds each record through the
 * one before, in a cache line that the program's CPU has modified, so it waits for one transfer
 * after the other.  New records are mostly at the addresses of earlier ones, so prefetching those
 * lines makes the transfers overlap.  A line that has not changed is still in this CPU's cache.
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

static bool is_still_there(const struct scan_state *st, const struct ldb_stack_frame *k)
{
	uint64_t word;

	if (k->addr < st->lowest_top || !scan_on_own_stack(st, k->addr))
		return false;
	word = safe_load(k->addr + offsetof(struct ldb_frame, gen));
	return GEN_LOW(word) == LDB_CANARY && GEN_OF(word) == GEN_OF(k->gen);
}

/*
 * Ends the walk where the chain must not be followed to another stack.
 *
 * A program that switches stacks does not switch the chain.  So the prev of the first record that
 * was linked on a stack points to the record of the function that ran before the switch.  That
 * function may be the caller of the first function on the stack, if it switched to the stack and
 * has not returned.  Or it ended long ago, was left by another switch, or ran in another thread.
 *
 * So the chain is followed from a registered stack to the thread's own stack only if the record
 * there is known to be live, and never to a registered stack.  Where it is not followed, the caller
 * is taken to be the innermost known invocation on the thread's own stack whose record is older and
 * unchanged, which has certainly not returned.
 */
static void join(struct walk *w, const struct scan_state *st, unsigned block, uint64_t below)
{
	const struct ldb_stack_frame *known = st->stack->frame;
	uintptr_t from = w->f[w->nr - 1].addr;
	int k = (int)st->depth - 1;

	if (!scan_on_own_stack(st, from))
		from = 0;
	for (; k >= 0; k--)
		if (GEN_LOW(known[k].gen) == block && GEN_OF(known[k].gen) < below &&
		    known[k].addr > from && is_still_there(st, &known[k]))
			break;
	w->switched = true;
	w->known = k;
	w->end = k >= 0 ? WALK_KNOWN : WALK_BOTTOM;
}

/*
 * Returns true if the record at addr on the thread's own stack, to which the chain of another stack
 * leads, is known to be live.
 */
static bool is_live(const struct scan_state *st, unsigned block, uintptr_t addr, uint64_t gen)
{
	const struct ldb_stack_frame *known = st->stack->frame;

	/*
	 * The function was entered after the state was last known, as were the functions on the
	 * other stack.
	 */
	if (st->fresh || gen > GEN_OF(st->b[block].ok_gen))
		return true;
	for (uint32_t k = 0; k < st->depth; k++)
		if (known[k].addr == addr && known[k].gen == (gen | block))
			return true;
	return false;
}

/*
 * Returns true if the chain may be followed from one stack to another, or within a registered
 * stack, or if the walk must end at this record in any case.  `end` is the result of check() for
 * the record at addr.
 */
static bool may_follow(const struct scan_state *st, unsigned block, uintptr_t addr, uint64_t gen,
		       enum walk_end end, bool was_own, bool crosses)
{
	if (was_own)
		/* the program has not registered the stack, so the walk ends as foreign */
		return end == WALK_FOREIGN;
	if (end != WALK_BOTTOM)
		return false;
	return scan_on_own_stack(st, addr) ? is_live(st, block, addr, gen) : !crosses;
}

/*
 * known[k] is on a registered stack.  Returns true if its caller on the thread's own stack is still
 * the same.
 */
static bool is_still_called(const struct scan_state *st, int k, unsigned block)
{
	const struct ldb_stack_frame *known = st->stack->frame;

	while (--k >= 0)
		if (GEN_LOW(known[k].gen) == block && scan_on_own_stack(st, known[k].addr))
			return is_still_there(st, &known[k]);
	return true;
}

/*
 * Checks whether a record of the chain can be at addr: then returns WALK_BOTTOM, and its generation
 * in *gen; otherwise returns how the walk ends.
 */
static enum walk_end check(const struct scan_state *st, uintptr_t addr, struct region *r,
			   uint64_t below, uint64_t *gen)
{
	uint64_t word;

	if (!may_read(st, addr, r))
		return WALK_FOREIGN;
	word = safe_load(addr + offsetof(struct ldb_frame, gen));
	*gen = GEN_OF(word);
	return GEN_LOW(word) != LDB_CANARY || *gen >= below ? WALK_DISORDER : WALK_BOTTOM;
}

void frame_walk(struct walk *w, const struct scan_state *st, unsigned block,
		uintptr_t top, uint64_t gen)
{
	const struct ldb_stack_frame *known = st->stack->frame;
	/* the next record's generation must be less */
	uint64_t below = GEN_OF(gen) + LDB_GEN_ONE;
	int k = (int)st->depth - 1;
	struct region r = { 0, 0 };
	bool is_own, was_own = true;
	uintptr_t addr = top;

	pull(st, top);
	w->nr = 0;
	w->known = -1;
	w->switched = false;
	for (; addr; w->nr++, was_own = is_own) {
		bool crosses = !region_has(&r, addr);
		struct scan_frame *f;

		is_own = scan_on_own_stack(st, addr);
		w->end = check(st, addr, &r, below, &gen);
		if (unlikely(!is_own || !was_own)) {
			w->switched = true;
			if (w->nr && !may_follow(st, block, addr, gen, w->end, was_own, crosses)) {
				join(w, st, block, below);
				return;
			}
		}
		if (w->end != WALK_BOTTOM)
			return;
		below = gen;
		while (k >= 0 && (GEN_LOW(known[k].gen) != block ||
				  GEN_OF(known[k].gen) > below))
			k--;
		if (k >= 0 && GEN_OF(known[k].gen) == below && known[k].addr == addr &&
		    (likely(is_own) || is_still_called(st, k, block))) {
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
