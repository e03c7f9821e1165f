// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests kernel events: which thread was off which CPU, why, and which tasks ran meanwhile. */
#include "facts/sched.h"
#include "facts/sched-log.h"
#include "facts/tasks.h"
#include "analysis-sample.h"

#define HOG	900
#define CRON	901

enum { R = LDB_STATE_RUNNING, S = LDB_STATE_SLEEPING, D = LDB_STATE_DISK, X = LDB_STATE_DEAD };

struct kept {
	struct sched_off off;
	struct sched_span spans[SCHED_SPANS_MAX];
};

static struct made t;
static struct kept offs[64];
static struct sched_run runs[64];
static struct sched_migration migrations[64];
static unsigned nr_offs, nr_runs, nr_migrations, nr_born;
static struct sched_result result;

static int on_off(void *arg, const struct sched_off *off)
{
	if (nr_offs == 64)
		return 0;
	offs[nr_offs].off = *off;
	memcpy(offs[nr_offs].spans, off->spans, off->nr_spans * sizeof(*off->spans));
	offs[nr_offs].off.spans = offs[nr_offs].spans;
	nr_offs++;
	return 0;
}

static int on_run(void *arg, const struct sched_run *run)
{
	if (nr_runs < 64)
		runs[nr_runs++] = *run;
	return 0;
}

static int on_migration(void *arg, const struct sched_migration *m)
{
	if (nr_migrations < 64)
		migrations[nr_migrations++] = *m;
	return 0;
}

static int on_born(void *arg, uint32_t tid, int64_t tick)
{
	nr_born++;
	return 0;
}

static void play_part(int64_t from, int64_t to)
{
	struct sched_sink sink = {
		.off = on_off, .run = on_run, .migration = on_migration, .born = on_born,
	};

	nr_offs = nr_runs = nr_migrations = nr_born = 0;
	if (sched_each(t.model, from, to, &sink, &result))
		bail_out("sched_each");
}

static void play(void)
{
	made_open(&t);
	play_part(INT64_MIN, INT64_MAX);
}

/* Returns the nth time off the CPU of a thread; all zeros if there is none. */
static const struct sched_off *off(uint32_t tid, unsigned nth)
{
	static const struct sched_off none;

	for (unsigned i = 0; i < nr_offs; i++)
		if (offs[i].off.tid == tid && !nth--)
			return &offs[i].off;
	return &none;
}

static bool is_at(const struct sched_off *o, int64_t out, int64_t woken, int64_t in)
{
	if (o->out == out && o->woken == woken && o->in == in)
		return true;
	diag("got %ld %ld %ld, want %ld %ld %ld", (long)o->out, (long)o->woken, (long)o->in,
	     (long)out, (long)woken, (long)in);
	return false;
}

static int64_t had(const struct sched_off *o, enum context_kind kind, uint32_t tid)
{
	int64_t ticks = 0;

	for (unsigned i = 0; i < o->nr_spans; i++)
		if (o->spans[i].kind == kind && o->spans[i].tid == tid)
			ticks += o->spans[i].end - o->spans[i].start;
	return ticks;
}

