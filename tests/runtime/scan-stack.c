// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the results of polling a stack: scan/look.c, frame.c and track.c together, with the
 * simulated thread of scan-stack.h.
 */
#include "scan-stack.h"

static void first_look(void)
{
	begin(3, true);
	look_now();
	is_int(stack.depth, 3, "the first poll finds all frames");
	is_int(st.depth, 3, "the scanner's depth is that of the stack");
	for (unsigned i = 0; i < 3; i++) {
		const struct ldb_stack_frame *k = &stack.frame[i];

		ok(k->gen == (i + 1) << LDB_GEN_SHIFT && k->addr == (uintptr_t)at(i) &&
		   k->pc == 0x1001 + i && k->ret == 0x2001 + i, "frame %u is what the program wrote", i);
		ok(k->start_min == 90000 && k->start_max == looked_at + 10 &&
		   k->last_seen == looked_at + 10,
		   "a frame that the first poll finds began before it");
		is_int(k->flags, LDB_FUNC_F_FROM_START, "it began before the recording");
	}
	ok(st.last_ok == looked_at && page.last_look_tsc == looked_at, "the state is known");
	ok(!st.fresh && st.looked == looked_at && st.changed == scanner.stamp,
	   "the times of the poll and of the change are stored");
	ok(stats.looks == 1 && stats.changes == 1 && stats.scans == 1 && stats.frames == 3 &&
	   page.scans == 1 && page.looks_changed == 1, "all is counted");
	ok(nr_walked == 1 && was_valid && !was_known && !was_still,
	   "the first poll makes one walk, which is valid");
	is_int(paid_frames, 4, "each frame of the walk is charged, and its end");
	is_int(paid_took, 20, "the charged time is from before the poll to after the walk");
	is_int(scanner.walks % 2, 0, "after the poll no stack is being read");
	look_now();
	ok(st.last_ok == looked_at && page.last_look_tsc == looked_at && st.looked == looked_at,
	   "nothing has changed: the state is known again");
	ok(stats.looks == 2 && stats.changes == 1 && nr_stamps == 3,
	   "a poll that finds nothing changed needs no stamp and no walk");
	is_int(st.lowest_top, (uintptr_t)at(2), "the lowest observed top of the stack is stored");
	begin(1, false);
	look_now();
	is_int(stack.frame[0].flags, 0,
	       "the begin of a thread that was created in the recording is known");
	begin(0, true);
	look_now();
	ok(!stack.depth && st.last_ok == looked_at && stats.scans == 1,
	   "a thread in no function has an empty stack");
}

static void calls(void)
{
	uint64_t known, came;

	begin(2, true);
	look_now();
	known = looked_at;
	enter(0, at(2));
	look_now();
	came = looked_at + 10;
	is_int(stack.depth, 3, "a call adds a frame");
	ok(stack.frame[2].start_min == known && stack.frame[2].start_max == came &&
	   !stack.frame[2].flags, "the called function began between two polls");
	ok(was_known, "the state at the first of these polls was known");
	ok(stats.frames == 3 && paid_frames == 2,
	   "only the new frame and the one before it were read");
	is_int(page.made, 1, "the call is counted");
	known = looked_at;
	leave(0);
	look_now();
	is_int(nr_written, 1, "a return: one record");
	is_int(record(0)->type, LDB_EV_FUNC, "the record is that of a function");
	ok(record(0)->tid == TID && record(0)->pc == 0x1003 && record(0)->ret == 0x2003 &&
	   record(0)->gen == 3 << LDB_GEN_SHIFT && record(0)->parent_gen == 2 << LDB_GEN_SHIFT &&
	   record(0)->depth == 2 && record(0)->flags == 0,
	   "the record is that of the function that returned");
	ok(record(0)->end_max == looked_at + 10 && record(0)->end_unc == looked_at + 10 - known,
	   "the function ended between two polls");
	ok(record(0)->start_max == came && record(0)->start_unc == came - (known - 100 - 30),
	   "the record has its begin, and the uncertainty of that");
	ok(record(0)->cont1 == LDB_EV_CONT + 1 && record(0)->cont2 == LDB_EV_CONT + 2,
	   "the record has three slots");
	ok(page.seen == 1 && !page.below_threshold, "counted as observed");
	leave(0);
	look_now();
	ok(nr_written == 2 && record(1)->flags == LDB_FUNC_F_FROM_START && record(1)->start_unc == 0xffffffff,
	   "an invocation from before the recording is marked");
	ok(page.seen == 1, "it is not counted as observed");
	leave(0);
	look_now();
	ok(nr_written == 3 && record(2)->parent_gen == 0 && record(2)->depth == 0,
	   "the outermost invocation has no caller");
	is_int(stack.depth, 0, "no frame is left");
}

