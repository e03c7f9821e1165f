// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests times off the CPU that are computed from the kernel's counters.  A thread is simulated tick
 * by tick; a tick is 1 ns.  Its counters are read at some times.  The computed times must be equal
 * to the simulated ones, to within the stated bounds.
 */
#include "facts/counters.h"
#include "facts/sched.h"
#include "analysis-sample.h"

#define MS	1000000

enum { ON, WAITS, SLEEPS, DISK };

struct phase {
	int what;
	int64_t length;
};

static struct made t;
static struct sched_off offs[64];
static unsigned nr_offs;
static struct sched_result result;

/* This is the simulated thread. */
static struct {
	const struct phase *phases;
	uint32_t tid;
} played;

struct state {
	uint64_t run, wait, done;	/* done: time of the waits that ended */
	uint32_t nr_runs, nr_sleeps;
	int what;
};

static struct state state_at(int64_t tick)
{
	struct state s = { .nr_runs = 1 };
	uint64_t wait = 0;
	int64_t at = 0;

	for (const struct phase *p = played.phases; p->length && at <= tick; at += p++->length) {
		int64_t part = tick - at < p->length ? tick - at : p->length;
		int before = p == played.phases ? ON : p[-1].what;

		s.what = p->what;
		if (p->what == ON) {
			s.run += part;
			s.nr_runs += before != ON;
			s.wait += wait;
			wait = 0;
		} else if (p->what == WAITS) {
			wait += part;
		}
		s.nr_sleeps += before == ON && (p->what == SLEEPS || p->what == DISK);
	}
	return s;
}

/*
 * Adds a reading of all counters at the tick.  ran: the thread has run after this tick; INT64_MIN:
 * not known.
 */
static void read_at(int64_t tick, int64_t ran, unsigned flags)
{
	static const unsigned states[] = {
		[ON] = LDB_STATE_RUNNING | LDB_SCHEDSTAT_F_ON_CPU, [WAITS] = LDB_STATE_RUNNING,
		[SLEEPS] = LDB_STATE_SLEEPING, [DISK] = LDB_STATE_DISK,
	};
	struct state s = state_at(tick);

	writer_add_schedstat(t.w, &(struct ldb_row_schedstat){
		.flags = states[s.what] | flags, .tid = played.tid, .tick = tick, .unc = 10, .ran = ran,
		.run_ns = 7 * MS + s.run, .wait_ns = 5 * MS + s.wait, .nr_runs = 40 + s.nr_runs,
		.nr_sleeps = 20 + s.nr_sleeps,
	});
}

static int on_off(void *arg, const struct sched_off *off)
{
	if (nr_offs < 64)
		offs[nr_offs++] = *off;
	return 0;
}

static void begin(const char *name, const struct phase *phases)
{
	made_begin(&t, name);
	made_thread(&t, 1, "worker", 0, 900 * MS);
	played.phases = phases;
	played.tid = 1;
}

static void end(void)
{
	struct sched_sink sink = { .off = on_off };

	nr_offs = 0;
	made_open(&t);
	if (sched_each(t.model, INT64_MIN, INT64_MAX, &sink, &result))
		bail_out("sched_each");
}

static void is_off(unsigned i, int64_t out, int64_t woken, int64_t in, int64_t within, const char *name)
{
	const struct sched_off *o = &offs[i];
	bool ok = i < nr_offs && llabs(o->out - out) <= within && llabs(o->woken - woken) <= within &&
		  llabs(o->in - in) <= within && o->resolution >= within && o->resolution <= within + 100;

	ok(ok, "%s", name);
	if (!ok)
		diag("%u of %u: %lld %lld %lld +-%lld", i, nr_offs, (long long)o->out, (long long)o->woken,
		     (long long)o->in, (long long)o->resolution);
}

/*
 * One sleep between two readings: all times are equal to the kernel's, to within the error of a
 * reading.
 */