static void test_preempted(void)
{
	const struct sched_off *o;

	made_begin(&t, "preempted.data");
	made_switch(&t, .tick = 1000, .cpu = 3, .state = R, .next = 1);
	made_switch(&t, .tick = 2000, .cpu = 3, .prev = 1, .state = R, .next = HOG, .gen = 7);
	made_switch(&t, .tick = 5000, .cpu = 3, .prev = HOG, .state = S, .next = CRON);
	made_switch(&t, .tick = 5500, .cpu = 3, .prev = CRON, .state = R, .next = HOG);
	made_switch(&t, .tick = 9000, .cpu = 3, .prev = HOG, .state = R, .next = 1);
	made_switch(&t, .tick = 9500, .cpu = 3, .prev = 1, .state = S | LDB_SCHED_F_PREEMPT,
		    .gen = 8);
	made_switch(&t, .tick = 9900, .cpu = 3, .state = R, .next = 1);
	made_switch(&t, .tick = 10000, .cpu = 3, .prev = 1, .state = X);
	play();
	o = off(1, 1);
	ok(is_at(o, 2000, 2000, 9000) && o->is_preempted && o->has_out && o->has_in && o->has_woken,
	   "runnable when it left: preempted");
	ok(o->next.kind == CONTEXT_TASK && o->next.tid == HOG, "by who came");
	ok(o->gen == GEN(7) && o->cpu_out == 3 && o->cpu_in == 3, "the frame, the CPU");
	ok(had(o, CONTEXT_TASK, HOG) == 6500 && had(o, CONTEXT_TASK, CRON) == 500,
	   "both running tasks");
	o = off(1, 2);
	ok(o->is_preempted && had(o, CONTEXT_IDLE, 0) == 400,
	   "preempted on its way to sleep is preempted, even if nobody came");
	ok(nr_runs == 3 && runs[0].start == 1000 && runs[0].end == 2000 && runs[0].has_start &&
	   runs[2].end == 10000, "the times it ran");
	ok(!off(1, 0)->has_out && off(1, 0)->in == 1000, "before the first row: begin not known");
	is_int(nr_offs, 3, "a thread that exits is not off the CPU");
	is_int(result.nr_broken, 0, "nothing is missing");
	made_close(&t);
}

static void test_blocked(void)
{
	const struct sched_off *o;

	made_begin(&t, "blocked.data");
	made_switch(&t, .tick = 900, .state = R, .next = 1);
	made_switch(&t, .tick = 900, .cpu = 1, .state = R, .next = 2);
	made_switch(&t, .tick = 1000, .prev = 1, .state = S);
	made_waking(&t, .tick = 4000, .cpu = 1, .waker = 2, .woken = 1);
	made_migrate(&t, .tick = 4050, .tid = 1, .to = 2);
	made_wakeup(&t, .tick = 4100, .cpu = 2, .woken = 1, .running = HOG);
	made_switch(&t, .tick = 7000, .cpu = 2, .prev = HOG, .state = R, .next = CRON);
	made_migrate(&t, .tick = 7500, .tid = 1, .from = 2, .to = 5);
	made_switch(&t, .tick = 8000, .cpu = 5, .prev = CRON, .state = S, .next = 1);
	made_switch(&t, .tick = 9000, .cpu = 5, .prev = 1, .state = D);
	made_waking(&t, .tick = 9100, .cpu = 5, .waker = 1, .flags = LDB_SCHED_F_HARDIRQ,
		    .woken = 1);
	made_wakeup(&t, .tick = 9200, .cpu = 5, .woken = 1);
	made_switch(&t, .tick = 9300, .cpu = 5, .state = R, .next = 1);
	play();
	o = off(1, 1);
	ok(is_at(o, 1000, 4100, 8000) && !o->is_preempted && o->state == S, "asleep, then runnable");
	ok(o->waker.kind == CONTEXT_TASK && o->waker.tid == 2, "the waker");
	ok(had(o, CONTEXT_TASK, HOG) == 2900, "the task that ran on the CPU on which it was woken");
	/* For CPU 5 only the leaving task was recorded. */
	ok(had(o, CONTEXT_TASK, CRON) == 500 + 500, "the task that came to it, and the one on the next CPU");
	ok(o->cpu_out == 0 && o->cpu_wait == 5 && o->cpu_in == 5 && o->nr_migrations == 2, "the CPUs");
	ok(nr_migrations == 2 && migrations[1].from == 2 && migrations[1].to == 5 &&
	   migrations[1].tick == 7500, "migrations");
	o = off(1, 2);
	ok(o->state == D && o->waker.kind == CONTEXT_HARDIRQ && !o->waker.tid,
	   "the disk, and an interrupt: not who was interrupted");
	is_int(had(o, CONTEXT_IDLE, 0), 100, "the CPU was idle");
	made_close(&t);
}

