// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests waits for objects without a holder: which thread ended them, and what that thread was doing
 * until then.
 */
#include "analysis/report/requests.h"
#include "analysis/timeline/timeline.h"
#include "analysis-sample.h"
#include "chain-sample.h"
#include "render/chain.h"

#define OBJECT	0x7100
#define OTHER	0x7200

enum { R = LDB_STATE_RUNNING, S = LDB_STATE_SLEEPING };
enum { START = LDB_REQ_OP_START, END = LDB_REQ_OP_END };

__attribute__((noinline)) void prepare(void)	{ __asm__ volatile("nop; nop" ::: "memory"); }

__attribute__((noinline)) void serve(void)	{ __asm__ volatile("nop; nop; nop" ::: "memory"); }

static struct made t;
static struct requests r;
static struct timeline tl;

/* Thread 1 works on request 42, on CPU 0; thread 2 runs on CPU 1; thread 3 exists. */
static void begin_threads(const char *name)
{
	made_begin(&t, name);
	writer_add_meta(t.w, "pid", "1");
	made_thread(&t, 1, "main", 0, 2000000);
	made_thread(&t, 2, "helper", 0, 2000000);
	made_thread(&t, 3, "deep", 0, 2000000);
	made_task(&t, 900, 900, "stranger");
	made_switch(&t, .tick = 100, .state = R, .next = 1);
	made_switch(&t, .tick = 100, .cpu = 1, .state = R, .next = 2);
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
}

/* Thread 1 waits in request 42, from 5000 to its wake-up at 90000. */
static void begin(const char *name, unsigned kind, uint32_t owner)
{
	begin_threads(name);
	made_lock(&t, .op = LDB_LOCK_OP_WAIT, .flags = kind, .tid = 1, .lock = OBJECT,
		  .owner = owner, .begin = 5000, .end = 90500);
	made_switch(&t, .tick = 6000, .prev = 1, .state = S);
}