static void test_exact(void)
{
	static const struct phase phases[] = {
		{ ON, 3 * MS }, { SLEEPS, 8 * MS }, { WAITS, 2 * MS }, { ON, 2 * MS },
		{ WAITS, 9 * MS }, { ON, 2 * MS }, { DISK, 4 * MS }, { ON, 2 * MS }, { 0, 0 },
	};

	begin("counters-exact", phases);
	read_at(2 * MS, INT64_MIN, LDB_SCHEDSTAT_F_SLEEPS);
	read_at(4 * MS, MS, LDB_SCHEDSTAT_F_SLEEPS);
	read_at(9 * MS, MS, 0);
	read_at(14 * MS, 13 * MS, 0);
	read_at(16 * MS, 13 * MS, LDB_SCHEDSTAT_F_SLEEPS);
	read_at(25 * MS, 24 * MS, 0);
	read_at(28 * MS, 25 * MS, LDB_SCHEDSTAT_F_SLEEPS);
	read_at(31 * MS, 30 * MS, 0);
	end();
	ok(t.model->has_sched && t.model->counters, "the counters are there in place of events");
	ok(nr_offs == 3, "three times off the CPU");
	is_off(0, 3 * MS, 11 * MS, 13 * MS, 0, "a sleep, and a wait for a CPU after it");
	ok(offs[0].state == LDB_STATE_SLEEPING && !offs[0].is_preempted, "it slept");
	is_off(1, 15 * MS, 15 * MS, 24 * MS, 0, "it was preempted");
	ok(offs[1].is_preempted && offs[1].next.kind == CONTEXT_NONE, "by nobody knows whom");
	is_off(2, 26 * MS, 30 * MS, 30 * MS, 0, "a sleep for the disk");
	ok(offs[2].state == LDB_STATE_DISK, "as its state says");
	ok(!counters_unplaced_ns(t.model->counters), "all of it has its place");
	made_close(&t);
}

/* The thread is off its CPU already at the first reading: it left after it was last observed. */
static void test_late(void)
{
	static const struct phase phases[] = {
		{ ON, 3 * MS }, { SLEEPS, 8 * MS }, { ON, 2 * MS }, { SLEEPS, MS }, { 0, 0 },
	};

	begin("counters-late", phases);
	read_at(4 * MS, 2 * MS, LDB_SCHEDSTAT_F_SLEEPS);
	read_at(12 * MS, 11 * MS, 0);
	read_at(13 * MS + MS / 2, 12 * MS, LDB_SCHEDSTAT_F_SLEEPS);
	end();
	ok(nr_offs == 2, "two times off the CPU");
	ok(offs[0].out - offs[0].resolution <= 3 * MS && offs[0].out + offs[0].resolution >= 3 * MS &&
	   offs[0].resolution <= MS + 10, "its begin, within the time since it was observed");
	ok(offs[0].in == 11 * MS && offs[0].has_out && offs[0].has_in, "its end");
	ok(offs[1].out == 13 * MS && !offs[1].has_in, "one that has not ended");
	made_close(&t);
}

/* Several sleeps between two readings become one, of the same total length. */
static void test_merged(void)
{
	static const struct phase phases[] = {
		{ ON, 2 * MS }, { SLEEPS, 3 * MS }, { ON, MS / 10 }, { SLEEPS, 3 * MS }, { WAITS, MS },
		{ ON, 2 * MS }, { WAITS, MS }, { ON, MS / 2 }, { WAITS, MS }, { ON, 9 * MS }, { 0, 0 },
	};
	int64_t first;

	begin("counters-merged", phases);
	read_at(MS, INT64_MIN, LDB_SCHEDSTAT_F_SLEEPS);
	read_at(3 * MS, MS, LDB_SCHEDSTAT_F_SLEEPS);
	read_at(10 * MS, 9 * MS + MS / 2, LDB_SCHEDSTAT_F_SLEEPS);
	read_at(11 * MS, 9 * MS + MS / 2, 0);
	read_at(14 * MS, 13 * MS, LDB_SCHEDSTAT_F_SLEEPS);
	end();
	first = offs[0].in - offs[0].out;
	ok(nr_offs == 2 && first == 7 * MS && offs[0].in - offs[0].woken == MS, "two sleeps are one");
	ok(offs[0].out == 2 * MS && offs[0].resolution >= MS / 10, "which may be off by what it ran in between");
	ok(offs[1].is_preempted && offs[1].in - offs[1].out == 2 * MS, "two waits are one");
	ok(offs[1].out - offs[1].resolution <= 11 * MS + MS / 10 &&
	   offs[1].in + offs[1].resolution >= 13 * MS + MS / 2 + MS / 10, "within its bounds");
	made_close(&t);
}