/*
 * A thread sleeps until 2000, and comes at 3000 to a CPU; until then the hypervisor had taken that
 * CPU.
 */
static void play_stolen(uint32_t stolen)
{
	made_begin(&t, "stolen.data");
	made_switch(&t, .tick = 900, .state = R, .next = 1);
	made_switch(&t, .tick = 1000, .prev = 1, .state = S);
	made_waking(&t, .tick = 2000, .cpu = 1, .waker = 2, .woken = 1);
	made_wakeup(&t, .tick = 2000, .woken = 1);
	made_switch(&t, .tick = 2300, .state = R, .next = HOG);
	made_switch(&t, .tick = 2500, .prev = HOG, .state = S);
	made_switch(&t, .tick = 3000, .state = R, .next = 1, .stolen = stolen);
	play();
}

static bool had_all(const struct sched_off *o, int64_t idle, int64_t stolen)
{
	bool is_right = had(o, CONTEXT_IDLE, 0) == idle && had(o, CONTEXT_STOLEN, 0) == stolen &&
			had(o, CONTEXT_TASK, HOG) == 200;

	for (unsigned i = 1; i < o->nr_spans; i++)
		is_right &= o->spans[i].start == o->spans[i - 1].end;
	if (!is_right)
		diag("idle %ld, stolen %ld, hog %ld", (long)had(o, CONTEXT_IDLE, 0),
		     (long)had(o, CONTEXT_STOLEN, 0), (long)had(o, CONTEXT_TASK, HOG));
	return is_right;
}

static void test_stolen(void)
{
	play_stolen(0);
	ok(had_all(off(1, 1), 800, 0), "nothing was stolen");
	made_close(&t);
	play_stolen(100);
	ok(had_all(off(1, 1), 700, 100) && off(1, 1)->spans[off(1, 1)->nr_spans - 1].start == 2900,
	   "stolen at last");
	made_close(&t);
	play_stolen(600);
	ok(had_all(off(1, 1), 200, 600), "more than the last idle time, which was all stolen");
	made_close(&t);
	play_stolen(5000);
	ok(had_all(off(1, 1), 0, 800), "a task's time is not stolen from who waits");
	made_close(&t);
}

/* A task that ran on a CPU while no thread waited for the CPU need not still run there. */
static void test_stale(void)
{
	made_begin(&t, "stale.data");
	made_switch(&t, .tick = 900, .state = R, .next = 1);
	made_switch(&t, .tick = 900, .cpu = 1, .state = R, .next = 2);
	made_switch(&t, .tick = 1000, .cpu = 1, .prev = 2, .state = S, .next = HOG);
	made_switch(&t, .tick = 2000, .prev = 1, .state = R, .next = HOG + 5);
	made_migrate(&t, .tick = 3000, .tid = 1, .to = 1);
	made_switch(&t, .tick = 9000, .cpu = 1, .prev = CRON, .state = R, .next = 1);
	play();
	ok(had(off(1, 1), CONTEXT_TASK, CRON) == 6000 && had(off(1, 1), CONTEXT_TASK, HOG + 5) == 1000,
	   "a CPU that it was moved to: the task that left that CPU ran there");
	made_close(&t);
}

