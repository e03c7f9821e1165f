// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares forced events with the recorded ones: switches, wake-ups, migrations, futexes, the
 * innermost frame, the task on a CPU that a thread waits for, names.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/futex.h>
#include "dev.h"
#include "tap.h"

#define ROUNDS	200

static struct dev d;
static unsigned next_slot;

static long futex(void *uaddr, int op, unsigned val, void *timeout, void *uaddr2, unsigned val3)
{
	return syscall(SYS_futex, uaddr, op, val, timeout, uaddr2, val3);
}

static unsigned reg_self(uint64_t tls)
{
	unsigned slot = __atomic_fetch_add(&next_slot, 1, __ATOMIC_RELAXED);
	int rc = dev_reg(&d, gettid_(), slot, tls);

	if (rc)
		bail_out(strerror(-rc));
	return slot;
}

static bool is_switch(const struct event *e)
{
	return e->rec.type == LDB_EV_SWITCH || e->rec.type == LDB_EV_SWITCH_OUT;
}

static size_t count(const struct events *e, unsigned type, unsigned tid, unsigned other)
{
	size_t nr = 0;

	for (size_t i = 0; i < e->nr; i++)
		nr += e->v[i].rec.type == type && (!tid || e->v[i].rec.tid == tid) &&
		      (!other || e->v[i].rec.arg2 == other);
	return nr;
}

static const struct event *first(const struct events *e, unsigned type, unsigned tid)
{
	for (size_t i = 0; i < e->nr; i++)
		if (e->v[i].rec.type == type && e->v[i].rec.tid == tid)
			return &e->v[i];
	return NULL;
}

/* Checks that on each CPU the observed thread that came last is the next one that leaves. */
static void check_chain(const struct events *e, const char *what)
{
	unsigned on[256] = {};
	bool known[256] = {};
	size_t bad = 0, nr = 0;

	for (size_t i = 0; i < e->nr; i++) {
		const struct ldb_rec *r = &e->v[i].rec;
		unsigned cpu = e->v[i].ring;

		if (!is_switch(&e->v[i]))
			continue;
		nr++;
		if (known[cpu] && on[cpu] != (r->flags & LDB_SCHED_F_TID ? r->tid : 0)) {
			if (!bad++)
				event_print(&e->v[i]);
		}
		known[cpu] = true;
		on[cpu] = r->flags & LDB_SCHED_F_OTHER ? r->arg2 : 0;
	}
	ok(nr && !bad && !e->lost && !e->holes, "%s: %zu switches follow from each other", what, nr);
}

/*
 * Threads of equal real-time priority do not preempt each other, so the order of events is fixed.
 */
static void real_time(int priority)
{
	struct sched_param p = { .sched_priority = priority };

	if (sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &p))
		bail_out("no real-time priority");
}

/* The two threads of the ping-pong are on one CPU; there is a pipe in each direction. */
static int ping[2], pong[2];
static unsigned tids[2], slots[2];

static void *ponger(void *arg)
{
	char c;

	pin(0);
	tids[1] = gettid_();
	slots[1] = reg_self(0);
	for (int i = 0; i < ROUNDS; i++)
		if (read(ping[0], &c, 1) != 1 || write(pong[1], &c, 1) != 1)
			break;
	return NULL;
}