static void wake(uint32_t waker, unsigned flags)
{
	made_waking(&t, .tick = 90000, .cpu = 1, .waker = waker, .flags = flags, .woken = 1);
	made_wakeup(&t, .tick = 90000, .woken = 1);
	made_switch(&t, .tick = 90100, .state = R, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
}

static const struct timeline_cause *build_for(enum leaf_kind kind)
{
	struct requests_options o = REQUESTS_OPTIONS_ALL;

	made_open(&t);
	o.has_id = true;
	o.id = 42;
	if (requests_build(t.model, &o, &r) || !r.nr_instances ||
	    timeline_build(t.model, &r.instances[0], &tl))
		bail_out("timeline_build");
	for (size_t i = 0; i < tl.nr_causes; i++)
		if (tl.causes[i].kind == kind)
			return &tl.causes[i];
	bail_out("no such cause");
}

static const struct timeline_cause *build(void)
{
	return build_for(LEAF_LOCK);
}

static void end(void)
{
	timeline_free(&tl);
	requests_free(&r);
	made_close(&t);
}

static void test_kinds(void)
{
	static const unsigned kinds[] = {
		LDB_LOCK_COND, LDB_LOCK_SEM, LDB_LOCK_BARRIER, LDB_LOCK_JOIN,
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct timeline_cause *c;

		begin("wakers.data", kinds[i], 0);
		made_func(&t, .tid = 2, .pc = (char *)prepare + 1, .gen = 0x10000, .start = 4000,
			  .end = 89000, .unc = 10);
		wake(2, 0);
		c = build();
		ok(c->hold && c->hold->tid == 2 && c->hold->is_inferred && c->hold->blocks_req &&
		   c->hold->start_ns == 5000 && c->hold->end_ns == 90000, "kind %u: who woke it", kinds[i]);
		ok(c->hold_func && !strcmp(c->hold_func->func->function, "prepare"), "and was in prepare()");
		ok(!c->wait->owner, "nobody held it");
		end();
	}
}

/* The waker executed serve(), which called prepare(); after that no function of it is known. */
static const char *function_of(int64_t serve_end, int64_t prepare_end)
{
	static char name[16];
	const struct timeline_cause *c;

	begin("wakers.data", LDB_LOCK_JOIN, 0);
	made_func(&t, .tid = 2, .pc = (char *)prepare + 1, .gen = 2, .parent = 1, .start = 6000, .end = prepare_end,
		  .unc = 10, .depth = 1);
	made_func(&t, .tid = 2, .pc = (char *)serve + 1, .gen = 1, .start = 5500, .end = serve_end, .unc = 10);
	wake(2, 0);
	c = build();
	snprintf(name, sizeof(name), "%s", c->hold_func ? c->hold_func->func->function : "");
	end();
	return name;
}

static void test_callee(void)
{
	is_str(function_of(89000, 88000), "prepare", "the deepest that took most of the time");
	is_str(function_of(89000, 30000), "serve", "not one that took a part of it");
	is_str(function_of(40000, 35000), "prepare", "the callee of the longest, if none took most of the time");
	is_str(function_of(40000, 16000), "serve", "not a callee that took a part of it");
	is_str(function_of(50000, 47000), "prepare", "a callee that took nearly all of a function, though not most of the time");
}

static void test_nobody(void)
{
	begin("wakers.data", LDB_LOCK_COND, 0);
	wake(2, LDB_SCHED_F_HARDIRQ);
	ok(!build()->hold, "an interrupt is nobody: the time was over");
	end();
	begin("wakers.data", LDB_LOCK_COND, 0);
	wake(900, 0);
	ok(!build()->hold, "another process's thread is not followed");
	end();
	begin("wakers.data", LDB_LOCK_MUTEX, 0);
	wake(2, 0);
	ok(!build()->hold, "who wakes a thread that waits for a mutex need not have held it");
	end();
}

/*
 * Without a kernel event of the wake-up, the row of the wait names the thread that signalled last.
 */
static void test_shim(void)
{
	const struct timeline_cause *c;

	begin("wakers.data", LDB_LOCK_SEM, 2);
	made_func(&t, .tid = 2, .pc = (char *)prepare + 1, .gen = 0x10000, .start = 4000,
		  .end = 89000, .unc = 10);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	c = build();
	ok(c->hold && c->hold->tid == 2 && !c->wait->owner, "who posted last, and it held nothing");
	ok(c->hold_func && !strcmp(c->hold_func->func->function, "prepare"), "and was in prepare()");
	end();
	begin("wakers.data", LDB_LOCK_SEM, 3);
	wake(2, 0);
	c = build();
	ok(c->hold && c->hold->tid == 2, "the kernel knows better");
	end();
	begin("wakers.data", LDB_LOCK_SEM, 777);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	ok(!build()->hold, "a thread that there is not");
	end();
}

/* The last wake-up ended the wait; thread 3 woke thread 1 before, in vain. */
static void test_last(void)
{
	const struct timeline_cause *c;

	begin("wakers.data", LDB_LOCK_COND, 0);
	made_waking(&t, .tick = 20000, .cpu = 1, .waker = 3, .woken = 1);
	made_wakeup(&t, .tick = 20000, .woken = 1);
	made_switch(&t, .tick = 20100, .state = R, .next = 1);
	made_switch(&t, .tick = 21000, .prev = 1, .state = S);
	wake(2, 0);
	c = build();
	ok(c->hold && c->hold->tid == 2, "not who woke it first");
	end();
}

/* The waker waited, too, for another thread. */
static void test_chain(void)
{
	const struct timeline_cause *c;

	begin("wakers.data", LDB_LOCK_COND, 0);
	made_lock(&t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_SEM, .tid = 2, .lock = OTHER,
		  .begin = 10000, .end = 80500);
	made_switch(&t, .tick = 10500, .cpu = 1, .prev = 2, .state = S, .next = 3);
	made_waking(&t, .tick = 80000, .cpu = 1, .waker = 3, .woken = 2);
	made_wakeup(&t, .tick = 80000, .cpu = 1, .woken = 2, .running = 3);
	made_switch(&t, .tick = 80100, .cpu = 1, .prev = 3, .state = S, .next = 2);
	wake(2, 0);
	c = build();
	is_chain(c->chain, "lock_wait 1, woken_by 2, lock_wait 2, woken_by 3", "a chain of wakers");
	end();
}

/*
 * Thread 3 releases the lock and wakes thread 2, which gets no CPU for long because task 900 runs.
 * Only then does thread 2 take the lock; when it releases the lock it wakes thread 1.  has_hold,
 * has_next: the hold of thread 3, and of thread 2, was recorded.
 */
static void begin_convoy(bool has_hold, bool has_next)
{
	begin_threads("wakers.data");
	made_switch(&t, .tick = 100, .cpu = 2, .state = R, .next = 3);
	made_wait(&t, .tid = 2, .lock = OBJECT, .owner = 3, .begin = 4500, .end = 85500);
	made_switch(&t, .tick = 4800, .cpu = 1, .prev = 2, .state = S, .next = 900);
	made_wait(&t, .tid = 1, .lock = OBJECT, .owner = 3, .begin = 5000, .end = 90500);
	made_switch(&t, .tick = 6000, .prev = 1, .state = S);
	if (has_hold)
		made_hold(&t, .tid = 3, .lock = OBJECT, .begin = 3000, .end = 20000);
	made_waking(&t, .tick = 20000, .cpu = 2, .waker = 3, .woken = 2);
	made_wakeup(&t, .tick = 20000, .cpu = 1, .woken = 2, .running = 900);
	made_switch(&t, .tick = 85000, .cpu = 1, .prev = 900, .state = S, .next = 2);
	if (has_next)
		made_hold(&t, .tid = 2, .lock = OBJECT, .begin = 85500, .end = 90000);
	wake(2, 0);
}

static void test_convoy(void)
{
	for (int n = 0; n < 4; n++) {
		const struct timeline_cause *c;
		char text[500];

		begin_convoy(n & 1, n & 2);
		c = build();
		is_chain(c->chain, "lock_wait 1, woken_by 2, runnable 2", "the lock was free");
		ok(c->chain->nr > 2 && c->chain->links[1].ns == (n & 2 ? 65500 : 70000) &&
		   c->chain->links[2].ns == 65000, "%d: from its release on", n);
		chain_say(c->chain, false, text, sizeof(text));
		ok(strstr(text, ", until thread helper 2 took the free lock and released it"), "that is said");
		ok(c->hold && c->hold->tid == 3 && c->hold->end_ns == 20000, "and who held it before");
		end();
	}
}

/* Thread 3 takes the free lock without having waited, so it delayed nobody until then. */
static void test_barger(void)
{
	begin_threads("wakers.data");
	made_wait(&t, .tid = 1, .lock = OBJECT, .owner = 2, .begin = 5000, .end = 90500);
	made_switch(&t, .tick = 6000, .prev = 1, .state = S);
	made_hold(&t, .tid = 2, .lock = OBJECT, .begin = 3000, .end = 20000);
	made_hold(&t, .tid = 3, .lock = OBJECT, .begin = 80000, .end = 90000);
	wake(3, 0);
	is_chain(build()->chain, "lock_wait 1, held_by 2", "one that took it meanwhile is not followed");
	end();
}

/*
 * Thread 2 sleeps in its wait until thread 3 releases the lock and wakes it; then it waits for a
 * CPU.  So it did not sleep while the lock was free.
 */
static void test_late_release(void)
{
	const struct timeline_cause *c;

	begin_threads("wakers.data");
	made_switch(&t, .tick = 100, .cpu = 2, .state = R, .next = 3);
	made_wait(&t, .tid = 2, .lock = OBJECT, .owner = 3, .begin = 4500, .end = 85500);
	made_switch(&t, .tick = 4800, .cpu = 1, .prev = 2, .state = S, .next = 900);
	made_wait(&t, .tid = 1, .lock = OBJECT, .owner = 3, .begin = 45000, .end = 90500);
	made_switch(&t, .tick = 46000, .prev = 1, .state = S);
	made_hold(&t, .tid = 3, .lock = OBJECT, .begin = 3000, .end = 60000);
	made_waking(&t, .tick = 60000, .cpu = 2, .waker = 3, .woken = 2);
	made_wakeup(&t, .tick = 60000, .cpu = 1, .woken = 2, .running = 900);
	made_switch(&t, .tick = 85000, .cpu = 1, .prev = 900, .state = S, .next = 2);
	wake(2, 0);
	c = build();
	is_chain(c->chain, "lock_wait 1, woken_by 2, runnable 2", "it slept before the lock was free, not meanwhile");
	ok(c->chain->nr > 2 && c->chain->links[2].ns == 25000, "and had no CPU when it was free");
	end();
}

/*
 * Thread 2 begins to wait for the lock only shortly before thread 3 releases it, and does not
 * sleep.  It was woken from another sleep long before.
 */
static void test_earlier_sleep(void)
{
	const struct timeline_cause *c;

	begin_threads("wakers.data");
	made_switch(&t, .tick = 100, .cpu = 2, .state = R, .next = 3);
	made_wait(&t, .tid = 1, .lock = OBJECT, .owner = 3, .begin = 5000, .end = 90500);
	made_switch(&t, .tick = 6000, .prev = 1, .state = S);
	made_switch(&t, .tick = 6500, .cpu = 1, .prev = 2, .state = S);
	made_waking(&t, .tick = 10000, .cpu = 2, .waker = 3, .woken = 2);
	made_wakeup(&t, .tick = 10000, .cpu = 1, .woken = 2);
	made_switch(&t, .tick = 10100, .cpu = 1, .state = R, .next = 2);
	made_wait(&t, .tid = 2, .lock = OBJECT, .owner = 3, .begin = 78000, .end = 80000);
	wake(2, 0);
	c = build();
	ok(c->hold && c->hold->tid == 3 && c->hold->start_ns == 5000 && c->hold->end_ns == 80000,
	   "a sleep before the wait does not end the hold");
	is_chain(c->chain, "lock_wait 1, held_by 3", "3 held it for most of the time");
	end();
}

/*
 * Thread 1 waits to write.  Thread 3 holds the lock for writing until 10000, and for reading from
 * 50000 to the end.  Thread 2 also holds it for reading, and its hold ends first.
 */
static void test_readers(void)
{
	const struct timeline_cause *c;
	bool is_free = false;

	begin_threads("wakers.data");
	made_switch(&t, .tick = 100, .cpu = 2, .state = R, .next = 3);
	made_lock(&t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_RWLOCK_WR, .tid = 1, .lock = OBJECT, .owner = 3,
		  .begin = 5000, .end = 90500);
	made_switch(&t, .tick = 6000, .prev = 1, .state = S);
	made_lock(&t, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_RWLOCK_WR | LDB_LOCK_F_BEGIN_EXACT, .tid = 3,
		  .lock = OBJECT, .begin = 3000, .end = 10000);
	made_lock(&t, .op = LDB_LOCK_OP_WAIT, .flags = LDB_LOCK_RWLOCK_RD, .tid = 2, .lock = OBJECT, .owner = 3,
		  .begin = 7000, .end = 80000);
	made_lock(&t, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_RWLOCK_RD | LDB_LOCK_F_BEGIN_EXACT, .tid = 2,
		  .lock = OBJECT, .begin = 80000, .end = 85000);
	made_lock(&t, .op = LDB_LOCK_OP_HOLD, .flags = LDB_LOCK_RWLOCK_RD | LDB_LOCK_F_BEGIN_EXACT, .tid = 3,
		  .lock = OBJECT, .begin = 50000, .end = 90000);
	wake(3, 0);
	c = build();
	for (size_t i = 0; c->chain && i < c->chain->nr; i++)
		is_free |= c->chain->links[i].is_free && c->chain->links[i].end_ns > 50000;
	ok(!is_free, "a lock that readers hold is not free");
	end();
}

/*
 * Thread 1 sleeps until thread 2 wakes it; thread 2 sleeps until thread 3 wakes it, which task 900
 * prevents from running.
 */
static void test_sleeps(void)
{
	const struct timeline_cause *c;

	begin_threads("sleeps.data");
	made_func(&t, .tid = 3, .pc = (char *)prepare + 1, .gen = 0x10000, .start = 4000, .end = 79000,
		  .unc = 10);
	made_switch(&t, .tick = 100, .cpu = 2, .state = R, .next = 3);
	made_switch(&t, .tick = 6000, .prev = 1, .state = S);
	made_switch(&t, .tick = 7000, .cpu = 1, .prev = 2, .state = S);
	made_switch(&t, .tick = 10000, .cpu = 2, .prev = 3, .state = R, .next = 900);
	made_switch(&t, .tick = 70000, .cpu = 2, .prev = 900, .state = S, .next = 3);
	made_waking(&t, .tick = 80000, .cpu = 2, .waker = 3, .woken = 2);
	made_wakeup(&t, .tick = 80000, .cpu = 1, .woken = 2);
	made_switch(&t, .tick = 80100, .cpu = 1, .state = R, .next = 2);
	wake(2, 0);
	c = build_for(LEAF_SLEEP);
	is_chain(c->chain, "sleep 1, woken_by 2, sleep 2, woken_by 3, preempted 3", "sleeps, and why so long");
	ok(c->chain->nr == 5 && !strcmp(c->chain->links[3].label, "prepare") &&
	   c->chain->links[4].ns == 60000, "in what it was preempted, and for how long");
	ok(chain_root(c->chain) == &c->chain->links[4], "that is the root");
	end();
}

/* Two threads wake each other. */
static void test_cycle(void)
{
	begin_threads("cycle.data");
	made_switch(&t, .tick = 4000, .cpu = 1, .prev = 2, .state = S);
	made_waking(&t, .tick = 50000, .waker = 1, .woken = 2);
	made_wakeup(&t, .tick = 50000, .cpu = 1, .woken = 2);
	made_switch(&t, .tick = 50100, .cpu = 1, .state = R, .next = 2);
	made_switch(&t, .tick = 51000, .prev = 1, .state = S);
	wake(2, 0);
	is_chain(build_for(LEAF_SLEEP)->chain, "sleep 1, woken_by 2", "who was woken by the sleeper itself");
	end();
}

/* Thread 2 runs on the CPU that 1 needs. */
static void test_running(void)
{
	begin_threads("running.data");
	made_func(&t, .tid = 2, .pc = (char *)prepare + 1, .gen = 0x10000, .start = 4000, .end = 89000,
		  .unc = 10);
	made_switch(&t, .tick = 5000, .cpu = 1, .prev = 2, .state = R);
	made_switch(&t, .tick = 6000, .prev = 1, .state = R, .next = 2);
	made_switch(&t, .tick = 90000, .prev = 2, .state = S, .next = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 42);
	is_chain(build_for(LEAF_PREEMPTED)->chain, "preempted 1, function 2", "what ran instead");
	ok(chain_root(tl.causes[0].chain)->kind == LEAF_PREEMPTED, "but the root is that it ran");
	end();
}

/* If a futex wait names no owner, the waker is followed. */
static void test_futex(void)
{
	const struct timeline_cause *c;

	begin_threads("futex.data");
	made_func(&t, .tid = 2, .pc = (char *)prepare + 1, .gen = 0x10000, .start = 4000, .end = 89000,
		  .unc = 10);
	made_futex_wait(&t, .tick = 5900, .tid = 1, .addr = OBJECT);
	made_switch(&t, .tick = 6000, .prev = 1, .state = S);
	made_futex_wake(&t, .tick = 89900, .cpu = 1, .tid = 2, .addr = OBJECT);
	wake(2, 0);
	c = build_for(LEAF_FUTEX);
	is_chain(c->chain, "futex_wait 1, woken_by 2", "who woke a futex of no lock");
	ok(c->chain && c->chain->nr == 2 && !strcmp(c->chain->links[1].label, "prepare"), "and was in prepare()");
	end();
}

/*
 * The scanner has observed only the calling function; prepare() was innermost when thread 2 left
 * its CPU.
 */
static void begin_late(const char *name, unsigned samples, const void *pc)
{
	begin_threads(name);
	writer_add_meta(t.w, "samples", "cpu-clock 199");
	made_func(&t, .tid = 2, .pc = (char *)serve + 1, .gen = 0x10000, .start = 4000, .end = 89500, .unc = 10);
	made_switch(&t, .tick = 6000, .prev = 1, .state = S);
	for (unsigned i = 0; i < samples; i++)
		writer_add_sample(t.w, &(struct ldb_row_sample){
			.tid = 2, .tick = 20000 + 20000 * i, .pc = (uintptr_t)pc,
		});
}

static const struct chain_link *waker_of(const struct timeline_cause *c)
{
	return c->chain && c->chain->nr > 1 && c->chain->links[1].kind == LINK_WOKEN_BY ? &c->chain->links[1] : NULL;
}

static void test_off(void)
{
	const struct chain_link *link;

	begin_late("off.data", 0, NULL);
	made_sched(&t, &(struct ldb_row_sched){
		.op = LDB_SCHED_OP_SWITCH, .flags = S, .cpu = 1, .tick = 20000, .tid = 2,
		.gen = 0x30000, .pc = (uintptr_t)((char *)prepare + 1),
	});
	made_waking(&t, .tick = 70000, .cpu = 1, .waker = 0, .flags = LDB_SCHED_F_HARDIRQ, .woken = 2);
	made_wakeup(&t, .tick = 70000, .cpu = 1, .woken = 2);
	made_switch(&t, .tick = 70100, .cpu = 1, .state = R, .next = 2);
	wake(2, 0);
	link = waker_of(build_for(LEAF_SLEEP));
	ok(link && !strcmp(link->label, "prepare") && link->ns == 50100,
	   "where it left its CPU for most of the time, not what called that");
	end();
}

static void test_sampled(void)
{
	const struct chain_link *link;

	begin_late("sampled.data", 4, (char *)prepare + 1);
	wake(2, 0);
	link = waker_of(build_for(LEAF_SLEEP));
	ok(link && !strcmp(link->label, "prepare") && link->ns == 84000, "where samples are");
	ok(link && link->resolution_ns > 10000 && link->resolution_ns < link->ns, "how sure that is depends on how many");
	end();
	begin_late("sampled.data", 1, (char *)prepare + 1);
	wake(2, 0);
	link = waker_of(build_for(LEAF_SLEEP));
	ok(link && !strcmp(link->label, "serve"), "one is not enough");
	end();
	begin_late("sampled.data", 4, (void *)getpid);
	wake(2, 0);
	link = waker_of(build_for(LEAF_SLEEP));
	ok(link && !strcmp(link->label, "serve"), "code without lines does not count");
	end();
}

/*
 * Process 1 has thread 1, and process 2 has thread 2, which takes a request from a queue.  If
 * is_own, the request began with thread 2, else with thread 1.
 */
static void say_taken(bool is_own, char *text, size_t size)
{
	made_begin(&t, "processes.data");
	writer_add_meta(t.w, "pid", "1");
	for (uint32_t pid = 1; pid <= 2; pid++) {
		writer_add_process(t.w, &(struct ldb_row_process){
			.number = pid - 1, .pid = pid, .end = 2000000, .name = pid == 1 ? "front" : "back",
			.cmdline = "", .host = "", .ended = "",
		});
		writer_add_thread(t.w, &(struct ldb_row_thread){
			.tid = pid, .pid = pid, .end = 2000000, .name = "worker", .flags = LDB_THREAD_F_EXITED,
		});
	}
	if (is_own) {
		made_req(&t, .op = LDB_REQ_OP_ARRIVED, .tid = 2, .tick = 90000, .id = 42, .queue = OBJECT,
			 .site = 85000);
	} else {
		made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 42);
		made_req(&t, .op = LDB_REQ_OP_BLOCK, .tid = 1, .tick = 5000, .id = 42, .queue = OBJECT);
	}
	made_req(&t, .op = START, .tid = 2, .tick = 90000, .id = 42, .queue = OBJECT);
	made_req(&t, .op = END, .tid = 2, .tick = 100000, .id = 42);
	chain_say(build_for(LEAF_QUEUE)->chain, false, text, size);
	end();
}

static void test_processes(void)
{
	char text[256];

	say_taken(true, text, sizeof(text));
	is_str(text, ", taken out by thread worker 2", "a process's own thread takes a request out of its queue");
	say_taken(false, text, sizeof(text));
	is_str(text, ", taken out by process worker 2", "another process does");
}

int main(void)
{
	test_processes();
	test_futex();
	test_off();
	test_sampled();
	test_sleeps();
	test_cycle();
	test_running();
	test_kinds();
	test_callee();
	test_convoy();
	test_barger();
	test_late_release();
	test_earlier_sleep();
	test_readers();
	test_nobody();
	test_shim();
	test_last();
	test_chain();
	return done();
}