/* Missing rows must not be replaced by guesses. */
static void test_losses(void)
{
	const struct sched_off *o;

	made_begin(&t, "losses.data");
	writer_add_meta(t.w, "nr_cpus", "4");
	made_switch(&t, .tick = 1000, .state = R, .next = 1);
	made_switch(&t, .tick = 2000, .prev = 1, .state = S);
	made_wakeup(&t, .tick = 3000, .woken = 1, .running = HOG);
	/* Thread 1 came to the CPU at 3500, but the row was lost. */
	made_switch(&t, .tick = 9000, .prev = 1, .state = R, .next = HOG);
	/* An unknown task ran after the hog. */
	made_switch(&t, .tick = 12000, .prev = CRON, .state = R, .next = 1);
	/* The row of thread 1's leaving the CPU was lost. */
	made_switch(&t, .tick = 20000, .state = R, .next = 1);
	made_switch(&t, .tick = 21000, .prev = 1, .state = S);
	made_switch(&t, .tick = 2000, .cpu = 1, .prev = 2, .state = S);
	writer_add_lost(t.w, &(struct ldb_row_lost){ .tick = 9500, .ring = 0, .count = 2,
						     .what = LDB_LOST_OVERRUN });
	writer_add_lost(t.w, &(struct ldb_row_lost){ .tick = 900000000, .ring = 9, .count = 2,
						     .what = LDB_LOST_OVERRUN });
	made_thread(&t, 1, "main", 0, 1000000000);
	play();
	o = off(1, 1);
	ok(is_at(o, 2000, 3000, 3000) && !o->has_in && o->has_woken,
	   "no switch in: it ends with what is known");
	o = off(1, 2);
	ok(is_at(o, 9000, 9000, 12000) && had(o, CONTEXT_NONE, 0) == 3000 &&
	   !had(o, CONTEXT_TASK, HOG) && !had(o, CONTEXT_TASK, CRON),
	   "a switch between two running tasks is missing: nobody is blamed");
	is_int(result.nr_broken, 2, "broken ones are counted");
	ok(off(1, 1)->has_lost && off(1, 2)->has_lost, "losses are about then");
	ok(is_at(off(1, 3), 21000, 1000000000, 1000000000) && !off(1, 3)->has_in &&
	   !off(1, 3)->has_woken && !off(1, 3)->has_lost,
	   "asleep at the end; a scanner's ring is none of the kernel's");
	ok(nr_runs && runs[nr_runs - 1].start == 20000, "after a lost switch out the time is not known");
	for (unsigned i = 0; i < nr_runs; i++)
		if (runs[i].start == 12000)
			ok(false, "what the thread did from 12000 on is not known");
	made_close(&t);
}

static void test_futex(void)
{
	const struct sched_off *o;

	made_begin(&t, "futex.data");
	made_switch(&t, .tick = 900, .state = R, .next = 1);
	made_switch(&t, .tick = 900, .cpu = 1, .state = R, .next = 2);
	made_futex_wait(&t, .tick = 1000, .tid = 1, .addr = 0x7000, .owner = 2);
	/* preempted in between */
	made_switch(&t, .tick = 1500, .prev = 1, .state = R, .next = HOG);
	made_switch(&t, .tick = 5000, .prev = HOG, .state = S, .next = 1);
	made_switch(&t, .tick = 6000, .prev = 1, .state = S);
	made_futex_wake(&t, .tick = 7000, .cpu = 1, .tid = 2, .addr = 0x7000);
	made_waking(&t, .tick = 7010, .cpu = 1, .waker = 2, .woken = 1);
	made_wakeup(&t, .tick = 7020, .woken = 1);
	made_switch(&t, .tick = 7030, .state = R, .next = 1);
	/* The futex wait and the sleep do not belong together: the sleep came much later. */
	made_futex_wait(&t, .tick = 8000, .tid = 1, .addr = 0x7000, .owner = 2);
	made_switch(&t, .tick = 8000 + 2 * SCHED_FUTEX_NS, .prev = 1, .state = S);
	made_wakeup(&t, .tick = 500000, .woken = 1);
	made_switch(&t, .tick = 500010, .state = R, .next = 1);
	made_futex_wait(&t, .tick = 500020, .tid = 1, .addr = 0x7000, .owner = 2);
	made_switch(&t, .tick = 500030, .prev = 1, .state = D);
	made_wakeup(&t, .tick = 600000, .woken = 1);
	made_switch(&t, .tick = 600010, .state = R, .next = 1);
	made_switch(&t, .tick = 600020, .prev = 1, .state = S);
	/* This sleep comes just as late, but a wake of the futex ended it. */
	made_wakeup(&t, .tick = 700000, .woken = 1);
	made_switch(&t, .tick = 700010, .state = R, .next = 1);
	made_futex_wait(&t, .tick = 700020, .tid = 1, .addr = 0x7000, .owner = 2);
	made_switch(&t, .tick = 700020 + 2 * SCHED_FUTEX_NS, .prev = 1, .state = S);
	made_futex_wake(&t, .tick = 1200000, .cpu = 1, .tid = 2, .addr = 0x7000);
	made_waking(&t, .tick = 1200010, .cpu = 1, .waker = 2, .woken = 1);
	made_wakeup(&t, .tick = 1200020, .woken = 1);
	made_switch(&t, .tick = 1200030, .state = R, .next = 1);
	made_switch(&t, .tick = 1300000, .prev = 1, .state = S);
	play();
	ok(off(1, 6)->nr_futexes == 1 && off(1, 6)->is_futex_woken, "late, but woken by FUTEX_WAKE: it is that sleep");
	ok(off(1, 1)->is_preempted && !off(1, 1)->nr_futexes, "a preemption is no wait for the futex");
	o = off(1, 2);
	ok(o->nr_futexes == 1 && o->futex == 0x7000 && o->owner == 2 && o->is_futex_woken &&
	   o->futex_tick == 1000, "the sleep after it is");
	ok(!off(1, 3)->nr_futexes, "long after the call it is another sleep");
	ok(!off(1, 4)->nr_futexes && off(1, 4)->state == D, "nobody waits for a futex in state D");
	ok(!off(1, 5)->nr_futexes, "a call is good for one sleep");
	made_close(&t);
}

