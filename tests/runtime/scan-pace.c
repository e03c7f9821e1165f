// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests when the scanner polls and what it charges: scan/pace.c alone, with a clock that the
 * test sets.  The numbers are those of the head comment of pace.c; a tick is a third of a
 * nanosecond, so that a missing conversion shows.
 */
#include "scan/scan.h"
#include "tap.h"

#define TICKS	3ULL
#define LOOK	(400 * TICKS)	/* the most that a poll is charged */
#define FRAME	(120 * TICKS)	/* the most that a walked record is charged */
#define GAP	(1000 * TICKS)
#define AWAY	(500000 * TICKS)
#define BURST	(2000 * TICKS)
#define LIVE	(1000 * TICKS)
#define STEP	(100 * TICKS)	/* steps in which the wait after a change is prolonged */

struct session session;

static uint64_t now, step;
static struct ldb_rec written;
static unsigned nr_written;
static struct scanner scanner;
static struct ldb_scan_stats stats;
static struct ldb_page page;
static struct scan_state st;

uint64_t session_clock(void)
{
	return now += step;
}

uint64_t session_ticks(uint64_t ns)
{
	return ns * TICKS;
}

void ring_write_scan(unsigned id, struct ldb_rec *slots, unsigned nr)
{
	(void)id;
	written = slots[0];
	nr_written += nr;
}

static void begin(uint64_t clock_step, uint32_t budget_ppm)
{
	memset(&session, 0, sizeof(session));
	session.clock_id = LDB_CLOCK_MONO;
	session.budget_ppm = budget_ppm;
	step = clock_step;
	pace_init();
	step = 1;
	memset(&stats, 0, sizeof(stats));
	memset(&page, 0, sizeof(page));
	memset(&st, 0, sizeof(st));
	memset(&scanner, 0, sizeof(scanner));
	st.page = &page;
	scanner.stats = &stats;
	scanner.stamp = now = 1000000000;
	nr_written = 0;
}

static void gaps(void)
{
	begin(1, 50000);
	ok(!pace_is_gap(GAP) && pace_is_gap(GAP + 1),
	   "a microsecond without a poll is no gap, more is one");
	begin(GAP / 16 + 10, 50000);
	ok(!pace_is_gap(16 * (GAP / 16 + 10)) &&
	   pace_is_gap(16 * (GAP / 16 + 10) + 1),
	   "with a slow clock, the time that 16 stamps take is no gap");

	begin(1, 50000);
	scanner.id = 3;
	pace_stamp(&scanner, 1000000000 + GAP);
	is_int(nr_written, 0, "a stamp after a microsecond: nothing is written");
	is_int(scanner.stamp, 1000000000 + GAP, "a stamp is stored");
	pace_stamp(&scanner, scanner.stamp + GAP + 1);
	is_int(nr_written, 1, "a stamp after more than a microsecond: one record");
	ok(written.type == LDB_EV_GAP && written.tid == 0 && written.arg == 1000000000 + GAP &&
	   written.tsc == 1000000000 + 2 * GAP + 1, "it is a gap from the last stamp to this one");
	is_int(stats.gaps, 1, "a gap is counted");
	is_int(stats.gap_tsc, GAP + 1, "the length of a gap is counted");
	ok(!scanner.was_away && !scanner.was_off,
	   "after a short gap, no other task is thought to have run");
	pace_stamp(&scanner, scanner.stamp + AWAY);
	ok(!scanner.was_away, "nor after a gap of half a millisecond");
	ok(scanner.was_off, "after that, share.c is asked to check soon");
	pace_stamp(&scanner, scanner.stamp + AWAY + 1);
	ok(scanner.was_away, "after a longer gap, another task is thought to have run");
	is_int(stats.gaps, 3, "three gaps");
	is_int(stats.gap_tsc, GAP + 1 + 2 * AWAY + 1, "the lengths of three gaps are added up");
	pace_gap(&scanner, 77, 5, 9);
	ok(written.tid == 77 && written.arg == 5 && written.tsc == 9, "a thread's gap names it");
}

