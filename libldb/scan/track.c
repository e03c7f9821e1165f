// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Keeps track of a thread's stack, and writes the event for each invocation that has ended.
 * (raw thread; track_flush() runs in the thread itself)
 *
 * Bounds: an invocation that only the later one of two polls found began between them; an
 * invocation that only the earlier one found ended between them.  The time stamps before and after
 * a poll are ordered with its loads, so both bounds are exact to the cycle.  A poll that found a
 * change, but did not read the stack or could not, leaves a mark in the state of the block (struct
 * scan_mark), which makes the bounds tighter.
 */
#include "scan.h"

static uint32_t uncertainty(uint64_t max, uint64_t min)
{
	uint64_t d = max - min;

	return d < 0xffffffff ? d : 0xffffffff;
}

/* Returns the block's mark, if it was made since the state was last known. */
static const struct scan_mark *mark_of(const struct scan_state *st, unsigned block)
{
	const struct scan_mark *m = &st->b[block].mark;

	return m->gen && m->lo >= st->last_ok ? m : NULL;
}

/*
 * Returns the index, from `from` on, of the outermost known invocation of the block that had
 * certainly ended at the mark.  On the thread's own stack, a record below the mark's top had been
 * unlinked.  Records on other stacks have no such order, but functions that were called from an
 * ended invocation had ended, too.
 */
static uint32_t marked_from(const struct scan_state *st, unsigned block, const struct scan_mark *m,
			    uint32_t from)
{
	const struct ldb_stack_frame *k = st->stack->frame;

	if (m && !m->top)
		return from;
	if (!m || !scan_on_own_stack(st, m->top))
		return st->depth;
	while (from < st->depth && (GEN_LOW(k[from].gen) != block || k[from].addr >= m->top ||
				    !scan_on_own_stack(st, k[from].addr)))
		from++;
	return from;
}

/*
 * Makes the event of an invocation; returns false if the invocation was certainly shorter than the
 * threshold, so that it is only counted.
 */
static bool func_event(struct ldb_rec r[3], const struct scan_state *st, uint32_t i, uint64_t hi)
{
	const struct ldb_stack_frame *k = &st->stack->frame[i];
	bool from_start = k->flags & LDB_FUNC_F_FROM_START;
	/* The end is after the start, which a mark may place after the last known state. */
	uint64_t alive = k->start_min > st->last_ok ? k->start_min : st->last_ok;

	if (hi - k->start_min < session_page.a.func_threshold && !from_start)
		return false;
	r[0].tsc = hi;
	r[0].tid = st->t->tid;
	r[0].type = LDB_EV_FUNC;
	r[0].flags = k->flags;
	r[0].arg = k->pc;
	r[0].arg2 = uncertainty(hi, alive);
	r[1].tsc = k->start_max;
	r[1].tid = from_start ? 0xffffffff : uncertainty(k->start_max, k->start_min);
	r[1].type = LDB_EV_CONT + 1;
	r[1].flags = i;
	r[1].arg = k->gen;
	r[1].arg2 = 0;
	r[2].tsc = k->ret;
	r[2].tid = 0;
	r[2].type = LDB_EV_CONT + 2;
	r[2].flags = 0;
	r[2].arg = i ? k[-1].gen : 0;
	r[2].arg2 = 0;
	return true;
}

/*
 * Writes the event of an invocation that has ended, unless it is left out, and counts it.  The
 * program may be killed at any instruction here, most likely in the page fault of a ring's next
 * page: the recorder finds out from ending_gen and ending_seen which of these steps were done
 * (tools/record/rows/threads.c).
 */
static void end_invocation(struct scanner *s, struct scan_state *st, uint32_t i, uint64_t hi)
{
	const struct ldb_stack_frame *f = &st->stack->frame[i];
	struct ldb_page *p = st->page;
	/* Invocations from before the recording are not in the count of calls. */
	uint64_t seen = p->seen + !(f->flags & LDB_FUNC_F_FROM_START);
	struct ldb_rec r[3];

	order_ending_gen(p, f->gen);
	if (unlikely(session_page.a.is_in_requests_only) && !f->in_request &&
	    !order_any_load(&st->t->in_request)) {
		p->outside_requests++;
		return;
	}
	if (!func_event(r, st, i, hi)) {
		p->below_threshold++;
		return;
	}
	order_ending_seen(p, seen);
	if (s)
		ring_write_scan(s->id, r, 3);
	else
		ring_write(r, 3);
	order_ending_counted(p, seen);
}

/* Forgets the known invocations from this depth on. */
static void cut(struct scan_state *st, uint32_t depth)
{
	st->depth = depth;
	order_stack_depth_set(st->stack, depth);
	order_ending_gen(st->page, 0);
}

/*
 * Returns true if invocation k has ended, where k is newer than the last record of the block that
 * is still linked.  So k has ended if it is of this block.  If an invocation on the thread's own
 * stack has ended, its callees have ended, too, also those of other blocks (`callees` is true
 * then).  Their ends are written first, while the caller is still known.
 */
static bool has_ended(const struct scan_state *st, unsigned block, bool callees,
		      const struct ldb_stack_frame *k)
{
	return GEN_LOW(k->gen) == block ||
	       (callees && k->start_max <= st->last_ok && scan_on_own_stack(st, k->addr));
}