static void test_futex_kinds(void)
{
	const struct sched_off *o;
	struct ldb_row_sched row = {
		.op = LDB_SCHED_OP_FUTEX_WAIT, .flags = LDB_FUTEX_WAITV, .tick = 1000, .tid = 1,
	};

	made_begin(&t, "futex-kinds.data");
	made_switch(&t, .tick = 900, .state = R, .next = 1);
	for (row.addr = 0x7000; row.addr < 0x7000 + 12; row.addr++, row.tick++)
		writer_add_sched(t.w, &row);
	made_switch(&t, .tick = 1100, .prev = 1, .state = S);
	made_futex_wake(&t, .tick = 2000, .cpu = 1, .tid = 2, .addr = 0x7003);
	made_waking(&t, .tick = 2010, .cpu = 1, .waker = 2, .woken = 1);
	made_wakeup(&t, .tick = 2020, .woken = 1);
	made_switch(&t, .tick = 2030, .state = R, .next = 1);
	row = (struct ldb_row_sched){
		.op = LDB_SCHED_OP_FUTEX_WAIT, .flags = LDB_FUTEX_PI | LDB_FUTEX_F_WORDS,
		.tick = 3000, .tid = 1, .addr = 0x8000, .other = 77, .value = 0x80000005,
	};
	writer_add_sched(t.w, &row);
	made_switch(&t, .tick = 3100, .prev = 1, .state = S);
	made_waking(&t, .tick = 4000, .cpu = 1, .waker = 2, .woken = 1);
	made_wakeup(&t, .tick = 4020, .woken = 1);
	made_switch(&t, .tick = 4030, .state = R, .next = 1);
	row.flags = LDB_FUTEX_PLAIN;
	row.tick = 5000;
	writer_add_sched(t.w, &row);
	made_switch(&t, .tick = 5100, .prev = 1, .state = S);
	play();
	o = off(1, 1);
	ok(o->nr_futexes == SCHED_FUTEXES_MAX && o->futex == 0x7003 && o->is_futex_woken,
	   "futex_waitv(): the address that was woken");
	o = off(1, 2);
	ok(o->futex == 0x8000 && o->owner == 5 && !o->is_futex_woken, "PI: the owner is in the word");
	ok(off(1, 3)->futex == 0x8000 && !off(1, 3)->owner, "words that could not be read say nothing");
	made_close(&t);
}