static void test_pingpong(void)
{
	const struct ldb_page *page;
	struct events e;
	pthread_t t;
	unsigned first_seq, seq;
	size_t sleeps = 0;
	char c = 0;

	if (pipe(ping) || pipe(pong))
		bail_out("pipe");
	dev_self(&d, NULL);
	next_slot = 0;
	pin(0);
	real_time(1);
	tids[0] = gettid_();
	slots[0] = reg_self(0);
	first_seq = dev_page(&d, slots[0])->k_seq;
	pthread_create(&t, NULL, ponger, NULL);
	for (int i = 0; i < ROUNDS; i++)
		if (write(ping[1], &c, 1) != 1 || read(pong[0], &c, 1) != 1)
			break;
	page = dev_page(&d, slots[0]);
	seq = page->k_seq;
	e = dev_events(&d);
	real_time(0);
	check_chain(&e, "ping-pong");
	is_int(seq, first_seq + 2 * count(&e, LDB_EV_SWITCH_OUT, tids[0], 0),
	       "k_seq counts each absence from the CPU");
	ok(count(&e, LDB_EV_SWITCH_OUT, tids[0], tids[1]) >= ROUNDS, "each ping was a switch");
	ok(count(&e, LDB_EV_WAKING, tids[0], tids[1]) >= ROUNDS - 1, "each ping woke");
	ok(count(&e, LDB_EV_WAKING, tids[1], tids[0]) >= ROUNDS - 1, "each pong woke");
	is_int(count(&e, LDB_EV_WAKEUP, tids[0], 0), count(&e, LDB_EV_WAKING, 0, tids[0]),
	       "each waking was a wakeup");
	ok(count(&e, LDB_EV_WAKEUP, tids[0], tids[1]) >= ROUNDS - 1,
	   "most wakeups name the thread that ran on that CPU");
	for (size_t i = 0; i < e.nr; i++)
		sleeps += is_switch(&e.v[i]) && e.v[i].rec.tid == tids[0] &&
			  LDB_SCHED_STATE(e.v[i].rec.flags) == LDB_STATE_SLEEPING;
	is_int(page->k_nvcsw, sleeps, "the page counts the sleeps that the events show");
	is_int(page->k_seq & 1, 1, "the page says that the thread runs");
	is_int(dev_ring(&d, 0)->k_slot, slots[0] + 1, "the CPU's ring says so, too");
	is_int(dev_ring(&d, 0)->k_tid, tids[0], "the CPU's ring has the thread's tid");
	ok(page->k_tsc_out < page->k_tsc_in && page->k_runtime > 0 &&
	   page->k_runtime < page->k_tsc_out, "times are possible");
	events_free(&e);
	pthread_join(t, NULL);
	ok(!dev_page(&d, slots[1])->k_tid, "a thread that has ended has no page");
	e = dev_events(&d);
	is_int(count(&e, LDB_EV_EXIT, tids[1], 0), 1, "the second thread's exit is recorded");
	is_int(count(&e, LDB_EV_FORK, tids[0], tids[1]), 1,
	       "the second thread's creation is recorded");
	ok(first(&e, LDB_EV_TASK, tids[1]), "the second thread's name is recorded");
	msleep(20);
	events_free(&e);
	e = dev_events(&d);
	for (size_t i = e.nr; i-- > 0;)
		if (is_switch(&e.v[i]) && e.v[i].rec.tid == tids[1]) {
			is_int(LDB_SCHED_STATE(e.v[i].rec.flags), LDB_STATE_DEAD,
			       "the second thread is dead at its last switch");
			break;
		}
	events_free(&e);
	dev_close(&d);
}

static void test_migrate(void)
{
	unsigned tid = gettid_(), nr = 0;
	struct events e;

	if (nr_cpus() < 2) {
		skip(3, "one CPU");
		return;
	}
	pin(0);
	dev_self(&d, NULL);
	next_slot = 0;
	reg_self(0);
	for (int i = 1; i <= ROUNDS; i++)
		pin(i & 1);
	e = dev_events(&d);
	for (size_t i = 0; i < e.nr; i++) {
		const struct ldb_rec *r = &e.v[i].rec;

		if (r->type == LDB_EV_MIGRATE && r->tid == tid && r->arg == nr % 2 && r->arg2 == (nr + 1) % 2)
			nr++;
	}
	is_int(count(&e, LDB_EV_MIGRATE, tid, 0), ROUNDS, "as many migrations as were forced");
	is_int(nr, ROUNDS, "the migrations go to and fro");
	check_chain(&e, "migrations");
	events_free(&e);
	pin(0);
	dev_close(&d);
}

/* These have the layout of the plugin's frame records and thread blocks. */
struct frame {
	struct frame *prev;
	uint64_t gen;
	const void *pc, *ret;
};

struct block {
	void *top;
	uint64_t gen;
};

#define CANARY		0x4c44ULL
#define GEN(n)		((uint64_t)(n) << 16 | CANARY)

static struct event sleep_and_get(unsigned tid, unsigned slot)
{
	const volatile struct ldb_page *page = dev_page(&d, slot);
	uint64_t before = page->k_nvcsw;
	struct event got = {};
	struct events e;

