// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Polls one thread once.  (raw thread)
 *
 * A poll reads (gen, top) of each of the thread's blocks, and the records only if these have
 * changed.  The pair works like the counter of a seqlock:
 *
 *	thread	gen, record, top		(plain stores, in this order)
 *	scanner	gen, top, records, top, gen
 *
 * To find out that nothing changed, top is read before gen: in the other order, a return and a
 * call with its record at the same address could happen between the two loads and be missed.
 *
 * If the thread changed its stack during a walk, the walk is repeated.  A record that both walks
 * found in the same place with the same contents was there during the time between them, because no
 * two invocations have the same generation.  So the older part of a busy stack is known even if no
 * walk succeeds.  A frame that neither walk found has ended.  A frame that only one of them found
 * may not have ended: if a function returns while its record is read, the record may appear to be
 * the outermost one.
 *
 * A poll that finds a change and does not read the stack (pace_settle) is useful, too: an
 * invocation with a later generation than the poll's began after the poll; one with an earlier
 * generation began before; and one whose record is below the poll's top has ended.  Such a poll is
 * retained as a mark.
 */
#include "scan.h"
#include "safe-load.h"

static struct ldb_thread *block_of(const struct scan_state *st, unsigned b)
{
	return (struct ldb_thread *)(st->t->tp + block_off[b]);
}

/*
 * Notes that the thread's state was known at time lo.  If polls have failed since it was last
 * known, and that was long ago, reports an observation gap.
 */
static void look_ok(struct scanner *s, struct scan_state *st, uint64_t lo)
{
	if (unlikely(st->failed)) {
		st->failed = false;
		if (pace_is_gap(lo - st->last_ok)) {
			pace_gap(s, st->t->tid, st->last_ok, lo);
			st->page->gap_tsc += lo - st->last_ok;
		}
	}
	st->last_ok = lo;
	st->page->last_look_tsc = lo;
}

static void walk_failed(struct scan_state *st, struct scan_block *sb, enum walk_end end)
{
	st->failed = true;
	sb->bad = true;
	switch (end) {
	case WALK_FOREIGN:
		st->page->foreign++;
		break;
	case WALK_DEEP:
		st->page->too_deep++;
		break;
	default:
		st->page->disorder++;
	}
}

static bool same_frame(const struct scan_frame *a, const struct scan_frame *b)
{
	return a->addr == b->addr && a->gen == b->gen && a->prev == b->prev &&
	       a->pc == b->pc && a->ret == b->ret;
}

/*
 * Returns true if the blocks that were read before this one are unchanged.  If they are not, one of
 * their functions may have returned, and a function that was called after that would be mistaken
 * for its callee.
 */
static bool others_are_still(const struct scan_state *st, unsigned block)
{
	for (unsigned b = 0; b < block; b++)
		if (st->b[b].gen && !safe_load_is_still(block_of(st, b), st->b[b].gen, st->b[b].top))
			return false;
	return true;
}

/*
 * Walks a second time, because the thread is changing its stack, and applies what both walks agree
 * on.  Returns false if nothing can be used.
 */
static bool walk_again(struct scanner *s, struct scan_state *st, unsigned b, uint64_t *end)
{
	const struct walk *x = &s->walk[0];
	struct walk *y = &s->walk[1];
	const struct ldb_thread *blk = block_of(st, b);
	uint64_t gen = safe_load_gen(blk);
	uintptr_t top = safe_load_top_after(blk);
	uint32_t n = 0;

	scan_top_seen(st, top);
	frame_walk(y, st, b, top, gen);
	*end = scan_stamp();
	if (x->end > WALK_BOTTOM || y->end > WALK_BOTTOM || y->known > x->known || !others_are_still(st, b))
		return false;
	if (x->known == y->known)
		while (n < x->nr && n < y->nr &&
		       same_frame(&x->f[x->nr - 1 - n], &y->f[y->nr - 1 - n]))
			n++;
	st->switches |= y->switched;
	track_apply(s, st, b, x->known, &y->f[y->nr - n], n, *end);
	return true;
}

/*
 * Walks a block's chain.  Returns how many records were read, and adds the time of reading them,
 * without processing, to *took; clears *ok if the thread's state is not known now.
 */
static uint32_t walk_block(struct scanner *s, struct scan_state *st, unsigned b,
			   const struct scan_mark *seen, uint64_t *took, bool *ok)
{
	struct scan_block *sb = &st->b[b];
	struct walk *w = &s->walk[0];
	uint64_t end;

	frame_walk(w, st, b, seen->top, seen->gen);
	sb->bad = false;
	s->stats->frames += w->nr;
	if (likely(safe_load_is_still(block_of(st, b), seen->gen, seen->top) &&
		   others_are_still(st, b))) {
		*took += scan_stamp() - seen->hi;
		sb->gen = seen->gen;
		sb->top = seen->top;
		pace_walked(st, true);
		if (unlikely(w->end > WALK_BOTTOM)) {
			walk_failed(st, sb, w->end);
			*ok = false;
			return w->nr + 1;
		}
		st->switches |= w->switched;
		track_apply(s, st, b, w->known, w->f, w->nr, seen->hi);
		sb->mark.gen = 0;
		sb->ok_gen = seen->gen;
		st->page->scans++;
		s->stats->scans++;
		/* 1 more: the known record at which the walk ended */
		return w->nr + 1;
	}
	st->page->invalid++;
	s->stats->invalid++;
	sb->gen = 0;
	pace_walked(st, false);
	if (!sb->mark.gen || sb->mark.lo < st->last_ok)
		sb->mark = *seen;
	if (walk_again(s, st, b, &end)) {
		sb->ok_gen = seen->gen;
	} else {
		st->failed = true;
		*ok = false;
	}
	*took += end - seen->hi;
	sb->mark = *seen;
	return w->nr + s->walk[1].nr + 2;
}