/* A wake-up on another CPU has a stamp before the switch; a thread is woken before it sleeps. */
static void test_races(void)
{
	made_begin(&t, "races.data");
	made_switch(&t, .tick = 900, .state = R, .next = 1);
	made_waking(&t, .tick = 1980, .cpu = 1, .waker = 2, .woken = 1);
	made_wakeup(&t, .tick = 1990, .woken = 1);
	made_switch(&t, .tick = 2000, .prev = 1, .state = S);
	made_switch(&t, .tick = 2500, .state = R, .next = 1);
	made_waking(&t, .tick = 3000, .cpu = 1, .waker = 2, .woken = 1);
	made_wakeup(&t, .tick = 3010, .woken = 1, .running = 1);
	made_switch(&t, .tick = 1000000, .prev = 1, .state = S);
	made_switch(&t, .tick = 1000500, .state = R, .next = 1);
	/* There is a WAKING row, but no WAKEUP row. */
	made_switch(&t, .tick = 2000000, .prev = 1, .state = S);
	made_waking(&t, .tick = 2000300, .cpu = 1, .waker = 2, .woken = 1);
	made_switch(&t, .tick = 2000500, .state = R, .next = 1);
	play();
	ok(is_at(off(1, 1), 2000, 2000, 2500) && off(1, 1)->has_woken && off(1, 1)->waker.tid == 2,
	   "woken just before it left");
	ok(is_at(off(1, 2), 1000000, 1000500, 1000500) && !off(1, 2)->has_woken &&
	   off(1, 2)->waker.kind == CONTEXT_NONE, "a wake-up of long before is not its own");
	ok(is_at(off(1, 3), 2000000, 2000300, 2000500) && off(1, 3)->waker.tid == 2,
	   "the waker alone tells when");
	made_close(&t);
}

static void test_births(void)
{
	struct ldb_row_sched row = {
		.op = LDB_SCHED_OP_WAKEUP, .flags = LDB_SCHED_F_NEW, .tick = 1000, .tid = 5,
		.other = HOG, .cpu = 2, .value = 2,
	};

	made_begin(&t, "births.data");
	made_sched(&t, &row);
	made_switch(&t, .tick = 3000, .cpu = 2, .prev = HOG, .state = R, .next = 5);
	made_switch(&t, .tick = 4000, .cpu = 2, .prev = 5, .state = X, .next = HOG);
	row.tick = 8000;
	made_sched(&t, &row);
	made_switch(&t, .tick = 9000, .cpu = 2, .prev = HOG, .state = R, .next = 5);
	/* Thread 6 calls exec(): it continues as the leader, 5. */
	made_switch(&t, .tick = 9500, .cpu = 3, .state = R, .next = 6);
	writer_add_sched(t.w, &(struct ldb_row_sched){
		.op = LDB_SCHED_OP_EXEC, .tick = 10000, .tid = 5, .other = 6 });
	made_switch(&t, .tick = 11000, .cpu = 3, .prev = 5, .state = S);
	play();
	ok(is_at(off(5, 0), 1000, 1000, 3000) && off(5, 0)->is_new &&
	   had(off(5, 0), CONTEXT_TASK, HOG) == 2000, "a new thread waits for its first time");
	ok(is_at(off(5, 1), 8000, 8000, 9000), "a tid that is used again");
	is_int(nr_born, 3, "is another thread, and so is who called exec()");
	ok(nr_runs == 4 && runs[2].tid == 6 && runs[2].end == 10000 && runs[3].tid == 5 &&
	   runs[3].start == 10000 && runs[3].end == 11000, "which goes on under another tid");
	made_close(&t);
}

