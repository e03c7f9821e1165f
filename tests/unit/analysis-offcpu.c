// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests timelines with kernel events: the planted causes, and where every nanosecond goes. */
#include "analysis/report/locks.h"
#include "analysis/report/requests.h"
#include "analysis/timeline/timeline.h"
#include "analysis-sample.h"
#include "chain-sample.h"

#define LOCK	0x7000
#define COND	0x7100
#define HOG	900

enum { R = LDB_STATE_RUNNING, S = LDB_STATE_SLEEPING, D = LDB_STATE_DISK };
enum { START = LDB_REQ_OP_START, END = LDB_REQ_OP_END };

__attribute__((noinline)) void request_handler(void)	{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void lookup(void)		{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void snapshot(void)		{ __asm__ volatile("nop; nop" ::: "memory"); }

static struct made t;
static struct requests r;
static struct timeline tl;

static void begin(const char *name)
{
	made_begin(&t, name);
	writer_add_meta(t.w, "pid", "1");
	made_thread(&t, 1, "main", 0, 2000000000);
	made_thread(&t, 2, "worker", 0, 2000000000);
	made_task(&t, HOG, HOG, "hog");
	made_switch(&t, .tick = 100, .state = R, .next = 1);
	made_switch(&t, .tick = 100, .cpu = 1, .state = R, .next = 2);
}

static void build(uint64_t id)
{
	struct requests_options o = REQUESTS_OPTIONS_ALL;

	made_open(&t);
	o.has_id = true;
	o.id = id;
	if (requests_build(t.model, &o, &r) || !r.nr_instances ||
	    timeline_build(t.model, &r.instances[0], &tl))
		bail_out("timeline_build");
}

static void end(void)
{
	timeline_free(&tl);
	requests_free(&r);
	made_close(&t);
}

static const struct segment *find_nth(enum segment_kind kind, uint32_t tid, int nth)
{
	for (size_t i = 0; i < tl.nr_segments; i++)
		if (tl.segments[i].kind == kind && tl.segments[i].tid == tid && nth-- == 0)
			return &tl.segments[i];
	return NULL;
}

static const struct segment *find(enum segment_kind kind, uint32_t tid)
{
	return find_nth(kind, tid, 0);
}

static bool is_at(const struct segment *s, int64_t start, int64_t end)
{
	if (s && s->start_ns == start && s->end_ns == end)
		return true;
	if (s)
		diag("got [%ld, %ld], want [%ld, %ld]", (long)s->start_ns, (long)s->end_ns,
		     (long)start, (long)end);
	else
		diag("no such segment");
	return false;
}

#define func(f, ...)	made_func(&t, .pc = (char *)(f) + 1, __VA_ARGS__)

static const struct timeline_cause *cause(enum leaf_kind kind)
{
	for (size_t i = 0; i < tl.nr_causes; i++)
		if (tl.causes[i].kind == kind)
			return &tl.causes[i];
	return NULL;
}

static int64_t cause_ns(enum leaf_kind kind)
{
	return cause(kind) ? cause(kind)->ns : 0;
}

static void is_whole(void)
{
	int64_t sum = 0;

	for (size_t i = 0; i < tl.nr_causes; i++)
		sum += tl.causes[i].ns;
	is_int(sum, tl.latency_ns, "the leaves add up to the latency");
}

/* A hog preempts the holder of the lock before the request begins. */
static void test_holder_preempted(void)
{
	const struct timeline_cause *c;
	const struct segment *s;

	begin("holder.data");
	func(snapshot, .tid = 2, .gen = 5, .start = 1000, .end = 99000);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 2000, .end = 95000, .gen = 5);
	made_switch(&t, .tick = 3000, .cpu = 1, .prev = 2, .state = R | LDB_SCHED_F_PREEMPT,
		    .next = HOG, .gen = 5);
	made_req(&t, .op = START, .tid = 1, .tick = 10000, .id = 42);
	func(request_handler, .tid = 1, .gen = 9, .start = 10500, .end = 99500);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 11000, .end = 96000, .gen = 9);
	made_futex_wait(&t, .tick = 11500, .tid = 1, .addr = LOCK, .owner = 2);
	made_switch(&t, .tick = 12000, .prev = 1, .state = S, .gen = 9);
	made_switch(&t, .tick = 90000, .cpu = 1, .prev = HOG, .state = R, .next = 2);
	made_futex_wake(&t, .tick = 95000, .cpu = 1, .tid = 2, .addr = LOCK);
	made_waking(&t, .tick = 95100, .cpu = 1, .waker = 2, .woken = 1);
	made_wakeup(&t, .tick = 95200, .woken = 1);
	made_switch(&t, .tick = 95500, .state = R, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	build(42);
	s = find(SEGMENT_PREEMPTED, 2);
	ok(is_at(s, 11000, 90000) && s->blocks_req && s->level == 1 && s->is_clipped &&
	   s->full_start_ns == 3000, "the holder was preempted, as far as the request waited");
	ok(s->sched->preempted_by.tid == HOG && s->sched->preempted_by.pid == HOG &&
	   !strcmp(s->sched->preempted_by.name, "hog"), "by whom");
	ok(s->sched->nr_running == 1 && s->sched->running[0].ns == 79000, "the task that ran instead");
	ok(s->depth == 1 && s->site && !strcmp(s->site->function, "snapshot"), "in what function");
	c = cause(LEAF_LOCK);
	ok(tl.causes == c && c->hold && c->hold->tid == 2 && c->hold_off == s &&
	   c->hold_off_ns == 79000, "the cause says so");
	s = find(SEGMENT_LOCK_WAIT, 1);
	ok(is_at(s, 11000, 96000) && s->sched && s->sched->futex == LOCK &&
	   s->sched->waker.tid == 2 && s->sched->is_futex_woken && s->sched->asleep_ns == 83200,
	   "the wait has what the kernel knows");
	ok(!find(SEGMENT_BLOCKED, 1) && !find(SEGMENT_FUTEX_WAIT, 1), "and is the only one");
	s = find(SEGMENT_RUNNABLE, 1);
	ok(is_at(s, 95200, 95500) && s->depth == 2 && !s->blocks_req,
	   "then it waited for its CPU, in the wait");
	is_int(c->ns, 85000 - 300, "which is not the lock's");
	is_int(cause_ns(LEAF_RUNNABLE), 300, "but the CPU's");
	is_int(tl.lock_wait_ns, 85000, "the wait is as long as it was");
	is_whole();
	end();
}

/* The holder was preempted long before; in between it had no event. */
static void test_look_back(void)
{
	const struct segment *s;

	begin("look-back.data");
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 2000, .end = 1000095000);
	made_switch(&t, .tick = 3000, .cpu = 1, .prev = 2, .state = R, .next = HOG);
	for (int i = 1; i < 100; i++)
		made_switch(&t, .tick = i * 10000000, .cpu = 3, .prev = 700, .state = S,
			    .next = 701);
	made_req(&t, .op = START, .tid = 1, .tick = 1000000000, .id = 42);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 1000010000, .end = 1000096000);
	made_switch(&t, .tick = 1000090000, .cpu = 1, .prev = HOG, .state = R, .next = 2);
	made_req(&t, .op = END, .tid = 1, .tick = 1000100000, .id = 42);
	build(42);
	s = find(SEGMENT_PREEMPTED, 2);
	ok(is_at(s, 1000010000, 1000090000) && s->full_start_ns == 3000 && !s->is_truncated,
	   "found a second back");
	end();
}

