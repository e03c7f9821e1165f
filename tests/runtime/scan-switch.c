// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests which function is taken for the caller when a program switches stacks: scan/frame.c and
 * track.c with the simulated thread of scan-stack.h, which has a registered stack besides its
 * own.
 */
#include "scan-stack.h"

#define RESUMED	(LDB_FUNC_F_FROM_START | LDB_FUNC_F_RESUMED)

static uint64_t gen_of(unsigned i)
{
	return stack.frame[i].gen >> LDB_GEN_SHIFT;
}

/* main() and loop() were observed; then the thread switches to the other stack. */
static void begin_loop(void)
{
	begin(2, true);
	is_registered = true;
	look_now();
}

static void first_run(void)
{
	begin_loop();
	enter(0, &other[9]);
	enter(0, &other[8]);
	look_now();
	ok(st.depth == 4 && !page.foreign && !page.disorder,
	   "a coroutine's caller is the function that started it");
	is_int(stack.frame[2].flags, 0, "the begin of a coroutine that was just started is known");
	begin_loop();
	enter(0, at(2));
	look_now();
	leave(0);
	look_now();
	enter(0, at(2));
	enter(0, &other[9]);
	look_now();
	ok(st.depth == 4 && gen_of(2) == 4 && gen_of(3) == 5,
	   "this is so for a caller that was called since the last poll");
	begin_loop();
	enter(0, at(2));
	enter(0, &other[9]);
	look_now();
	ok(st.depth == 3 && gen_of(1) == 2 && gen_of(2) == 4,
	   "the own stack is not read where it was not observed in use: the nearest known frame is the caller");
}

/* The switch back was not reported: the chain leads from the own stack to the other one. */
static void back_untold(void)
{
	begin_loop();
	enter(0, &other[9]);
	look_now();
	enter(0, at(2));
	look_now();
	ok(st.depth == 3 && gen_of(1) == 2 && gen_of(2) == 4,
	   "the caller of the function that the loop calls next is the loop");
	ok(nr_written == 1 && record(0)->gen == 3 << LDB_GEN_SHIFT, "the coroutine is left");
	leave(0);
	blocks[0].top = at(1);
	look_now();
	is_int(record(1)->parent_gen, 2 << LDB_GEN_SHIFT, "the record names the loop as caller");
	ok(!page.foreign && !page.disorder && !st.failed, "all is known");

	begin(0, true);
	is_registered = true;
	enter(0, &other[9]);
	look_now();
	enter(0, at(2));
	look_now();
	ok(st.depth == 1 && gen_of(0) == 2, "if the caller is not certain, none is named");
}

/* body() is on the other stack and was started by run(), which has returned. */
static void start_from_run(bool is_seen)
{
	begin_loop();
	st.lowest_top = (uintptr_t)at(2);
	enter(0, at(2));
	enter(0, &other[9]);
	look_now();
	blocks[0].top = at(1);
	if (is_seen)
		look_now();
	enter(0, at(2));
}

static void resumed(void)
{
	for (unsigned is_seen = 0; is_seen < 2; is_seen++) {
		start_from_run(is_seen);
		blocks[0].top = &other[9];
		enter(0, &other[8]);
		look_now();
		ok(st.depth == 4 && gen_of(0) == 1 && gen_of(1) == 2 && gen_of(2) == 4 && gen_of(3) == 6,
		   "a coroutine resumed by another function: the caller is what both share");
		is_int(stack.frame[2].flags, RESUMED,
		       "the begin of the resumed invocation is not known");
		is_int(stack.frame[3].flags, 0, "the begin of a function that it calls is known");
		ok(!page.disorder && !st.failed, "nothing is missing");
		blocks[0].top = at(1);
		nr_written = 0;
		look_now();
		ok(nr_written == 2 && record(1)->flags == RESUMED && record(1)->start_unc == 0xffffffff &&
		   record(1)->parent_gen == 2 << LDB_GEN_SHIFT && record(0)->parent_gen == 4 << LDB_GEN_SHIFT,
		   "the records of both say the same");
	}
	is_int(page.seen, 3, "each invocation counts once");
}

/* The record of body()'s caller is whole, but the caller was observed to have ended. */
static void dead_but_whole(void)
{
	start_from_run(true);
	blocks[0].top = at(1);
	*at(2) = (struct ldb_frame){ .prev = at(1), .gen = gen_word(3) };
	look_now();
	blocks[0].top = &other[9];
	enter(0, &other[8]);
	look_now();
	ok(st.depth == 4 && gen_of(1) == 2 && gen_of(2) == 4,
	   "a record that was left is no caller");
}

/* The records on the stack have the generations of another thread. */
static void migrated(void)
{
	begin_loop();
	other[9] = (struct ldb_frame){ .gen = gen_word(1000), .prev = own };
	blocks[0].top = &other[9];
	enter(0, &other[8]);
	look_now();
	ok(st.depth == 3 && gen_of(1) == 2 && gen_of(2) == 3,
	   "invocations of another thread are not taken for this one's");
	ok(!page.disorder && !st.failed, "calls of this thread on that stack are no disorder");
	blocks[0].top = &other[9];
	look_now();
	ok(st.failed && page.disorder == 1, "a top that another thread linked is not read");
}

/* If a thread has no other stacks, disorder in its chain does not mean a switch of stacks. */
static void no_switch(void)
{
	begin_loop();
	enter(0, at(2));
	enter(0, at(3));
	at(2)->gen = at(3)->gen;
	look_now();
	ok(st.failed && page.disorder == 1 && st.depth == 2,
	   "disorder on the thread's own stack is counted as disorder");
	ok(!st.switches, "nothing was switched");
}

int main(void)
{
	first_run();
	back_untold();
	resumed();
	dead_but_whole();
	migrated();
	no_switch();
	return done();
}