static void test_hidden(void)
{
	const struct sched_off *o;

	made_begin(&t, "hidden.data");
	made_switch(&t, .tick = 900, .state = R, .next = 1);
	made_switch(&t, .tick = 1000, .prev = 1, .state = R | LDB_SCHED_F_HIDDEN);
	made_switch(&t, .tick = 2000, .state = R | LDB_SCHED_F_HIDDEN, .next = 1);
	play();
	o = off(1, 1);
	ok(o->next.kind == CONTEXT_HIDDEN && had(o, CONTEXT_HIDDEN, 0) == 1000 && !had(o, CONTEXT_IDLE, 0),
	   "a hidden task is not an idle CPU");
	made_close(&t);
}

/*
 * Rows are nearly in order; a part of the trace is read; there are more running tasks than are
 * retained.
 */
static void test_order(void)
{
	const struct sched_off *o;
	int64_t sum = 0;

	made_begin(&t, "order.data");
	made_switch(&t, .tick = 9000, .prev = HOG, .state = R, .next = 1);
	made_switch(&t, .tick = 2000, .prev = 1, .state = R, .next = HOG);
	made_switch(&t, .tick = 1000, .state = R, .next = 1);
	made_thread(&t, 1, "main", 0, 20000);
	play();
	ok(is_at(off(1, 1), 2000, 2000, 9000), "rows are sorted");
	ok(nr_runs == 2 && runs[1].end == 20000 && !runs[1].has_end, "running at the end");
	play_part(1500, 5000);
	ok(is_at(off(1, 0), 2000, 2000, 5000) && !off(1, 0)->has_in && nr_runs == 1 &&
	   runs[0].start == 1500 && !runs[0].has_start, "a part: what is cut off is said to be");
	made_close(&t);

	made_begin(&t, "storm.data");
	made_switch(&t, .tick = 1000, .prev = 1, .state = R, .next = 200);
	for (int i = 0; i < 200; i++)
		made_switch(&t, .tick = 1100 + i * 100, .prev = 200 + i, .state = R,
			    .next = i < 199 ? 201 + i : 1);
	play();
	o = off(1, 0);
	for (unsigned i = 0; i < o->nr_spans; i++)
		sum += o->spans[i].end - o->spans[i].start;
	ok(o->nr_spans == SCHED_SPANS_MAX && sum <= o->in - o->out && is_at(o, 1000, 1000, 21000),
	   "as many running tasks as are retained");
	made_close(&t);
}

static void test_tasks(void)
{
	struct context p = { .kind = CONTEXT_TASK, .tid = HOG };
	struct context own = { .kind = CONTEXT_TASK, .tid = 7 };

	made_begin(&t, "tasks.data");
	writer_add_meta(t.w, "pid", "6");
	writer_add_task(t.w, &(struct ldb_row_task){ HOG, 899, 0, 1000, "hog" });
	writer_add_task(t.w, &(struct ldb_row_task){ HOG, 950, 0, 5000, "other" });
	made_thread(&t, 7, "worker", 0, 1000);
	made_open(&t);
	context_identify(t.model, &p, 4999);
	ok(!strcmp(p.name, "hog") && p.pid == 899, "who had the tid then");
	context_identify(t.model, &p, 5000);
	ok(!strcmp(p.name, "other") && p.pid == 950, "and later");
	context_identify(t.model, &p, 10);
	is_str(p.name, "hog", "before its first row: that one");
	context_identify(t.model, &own, 10);
	ok(!strcmp(own.name, "worker") && own.pid == 6, "the program's own");
	own.tid = 8;
	own.pid = 0;
	context_identify(t.model, &own, 10);
	ok(!strcmp(own.name, "") && !own.pid, "not known");
	made_close(&t);
}

