// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests kmod/seq.h: a session is bound to a thread while the thread sleeps, comes to a CPU, runs,
 * or leaves.  Whatever the order of the two sides' steps, between two switches seq is UNKNOWN, or
 * is odd if and only if the thread is on a CPU.
 *
 * All orders are tried: each step is one access to memory, in order.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "tap.h"

typedef uint32_t u32;
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#include "../../kmod/seq.h"

/* Describes the kernel's side: the present code, and an earlier one. */
struct rules {
	u32 (*in)(u32), (*out)(u32);
	u32 unknown, running, asleep;
	bool looks_at_on_rq;
};

static u32 now_in(u32 seq)
{
	return ldb_seq_in(seq);
}

static u32 now_out(u32 seq)
{
	return ldb_seq_out(seq);
}

static u32 then_in(u32 seq)
{
	return seq | 1;
}

static u32 then_out(u32 seq)
{
	return seq + 1;
}

static const struct rules now = {
	now_in, now_out, LDB_SEQ_UNKNOWN, LDB_SEQ_RUNNING, LDB_SEQ_ASLEEP, true,
};

/* These are a thread's states in the scheduler; the probe reads seq, then writes it. */
enum at { ASLEEP, WOKEN, PICKED, FOUND_IN, STAMPED_IN, RUNS, LEAVES, FOUND_OUT, STAMPED_OUT };
/* These are the states of the binder. */
enum step { WATCH, REFRESH, READ_ON_RQ, READ_ON_CPU, SETTLE, DONE };

struct world {
	enum at at;
	enum step step;
	/* stays: the thread is preempted, and does not sleep */
	bool on_rq, on_cpu, observed, stays;
	bool seen;				/* the probe that is running found the session */
	u32 seq, read;
	unsigned switches;			/* switches to a CPU that are left */
};

static const struct rules *rules;
static unsigned long states, wrong;

static void judge(const struct world *w)
{
	bool between = w->at == ASLEEP || w->at == WOKEN || w->at == RUNS;

	states++;
	if (w->observed && between && w->seq != rules->unknown && (w->seq & 1) != (w->at == RUNS))
		wrong++;
}

static void go(struct world w);

/* Makes the thread's next access; if two are possible, tries both. */
static void thread_step(struct world w)
{
	switch (w.at) {
	case ASLEEP:
		w.on_rq = true;
		w.at = WOKEN;
		break;
	case WOKEN:
		if (!w.switches--)
			return;
		w.at = PICKED;
		break;
	case PICKED:
		w.seen = w.observed;
		w.read = w.seq;
		w.at = FOUND_IN;
		break;
	case FOUND_IN:
		if (w.seen)
			w.seq = rules->in(w.read);
		w.at = STAMPED_IN;
		break;
	case STAMPED_IN:
		w.on_cpu = true;
		w.at = RUNS;
		break;
	case RUNS:
		w.at = LEAVES;
		w.stays = true;
		go(w);
		w.stays = w.on_rq = false;
		break;
	case LEAVES:
		w.seen = w.observed;
		w.read = w.seq;
		w.at = FOUND_OUT;
		break;
	case FOUND_OUT:
		if (w.seen)
			w.seq = rules->out(w.read);
		w.at = STAMPED_OUT;
		break;
	case STAMPED_OUT:
		w.on_cpu = false;
		w.at = w.stays ? WOKEN : ASLEEP;
		break;
	}
	go(w);
}

static void binder_step(struct world w)
{
	switch (w.step) {
	case WATCH:
		w.observed = true;
		w.seq = rules->unknown;
		w.step = REFRESH;
		break;
	case REFRESH:
		/*
		 * The interrupt with which ldb_threads_refresh() asks the thread's CPU was not
		 * sent, or found another task there.
		 */
		w.step = READ_ON_RQ;
		go(w);
		/* No interrupt comes inside of a switch. */
		if (w.at != RUNS)
			return;
		if (w.seq == rules->unknown)
			w.seq = rules->running;
		break;
	case READ_ON_RQ:
		w.step = rules->looks_at_on_rq && w.on_rq ? DONE : READ_ON_CPU;
		break;
	case READ_ON_CPU:
		w.step = w.on_cpu ? DONE : SETTLE;
		break;
	case SETTLE:
		if (w.seq == rules->unknown)
			w.seq = rules->asleep;
		w.step = DONE;
		break;
	case DONE:
		return;
	}
	go(w);
}

static void go(struct world w)
{
	judge(&w);
	thread_step(w);
	binder_step(w);
}

static unsigned long try_all(const struct rules *r)
{
	struct world asleep = { .at = ASLEEP, .switches = 3 };
	struct world runs = { .at = RUNS, .switches = 2, .on_rq = true, .on_cpu = true };

	rules = r;
	states = wrong = 0;
	go(asleep);
	go(runs);
	return wrong;
}

int main(void)
{
	struct rules before = { then_in, then_out, 1, 3, 0x80000000U, false };
	struct rules half;

	is_int(try_all(&now), 0, "an odd seq means on a CPU, in all orders");
	diag("%lu states", states);
	ok(states > 10000, "there are some");
	ok(ldb_seq_in(LDB_SEQ_ASLEEP) == LDB_SEQ_ASLEEP + 1 && ldb_seq_in(LDB_SEQ_NEW) == LDB_SEQ_NEW + 1,
	   "a switch in adds one to what was known: the scanner counts on it");
	is_int(ldb_seq_in(LDB_SEQ_UNKNOWN) & ldb_seq_out(ldb_seq_in(LDB_SEQ_UNKNOWN)) & LDB_SEQ_KNOWN,
	       LDB_SEQ_KNOWN, "and what was not known is");
	/*
	 * The test must find wrong values of seq if the KNOWN bit, or the check of on_rq, or both
	 * are missing.
	 */
	try_all(&before);
	ok(wrong, "without both it is inverted in some (%lu)", wrong);
	half = before;
	half.looks_at_on_rq = true;
	try_all(&half);
	ok(wrong, "with on_rq alone too (%lu)", wrong);
	half = now;
	half.looks_at_on_rq = false;
	try_all(&half);
	ok(wrong, "and with KNOWN alone (%lu)", wrong);
	return done();
}