static void again(void)
{
	begin(2, true);
	look_now();
	leave(0);
	enter(0, at(1));
	look_now();
	ok(nr_written == 1 && record(0)->gen == 2 << LDB_GEN_SHIFT,
	   "return and call at the same address: it ended");
	ok(stack.depth == 2 && stack.frame[1].gen == 3 << LDB_GEN_SHIFT && stack.frame[1].pc == 0x1003,
	   "the function that was called instead is in the stack");
	for (unsigned i = 0; i < 5; i++)
		enter(0, at(2 + i));
	for (unsigned i = 0; i < 5; i++)
		leave(0);
	look_now();
	ok(nr_written == 1 && stack.depth == 2,
	   "calls that began and ended between two polls are not observed");
	is_int(page.made, 6, "calls that were not observed are counted");
	is_int(st.b[0].calls_to - st.b[0].calls_from, 6 * LDB_GEN_ONE,
	       "they are counted by generations");
	leave(0);
	enter(0, at(9));
	enter(0, at(11));
	look_now();
	ok(nr_written == 2 && stack.depth == 3, "one return and two calls between two polls");
	is_int(stack.frame[0].flags, LDB_FUNC_F_FROM_START, "the outermost frame is the same");
}

static void thresholds(void)
{
	begin(1, true);
	look_now();
	session_page.a.func_threshold = 1000;
	enter(0, at(1));
	enter(0, at(2));
	look_now();
	now = st.stack->frame[2].start_min + 999 - 110;	/* the poll takes 100, its stamp 10 */
	leave(0);
	look_now();
	ok(nr_written == 0 && page.below_threshold == 1 && page.seen == 0,
	   "an invocation that is shorter than the threshold is only counted");
	leave(0);
	now = st.stack->frame[1].start_min + 1000 - 110;
	look_now();
	ok(nr_written == 1 && page.seen == 1,
	   "an invocation that is as long as the threshold is written");
	leave(0);
	session_page.a.func_threshold = 1000000000;
	look_now();
	is_int(nr_written, 2,
	       "an invocation from before the recording is written at any threshold");
}

/*
 * The fields have 32 bits of ticks, which is more than a second; a greater uncertainty is stored as
 * 0xffffffff.
 */
static void uncertain(void)
{
	for (unsigned more = 0; more < 2; more++) {
		begin(1, true);
		look_now();
		enter(0, at(1));
		now = st.last_ok + 0xfffffffe + more - 110;
		look_now();
		leave(0);
		now = st.last_ok + 0xfffffffe + more - 110;
		look_now();
		is_int(record(0)->start_unc, 0xfffffffe + more, "an unsure begin");
		is_int(record(0)->end_unc, 0xfffffffe + more, "an unsure end");
	}
	begin(1, true);
	look_now();
	enter(0, at(1));
	now += 1ULL << 33;
	look_now();
	leave(0);
	now += 1ULL << 33;
	look_now();
	ok(record(0)->start_unc == 0xffffffff && record(0)->end_unc == 0xffffffff,
	   "hardly known at all");
	ok(!written[0][1].arg2 && !written[0][2].tid && !written[0][2].flags && !written[0][2].arg2,
	   "what is not used is 0");
}