/* The request's thread is moved to another CPU by sched_setaffinity(). */
static void test_migrated(void)
{
	const struct segment *s;

	begin("migrated.data");
	made_task(&t, 15, 15, "migration/0");
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
	func(request_handler, .tid = 1, .gen = 2, .start = 1500, .end = 49500);
	made_switch(&t, .tick = 10000, .prev = 1, .state = R, .next = 915, .gen = 2);
	made_migrate(&t, .tick = 10500, .tid = 1, .to = 3);
	made_switch(&t, .tick = 10800, .prev = 915, .state = S);
	made_switch(&t, .tick = 20000, .cpu = 3, .prev = HOG, .state = R, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 50000, .id = 42);
	made_migrate(&t, .tick = 60000, .tid = 1, .from = 3);
	made_migrate(&t, .tick = 900, .tid = 1, .from = 3);
	/* this event does not concern the request */
	made_migrate(&t, .tick = 12000, .tid = 2, .from = 1, .to = 4);
	build(42);
	ok(tl.nr_migrations == 1 && tl.migrations[0].tid == 1 && tl.migrations[0].from_cpu == 0 &&
	   tl.migrations[0].to_cpu == 3 && tl.migrations[0].at_ns == 10500 &&
	   !tl.migrations[0].blocks_req, "the one migration inside the request");
	s = find(SEGMENT_PREEMPTED, 1);
	ok(is_at(s, 10000, 20000) && s->sched->from_cpu == 0 && s->sched->to_cpu == 3 &&
	   s->sched->cpu == 3, "it waited on its new CPU");
	ok(s->sched->running[0].who.tid == HOG && s->sched->running[0].ns == 9500 &&
	   s->sched->running[1].who.tid == 915 && s->sched->running[1].ns == 500,
	   "behind both, each on its CPU");
	is_int(cause_ns(LEAF_FUNCTION), 48000 - 10000, "a function's own time is on the CPU");
	is_int(tl.preempted_ns, 10000, "summed");
	is_whole();
	end();
}