/* Returns true if the thread's state was known until it changed. */
static bool was_known(const struct scan_state *st)
{
	for (unsigned b = 0; b < st->nr_blocks; b++)
		if (!st->b[b].gen)
			return false;
	return true;
}

/* Returns true if the blocks whose state is not known are unchanged since their marks. */
static bool holds_still(const struct scan_state *st)
{
	for (unsigned b = 0; b < st->nr_blocks; b++) {
		const struct scan_block *sb = &st->b[b];

		if (!sb->gen && (!sb->mark.gen ||
				 !safe_load_is_still(block_of(st, b), sb->mark.gen, sb->mark.top)))
			return false;
	}
	return true;
}

/*
 * Polls a thread of which a block has changed.  All blocks are read again from the first one,
 * because several may have changed.
 */
static void look_changed(struct scanner *s, struct scan_state *st, uint64_t lo)
{
	bool known = was_known(st), settle = pace_settle(st, lo, known, !known && holds_still(st));
	bool ok = true;
	uint64_t walks = s->walks, took = 0;
	uint32_t frames = 0;

	st->look_from = lo;
	if (!settle)
		order_walk_begin(&s->walks, walks + 1);
	for (unsigned b = 0; b < st->nr_blocks; b++) {
		const struct ldb_thread *blk = block_of(st, b);
		struct scan_block *sb = &st->b[b];
		struct scan_mark seen = { .lo = lo };

		seen.top = safe_load_top(blk);
		seen.gen = safe_load_gen_after(blk);
		if (seen.gen == sb->gen && seen.top == sb->top) {
			ok &= !sb->bad;
			continue;
		}
		seen.top = safe_load_top_after(blk);
		scan_top_seen(st, seen.top);
		seen.hi = scan_stamp();
		took += seen.hi - lo;
		sb->calls_to = seen.gen;
		if (!settle)
			frames += walk_block(s, st, b, &seen, &took, &ok);
		else if (!known || !sb->mark.gen || sb->mark.lo < st->last_ok)
			sb->mark = seen;
	}
	if (!settle)
		order_walk_end(&s->walks, walks + 2);
	if (settle) {
		s->stats->moving++;
	} else if (ok) {
		look_ok(s, st, lo);
		st->fresh = false;
	} else {
		st->failed = true;
	}
	s->stats->changes++;
	st->page->looks_changed++;
	look_count_calls(st);
	/* no thread was polled during the walk; this is an observation gap if it took long */
	pace_stamp(s, scan_stamp());
	pace_pay(s, st, took, frames);
	st->changed = s->stamp;
	if (unlikely(session.schedstat_after))
		schedstat_changed(s, st, lo);
}

void look(struct scanner *s, struct scan_state *st, uint64_t lo)
{
	uint32_t nr = order_list_count(&nr_blocks);
	bool ok = true;

	s->stats->looks++;
	if (unlikely(nr != st->nr_blocks))
		look_blocks_new(st, nr);
	for (unsigned b = 0; b < nr; b++) {
		const struct ldb_thread *blk = block_of(st, b);
		const struct scan_block *sb = &st->b[b];
		uintptr_t top = safe_load_top(blk);
		uint64_t gen = safe_load_gen_after(blk);

		if (unlikely(gen != sb->gen || top != sb->top)) {
			look_changed(s, st, lo);
			st->looked = lo;
			return;
		}
		ok &= !sb->bad;
	}
	st->settling = false;
	st->looked = lo;
	if (unlikely(lo >= st->count_at))
		schedstat_still(s, st, lo);
	if (likely(ok)) {
		look_ok(s, st, lo);
		st->fresh = false;
	} else {
		st->failed = true;
	}
}

void look_blocks_new(struct scan_state *st, uint32_t n)
{
	for (; st->nr_blocks < n; st->nr_blocks++) {
		struct scan_block *sb = &st->b[st->nr_blocks];

		sb->gen = 0;
		sb->top = 0;
		sb->bad = false;
		sb->mark.gen = 0;
		sb->ok_gen = 0;
		sb->known_gen = 0;
		sb->calls_from = safe_load_gen(block_of(st, st->nr_blocks));
		sb->calls_to = sb->calls_from;
	}
}

void look_count_calls(struct scan_state *st)
{
	uint64_t made = 0;

	for (unsigned b = 0; b < st->nr_blocks; b++)
		made += (st->b[b].calls_to - st->b[b].calls_from) >> LDB_GEN_SHIFT;
	st->page->made = made;
}

void scan_count_calls(struct thread *t)
{
	struct scan_state *st = t->scan;

	for (unsigned b = 0; st && b < st->nr_blocks; b++)
		st->b[b].calls_to = safe_load((uintptr_t)&block_of(st, b)->gen);
	if (st)
		look_count_calls(st);
}