static void bad_chains(void)
{
	static const char *const what[] = {
		"above the stack", "not aligned", "in its last 24 bytes", "a wrong canary",
		"not older than its callee", "a generation from the future", "below the one before",
	};

	for (unsigned i = 0; i < 7; i++) {
		uint64_t before;

		begin(3, true);
		look_now();
		before = st.last_ok;
		enter(0, at(3));
		enter(0, at(5));
		if (i == 0)
			at(5)->prev = own + NR_FRAMES;
		else if (i == 1)
			at(5)->prev = (void *)((char *)at(3) + 4);
		else if (i == 2)
			at(5)->prev = (void *)((char *)(own + NR_FRAMES) - 24);
		else if (i == 3)
			at(3)->gen ^= 1;
		else if (i == 4)
			at(3)->gen = at(5)->gen;
		else if (i == 5)
			at(5)->gen += LDB_GEN_ONE;
		else
			at(5)->prev = other + 3;
		look_now();
		ok(st.depth == 3 && !nr_written && st.failed && st.last_ok == before,
		   "%s: nothing is learned", what[i]);
		is_int(page.disorder, i >= 3 && i <= 5,
		       "a wrong canary or generation, and nothing else, is counted as disorder");
		is_int(page.foreign, i < 3 || i == 6, "any other is counted as foreign");
		ok(was_valid && !page.invalid && stats.scans == 1,
		   "the thread did not change during the walk, but the walk is not counted");
		look_now();
		ok(st.failed && st.last_ok == before && stats.changes == 2,
		   "the same: still not known");
		at(3)->gen = gen_word(4);
		at(5)->gen = gen_word(5);
		at(5)->prev = at(3);
		enter(0, at(6));
		now = before + GAP + 50;
		look_now();
		ok(st.depth == 6 && !st.failed && st.last_ok == looked_at, "in order again: known");
		ok(nr_gaps == 1 && gap_begin == before && gap_end == looked_at &&
		   page.gap_tsc == looked_at - before, "what was between is a gap of the thread");
	}
	begin(1, true);
	look_now();
	enter(0, at(1));
	at(1)->gen ^= 1;
	look_now();
	at(1)->gen ^= 1;
	enter(0, at(2));
	look_now();
	ok(!st.failed && nr_gaps == 0 && page.gap_tsc == 0,
	   "if this takes a short time, it is no gap");
}

static void too_deep(void)
{
	static struct ldb_frame deep[SCAN_DEPTH_MAX + 2];

	for (unsigned more = 0; more < 2; more++) {
		begin(0, true);
		thread.stack_lo = (uintptr_t)deep;
		thread.stack_hi = st.lowest_top = (uintptr_t)(deep + SCAN_DEPTH_MAX + 2);
		for (unsigned i = 0; i < SCAN_DEPTH_MAX + more; i++)
			enter(0, &deep[SCAN_DEPTH_MAX + 1 - i]);
		look_now();
		is_int(stack.depth, more ? 0 : SCAN_DEPTH_MAX,
		       more ? "a stack with one frame too many is not read" : "the deepest stack is read");
		is_int(page.too_deep, more, "only a stack with too many frames is counted as too deep");
	}
	/*
	 * One frame is known, and a walk finds as many new ones as it has room for: together one
	 * too many.
	 */
	begin(0, true);
	thread.stack_lo = (uintptr_t)deep;
	thread.stack_hi = st.lowest_top = (uintptr_t)(deep + SCAN_DEPTH_MAX + 2);
	enter(0, &deep[SCAN_DEPTH_MAX + 1]);
	look_now();
	for (unsigned i = 1; i < SCAN_DEPTH_MAX + 1; i++)
		enter(0, &deep[SCAN_DEPTH_MAX + 1 - i]);
	look_now();
	ok(stack.depth == SCAN_DEPTH_MAX && page.too_deep == 1,
	   "a frame for which there is no room is counted");
	is_int(stack.frame[SCAN_DEPTH_MAX - 1].gen, (uint64_t)SCAN_DEPTH_MAX << LDB_GEN_SHIFT,
	       "the outer ones are retained");
}