	/* A short sleep may be over before it has begun. */
	for (int i = 0; i < 100 && page->k_nvcsw == before; i++)
		msleep(2);
	e = dev_events(&d);
	for (size_t i = e.nr; i-- > 0;)
		if (e.v[i].rec.type == LDB_EV_SWITCH_OUT && e.v[i].rec.tid == tid) {
			got = e.v[i];
			break;
		}
	events_free(&e);
	return got;
}

static void test_frames(void)
{
	static struct block block;
	struct frame outer = { NULL, GEN(7), (void *)0x1000, (void *)0x2000 };
	struct frame inner = { &outer, GEN(9), (void *)0x3000, (void *)0x4000 };
	char *hole = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned tid = gettid_(), slot;
	const struct ldb_page *page;
	struct event e;
	uint64_t bad;

	munmap(hole, 4096);
	dev_self(&d, NULL);
	next_slot = 5;
	block = (struct block){ &inner, GEN(12) };
	slot = reg_self((uintptr_t)&block);
	page = dev_page(&d, slot);
	e = sleep_and_get(tid, slot);
	is_int(e.rec.arg, 9 << 16 | slot, "gen: of the frame, with the block's number");
	is_int(e.cont.arg, 0x3000, "pc");
	is_int(e.cont.tsc, (uintptr_t)&inner, "top");
	is_int(e.cont.type, LDB_EV_CONT + 1, "two slots");
	ok(page->k_gen == e.rec.arg && page->k_pc == 0x3000 && page->k_top == (uintptr_t)&inner,
	   "the page has the same");
	block.top = &outer;
	e = sleep_and_get(tid, slot);
	ok(e.rec.arg == (7 << 16 | slot) && e.cont.arg == 0x1000,
	   "the outer frame is the newest one");
	is_int(dev_stats(&d).unreadable, 0, "all could be read");
	block.top = NULL;
	e = sleep_and_get(tid, slot);
	ok(!e.rec.arg && !e.cont.arg && !e.cont.tsc && !page->k_gen, "no frame");
	is_int(dev_stats(&d).unreadable, 0, "a block without frames is not counted as unreadable");

	struct { const char *what; struct block b; uint64_t gen; } wrong[] = {
		{ "an unmapped frame", { hole, GEN(12) }, GEN(9) },
		{ "a frame in the kernel", { (void *)0xffffffff81000000, GEN(12) }, GEN(9) },
		{ "a frame nowhere", { (void *)0x0800000000000000, GEN(12) }, GEN(9) },
		{ "a frame that wraps", { (void *)-16L, GEN(12) }, GEN(9) },
		{ "a block without canary", { &inner, 12 << 16 }, GEN(9) },
		{ "a frame without canary", { &inner, GEN(12) }, 9 << 16 },
		{ "a frame of the future", { &inner, GEN(12) }, GEN(13) },
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		bad = dev_stats(&d).unreadable;
		inner.gen = wrong[i].gen;
		block = wrong[i].b;
		e = sleep_and_get(tid, slot);
		ok(!e.rec.arg && dev_stats(&d).unreadable > bad, "%s: nothing, and counted", wrong[i].what);
	}
	inner.gen = GEN(9);
	block = (struct block){ &inner, GEN(12) };
	e = sleep_and_get(tid, slot);
	is_int(e.rec.arg, 9 << 16 | slot, "after these the frame is read again");
	dev_reg(&d, tid, slot, (uintptr_t)hole);
	bad = dev_stats(&d).unreadable;
	e = sleep_and_get(tid, slot);
	ok(!e.rec.arg && dev_stats(&d).unreadable > bad, "an unmapped block");
	dev_close(&d);
}

