// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Decides when to poll, and accounts for the cost of polling.  (raw thread)
 *
 * While (gen, top) do not change, their cache line stays shared and polling costs the program
 * nothing: the thread is polled again at once.  A poll that finds a change has transferred the line
 * from the program's CPU, and a walk transfers those of the records.  This costs the program about
 * as much time as the scanner: the same lines must be transferred back, and some more lines are
 * evicted from the program's caches.  So twice the scanner's time, up to a limit, is charged to the
 * thread's budget, and the thread is not polled until the charge is within the budget's share of
 * the time.  A thread that does not change for a while accumulates budget for a short burst of
 * changes.
 *
 * A thread that had not changed at the last poll and has changed now may be in the middle of a
 * burst of calls.  Each further poll takes away the line that the thread is writing, which prolongs
 * the burst, and no walk succeeds during the burst.  So the scanner waits before the walk (it lets
 * the thread settle).  The length of this pause is adapted to each thread: if walks after it fail,
 * the next longer pause is tried, and after the longest, none, because a long pause is as bad as a
 * short one if the next burst comes soon.  If walks have succeeded after a pause for a long time,
 * the next shorter one is tried.  Only walks count for which the scanner knows when the burst
 * began.  After a failed walk the thread's state is not known: the next walk waits until two polls
 * find the same state, or until TRIES_MAX polls have not.
 */
#include "scan.h"

/* at most the budget of this much time can be accumulated */
#define BURST_NS	2000
#define GAP_NS		1000		/* a longer time without a poll is reported as a gap */
#define GAP_STAMPS	16		/* if the clock is slow: this many stamps make no gap */
#define OFF_NS		8000		/* longer than most interrupts: perhaps another task ran */
/* longer than an interrupt: another task ran on the scanner's CPU */
#define AWAY_NS		500000
/* The most that is charged for a poll, and for each record: more time was an interruption. */
#define COST_LOOK_NS	400
#define COST_FRAME_NS	120

/* the time of a change is known if the last poll was this recent */
#define LIVE_NS		1000
#define SETTLE_STEP_NS	100
#define SETTLE_STEPS	6		/* 0 .. 500 ns */
/*
 * trust in the current pause: a failed walk subtracts 2, a valid one adds 1; < 0: change the pause
 */
#define TRUST_FIRST	4		/* trust in a new pause */
#define TRUST_MAX	8
/* polls that find a change before the walk is made anyway */
#define TRIES_MAX	4
/* after this many valid walks at TRUST_MAX a shorter pause is tried */
#define TRUST_LONG	256

static uint64_t cost_look, cost_frame, burst, gap_min, off_min, away_min;
static uint32_t live_max, settle_step;

/*
 * Returns the shortest observation gap, in ticks.  It is longer if the clock is slow, because a
 * poll takes a few time stamps, which cost microseconds if the clock needs a system call.
 */
static uint64_t shortest_gap(void)
{
	uint64_t least = session_ticks(GAP_NS), stamp = UINT64_MAX;

	for (int i = 0; i < GAP_STAMPS; i++) {
		uint64_t begin = scan_stamp(), took = scan_stamp() - begin;

		if (took < stamp)
			stamp = took;
	}
	return stamp * GAP_STAMPS > least ? stamp * GAP_STAMPS : least;
}

void pace_init(void)
{
	cost_look = session_ticks(COST_LOOK_NS);
	cost_frame = session_ticks(COST_FRAME_NS);
	burst = session_ticks(BURST_NS);
	gap_min = shortest_gap();
	off_min = session_ticks(OFF_NS);
	away_min = session_ticks(AWAY_NS);
	live_max = session_ticks(LIVE_NS);
	settle_step = session_ticks(SETTLE_STEP_NS);
	if (!session.budget_ppm)
		session.budget_ppm = 1;
}

bool pace_is_gap(uint64_t ticks)
{
	return ticks > gap_min;
}

void pace_gap(struct scanner *s, uint32_t tid, uint64_t begin, uint64_t end)
{
	struct ldb_rec r = {
		.tsc = end, .tid = tid, .type = LDB_EV_GAP, .arg = begin,
	};

	ring_write_scan(s->id, &r, 1);
}

void pace_stamp(struct scanner *s, uint64_t now)
{
	if (unlikely(now - s->stamp > gap_min)) {
		pace_gap(s, 0, s->stamp, now);
		s->stats->gaps++;
		s->stats->gap_tsc += now - s->stamp;
		if (now - s->stamp > away_min)
			s->was_away = true;
		if (now - s->stamp > off_min)
			s->was_off = true;
	}
	s->stamp = now;
}

bool pace_settle(struct scan_state *st, uint64_t lo, bool known, bool still)
{
	if (st->settling && st->in_step)
		return false;	/* the pause is over */
	if (lo - st->looked > live_max)
		return false;	/* the time of the change is not known */
	st->in_step = known;
	if (known ? !st->settle : still || ++st->tries > TRIES_MAX)
		return false;
	st->settling = true;
	st->next_poll = lo + (known ? st->settle : 1) * settle_step;
	return true;
}

void pace_walked(struct scan_state *st, bool valid)
{
	bool counts = st->in_step;

	st->settling = st->in_step = false;
	st->tries = 0;
	if (!counts)
		return;
	if (!valid) {
		st->trust -= 2;
		st->trusted = 0;
		if (st->trust < 0) {
			st->settle = (st->settle + 1) % SETTLE_STEPS;
			st->trust = TRUST_FIRST;
		}
	} else if (st->trust < TRUST_MAX) {
		st->trust++;
	} else if (st->settle && ++st->trusted >= TRUST_LONG) {
		st->settle--;
		st->trust = TRUST_FIRST;
		st->trusted = 0;
	}
}

void pace_pay(struct scanner *s, struct scan_state *st, uint64_t took, uint32_t frames)
{
	uint64_t most = cost_look + cost_frame * frames;
	uint64_t cost = took * 2, now = s->stamp;

	if (cost > most)
		cost = most;
	s->stats->cost_tsc += cost;
	st->page->cost_tsc += cost;
	if (st->settling) {
		/* charged after the walk, so that it does not delay the walk */
		st->owed += cost;
		return;
	}
	cost += st->owed;
	st->owed = 0;
	if (session.budget_ppm < 1000000) {
		if (st->next_poll + burst < now)
			st->next_poll = now - burst;
		st->next_poll += cost * 1000000 / session.budget_ppm;
	}
	if (st->next_poll < now + session.scan_interval)
		st->next_poll = now + session.scan_interval;
}