/*
 * Between the poll's stamp and the walk, the function returns, and another is called at the same
 * address.
 */
static void moves(unsigned nr)
{
	if (nr != 1)
		return;
	leave(0);
	enter(0, at(3));
}

static void calls_meanwhile(unsigned nr)
{
	if (nr == 1)
		enter(0, at(4));
}

static void disturbed(void)
{
	uint64_t known;

	begin(3, true);
	look_now();
	known = looked_at;
	enter(0, at(3));
	nr_stamps = 0;
	on_stamp = moves;
	look_now();
	on_stamp = NULL;
	ok(page.invalid == 1 && stats.invalid == 1 && !was_valid && nr_walked == 2,
	   "the thread moved: not valid");
	ok(stats.scans == 1 && st.b[0].gen == 0, "the stack is read again at the next poll");
	ok(st.depth == 3 && st.failed && st.last_ok == known,
	   "two walks that do not agree: nothing is known");
	is_int(paid_frames, 0 + 1 + 2, "both walks are charged");
	ok(st.b[0].mark.gen == gen_word(4) && st.b[0].mark.top == (uintptr_t)at(3) &&
	   st.b[0].mark.lo == looked_at && st.b[0].mark.hi == looked_at + 10,
	   "the mark is what was observed first");
	look_now();
	ok(st.depth == 4 && stats.scans == 2 && st.b[0].gen == blocks[0].gen && !st.b[0].mark.gen,
	   "the thread no longer moves: the walk is valid");
	ok(stack.frame[3].start_min == looked_at - 100 - 20 - 10 && stack.frame[3].start_max == looked_at + 10,
	   "the function that was called meanwhile began after the mark");

	begin(3, true);
	look_now();
	enter(0, at(3));
	nr_stamps = 0;
	on_stamp = calls_meanwhile;
	look_now();
	on_stamp = NULL;
	ok(page.invalid == 1 && st.depth == 4 && !st.failed && st.last_ok == looked_at,
	   "a call during the walk: the frames from before it are known");
	ok(stack.frame[3].gen == 4 << LDB_GEN_SHIFT && stack.frame[3].start_max == looked_at + 10,
	   "the new one of these began before the mark's stamp");
	is_int(paid_frames, 1 + 2 + 2, "both walks are charged if there was a call in between");
	is_int(paid_took, 20, "the charged time is up to the end of the second walk");
	look_now();
	is_int(st.depth, 5, "the next poll finds the call");
}

/* The two innermost functions return, and another one is called. */
static void moves_on(unsigned nr)
{
	if (nr != 1)
		return;
	leave(0);
	leave(0);
	enter(0, at(3));
	at(3)->gen = blocks[0].gen = gen_word(20);
}

static uint64_t walks_seen;

static void looks_at_walks(unsigned nr)
{
	if (nr == 1)
		walks_seen = scanner.walks;
}

/* Tests a walk from a frame that is gone, and what other threads see of a walk. */
static void agree(void)
{
	begin(1, true);
	look_now();
	enter(0, at(1));
	enter(0, at(2));
	enter(0, at(3));
	enter(0, at(4));
	nr_stamps = 0;
	/* The first walk follows the present chain, because the top that it was passed is gone. */
	on_stamp = moves_on;
	look_now();
	on_stamp = NULL;
	ok(page.invalid == 1 && st.depth == 1 && st.failed,
	   "a walk from a frame that is gone: the state is not known");
	look_now();
	ok(st.depth == 4 && stack.frame[3].gen == 20 << LDB_GEN_SHIFT && !st.failed,
	   "the state is known when the thread no longer moves");

	nr_stamps = 0;
	on_stamp = looks_at_walks;
	enter(0, at(5));
	look_now();
	is_int(walks_seen % 2, 1, "while a stack is read, other threads can find that out");
	is_int(scanner.walks - walks_seen, 1, "afterwards they can find out that it is not read");
	settle = true;
	nr_stamps = 0;
	enter(0, at(6));
	look_now();
	is_int(walks_seen % 2, 0, "a poll that reads no stack does not say that it reads one");
	on_stamp = NULL;
	settle = false;
	st.settling = true;
	look_now();
	st.settling = true;
	look_now();
	ok(!st.settling, "a poll that finds nothing changed: the thread no longer settles");
}