/* ldb's own threads have no blocks where the program's threads have them. */
static void test_no_blocks(void)
{
	char *hole = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ldb_chains c = {
		.nr_blocks = 1, .share = 1, .offset = { hole - (char *)__builtin_thread_pointer() },
	};
	struct rusage begin, end;
	uint64_t bad;
	struct dev d;

	munmap(hole, 4096);
	dev_self(&d, NULL);
	bad = dev_stats(&d).unreadable;
	is_int(dev_ioctl(d.fd, LDB_IOC_CHAINS, &c), 0, "CHAINS of a block that is not mapped");
	getrusage(RUSAGE_THREAD, &begin);
	do {
		msleep(1);
		getrusage(RUSAGE_THREAD, &end);
	} while (end.ru_nvcsw - begin.ru_nvcsw < 100);
	bad = dev_stats(&d).unreadable - bad;
	ok(bad > 0, "a thread without blocks cannot be read");
	ok(bad < 50, "... and that is not tried at each of 100 switches: %lu", (unsigned long)bad);
	dev_close(&d);
}

static const struct event *futex_event(const struct events *e, unsigned type, unsigned tid, void *uaddr)
{
	for (size_t i = 0; i < e->nr; i++)
		if (e->v[i].rec.type == type && e->v[i].rec.tid == tid &&
		    e->v[i].rec.arg == (uintptr_t)uaddr)
			return &e->v[i];
	return NULL;
}

static void check_wait(const struct events *e, const char *what, void *uaddr, unsigned op, unsigned value,
		       unsigned word, unsigned owner)
{
	const struct event *x = futex_event(e, LDB_EV_FUTEX_WAIT, gettid_(), uaddr);

	if (!ok(x, "%s: recorded", what))
		return;
	ok(x->rec.flags == (op | LDB_FUTEX_F_WORDS) && x->rec.arg2 == value && x->cont.tid == word &&
	   x->cont.arg2 == owner, "%s: op, value, word, owner", what);
}

static void check_wake(const struct events *e, const char *what, void *uaddr, unsigned op, unsigned nr)
{
	const struct event *x = futex_event(e, LDB_EV_FUTEX_WAKE, gettid_(), uaddr);

	if (ok(x, "%s: recorded", what))
		ok(x->rec.flags == op && x->rec.arg2 == nr, "%s: op, number (%x, %u)", what, x->rec.flags,
		   x->rec.arg2);
}

static void test_futex(void)
{
	static unsigned w[32][4];	/* the words are: futex word, unused, owner, unused */
	struct timespec soon = { 0, 2000000 };
	struct timespec at;
	struct futex_waitv v[2] = {
		{ .val = 21, .uaddr = (uintptr_t)w[8], .flags = FUTEX_32 },
		{ .val = 22, .uaddr = (uintptr_t)w[9], .flags = FUTEX_32 },
	};
	struct events e;

	for (int i = 0; i < 32; i++) {
		w[i][0] = 100 + i;
		w[i][2] = 200 + i;
	}
	dev_self(&d, NULL);
	futex(w[0], FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 100, &soon, NULL, 0);
	futex(w[1], FUTEX_WAIT, 7, NULL, NULL, 0);	/* EAGAIN */
	futex(w[2], FUTEX_WAIT_BITSET, 9, NULL, NULL, 1);
	futex(w[3], FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 3, NULL, NULL, 0);
	futex(w[4], FUTEX_WAKE_BITSET, 4, NULL, NULL, 1);
	w[5][0] = 0;
	futex(w[5], FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
	futex(w[5], FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
	futex(w[6], FUTEX_REQUEUE, 5, (void *)6, w[16], 0);
	futex(w[7], FUTEX_WAKE_OP, 2, (void *)3, w[17], FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_EQ, 0));
	v[0].val = w[8][0];
	v[1].val = w[9][0];
	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += 0;
	syscall(449 /* futex_waitv */, v, 2, 0, &at, CLOCK_MONOTONIC);
	w[18][0] = 0;
	futex(w[10], FUTEX_WAIT_REQUEUE_PI | FUTEX_PRIVATE_FLAG, 8, &at, w[18], 0);
	e = dev_events(&d);
	check_wait(&e, "wait", w[0], LDB_FUTEX_PLAIN, 100, 100, 200);
	check_wait(&e, "wait for another value", w[1], LDB_FUTEX_PLAIN, 7, 101, 201);
	check_wait(&e, "wait bitset", w[2], LDB_FUTEX_PLAIN, 9, 102, 202);
	check_wake(&e, "wake", w[3], LDB_FUTEX_PLAIN, 3);
	check_wake(&e, "wake bitset", w[4], LDB_FUTEX_PLAIN, 4);
	check_wait(&e, "lock pi", w[5], LDB_FUTEX_PI, 0, 0, 205);
	check_wake(&e, "unlock pi", w[5], LDB_FUTEX_PI, 1);
	check_wake(&e, "requeue", w[6], LDB_FUTEX_REQUEUE, 5);
	check_wake(&e, "wake op", w[7], LDB_FUTEX_WAKE_OP, 2);
	check_wait(&e, "waitv, first", w[8], LDB_FUTEX_WAITV, 108, 108, 208);
	check_wait(&e, "waitv, second", w[9], LDB_FUTEX_WAITV, 109, 109, 209);
	check_wait(&e, "wait requeue pi", w[10], LDB_FUTEX_REQUEUE, 8, 110, 210);
	events_free(&e);
	dev_close(&d);
}

/* Makes a child on CPU 0 with a real-time priority, so that it runs there when it is runnable. */
static pid_t rt_child(void (*fn)(void))
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "hog");
	/*
	 * The priority is set first: otherwise the child would wait for CPU 0 like any other task.
	 */
	real_time(10);
	pin(0);
	fn();
	_exit(0);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static unsigned *nr_hogs;	/* memory shared with the children */