/* The thread is woken, and a hog is the running task. */
static void test_delayed(void)
{
	const struct timeline_cause *c;
	const struct segment *s;

	begin("delayed.data");
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
	func(request_handler, .tid = 1, .gen = 2, .start = 1500, .end = 99500);
	func(lookup, .tid = 1, .gen = 3, .parent = 2, .depth = 1, .start = 2000, .end = 98000);
	made_switch(&t, .tick = 5000, .prev = 1, .state = D, .next = HOG, .gen = 3);
	made_waking(&t, .tick = 20000, .waker = HOG, .flags = LDB_SCHED_F_HARDIRQ, .woken = 1);
	made_wakeup(&t, .tick = 20100, .woken = 1, .running = HOG);
	made_switch(&t, .tick = 90000, .prev = HOG, .state = R, .next = 1);
	made_switch(&t, .tick = 91000, .prev = 1, .state = S, .next = HOG, .gen = 3);
	made_wakeup(&t, .tick = 92000, .woken = 1, .running = HOG);
	made_switch(&t, .tick = 93000, .prev = HOG, .state = S, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	build(42);
	s = find(SEGMENT_BLOCKED, 1);
	ok(is_at(s, 5000, 20100) && s->sched->state == D && s->depth == 2 &&
	   s->sched->waker.kind == CONTEXT_HARDIRQ, "asleep for the disk, woken by an interrupt");
	s = find(SEGMENT_RUNNABLE, 1);
	ok(is_at(s, 20100, 90000) && s->sched->running[0].who.tid == HOG &&
	   s->sched->running[0].ns == 69900, "then behind the hog");
	c = cause(LEAF_RUNNABLE);
	ok(c == tl.causes && c->ns == 70900 && c->nr == 2 && c->blocker.tid == HOG &&
	   c->blocker_ns == 70900 && c->off == s, "the first cause, both times together");
	ok(cause_ns(LEAF_IO) == 15100 && tl.nr_causes == 6,
	   "two kinds of sleep are two causes");
	is_int(tl.runnable_ns, 70900, "runnable");
	is_int(tl.blocked_ns, 16100, "blocked");
	is_whole();
	end();
}

/* The futex belongs to no recorded lock, but the owner that it names must be followed. */
static void test_unseen(void)
{
	const struct timeline_cause *c;
	const struct segment *s;

	begin("unseen.data");
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
	func(request_handler, .tid = 1, .gen = 2, .start = 1500, .end = 99500);
	func(snapshot, .tid = 2, .gen = 7, .start = 500, .end = 99000);
	made_futex_wait(&t, .tick = 9900, .tid = 1, .addr = 0x9000, .owner = 2);
	made_switch(&t, .tick = 10000, .prev = 1, .state = S, .gen = 2);
	made_switch(&t, .tick = 30000, .cpu = 1, .prev = 2, .state = D, .gen = 7);
	made_waking(&t, .tick = 60000, .cpu = 1, .flags = LDB_SCHED_F_SOFTIRQ, .woken = 2);
	made_wakeup(&t, .tick = 60000, .cpu = 1, .woken = 2);
	made_switch(&t, .tick = 60100, .cpu = 1, .state = R, .next = 2);
	made_futex_wake(&t, .tick = 90000, .cpu = 1, .tid = 2, .addr = 0x9000);
	made_waking(&t, .tick = 90100, .cpu = 1, .waker = 2, .woken = 1);
	made_wakeup(&t, .tick = 90200, .woken = 1);
	made_switch(&t, .tick = 90300, .state = R, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	build(42);
	s = find(SEGMENT_FUTEX_WAIT, 1);
	ok(is_at(s, 10000, 90200) && s->lock == 0x9000 && s->owner == 2 && s->depth == 1 &&
	   s->sched && s->sched->waker.tid == 2 && s->sched->futex == 0x9000, "the wait");
	ok(!find(SEGMENT_BLOCKED, 1) && !find_nth(SEGMENT_FUTEX_WAIT, 1, 1), "only once");
	s = find(SEGMENT_LOCK_HOLD, 2);
	ok(is_at(s, 10000, 90200) && s->is_inferred && s->blocks_req, "its owner had it");
	ok(is_at(find(SEGMENT_FUNCTION, 2), 10000, 90200), "and executed this");
	s = find(SEGMENT_BLOCKED, 2);
	ok(is_at(s, 30000, 60000) && s->blocks_req && s->level == 1, "and slept itself");
	c = cause(LEAF_FUTEX);
	ok(c == tl.causes && c->ns == 80200 && c->hold && c->hold->tid == 2 && c->hold_func &&
	   c->hold_off == s, "the cause");
	is_int(tl.futex_wait_ns, 80200, "summed");
	is_int(tl.lock_wait_ns, 0, "it is no wait of the shim's");
	is_whole();
	end();

	begin("garbage.data");
	made_thread(&t, 3, "gone", 0, 5000);
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
	made_futex_wait(&t, .tick = 9900, .tid = 1, .addr = 0x9000, .owner = 12345);
	made_switch(&t, .tick = 10000, .prev = 1, .state = S, .gen = 2);
	made_wakeup(&t, .tick = 40200, .woken = 1);
	made_switch(&t, .tick = 40300, .state = R, .next = 1);
	made_futex_wait(&t, .tick = 40400, .tid = 1, .addr = 0x9000, .owner = 3);
	made_switch(&t, .tick = 40500, .prev = 1, .state = S, .gen = 2);
	made_wakeup(&t, .tick = 90200, .woken = 1);
	made_switch(&t, .tick = 90300, .state = R, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	build(42);
	s = find(SEGMENT_FUTEX_WAIT, 1);
	ok(s && !s->owner && !find(SEGMENT_LOCK_HOLD, 12345), "a word that is no thread is no owner");
	s = find_nth(SEGMENT_FUTEX_WAIT, 1, 1);
	ok(s && !s->owner && !find(SEGMENT_LOCK_HOLD, 3), "nor is one that was gone");
	end();
}

/*
 * In pthread_cond_wait() the thread is signalled, and then waits for the mutex, which another
 * thread holds.
 */
static void test_one_lock(void)
{
	struct locks_options o = LOCKS_OPTIONS_ALL;
	const struct segment *s;
	struct locks locks;

	begin("one-lock.data");
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
	made_lock(&t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_COND, .tid = 1, .lock = COND,
		  .begin = 5000, .end = 95000);
	made_futex_wait(&t, .tick = 5500, .tid = 1, .addr = COND + 40);
	made_switch(&t, .tick = 6000, .prev = 1, .state = S);
	made_futex_wake(&t, .tick = 30000, .cpu = 1, .tid = 2, .addr = COND + 40);
	made_waking(&t, .tick = 30000, .cpu = 1, .waker = 2, .woken = 1);
	made_wakeup(&t, .tick = 30000, .woken = 1);
	made_switch(&t, .tick = 30100, .state = R, .next = 1);
	made_futex_wait(&t, .tick = 30200, .tid = 1, .addr = LOCK, .owner = 2);
	made_switch(&t, .tick = 30300, .prev = 1, .state = S);
	made_futex_wake(&t, .tick = 90000, .cpu = 1, .tid = 2, .addr = LOCK);
	made_waking(&t, .tick = 90000, .cpu = 1, .waker = 2, .woken = 1);
	made_wakeup(&t, .tick = 90000, .woken = 1);
	made_switch(&t, .tick = 90100, .state = R, .next = 1);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 20000, .end = 90000);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	build(42);
	s = find_nth(SEGMENT_LOCK_WAIT, 1, 0);
	ok(is_at(s, 5000, 30300) && s->lock == COND && s->sched->futex == COND + 40 &&
	   s->sched->asleep_ns == 24000, "a futex inside the condition is the condition");
	s = find_nth(SEGMENT_LOCK_WAIT, 1, 1);
	ok(is_at(s, 30300, 90000) && s->lock == LOCK && s->lock_kind == LDB_LOCK_MUTEX &&
	   s->owner == 2, "then it waited for a mutex that the shim knows");
	ok(!find(SEGMENT_FUTEX_WAIT, 1) && !find(SEGMENT_BLOCKED, 1), "nothing twice");
	s = find_nth(SEGMENT_LOCK_HOLD, 2, 1);
	ok(is_at(s, 30300, 90000) && !s->is_inferred, "its recorded holder");
	is_whole();
	if (locks_build(t.model, &o, &locks))
		bail_out("locks_build");
	is_int(locks.nr, 2, "two locks in the report");
	ok(locks.entries[0].lock == LOCK && locks.entries[0].waits.count == 1 &&
	   locks.entries[0].waits.total_ns == 59700 && locks.entries[0].kind == LDB_LOCK_MUTEX,
	   "the mutex, with the wait that only the kernel saw");
	ok(locks.entries[0].owners[0].tid == 2 && locks.entries[0].owners[0].waits == 1 &&
	   locks.entries[0].owners[0].wakes == 1, "who had it, who woke");
	ok(locks.entries[1].lock == COND && locks.entries[1].waits.total_ns == 25300 &&
	   locks.entries[1].owners[0].wakes == 1, "the condition, without the wait for the mutex");
	locks_free(&locks);
	end();
}

static void test_locks_report(void)
{
	struct locks_options o = LOCKS_OPTIONS_ALL;
	struct locks locks;

	begin("locks.data");
	for (int i = 0; i < 10; i++) {
		int64_t at = 10000 + i * 100000;

		/* Every second wait has a row of its lock. */
		if (i & 1)
			made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = at,
				  .end = at + 50000);
		made_futex_wait(&t, .tick = at + 100, .tid = 1, .addr = i & 1 ? LOCK : 0x9004,
				.owner = 2);
		made_switch(&t, .tick = at + 200, .prev = 1, .state = S);
		made_futex_wake(&t, .tick = at + 40000, .cpu = 1, .tid = 2,
				.addr = i & 1 ? LOCK : 0x9004);
		made_waking(&t, .tick = at + 40100, .cpu = 1, .waker = 2, .woken = 1);
		made_wakeup(&t, .tick = at + 40200, .woken = 1);
		made_switch(&t, .tick = at + 40300, .state = R, .next = 1);
	}
	made_open(&t);
	if (locks_build(t.model, &o, &locks))
		bail_out("locks_build");
	is_int(locks.nr, 2, "a mutex and a futex");
	ok(locks.entries[0].lock == LOCK && locks.entries[0].waits.count == 5 &&
	   locks.entries[0].waits.total_ns == 250000, "what both know counts once");
	ok(locks.entries[1].lock == 0x9004 && locks.entries[1].kind == LOCK_KIND_FUTEX &&
	   locks.entries[1].waits.count == 5 && locks.entries[1].waits.total_ns == 200000,
	   "the futex is a lock with waits");
	ok(locks.entries[1].owners[0].tid == 2 && locks.entries[1].owners[0].wakes == 5 &&
	   locks.entries[1].owners[0].waits == 5, "with an owner and a waker");
	locks_free(&locks);
	o.from = 500000;
	if (locks_build(t.model, &o, &locks))
		bail_out("locks_build");
	ok(locks.nr == 2 && locks.entries[1].waits.count == 2, "of a part of the recording");
	locks_free(&locks);
	o.from = INT64_MIN;
	o.thread = "worker";
	if (locks_build(t.model, &o, &locks))
		bail_out("locks_build");
	is_int(locks.nr, 0, "of a thread that did not wait");
	locks_free(&locks);
	made_close(&t);
}

/*
 * Without generations, as in perf: functions are assigned by time; a page fault occurs inside a
 * wait.
 */
static void test_perf(void)
{
	const struct segment *s;

	begin("perf.data");
	writer_add_meta(t.w, "kernel_events", "perf");
	writer_add_meta(t.w, "kernel_err_ns", "700");
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
	func(request_handler, .tid = 1, .gen = 2, .start = 1500, .end = 99500);
	func(lookup, .tid = 1, .gen = 3, .parent = 2, .depth = 1, .start = 2000, .end = 48000);
	func(snapshot, .tid = 1, .gen = 4, .parent = 2, .depth = 1, .start = 50000, .end = 98000);
	made_switch(&t, .tick = 5000, .prev = 1, .state = R, .next = HOG);
	made_switch(&t, .tick = 25000, .prev = HOG, .state = R, .next = 1);
	made_wait(&t, .tid = 1, .lock = LOCK, .begin = 51000, .end = 91000, .gen = 4);
	made_switch(&t, .tick = 52000, .prev = 1, .state = D);
	made_wakeup(&t, .tick = 62000, .woken = 1);
	made_switch(&t, .tick = 62000, .state = R, .next = 1);
	made_switch(&t, .tick = 63000, .prev = 1, .state = S);
	made_wakeup(&t, .tick = 90000, .woken = 1);
	made_switch(&t, .tick = 90000, .state = R, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	build(42);
	s = find(SEGMENT_PREEMPTED, 1);
	ok(s && s->depth == 2 && s->site && !strcmp(s->site->function, "lookup"),
	   "the function of that time");
	is_int(s ? s->resolution_ns : 0, 1400, "both ends may be off");
	s = find(SEGMENT_BLOCKED, 1);
	ok(is_at(s, 52000, 62000) && s->depth == 3, "the disk is not the lock's, even in a wait");
	ok(!find_nth(SEGMENT_BLOCKED, 1, 1), "any other sleep in it is");
	is_int(cause_ns(LEAF_LOCK), 30000, "the lock");
	ok(!find(SEGMENT_FUTEX_WAIT, 1), "no futex was named");
	for (size_t i = 0; i < tl.nr_causes; i++) {
		const struct timeline_cause *c = &tl.causes[i];

		if (c->kind != LEAF_FUNCTION)
			continue;
		is_int(c->ns, !strcmp(c->func->function, "lookup") ? 26000 :
		       !strcmp(c->func->function, "snapshot") ? 8000 : 98000 - 46000 - 48000,
		       c->func->function);
	}
	is_whole();
	end();
}

/*
 * The bounds of two functions overlap: one may have ended before the sleep, so the sleep belongs to
 * the other one.
 */
static void test_slept(void)
{
	const struct segment *s;

	begin("slept.data");
	writer_add_meta(t.w, "kernel_events", "perf");
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
	func(request_handler, .tid = 1, .gen = 2, .start = 1500, .end = 99500);
	/*
	 * lookup() ended between 10500 and 30500, and snapshot() began between 12000 and 40000: its
	 * estimated start is after the start of the sleep.
	 */
	func(lookup, .tid = 1, .gen = 3, .parent = 2, .depth = 1, .start = 5000, .end = 20500,
	     .unc = 20000);
	func(snapshot, .tid = 1, .gen = 4, .parent = 2, .depth = 1, .start = 26000, .end = 98000,
	     .unc = 28000);
	made_switch(&t, .tick = 20000, .prev = 1, .state = S);
	made_wakeup(&t, .tick = 90000, .woken = 1);
	made_switch(&t, .tick = 90000, .state = R, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	build(42);
	s = find(SEGMENT_BLOCKED, 1);
	ok(s && s->site && !strcmp(s->site->function, "snapshot"), "the one that lasted: %s",
	   s && s->site ? s->site->function : "none");
	end();
}

/* The kernel knows the frame more exactly than the scanner's polls. */
static void test_tighten(void)
{
	const struct segment *s;

	begin("tighten.data");
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
	/* [2000,20000], [71000,89000] */
	func(request_handler, .tid = 1, .gen = 2, .start = 11000, .end = 80000, .unc = 18000);
	made_switch(&t, .tick = 4000, .prev = 1, .state = R, .next = HOG, .gen = 2);
	made_switch(&t, .tick = 87000, .prev = HOG, .state = R, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	build(42);
	s = find(SEGMENT_FUNCTION, 1);
	/* [2000, 4000 + LDB_KERNEL_SLACK], [87000 - LDB_KERNEL_SLACK, 89000] */
	ok(is_at(s, 3500, 87500), "it had begun when it lost the CPU, and lasted until it had it");
	is_int(s ? s->resolution_ns : 0, 3000, "the resolution is better by as much");
	is_int(cause_ns(LEAF_FUNCTION), 1000, "its own time");
	is_whole();
	end();

	/* The estimates do not cover the time off the CPU: no time may be negative. */
	begin("crossing.data");
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
	func(request_handler, .tid = 1, .gen = 2, .start = 10000, .end = 80000);
	func(lookup, .tid = 1, .gen = 3, .parent = 2, .depth = 1, .start = 20000, .end = 30000);
	made_switch(&t, .tick = 5000, .prev = 1, .state = R, .next = HOG);
	made_switch(&t, .tick = 25000, .prev = HOG, .state = R, .next = 1);
	made_switch(&t, .tick = 29000, .prev = 1, .state = R, .next = HOG);
	made_switch(&t, .tick = 90000, .prev = HOG, .state = R, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	build(42);
	is_int(cause_ns(LEAF_PREEMPTED), 81000, "off the CPU");
	is_int(cause_ns(LEAF_FUNCTION), 4000, "lookup() itself");
	is_int(cause_ns(LEAF_UNKNOWN), 4000 + 10000, "outside of all functions");
	is_whole();
	end();
}

/* Thread 1 waits for 2, which waits for 3, which a hog prevents from running. */
static void test_chain(void)
{
	const struct timeline_cause *c;

	begin("chain.data");
	made_thread(&t, 3, "third", 0, 2000000000);
	func(snapshot, .tid = 3, .gen = 7, .start = 500, .end = 99000);
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 10000, .end = 95000);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 5000, .end = 94000);
	made_wait(&t, .tid = 2, .lock = LOCK + 64, .owner = 3, .begin = 12000, .end = 92000);
	made_hold(&t, .tid = 3, .lock = LOCK + 64, .begin = 11000, .end = 91000, .gen = 7);
	made_switch(&t, .tick = 20000, .cpu = 2, .prev = 3, .state = R, .next = HOG, .gen = 7);
	made_switch(&t, .tick = 80000, .cpu = 2, .prev = HOG, .state = R, .next = 3);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	build(42);
	c = cause(LEAF_LOCK);
	ok(c && c->hold && c->hold->tid == 2 && !c->hold_off, "the holder did not lose its CPU");
	is_chain(c ? c->chain : NULL, "lock_wait 1, held_by 2, lock_wait 2, held_by 3, preempted 3",
		 "it waited for another one, which was preempted");
	ok(c && c->chain->nr == 5 && !strcmp(c->chain->links[3].label, "snapshot") &&
	   c->chain->links[4].ns == 60000, "in what, and for how long");
	end();
}

/* Like test_chain(), but the futexes belong to no recorded lock. */
static void test_futex_chain(void)
{
	const struct timeline_cause *c;

	begin("futex-chain.data");
	made_thread(&t, 3, "third", 0, 2000000000);
	made_switch(&t, .tick = 200, .cpu = 2, .state = R, .next = 3);
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
	made_futex_wait(&t, .tick = 10000, .tid = 1, .addr = 0x9000, .owner = 2);
	made_switch(&t, .tick = 10100, .prev = 1, .state = S);
	made_futex_wait(&t, .tick = 12000, .cpu = 1, .tid = 2, .addr = 0x9100, .owner = 3);
	made_switch(&t, .tick = 12100, .cpu = 1, .prev = 2, .state = S);
	made_switch(&t, .tick = 20000, .cpu = 2, .prev = 3, .state = R, .next = HOG);
	made_switch(&t, .tick = 80000, .cpu = 2, .prev = HOG, .state = R, .next = 3);
	made_wakeup(&t, .tick = 91000, .cpu = 1, .woken = 2);
	made_switch(&t, .tick = 91000, .cpu = 1, .state = R, .next = 2);
	made_wakeup(&t, .tick = 95000, .woken = 1);
	made_switch(&t, .tick = 95000, .state = R, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	build(42);
	c = cause(LEAF_FUTEX);
	ok(c && c->hold && c->hold->tid == 2, "who had the futex");
	is_chain(c ? c->chain : NULL, "futex_wait 1, held_by 2, futex_wait 2, held_by 3, preempted 3",
		 "a chain of futexes, each said once");
	ok(c && c->chain->nr == 5 && c->chain->links[4].ns == 60000, "and what is at its end");
	is_whole();
	end();
}

/* A futex other than that of the lock for which the thread waits does not belong to the wait. */
static void test_nested_futex(void)
{
	begin("nested.data");
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 10000, .end = 95000);
	made_futex_wait(&t, .tick = 20000, .tid = 1, .addr = 0x9000);
	made_switch(&t, .tick = 20100, .prev = 1, .state = S);
	made_wakeup(&t, .tick = 50100, .woken = 1);
	made_switch(&t, .tick = 50100, .state = R, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	build(42);
	ok(is_at(find(SEGMENT_FUTEX_WAIT, 1), 20100, 50100) && find(SEGMENT_FUTEX_WAIT, 1)->depth == 1,
	   "a wait in the wait");
	is_int(cause_ns(LEAF_LOCK), 55000, "which is not the lock's");
	is_whole();
	end();
}

static void test_lost(void)
{
	const struct segment *s;

	begin("lost.data");
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
	made_switch(&t, .tick = 5000, .prev = 1, .state = S, .next = HOG);
	writer_add_lost(t.w, &(struct ldb_row_lost){ .tick = 6000, .count = 1,
						     .what = LDB_LOST_KERNEL });
	made_wakeup(&t, .tick = 7000, .woken = 1, .running = HOG);
	/* The row of the thread's return to the CPU was lost. */
	made_switch(&t, .tick = 60000, .prev = 1, .state = S);
	made_wakeup(&t, .tick = 70000, .woken = 1);
	made_switch(&t, .tick = 70000, .state = R, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	made_switch(&t, .tick = 150000, .prev = 1, .state = S);
	build(42);
	s = find(SEGMENT_BLOCKED, 1);
	ok(is_at(s, 5000, 7000) && s->sched->has_lost, "known up to the wake-up");
	ok(!find(SEGMENT_RUNNABLE, 1), "from there on nothing is made up");
	is_whole();
	end();
}

int main(void)
{
	test_holder_preempted();
	test_look_back();
	test_migrated();
	test_delayed();
	test_unseen();
	test_one_lock();
	test_locks_report();
	test_perf();
	test_slept();
	test_tighten();
	test_chain();
	test_futex_chain();
	test_nested_futex();
	test_lost();
	return done();
}