static void settles(void)
{
	uint64_t known, mark_lo, mark_hi;

	begin(2, true);
	look_now();
	known = looked_at;
	enter(0, at(2));
	settle = true;
	look_now();
	mark_lo = looked_at;
	mark_hi = looked_at + 10;
	ok(stats.moving == 1 && st.depth == 2 && stats.scans == 1 && nr_walked == 1,
	   "the stack of a thread that settles is not read");
	ok(st.last_ok == known && st.b[0].mark.gen == gen_word(3) && st.b[0].mark.top == (uintptr_t)at(2) &&
	   st.b[0].mark.lo == mark_lo && st.b[0].mark.hi == mark_hi,
	   "the observed state is stored as the mark");
	ok(paid_took == 10 && paid_frames == 0 && was_known, "the poll is charged, without frames");
	enter(0, at(3));
	settle = false;
	look_now();
	is_int(st.depth, 4, "the stack of a thread that has settled is read");
	ok(stack.frame[2].start_min == known && stack.frame[2].start_max == mark_hi,
	   "a frame that was there at the mark began before it");
	ok(stack.frame[3].start_min == mark_lo && stack.frame[3].start_max == looked_at + 10,
	   "a frame with a later generation began after the mark");
	known = looked_at;
	leave(0);
	settle = true;
	look_now();
	mark_hi = looked_at + 10;
	settle = false;
	leave(0);
	look_now();
	ok(nr_written == 2 && record(0)->end_max == mark_hi && record(0)->end_unc == mark_hi - known,
	   "a frame below the mark's top had ended at the mark");
	ok(record(1)->end_max == looked_at + 10 && record(1)->end_unc == looked_at + 10 - known,
	   "the frame at the mark's top is not known to have ended at the mark");

	/* The function is entered, but not linked yet: only the generation has changed. */
	begin(2, true);
	look_now();
	known = looked_at;
	blocks[0].gen += LDB_GEN_ONE;
	settle = true;
	look_now();
	settle = false;
	blocks[0].gen -= LDB_GEN_ONE;
	enter(0, at(2));
	look_now();
	ok(stack.frame[2].start_min == known && stack.frame[2].start_max == looked_at + 10,
	   "a function that was counted but not linked began before or after the mark");
	/* There was no frame at all at the mark: all of them had ended. */
	settle = true;
	blocks[0].top = NULL;
	look_now();
	mark_hi = looked_at + 10;
	settle = false;
	look_now();
	ok(nr_written == 3 && record(0)->end_max == mark_hi && record(2)->end_max == mark_hi,
	   "if the mark has no frame, all functions had ended");

	begin(2, true);
	look_now();
	settle = true;
	enter(0, at(2));
	look_now();
	look_now();
	ok(was_known && !was_still, "a change after a poll at which the state was known");
	st.b[0].gen = 0;
	look_now();
	ok(!was_known && was_still, "the state is not known, but the same as the mark's");
	mark_lo = st.b[0].mark.lo;
	enter(0, at(3));
	look_now();
	ok(!was_known && !was_still, "the state is neither known nor the same as the mark's");
	is_int(st.b[0].mark.lo, looked_at,
	       "while the state is not known, a later mark replaces the first one");
	mark_lo = looked_at;
	st.b[0].gen = 1;
	look_now();
	is_int(st.b[0].mark.lo, mark_lo, "if the state was known, the first mark is retained");
}