/* Charges one poll, and returns by how much the next one was delayed. */
static uint64_t put_off(uint64_t took, uint32_t frames)
{
	uint64_t before = st.next_poll = scanner.stamp + 1000;

	pace_pay(&scanner, &st, took, frames);
	return st.next_poll - before;
}

static void charges(void)
{
	begin(1, 50000);
	is_int(put_off(100, 0), 2 * 100 * 20,
	       "a poll is charged twice its duration, for a budget of a twentieth");
	is_int(stats.cost_tsc, 200, "the scanner counts what it cost");
	is_int(page.cost_tsc, 200, "the thread's page counts the same cost");
	is_int(put_off(LOOK / 2, 0), LOOK * 20, "a poll is charged 400 ns at most");
	is_int(put_off(LOOK / 2 + 1, 0), LOOK * 20, "a poll that takes longer is charged no more");
	is_int(put_off(100000, 3), (LOOK + 3 * FRAME) * 20, "120 ns more for each record walked");
	is_int(stats.cost_tsc, 200 + 2 * LOOK + LOOK + 3 * FRAME, "the scanner counts all of it");
	is_int(page.cost_tsc, stats.cost_tsc, "the thread's page has the same sum");
	session.budget_ppm = 999999;
	is_int(put_off(LOOK, 0), LOOK * 1000000 / 999999, "a budget of all but a millionth");
	session.budget_ppm = 1000000;
	is_int(put_off(100, 0), 0, "a budget of 100 %: no poll is delayed");
	begin(1, 0);
	is_int(session.budget_ppm, 1, "no budget is the smallest one");
	is_int(put_off(1, 0), 2000000,
	       "the smallest budget delays the next poll, but not for ever");
}

static void owes(void)
{
	begin(1, 50000);
	st.settling = true;
	is_int(put_off(100, 0), 0,
	       "a poll after which the thread is left alone delays nothing yet");
	is_int(st.owed, 200, "the cost of this poll is owed");
	is_int(stats.cost_tsc, 200, "the cost that is owed is counted");
	put_off(10, 0);
	is_int(st.owed, 220, "the cost of the next poll is owed as well");
	st.settling = false;
	is_int(put_off(100, 0), 420 * 20, "the walk is charged for all of them");
	is_int(st.owed, 0, "nothing is owed any more");
}

static void bursts(void)
{
	begin(1, 50000);
	st.next_poll = scanner.stamp - BURST;
	pace_pay(&scanner, &st, 1, 0);
	is_int(st.next_poll, scanner.stamp, "a quiet thread has saved up 2 us");
	st.next_poll = scanner.stamp - BURST;
	pace_pay(&scanner, &st, BURST / 40 + 1, 0);
	is_int(st.next_poll, scanner.stamp + 40,
	       "a poll that costs more than that delays the next one");
	st.next_poll = scanner.stamp - BURST - 1;
	pace_pay(&scanner, &st, BURST / 40 + 1, 0);
	is_int(st.next_poll, scanner.stamp + 40, "no more than that is saved up");
	st.next_poll = scanner.stamp - BURST + 1;
	pace_pay(&scanner, &st, BURST / 40 + 1, 0);
	is_int(st.next_poll, scanner.stamp + 41, "a shorter wait has saved up less");
	session.scan_interval = 5000;
	st.next_poll = scanner.stamp;
	pace_pay(&scanner, &st, 1, 0);
	is_int(st.next_poll, scanner.stamp + 5000,
	       "the next poll is not before the interval is over");
	st.next_poll = scanner.stamp + 5000;
	pace_pay(&scanner, &st, 1, 0);
	is_int(st.next_poll, scanner.stamp + 5040, "the next poll is later if its cost demands it");
}