/*
 * Each child yields the CPU to the other one as long as both exist, and never to a lower priority.
 * On a busy host the second child may come late.
 */
static void yield_for_long(void)
{
	uint64_t end = now_ms() + 10000;
	bool both = false;

	__atomic_add_fetch(nr_hogs, 1, __ATOMIC_SEQ_CST);
	do {
		for (int i = 0; i < 2000; i++)
			asm volatile("" ::: "memory");
		sched_yield();
		if (!both && __atomic_load_n(nr_hogs, __ATOMIC_SEQ_CST) == 2) {
			both = true;
			end = now_ms() + 150;
		}
	} while (now_ms() < end);
}

static void two_hogs(pid_t *a, pid_t *b)
{
	if (!nr_hogs)
		nr_hogs = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*nr_hogs = 0;
	*a = rt_child(yield_for_long);
	*b = rt_child(yield_for_long);
}

static volatile bool stop;
static unsigned victim_tid;

static void *victim(void *arg)
{
	pin(0);
	victim_tid = gettid_();
	reg_self(0);
	while (!stop)
		;
	return NULL;
}

static void test_running(void)
{
	pid_t a, b;
	pthread_t t;
	struct events e;
	size_t preempted = 0, running = 0, strange = 0, named = 0;
	int status;

	if (nr_cpus() < 2) {
		skip(7, "one CPU");
		return;
	}
	pin(1);
	dev_self(&d, NULL);
	next_slot = 0;
	stop = false;
	pthread_create(&t, NULL, victim, NULL);
	msleep(20);
	two_hogs(&a, &b);
	is_int(waitpid(a, &status, 0) == a ? status : -1, 0, "the first hog ends without an error");
	is_int(waitpid(b, &status, 0) == b ? status : -1, 0,
	       "the second hog ends without an error");
	stop = true;
	pthread_join(t, NULL);
	e = dev_events(&d);
	for (size_t i = 0; i < e.nr; i++) {
		const struct ldb_rec *r = &e.v[i].rec;
		bool hog = r->arg2 == (unsigned)a || r->arg2 == (unsigned)b;

		if (r->type == LDB_EV_SWITCH_OUT && r->tid == victim_tid && hog &&
		    LDB_SCHED_STATE(r->flags) == LDB_STATE_RUNNING)
			preempted++;
		if (r->type == LDB_EV_TASK && (r->tid == (unsigned)a || r->tid == (unsigned)b) &&
		    !memcmp(&r->arg, "hog\0\0\0\0", 8))
			named++;
		if (r->type != LDB_EV_RUNNING)
			continue;
		running += e.v[i].ring == 0 && (r->tid == (unsigned)a || r->tid == (unsigned)b) && hog;
		strange += !!(r->flags & (LDB_SCHED_F_TID | LDB_SCHED_F_OTHER));
	}
	ok(preempted > 0, "preempted by the hogs (%zu times)", preempted);
	ok(running > 10, "tasks that ran meanwhile (%zu switches)", running);
	is_int(strange, 0, "the tasks that ran meanwhile are not the program's own");
	ok(named > 0, "the hogs have a name");
	check_chain(&e, "running");
	events_free(&e);
	dev_close(&d);
	pin(0);
}