static void foreign(void)
{
	uint64_t mark_hi;

	begin(2, true);
	enter(0, &other[5]);
	enter(0, &other[4]);
	look_now();
	ok(page.foreign == 1 && st.depth == 0, "a stack that is not registered is not read");
	is_registered = true;
	enter(0, &other[3]);
	look_now();
	ok(page.foreign == 1 && st.depth == 3,
	   "the thread's own stack is not read where it was not observed in use");
	begin(2, true);
	is_registered = true;
	st.lowest_top = (uintptr_t)at(1);
	for (unsigned i = 0; i < 4; i++)
		enter(0, &other[5 - i]);
	look_now();
	is_int(st.depth, 6, "a registered stack is read, and then the thread's own one");
	ok(stack.frame[1].addr == (uintptr_t)at(1) && stack.frame[2].addr == (uintptr_t)&other[5],
	   "frames of both stacks are in the order of the calls");
	is_int(st.lowest_top, (uintptr_t)at(1),
	       "a top on the other stack is not stored as the own stack's lowest one");
	/* A mark on the other stack says nothing about the frames on the thread's own stack. */
	settle = true;
	leave(0);
	look_now();
	settle = false;
	while (blocks[0].top)
		leave(0);
	look_now();
	ok(nr_written == 6, "all invocations on both stacks have ended");
	for (unsigned i = 0; i < 6; i++)
		is_int(record(i)->end_max, looked_at + 10,
		       "an invocation on either stack is not known to have ended at the mark");
	/* If the caller had ended at the mark, the function that it called had ended before. */
	begin(3, true);
	is_registered = true;
	st.lowest_top = (uintptr_t)at(2);
	enter(0, &other[5]);
	enter(0, &other[4]);
	look_now();
	settle = true;
	blocks[0].top = at(1);
	look_now();
	settle = false;
	mark_hi = looked_at + 10;
	leave(0);
	look_now();
	is_int(nr_written, 4, "two functions and two of the coroutine's have ended");
	ok(record(2)->end_max == mark_hi && record(3)->end_max == looked_at + 10,
	   "on the thread's own stack, those that the mark shows");
	ok(record(0)->end_max == mark_hi && record(1)->end_max == mark_hi,
	   "a callee ends with its caller");
}

static void two_blocks(void)
{
	begin(2, true);
	look_now();
	atomic_store(&nr_blocks, 2);
	blocks[1].gen = gen_word(40);
	look_now();
	ok(st.nr_blocks == 2 && page.made == 0, "another module: its calls count from now on");
	enter(1, at(2));
	enter(0, at(3));
	enter(1, at(4));
	look_now();
	is_int(st.depth, 5, "frames of two modules are found in one stack");
	is_int(paid_frames, 2 + 3, "frames of both modules are charged");
	ok(stack.frame[2].gen == (41 << LDB_GEN_SHIFT | 1) && stack.frame[3].gen == 3 << LDB_GEN_SHIFT &&
	   stack.frame[4].gen == (42 << LDB_GEN_SHIFT | 1),
	   "frames of both modules are put in the order of the stack");
	is_int(page.made, 3, "calls of both modules are counted");
	leave(1);
	look_now();
	ok(nr_written == 1 && record(0)->gen == (42 << LDB_GEN_SHIFT | 1) &&
	   record(0)->parent_gen == 3 << LDB_GEN_SHIFT && record(0)->depth == 4,
	   "a function of one module returns, which the other module called");
	leave(0);
	look_now();
	ok(nr_written == 2 && st.depth == 3 && stack.frame[2].gen == (41 << LDB_GEN_SHIFT | 1),
	   "then its caller returns");
	enter(0, at(5));
	leave(1);
	look_now();
	ok(st.depth == 3 && stack.frame[2].gen == 4 << LDB_GEN_SHIFT && nr_written == 3,
	   "a frame that ends in the middle leaves no hole");
	/*
	 * The chain of one block cannot be read, so the state is not known, whatever the other one
	 * contains.
	 */
	enter(1, at(6));
	at(6)->gen ^= 1;
	look_now();
	ok(st.failed && st.b[1].bad && !st.b[0].bad,
	   "one of two blocks cannot be read: the state is not known");
	is_int(paid_frames, 1, "the bad block is charged as far as it was read");
	st.failed = false;
	look_now();
	ok(st.failed, "a poll that finds nothing changed does not make it known");
	enter(0, at(7));
	look_now();
	ok(st.failed && st.depth == 4,
	   "the state remains unknown although the other block can be read");
	at(6)->gen ^= 1;
	leave(1);
	look_now();
	ok(!st.failed && !st.b[1].bad, "the state is known again when the bad frame is gone");
}