/* A poll finds a change; the poll before it was at now - 1, and found a known state. */
static bool seen_change(void)
{
	st.looked = now - 1;
	return pace_settle(&st, now, true, false);
}

static void settles(void)
{
	begin(1, 50000);
	ok(!seen_change() && st.in_step && !st.settling,
	   "at first the stack is read at once after a change");
	st.settle = 2;
	st.in_step = false;
	ok(seen_change(), "a thread with a wait of two steps is left alone");
	ok(st.settling && st.in_step && st.next_poll == now + 2 * STEP,
	   "it is left alone for 200 ns");
	ok(!seen_change(), "after that its stack is read, changed or not");
	st.settling = false;
	st.looked = now - LIVE;
	ok(pace_settle(&st, now, true, false),
	   "the last poll was a microsecond ago: the change is fresh");
	st.settling = st.in_step = false;
	st.looked = now - LIVE - 1;
	ok(!pace_settle(&st, now, true, false) && !st.in_step,
	   "longer ago: it is not known when the change came");
	st.looked = now - 1;
	for (int i = 1; i <= 4; i++) {
		ok(pace_settle(&st, now, false, false) && st.settling && !st.in_step &&
		   st.next_poll == now + STEP, "its state is not known: it is left alone, %d", i);
	}
	ok(!pace_settle(&st, now, false, false), "it is left alone no more than four times");
	st.tries = 0;
	ok(!pace_settle(&st, now, false, true) && !st.in_step,
	   "it is not left alone if two polls have found the same state");
	is_int(st.tries, 0, "such a poll does not count as a try");
}

static void walk(bool valid, unsigned nr)
{
	while (nr--) {
		st.in_step = st.settling = true;
		st.tries = 1;
		pace_walked(&st, valid);
	}
}

static void learns(void)
{
	begin(1, 50000);
	st.in_step = false;
	st.settling = true;
	st.tries = 3;
	pace_walked(&st, false);
	ok(!st.settling && !st.tries && st.trust == 0 && st.settle == 0,
	   "a walk whose begin was not observed does not count, but is over");
	walk(false, 1);
	ok(!st.settling && !st.in_step && !st.tries, "a walk that counts is over as well");
	ok(st.settle == 1 && st.trust == 4,
	   "a failure without trust: the wait is prolonged, with new trust");
	walk(false, 2);
	ok(st.settle == 1 && st.trust == 0, "a failure takes two units of trust");
	walk(true, 1);
	walk(false, 1);
	ok(st.settle == 2 && st.trust == 4,
	   "a failure that finds too little trust prolongs the wait");
	walk(true, 4);
	is_int(st.trust, 8, "a walk that succeeds gives one unit of trust");
	walk(true, 1);
	ok(st.trust == 8 && st.trusted == 1,
	   "trust grows up to eight; further successes are counted");
	walk(false, 1);
	ok(st.trust == 6 && st.trusted == 0, "a failure ends this count");
	walk(true, 2 + 255);
	ok(st.settle == 2 && st.trusted == 255, "255 successes with full trust");
	walk(true, 1);
	ok(st.settle == 1 && st.trust == 4 && st.trusted == 0,
	   "256 successes: a shorter wait is tried");
	walk(true, 4 + 256);
	is_int(st.settle, 0, "the shortest wait is none");
	walk(true, 4 + 300);
	ok(st.settle == 0 && st.trusted == 0, "after that it remains none");
	for (unsigned i = 1; i <= 5; i++) {
		st.trust = 0;
		walk(false, 1);
		is_int(st.settle, i, "each failure without trust prolongs the wait");
	}
	st.trust = 0;
	walk(false, 1);
	is_int(st.settle, 0, "after the longest wait comes none");
	st.trust = 0;
	walk(true, 1);
	ok(st.trust == 1 && st.settle == 0, "a success without trust gives one unit");
}

int main(void)
{
	now = 1000000000;
	gaps();
	charges();
	owes();
	bursts();
	settles();
	learns();
	return done();
}