/* There is one task more than are retained. */
static void test_many_tasks(void)
{
	enum { MOST = 1048576 };
	const struct task *last;
	struct tasks *tasks;

	made_begin(&t, "many-tasks.data");
	for (uint32_t i = 0; i <= MOST; i++)
		writer_add_task(t.w, &(struct ldb_row_task){ 1000 + i, 7, 0, i, "many" });
	made_open(&t);
	tasks = tasks_open(t.model);
	if (!tasks)
		bail_out("tasks_open");
	last = tasks_find(tasks, 1000 + MOST - 1, INT64_MAX);
	ok(last && !strcmp(last->name, "many"), "a million tasks have names");
	ok(!tasks_find(tasks, 1000 + MOST, INT64_MAX), "the next one has none");
	tasks_close(tasks);
	made_close(&t);
}

/* The names of a pool's threads, and of a kernel thread per CPU or node, differ by a number. */
static void test_stems(void)
{
	static const struct { const char *name; size_t stem; } cases[] = {
		{ "worker-12", 6 }, { "kdamond.0", 7 }, { "ksoftirqd/1", 9 }, { "io 3", 2 },
		{ "worker", 6 }, { "worker-", 7 }, { "17", 2 }, { "-1", 2 }, { "", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_int(tasks_stem(cases[i].name), cases[i].stem, cases[i].name);
}

/*
 * Reads [from, to] by way of the log, and returns true if the sink got what it got from
 * play_part().
 */
static bool is_logged(int64_t from, int64_t to)
{
	struct sched_sink sink = { .off = on_off, .migration = on_migration };
	struct sched_result direct;
	struct kept wanted[64];
	unsigned nr, nr_moved;
	bool is_same;

	play_part(from, to);
	nr = nr_offs;
	nr_moved = nr_migrations;
	direct = result;
	memcpy(wanted, offs, sizeof(wanted));
	nr_offs = nr_migrations = 0;
	if (sched_log_each(t.model, from, to, &sink, &result))
		bail_out("sched_log_each");
	is_same = nr == nr_offs && nr_moved == nr_migrations && direct.nr_rows == result.nr_rows &&
		  direct.nr_broken == result.nr_broken;
	for (unsigned i = 0; i < nr && is_same; i++)
		is_same = is_at(&offs[i].off, wanted[i].off.out, wanted[i].off.woken, wanted[i].off.in) &&
			  offs[i].off.tid == wanted[i].off.tid && offs[i].off.nr_spans == wanted[i].off.nr_spans &&
			  !memcmp(offs[i].spans, wanted[i].spans, wanted[i].off.nr_spans * sizeof(struct sched_span));
	return is_same;
}

static void test_log(void)
{
	const struct sched_off *o;
	bool is_same;

	made_begin(&t, "log.data");
	for (int i = 0; i < 20; i++) {
		made_switch(&t, .tick = 1000 + 100 * i, .cpu = 3, .prev = 1 + i % 3, .state = R, .next = HOG);
		made_switch(&t, .tick = 1040 + 100 * i, .cpu = 3, .prev = HOG, .state = S, .next = CRON);
		made_switch(&t, .tick = 1050 + 100 * i, .cpu = 3, .prev = CRON, .state = R, .next = 1 + (i + 1) % 3);
	}
	made_migrate(&t, .tick = 3000, .tid = 1, .from = 3, .to = 4);
	made_open(&t);
	is_same = is_logged(0, 4000);
	o = off(2, 1);
	ok(is_same && nr_offs > 20 && nr_migrations == 1 && had(o, CONTEXT_TASK, HOG) > 0,
	   "a pass that is recorded passes on the same");
	ok(is_logged(0, 4000) && is_logged(0, 4000), "and passes that replay it do");
	ok(is_logged(1500, 2500) && is_logged(1500, 2500) && is_logged(1500, 2000), "another range replaces it");
	sched_log_end(t.model);
	ok(is_logged(1500, 2000), "it can be used again after its end");
	made_close(&t);
}

int main(void)
{
	test_stems();
	test_preempted();
	test_blocked();
	test_stolen();
	test_stale();
	test_losses();
	test_futex();
	test_futex_kinds();
	test_races();
	test_births();
	test_hidden();
	test_order();
	test_tasks();
	test_many_tasks();
	test_log();
	return done();
}