/* A sleep that could be anywhere in a long time is counted, but gets no place. */
static void test_unplaced(void)
{
	static const struct phase phases[] = {
		{ ON, 50 * MS }, { SLEEPS, MS }, { ON, 20 * MS }, { WAITS, MS }, { ON, 50 * MS },
		{ SLEEPS, 5 * MS }, { ON, 5 * MS }, { 0, 0 },
	};

	begin("counters-unplaced", phases);
	read_at(10 * MS, INT64_MIN, LDB_SCHEDSTAT_F_SLEEPS);
	read_at(100 * MS, INT64_MIN, LDB_SCHEDSTAT_F_SLEEPS);
	read_at(123 * MS, 121 * MS, LDB_SCHEDSTAT_F_SLEEPS);
	read_at(128 * MS, 127 * MS, 0);
	end();
	ok(counters_unplaced_ns(t.model->counters) == 2 * MS, "two milliseconds have no place");
	ok(nr_offs == 1, "the sleep that was observed has one");
	made_close(&t);
}

/*
 * The hypervisor takes the CPU in the middle of a wait: the counter of waits lacks this time, but
 * the number of sleeps shows that it was no sleep.
 */
static void test_stolen(void)
{
	struct ldb_row_schedstat row = {
		.flags = LDB_SCHEDSTAT_F_ON_CPU | LDB_SCHEDSTAT_F_SLEEPS, .tid = 1, .tick = MS, .unc = 10,
		.ran = INT64_MIN, .run_ns = MS, .wait_ns = MS, .nr_runs = 3, .nr_sleeps = 2,
	};

	begin("counters-stolen", NULL);
	writer_add_schedstat(t.w, &row);
	row.tick = 15 * MS;
	row.flags = LDB_SCHEDSTAT_F_SLEEPS;
	row.run_ns = 2 * MS;
	writer_add_schedstat(t.w, &row);
	row.tick = 17 * MS;
	row.flags = LDB_SCHEDSTAT_F_ON_CPU;
	row.run_ns = 3 * MS;
	row.wait_ns = 2 * MS;
	row.nr_runs = 4;
	row.ran = 16 * MS;
	writer_add_schedstat(t.w, &row);
	end();
	ok(nr_offs == 1 && offs[0].is_preempted && offs[0].out == 2 * MS && offs[0].in == 16 * MS,
	   "nothing of it was a sleep");
	made_close(&t);
}

/* A tid that is used again is another thread. */
static void test_again(void)
{
	static const struct phase phases[] = { { ON, MS }, { SLEEPS, 90 * MS }, { 0, 0 } };

	begin("counters-again", phases);
	read_at(MS / 2, INT64_MIN, LDB_SCHEDSTAT_F_SLEEPS);
	read_at(2 * MS, MS / 2, LDB_SCHEDSTAT_F_SLEEPS);
	read_at(4 * MS, MS / 2, 0);
	writer_add_schedstat(t.w, &(struct ldb_row_schedstat){
		.flags = LDB_SCHEDSTAT_F_ON_CPU, .tid = 1, .tick = 50 * MS, .ran = INT64_MIN, .run_ns = 9,
		.nr_runs = 1,
	});
	end();
	ok(nr_offs == 1 && offs[0].in == 4 * MS && !offs[0].has_in, "known to the last reading of the first");
	made_close(&t);
}

/* Rows that make no sense must yield times that are in order and do not overlap. */
static void test_hostile(void)
{
	unsigned nr_wrong = 0, nr_seen = 0;

	for (unsigned round = 0; round < 300; round++) {
		begin("counters-hostile", NULL);
		for (unsigned i = 0; i < 60; i++) {
			bool is_wild = round & 1;

			writer_add_schedstat(t.w, &(struct ldb_row_schedstat){
				.flags = sample_random() % 128, .tid = 1 + sample_random() % 2,
				.tick = is_wild ? (int64_t)sample_value() : (int64_t)(sample_random() % 100000),
				.unc = sample_random() % 100,
				.ran = is_wild ? (int64_t)sample_value() : (int64_t)(sample_random() % 100000),
				.run_ns = is_wild ? sample_value() : i * 1000, .wait_ns = is_wild ? sample_value() : i * 500,
				.nr_runs = is_wild ? sample_value() : i / 2, .nr_sleeps = sample_random() % 3,
			});
		}
		end();
		nr_seen += nr_offs;
		for (unsigned i = 0; i < nr_offs; i++) {
			const struct sched_off *o = &offs[i], *next = i + 1 < nr_offs ? o + 1 : NULL;

			nr_wrong += o->out > o->woken || o->woken > o->in || o->resolution < 0;
			nr_wrong += next && next->tid == o->tid && next->out < o->in;
		}
		made_close(&t);
	}
	ok(nr_seen > 1000, "hostile rows give some times off the CPU");
	ok(!nr_wrong, "in order, and none in another");
}

int main(void)
{
	test_exact();
	test_late();
	test_merged();
	test_unplaced();
	test_stolen();
	test_again();
	test_hostile();
	return done();
}