/* Ends the known invocations of a block that are newer than index `known`. */
static void drop_newer(struct scanner *s, struct scan_state *st, unsigned block,
		       int known, uint64_t hi)
{
	struct ldb_stack_frame *f = st->stack->frame;
	const struct scan_mark *m = mark_of(st, block);
	uint32_t from = known + 1, to, marked, i;
	bool callees;

	while (from < st->depth && GEN_LOW(f[from].gen) != block)
		from++;
	marked = marked_from(st, block, m, from);
	/* with coroutines, records of one block may reappear without those of the other blocks */
	callees = from < st->depth && !st->switches && scan_on_own_stack(st, f[from].addr);
	for (i = st->depth; i-- > from;)
		if (has_ended(st, block, callees, &f[i]))
			end_invocation(s, st, i, i >= marked ? m->hi : hi);
	/* remove the ended frames; with one block there is nothing to move */
	for (i = to = from; i < st->depth; i++)
		if (!has_ended(st, block, callees, &f[i]))
			f[to++] = f[i];
	cut(st, to);
}

/*
 * Returns the index at which to insert a record.  Frames of other blocks at lower addresses of
 * the stack are its callees, and come after it.
 */
static uint32_t insert_at(const struct scan_state *st, const struct scan_frame *f)
{
	const struct ldb_stack_frame *k = st->stack->frame;
	unsigned block = GEN_LOW(f->gen);
	uint32_t i = st->depth;

	while (i > 0 && GEN_LOW(k[i - 1].gen) != block &&
	       k[i - 1].addr < f->addr)
		i--;
	return i;
}

/*
 * Narrows the interval from start_min to start_max, in which a record was linked, by the block's
 * mark.
 */
static void narrow_start(const struct scan_state *st, const struct scan_frame *f,
			 struct ldb_stack_frame *k)
{
	const struct scan_mark *m = mark_of(st, GEN_LOW(f->gen));
	uint64_t gen = GEN_OF(f->gen), marked;

	if (!m)
		return;
	marked = GEN_OF(m->gen);
	if (gen > marked)
		k->start_min = m->lo;
	else if (gen < marked || f->addr == m->top)
		/*
		 * a record with the mark's generation, but not its top, may have been linked later
		 */
		k->start_max = m->hi;
}

/*
 * Returns true if this record existed when the state was last known, without being linked.  Then a
 * switch of stacks had left its function, and another switch has resumed it.  (A record whose
 * generation equals ok_gen may be a new one that had not been linked yet.)
 */
static bool was_left(const struct scan_state *st, const struct scan_frame *f)
{
	const struct scan_block *sb = &st->b[GEN_LOW(f->gen)];

	return unlikely(st->switches) &&
	       (f->gen < GEN_OF(sb->ok_gen) || f->gen <= sb->known_gen);
}

/*
 * Ends the known frames of other blocks that are deeper in the stack than the new record f and
 * older.  They have ended, although their blocks are only read later in this poll: a function
 * cannot be the callee of one that was called after it (look.c, others_are_still()).
 */
static void end_overtaken(struct scanner *s, struct scan_state *st, const struct scan_frame *f,
			  uint32_t from, uint64_t hi)
{
	const struct ldb_stack_frame *k = st->stack->frame;
	uint32_t i;

	if (likely(from == st->depth) || !scan_on_own_stack(st, f->addr) || was_left(st, f))
		return;
	while (from < st->depth &&
	       (k[from].start_max >= st->look_from || !scan_on_own_stack(st, k[from].addr)))
		from++;
	if (from == st->depth)
		return;
	for (i = st->depth; i-- > from;)
		end_invocation(s, st, i, hi);
	cut(st, from);
}

static void push(struct scan_state *st, const struct scan_frame *f, uint32_t i, uint64_t hi)
{
	struct ldb_stack_frame *k = st->stack->frame;

	for (uint32_t j = st->depth; j > i; j--)
		k[j] = k[j - 1];
	k += i;
	k->gen = f->gen;
	k->addr = f->addr;
	k->pc = f->pc;
	k->ret = f->ret;
	k->start_min = st->last_ok;
	k->start_max = hi;
	k->last_seen = hi;
	k->in_request = order_any_load(&st->t->in_request);
	k->flags = st->fresh && st->existing ? LDB_FUNC_F_FROM_START : 0;
	if (was_left(st, f))
		k->flags = LDB_FUNC_F_FROM_START | LDB_FUNC_F_RESUMED;
	else
		narrow_start(st, f, k);
	if (f->gen > st->b[GEN_LOW(f->gen)].known_gen)
		st->b[GEN_LOW(f->gen)].known_gen = f->gen;
	st->depth++;
}

void track_apply(struct scanner *s, struct scan_state *st, unsigned block,
		 int known, const struct scan_frame *f, uint32_t nr, uint64_t hi)
{
	drop_newer(s, st, block, known, hi);
	while (nr && st->depth < SCAN_DEPTH_MAX) {
		uint32_t i = insert_at(st, &f[--nr]);

		/* end_overtaken() only ends frames after i. */
		end_overtaken(s, st, &f[nr], i, hi);
		push(st, &f[nr], i, hi);
	}
	st->page->too_deep += nr;
	order_stack_depth_set(st->stack, st->depth);
}

void track_flush(struct scan_state *st, uint64_t hi)
{
	for (unsigned b = 0; b < st->nr_blocks; b++)
		drop_newer(NULL, st, b, -1, hi);
}