/*
 * Tests the end of a function that began after a mark, while the state is not known because another
 * block cannot be read: it is not before the mark.
 */
static void ends_after_mark(void)
{
	uint64_t mark_lo;

	begin(2, true);
	atomic_store(&nr_blocks, 2);
	blocks[1].gen = gen_word(40);
	look_now();
	enter(1, at(2));
	at(2)->gen ^= 1;
	enter(0, at(3));
	settle = true;
	look_now();
	mark_lo = looked_at;
	settle = false;
	enter(0, at(4));
	look_now();
	ok(st.failed && stack.frame[st.depth - 1].start_min == mark_lo && st.last_ok < mark_lo,
	   "a function began after a mark, and the state is not known");
	leave(0);
	look_now();
	ok(nr_written == 1 && record(0)->end_max - record(0)->end_unc == mark_lo,
	   "the function ended after the mark");
}

static void flushed(void)
{
	begin(3, true);
	look_now();
	enter(0, at(3));
	look_now();
	scan_count_calls(&thread);
	is_int(page.made, 1, "the thread ends: its last call is counted");
	blocks[0].gen += 4 * LDB_GEN_ONE;
	scan_count_calls(&thread);
	is_int(page.made, 5, "calls since then are counted as well");
	track_flush(&st, now + 1000);
	ok(nr_written == 4 && nr_own_ring == 4 && st.depth == 0 && stack.depth == 0,
	   "all its invocations have ended");
	is_int(record(0)->end_max, now + 1000,
	       "they ended at the time that was passed to track_flush()");
	thread.scan = NULL;
	scan_count_calls(&thread);
	ok(page.made == 5, "a thread without a page is not counted");
}

/*
 * If the program is killed while the scanner writes these records, the recorder must be able to
 * find out which were written: see unit/record-ending.c.
 */
static void killed_meanwhile(void)
{
	begin(1, true);
	look_now();
	enter(0, at(1));
	enter(0, at(2));
	look_now();
	for (unsigned i = 0; i < 3; i++)
		leave(0);
	look_now();
	is_int(nr_written, 3, "three returns");
	for (unsigned i = 0; i < 3; i++)
		ok(at_write[i].ending_gen == record(i)->gen && at_write[i].depth == 3,
		   "it is named before it is written, and still in the stack");
	ok(at_write[0].seen == 0 && at_write[0].ending_seen == 1, "the first one: not counted yet");
	ok(at_write[1].seen == 1 && at_write[1].ending_seen == 2, "the second one");
	ok(at_write[2].seen == 2 && at_write[2].ending_seen == 2, "what ran before is not counted");
	ok(page.seen == 2 && !page.ending_gen && !stack.depth, "all done: nothing ends");
}

int main(void)
{
	first_look();
	calls();
	again();
	thresholds();
	uncertain();
	bad_chains();
	too_deep();
	disturbed();
	agree();
	settles();
	foreign();
	two_blocks();
	ends_after_mark();
	flushed();
	killed_meanwhile();
	return done();
}