/* If no observed thread waits, switches between other tasks are not recorded. */
static void test_no_running(void)
{
	struct events e;
	size_t nr;
	pid_t a, b;

	pin(0);
	dev_self(&d, NULL);
	two_hogs(&a, &b);
	waitpid(a, NULL, 0);	/* the thread sleeps here */
	waitpid(b, NULL, 0);
	e = dev_events(&d);
	nr = count(&e, LDB_EV_RUNNING, (unsigned)a, (unsigned)b);
	ok(nr < 100, "hardly any running task when nobody waits (%zu)", nr);
	events_free(&e);
	dev_close(&d);
}

static void test_wake(void)
{
	struct events e;
	unsigned tid = gettid_();
	const struct event *w = NULL;

	pin(0);
	dev_self(&d, NULL);
	next_slot = 0;
	reg_self(0);
	prctl(PR_SET_NAME, "renamed-thread");
	msleep(5);
	e = dev_events(&d);
	for (size_t i = 0; i < e.nr; i++)
		if (e.v[i].rec.type == LDB_EV_WAKING && e.v[i].rec.arg2 == tid)
			w = &e.v[i];
	ok(w && w->rec.flags & (LDB_SCHED_F_HARDIRQ | LDB_SCHED_F_SOFTIRQ),
	   "a timer wakes from an interrupt");
	ok(w && w->rec.flags & LDB_SCHED_F_OTHER && !(w->rec.flags & LDB_SCHED_F_HIDDEN),
	   "the woken thread is observed, and no task is hidden");
	w = NULL;
	for (size_t i = 0; i < e.nr; i++)
		if (e.v[i].rec.type == LDB_EV_TASK && e.v[i].rec.tid == tid)
			w = &e.v[i];
	ok(w && !memcmp(&w->rec.arg, "renamed-", 8) && !memcmp(&w->cont.arg, "thread", 7) &&
	   w->rec.arg2 == (unsigned)getpid() && w->rec.flags == LDB_SCHED_F_TID, "a new name");
	events_free(&e);
	dev_close(&d);
}

/* Only the requested groups are recorded. */
static void test_groups(void)
{
	static const struct { unsigned group, has, has_not; const char *what; } tests[] = {
		{ LDB_GROUP_SCHED, LDB_EV_SWITCH_OUT, LDB_EV_FUTEX_WAKE, "sched" },
		{ LDB_GROUP_FUTEX, LDB_EV_FUTEX_WAKE, LDB_EV_SWITCH_OUT, "futex" },
		{ LDB_GROUP_PROCESS, LDB_EV_FORK, LDB_EV_SWITCH, "process" },
	};
	struct ldb_create c = dev_default();
	struct events e;
	unsigned word = 0;

	for (size_t i = 0; i < 3; i++) {
		c.events = tests[i].group;
		dev_self(&d, &c);
		next_slot = 0;
		reg_self(0);
		msleep(2);
		futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0);
		if (!fork())
			_exit(0);
		wait(NULL);
		e = dev_events(&d);
		ok(count(&e, tests[i].has, 0, 0), "%s: there", tests[i].what);
		is_int(count(&e, tests[i].has_not, 0, 0), 0, "others not");
		ok(dev_page(&d, 0)->k_nvcsw > 0, "%s: switches are counted in the page", tests[i].what);
		events_free(&e);
		dev_close(&d);
	}
}

/* The probes have separate code for the TSC, which is the usual clock. */
static void test_all(unsigned clock, const char *name)
{
	dev_clock = clock;
	diag("clock: %s", name);
	test_pingpong();
	test_migrate();
	test_frames();
	test_no_blocks();
	test_futex();
	test_running();
	test_no_running();
	test_wake();
	test_groups();
}

int main(void)
{
	dev_load("disarm_delay_ms=60000 force_tsc=1");
	test_all(LDB_CLOCK_TSC, "TSC");
	test_all(LDB_CLOCK_MONO, "CLOCK_MONOTONIC");
	return done();
}
