// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a trace with known content: report-trace KIND FILE.
 *
 *	figure1		a request waits for a lock that another thread holds
 *	empty		no events at all
 *	plain		functions only: no locks, no requests
 *	sched		kernel events: a holder that is preempted, a thread that is moved and
 *			has to wait for its CPU, a futex of no lock, a hidden task
 *	kernelonly	only kernel events
 *	nokernel	a recording without kernel events
 *	otherhost	figure1, recorded elsewhere
 *	asked		figure1, recorded with --request=loop, which is not possible
 *	twice		a thread puts a request into a queue and takes it out itself
 *	chain		a holder that waits for a preempted holder, requests that are behind others,
 *			a thread that is woken by a working one, page faults, interrupts, lost
 *			events, a scanner
 *	calls		sleeps in system calls, whose lengths are known
 *	disk		sleeps during which a disk works
 *	waits		a request that waits three times for one lock
 *	flows [NS]	requests that compress, encrypt and query, by calls of libraries; workers
 *			that wait; NS: how much longer each call of deflate() takes
 *	noted [1]	requests with notes: those of tenant 7 above 64K are slow, and mark why; 1:
 *			the small ones are slow instead
 *	client		requests that are sent to the process of "server"
 *	server		that process, whose clock is 3 ms ahead
 *	untagged	a function that calls itself, in two threads; an event loop; no tags
 *	outlast		a wait that ends after the estimated end of its function
 *	hostile		names that try to steer the terminal
 *	markup		names that contain markup
 *	big [ROWS]	that many invocations of a few functions
 *	bigsched [ROWS]	that many switches
 */
#include <errno.h>
#include "unit/analysis-sample.h"

#define LOCK	((uint64_t)(uintptr_t)&db_lock)

int db_lock[10], raw_lock[4];

__attribute__((noinline)) void request_handler(void)	{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void lookup(void)		{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void snapshot(void)		{ __asm__ volatile("nop; nop" ::: "memory"); }

static struct made t;

static const void *after_call(void (*in)(void))
{
	return in ? (char *)in + 2 : NULL;
}

#define func(f, from, ...)	\
	made_func(&t, .pc = (char *)(f) + 1, .ret = after_call(from), .unc = 100, __VA_ARGS__)

static void figure1(void)
{
	made_thread(&t, 1, "main", 0, 100000000);
	made_thread(&t, 2, "snapshotter", 0, 100000000);
	for (int i = 0; i < 200; i++) {
		int64_t at = i * 100000;

		made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = at, .id = i);
		made_class(&t, at, i, i % 2 ? "GET" : "SET");
		func(request_handler, lookup, .tid = 1, .gen = 10 + i, .start = at + 100,
		     .end = at + 1000);
		made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = at + 1100, .id = i);
	}
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 30000000, .id = 4711);
	func(request_handler, lookup, .tid = 1, .gen = 500, .start = 30000100, .end = 42700000);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 30000200, .end = 42500000,
		  .gen = 500);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 42750000, .id = 4711);
	func(snapshot, NULL, .tid = 2, .gen = 9, .start = 29900000, .end = 42499000);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 29940000, .end = 42499500, .gen = 9);
	/* The same id is used again, for a shorter request. */
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 50000000, .id = 4711);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 50000500, .id = 4711);
	writer_add_lost(t.w, &(struct ldb_row_lost){ .count = 3, .what = LDB_LOST_OVERRUN });
	writer_add_gap(t.w, &(struct ldb_row_gap){ .tid = 0, .begin = 10, .end = 2000010 });
	writer_add_meta(t.w, "cmdline", "./figure1 -q");
	writer_add_meta(t.w, "end", "exit:0");
}

/*
 * Both traces have 20 requests with the same trace ids.  The server's requests are inside of the
 * client's, but not in the middle.
 */
static void crossing(bool is_server)
{
	int64_t ahead = is_server ? 3000000 : 0;

	made_thread(&t, 10, is_server ? "worker" : "caller", 0, 100000000);
	writer_add_meta(t.w, "pid", "10");
	writer_add_meta(t.w, "host", is_server ? "backend" : "frontend");
	writer_add_meta(t.w, "process", is_server ? "server" : "client");
	writer_add_meta(t.w, "boot", is_server ? "0b" : "0f");
	for (int64_t at = 0; at <= 100000000; at += 100000000)
		writer_add_clock(t.w, &(struct ldb_row_clock){
			.tick = at, .raw_ns = at, .mono_ns = at, .real_ns = 1795316400000000000 + at + ahead });
	for (int i = 1; i <= 20; i++) {
		int64_t at = i * 4000000 + (is_server ? 30000 + i * 1000 : 0);
		int64_t end = i * 4000000 + (is_server ? 950000 - i * 2000 : 1000000);

		made_req(&t, .op = LDB_REQ_OP_START, .tid = 10, .tick = at, .id = i);
		writer_add_reqname(t.w, &(struct ldb_row_reqname){
			.tick = at, .id = i, .trace_hi = 0x4bf92f3577b34da6, .trace_lo = i, .span = i, .name = "" });
		func(is_server ? lookup : request_handler, NULL, .tid = 10, .gen = 10 + i, .start = at + 100,
		     .end = end - 100);
		made_req(&t, .op = LDB_REQ_OP_END, .tid = 10, .tick = end, .id = i);
	}
}

static void client(void)
{
	crossing(false);
}

static void server(void)
{
	crossing(true);
}

/* Makes a request for each cause; 1 is main, 2 the snapshotter, 900 a hog. */
static void sched(void)
{
	enum { R = LDB_STATE_RUNNING, S = LDB_STATE_SLEEPING, D = LDB_STATE_DISK };
	const int64_t ms = 1000000;

	writer_add_meta(t.w, "pid", "1");
	writer_add_meta(t.w, "kernel_events", "module");
	made_thread(&t, 1, "main", 0, 1000 * ms);
	made_thread(&t, 2, "snapshotter", 0, 1000 * ms);
	made_task(&t, 1, 1, "main");
	made_task(&t, 2, 1, "snapshotter");
	made_task(&t, 900, 900, "hog");
	made_task(&t, 918, 918, "migration/0");
	made_switch(&t, .tick = 100, .state = R, .next = 1);
	made_switch(&t, .tick = 100, .cpu = 1, .state = R, .next = 2);

	/* 1: it waits for a lock whose holder was preempted. */
	func(snapshot, NULL, .tid = 2, .gen = 9, .start = 9 * ms, .end = 21 * ms);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 9 * ms + 1000, .end = 20 * ms, .gen = 9);
	made_switch(&t, .tick = 9 * ms + 5000, .cpu = 1, .prev = 2,
		    .state = R | LDB_SCHED_F_PREEMPT, .next = 900, .gen = 9);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 10 * ms, .id = 1);
	func(request_handler, lookup, .tid = 1, .gen = 10, .start = 10 * ms + 1000,
	     .end = 20 * ms + 90000);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 10 * ms + 2000,
		  .end = 20 * ms + 50000, .gen = 10);
	made_futex_wait(&t, .tick = 10 * ms + 3000, .tid = 1, .addr = LOCK, .owner = 2);
	made_switch(&t, .tick = 10 * ms + 4000, .prev = 1, .state = S, .gen = 10);
	made_switch(&t, .tick = 19 * ms, .cpu = 1, .prev = 900, .state = R, .next = 2);
	made_futex_wake(&t, .tick = 20 * ms, .cpu = 1, .tid = 2, .addr = LOCK);
	made_waking(&t, .tick = 20 * ms + 1000, .cpu = 1, .waker = 2, .woken = 1);
	made_wakeup(&t, .tick = 20 * ms + 2000, .woken = 1);
	made_switch(&t, .tick = 20 * ms + 40000, .state = R, .next = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 20 * ms + 100000, .id = 1);

	/* 2: it is moved to a CPU on which the hog runs. */
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 30 * ms, .id = 2);
	func(request_handler, lookup, .tid = 1, .gen = 11, .start = 30 * ms + 1000,
	     .end = 34 * ms + 50000);
	made_switch(&t, .tick = 31 * ms, .prev = 1, .state = R, .next = 918, .gen = 11);
	made_migrate(&t, .tick = 31 * ms + 5000, .tid = 1, .to = 3);
	made_switch(&t, .tick = 34 * ms, .cpu = 3, .prev = 900, .state = R, .next = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 34 * ms + 100000, .id = 2);

	/* 3: it is woken by an interrupt, while the hog is the running task. */
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 50 * ms, .id = 3);
	func(request_handler, lookup, .tid = 1, .gen = 12, .start = 50 * ms + 1000,
	     .end = 57 * ms + 50000);
	made_switch(&t, .tick = 51 * ms, .cpu = 3, .prev = 1, .state = D, .next = 900, .gen = 12);
	made_waking(&t, .tick = 52 * ms, .cpu = 3, .waker = 900, .flags = LDB_SCHED_F_HARDIRQ,
		    .woken = 1);
	made_wakeup(&t, .tick = 52 * ms, .cpu = 3, .woken = 1, .running = 900);
	made_switch(&t, .tick = 57 * ms, .cpu = 3, .prev = 900, .state = R, .next = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 57 * ms + 100000, .id = 3);

	/* 4: it waits for a futex that is not a lock that the shim knows. */
	func(snapshot, NULL, .tid = 2, .gen = 10, .start = 59 * ms, .end = 79 * ms);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 60 * ms, .id = 4);
	func(request_handler, lookup, .tid = 1, .gen = 13, .start = 60 * ms + 1000,
	     .end = 65 * ms + 50000);
	made_futex_wait(&t, .tick = 60 * ms + 9000, .cpu = 3, .tid = 1,
			.addr = (uintptr_t)&raw_lock, .owner = 2);
	made_switch(&t, .tick = 60 * ms + 10000, .cpu = 3, .prev = 1, .state = S, .gen = 13);
	made_futex_wake(&t, .tick = 65 * ms, .cpu = 1, .tid = 2, .addr = (uintptr_t)&raw_lock);
	made_waking(&t, .tick = 65 * ms, .cpu = 1, .waker = 2, .woken = 1);
	made_wakeup(&t, .tick = 65 * ms, .cpu = 3, .woken = 1);
	made_switch(&t, .tick = 65 * ms + 10000, .cpu = 3, .state = R, .next = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 65 * ms + 100000, .id = 4);

	/* 5: it is preempted by a task whose name the recorder may not read. */
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 70 * ms, .id = 5);
	made_switch(&t, .tick = 70 * ms + 1000, .cpu = 3, .prev = 1, .state = R);
	made_switch(&t, .tick = 71 * ms, .cpu = 3, .state = R, .next = 1);
	made_switch(&t, .tick = 71 * ms + 1000, .cpu = 3, .prev = 1,
		    .state = R | LDB_SCHED_F_HIDDEN);
	made_switch(&t, .tick = 71 * ms + 500000, .cpu = 3, .state = R | LDB_SCHED_F_HIDDEN,
		    .next = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 72 * ms, .id = 5);
	made_class(&t, 70 * ms, 5, "SET");
}

/* Thread 1 waits for 2, which waits for 3, which the hog prevents from running. */
static void chain_of_holders(int64_t us)
{
	enum { R = LDB_STATE_RUNNING };

	func(snapshot, NULL, .tid = 3, .gen = 7, .start = us, .end = 99 * us);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1 * us, .id = 1);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 10 * us, .end = 95 * us);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 5 * us, .end = 94 * us);
	made_wait(&t, .tid = 2, .lock = LOCK + 8, .owner = 3, .begin = 12 * us, .end = 92 * us);
	made_hold(&t, .tid = 3, .lock = LOCK + 8, .begin = 11 * us, .end = 91 * us, .gen = 7);
	made_switch(&t, .tick = 20 * us, .cpu = 2, .prev = 3, .state = R, .next = 900, .gen = 7);
	made_migrate(&t, .tick = 70 * us, .tid = 3, .from = 2, .to = 3);
	made_switch(&t, .tick = 80 * us, .cpu = 3, .prev = 900, .state = R, .next = 3);
	writer_add_fault(t.w, &(struct ldb_row_fault){ .tid = 1, .tick = 96 * us, .addr = 0x1000 });
	made_irq(&t, .tid = 1, .start = 97 * us, .end = 98 * us, .name = "eth0");
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 100 * us, .id = 1);
}

/* The thread is off the CPU while events are lost; then it is asleep until thread 3 wakes it. */
static void off_the_cpu(int64_t us)
{
	enum { R = LDB_STATE_RUNNING, S = LDB_STATE_SLEEPING };

	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 200 * us, .id = 2);
	func(request_handler, lookup, .tid = 1, .gen = 8, .start = 201 * us, .end = 399 * us);
	made_switch(&t, .tick = 210 * us, .prev = 1, .state = R | LDB_SCHED_F_PREEMPT, .next = 900,
		    .gen = 8);
	writer_add_lost(t.w, &(struct ldb_row_lost){ .tick = 220 * us, .count = 2, .what = LDB_LOST_KERNEL });
	made_switch(&t, .tick = 240 * us, .prev = 917, .state = R, .next = 1);
	func(snapshot, NULL, .tid = 3, .gen = 9, .start = 241 * us, .end = 390 * us);
	made_switch(&t, .tick = 250 * us, .prev = 1, .state = S, .gen = 8);
	made_waking(&t, .tick = 380 * us, .cpu = 3, .waker = 3, .woken = 1);
	made_wakeup(&t, .tick = 380 * us, .woken = 1);
	made_switch(&t, .tick = 381 * us, .state = R, .next = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 400 * us, .id = 2);
}

/*
 * A worker takes requests out of their queue one by one; the last request of each burst waits
 * for all others.
 */
static void bursts(int64_t us)
{
	for (int i = 0; i < 300; i++) {
		int64_t at = 1000 * us + i * 100 * us;
		int64_t burst = i % 50 >= 45 ? at - i % 5 * 100 * us : at - 5 * us;

		made_req(&t, .op = LDB_REQ_OP_BLOCK, .tid = 1, .tick = burst, .id = 100 + i,
			 .queue = 0x1000);
		made_class(&t, burst, 100 + i, i % 3 ? "GET" : "PUT");
		made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = at, .id = 100 + i,
			 .queue = 0x1000);
		func(request_handler, lookup, .tid = 2, .gen = 20 + i, .start = at + us,
		     .end = at + 90 * us);
		made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = at + 95 * us, .id = 100 + i);
	}
}

static void chain(void)
{
	static const char *const names[] = { "main", "worker", "third" };
	const int64_t us = 1000;

	writer_add_meta(t.w, "cmdline", "./chain");
	writer_add_meta(t.w, "kernel_events", "perf");
	writer_add_meta(t.w, "kernel_faults", "1");
	writer_add_meta(t.w, "kernel_irqs", "1");
	for (uint32_t tid = 1; tid <= 3; tid++) {
		made_thread(&t, tid, names[tid - 1], 0, 100000 * us);
		made_task(&t, tid, 1, names[tid - 1]);
		made_switch(&t, .tick = 100 + tid, .cpu = tid - 1, .next = tid);
	}
	made_task(&t, 900, 900, "hog");
	writer_add_scan(t.w, &(struct ldb_row_scan){ .rounds = 1000, .looks = 3000, .changes = 500 });
	chain_of_holders(us);
	off_the_cpu(us);
	bursts(us);
}

/* The last request reads from a pipe for 5 ms, the others poll for 20 us. */
static void calls(void)
{
	const int64_t us = 1000;

	writer_add_meta(t.w, "kernel_events", "bpf");
	writer_add_meta(t.w, "kernel_syscalls", "all");
	writer_add_meta(t.w, "samples", "cpu-clock 199");
	writer_add_meta(t.w, "samples_user", "1");
	writer_add_meta(t.w, "samples_lost", "3");
	writer_add_ksym(t.w, &(struct ldb_row_ksym){ .id = 2, .name = "vfs_read" });
	made_thread(&t, 1, "main", 0, 100000 * us);
	made_task(&t, 1, 1, "main");
	made_switch(&t, .tick = 100, .next = 1);
	func(lookup, NULL, .tid = 1, .gen = 1, .start = 200, .end = 90000 * us);
	for (int i = 1; i <= 100; i++) {
		int64_t at = i * 200 * us, length = i == 100 ? 5000 * us : 20 * us;
		const char *name = i == 100 ? "read" : "poll", *file = i == 100 ? "a pipe" : "";

		made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = at, .id = i);
		func(request_handler, lookup, .tid = 1, .gen = 1 + i, .parent = 1, .depth = 1,
		     .start = at + us, .end = at + length + 90 * us);
		made_call(&t, .tid = 1, .start = at + 10 * us, .name = name, .file = file);
		made_switch(&t, .tick = at + 10 * us, .prev = 1, .state = LDB_STATE_SLEEPING);
		made_waking(&t, .tick = at + 10 * us + length, .flags = LDB_SCHED_F_HARDIRQ, .woken = 1);
		made_wakeup(&t, .tick = at + 10 * us + length, .woken = 1);
		made_switch(&t, .tick = at + 10 * us + length, .next = 1);
		made_call(&t, .tid = 1, .start = at + 9 * us, .end = at + 11 * us + length, .name = name,
			  .file = file, .result = i == 100 ? 512 : -EINTR, .arg0 = 3, .arg = 4096, .flags = 2);
		writer_add_sample(t.w, &(struct ldb_row_sample){
			.tid = 1, .tick = at + length + 50 * us, .kernel = i % 4 ? 0 : 2, .pc = (uintptr_t)request_handler });
		made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = at + length + 100 * us, .id = i);
	}
}

/*
 * Thread 1 calls lookup(), which calls itself: each tenth of the outer calls takes 800 us, the
 * others 300 us.  Thread 2 is an event loop whose fifth turn takes 8 ms; it calls lookup() for 1
 * us.  Thread 1 is in a call of lookup() when the recording begins, and when it ends.
 */
static void untagged(void)
{
	const int64_t us = 1000, ms = 1000000;

	writer_add_meta(t.w, "kernel_events", "bpf");
	writer_add_meta(t.w, "kernel_syscalls", "sleep");
	made_thread(&t, 1, "worker", 0, 100 * ms);
	made_thread(&t, 2, "loop", 0, 100 * ms);
	func(lookup, snapshot, .tid = 1, .gen = 1, .flags = LDB_FUNC_F_FROM_START, .start = 0, .end = 500 * us);
	for (int i = 1; i <= 40; i++) {
		int64_t at = i * ms, length = i % 10 ? 300 * us : 800 * us;

		func(request_handler, lookup, .tid = 1, .gen = 10 * i + 2, .parent = 10 * i, .depth = 2,
		     .start = at + 50 * us, .end = at + 100 * us);
		func(lookup, lookup, .tid = 1, .gen = 10 * i + 1, .parent = 10 * i, .depth = 2,
		     .start = at + 10 * us, .end = at + 20 * us);
		func(lookup, snapshot, .tid = 1, .gen = 10 * i, .depth = 1, .start = at, .end = at + length);
		func(lookup, snapshot, .tid = 2, .gen = 10 * i, .depth = 1, .start = at + 500 * us, .end = at + 501 * us);
	}
	func(lookup, snapshot, .tid = 1, .gen = 1000, .flags = LDB_FUNC_F_OPEN, .start = 90 * ms, .end = 99 * ms);
	for (int i = 1; i <= 10; i++)
		made_call(&t, .tid = 2, .start = i * 10 * ms, .end = i * 10 * ms + (i == 5 ? 2 : 9) * ms,
			  .name = i % 2 ? "epoll_wait" : "poll");
	made_call(&t, .tid = 1, .start = 95 * ms, .end = 96 * ms, .name = "read");
}

#define DISK(...)	writer_add_disk(t.w, &(struct ldb_row_disk){ __VA_ARGS__ })
#define KERNEL		LDB_DISK_WRITE
#define OWN		(LDB_DISK_WRITE | LDB_DISK_F_OWN)

static void sleep_in_sync(int64_t at, int64_t length, uint32_t waker)
{
	made_call(&t, .tid = 1, .start = at, .name = "fdatasync", .file = "svc.dat");
	made_switch(&t, .tick = at, .prev = 1, .state = LDB_STATE_DISK);
	made_waking(&t, .tick = at + length, .waker = waker, .flags = waker ? 0 : LDB_SCHED_F_SOFTIRQ, .woken = 1);
	made_wakeup(&t, .tick = at + length, .woken = 1);
	made_switch(&t, .tick = at + length, .next = 1);
}

/*
 * The last request calls fdatasync() twice and sleeps 3 ms in each call.  During the first sleep
 * the disk works 2 ms for the request; during the second, 1.5 ms for the kernel thread that wakes
 * it.  The disk also works for others.
 */
static void disk(void)
{
	const int64_t us = 1000, last = 30 * 200 * us;

	writer_add_meta(t.w, "kernel_events", "bpf");
	writer_add_meta(t.w, "kernel_syscalls", "sleep");
	writer_add_meta(t.w, "kernel_disk", "1");
	made_thread(&t, 1, "main", 0, 100000 * us);
	made_thread(&t, 2, "other", 0, 100000 * us);
	made_task(&t, 1, 1, "main");
	made_task(&t, 2, 1, "other");
	made_task(&t, 800, 800, "jbd2/nvme0n1");
	made_switch(&t, .tick = 100, .next = 1);
	func(lookup, NULL, .tid = 1, .gen = 1, .start = 200, .end = 90000 * us);
	for (int i = 1; i <= 30; i++) {
		int64_t at = i * 200 * us, length = i == 30 ? 6300 * us : 50 * us;

		made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = at, .id = i);
		func(request_handler, lookup, .tid = 1, .gen = 1 + i, .parent = 1, .depth = 1,
		     .start = at + us, .end = at + length + 90 * us);
		sleep_in_sync(at + 10 * us, i == 30 ? 3000 * us : 50 * us, 0);
		if (i == 30)
			sleep_in_sync(at + 3300 * us, 3000 * us, 800);
		made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = at + length + 100 * us, .id = i);
	}
	/* The requests to the disk overlap; one began before the sleep. */
	DISK(.tid = 1, .flags = OWN, .start = last, .end = last + 1010 * us, .bytes = 4096, .device = "nvme0n1");
	DISK(.tid = 1, .flags = OWN, .start = last + 510 * us, .end = last + 2010 * us, .bytes = 8192, .device = "nvme0n1");
	DISK(.tid = 1, .flags = OWN, .start = last + 2010 * us, .end = last + 2110 * us, .bytes = 512, .device = "sda");
	DISK(.tid = 2, .flags = OWN, .start = last, .end = last + 3000 * us, .bytes = 512, .device = "nvme0n1");
	DISK(.tid = 800, .flags = KERNEL, .start = last, .end = last + 3000 * us, .bytes = 512, .device = "nvme0n1");
	DISK(.tid = 800, .flags = KERNEL, .start = last + 3400 * us, .end = last + 4900 * us, .bytes = 512, .device = "nvme0n1");
}

/*
 * One request waits three times for the same lock: first for thread 2, which itself waits for
 * thread 3; then for thread 3; then for thread 2.
 */
static void waits(void)
{
	static const char *const names[] = { "main", "second", "third" };
	const int64_t us = 1000;

	for (uint32_t tid = 1; tid <= 3; tid++)
		made_thread(&t, tid, names[tid - 1], 0, 1000 * us);
	func(request_handler, NULL, .tid = 1, .gen = 1, .start = 10 * us, .end = 900 * us);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 20 * us, .id = 1);
	for (int i = 0; i < 3; i++) {
		int64_t at = (100 + 200 * i) * us;
		uint32_t holder = i == 1 ? 3 : 2;

		made_wait(&t, .tid = 1, .lock = LOCK, .owner = holder, .begin = at, .end = at + (100 + i) * us, .gen = 1);
		made_hold(&t, .tid = holder, .lock = LOCK, .begin = at - us, .end = at + (100 + i) * us - 100);
	}
	made_wait(&t, .tid = 2, .lock = LOCK + 8, .owner = 3, .begin = 110 * us, .end = 190 * us);
	made_hold(&t, .tid = 3, .lock = LOCK + 8, .begin = 105 * us, .end = 189 * us);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 800 * us, .id = 1);
}

static uint64_t draw(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dULL >> 32;
}

static void note(uint64_t id, int64_t tick, const char *key, const char *text, uint64_t number)
{
	writer_add_note(t.w, &(struct ldb_row_note){
		.flags = text ? 0 : LDB_NOTE_F_NUMBER, .tid = 1, .tick = tick, .id = id, .key = key,
		.text = text ? text : "", .number = number,
	});
}

static void mark(uint32_t tid, int64_t tick, const char *name, int64_t value)
{
	writer_add_event(t.w, &(struct ldb_row_event){
		.tid = tid, .tick = tick, .name = name, .value = value,
	});
}

/*
 * All properties of a request are random, except for its latency: that follows from the rule, to
 * within 10 us.
 */
static void noted_request(uint64_t id, int64_t at, bool is_small)
{
	uint64_t bytes = 1ULL << (8 + draw() % 12);
	uint32_t tid = 1 + draw() % 2;
	unsigned tenant = draw() % 10;
	bool is_slow = is_small ? bytes <= 512 : tenant == 7 && bytes > 65536;
	int64_t end = at + (is_slow ? 5000000 : 100000) + draw() % 10000;
	char text[16];

	snprintf(text, sizeof(text), "%u", tenant);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = tid, .tick = at, .id = id);
	made_class(&t, at, id, draw() % 2 ? "GET" : "PUT");
	note(id, at + 10, "tenant", "not the last", 0);
	note(id, at + 30, "bytes", NULL, bytes);
	note(id, at + 20, "tenant", text, 0);
	note(id, at + 40, "shard", draw() % 2 ? "left" : "right", 0);
	func(request_handler, lookup, .tid = tid, .gen = 10 + id, .start = at + 100, .end = end - 100);
	if (is_slow)
		mark(tid, at + 1000000, "compaction", (int64_t)bytes);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = tid, .tick = end, .id = id);
}

static void noted(bool is_small)
{
	const int64_t last = 2000 * 6000000LL;

	made_thread(&t, 1, "one", 0, last + 20000000);
	made_thread(&t, 2, "two", 0, last + 20000000);
	for (uint64_t id = 1; id <= 2000; id++)
		noted_request(id, (int64_t)id * 5999000, is_small);
	/* The last request waits for a thread that also marks an event. */
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = last, .id = 4711);
	note(4711, last + 1, "bytes", NULL, UINT64_MAX);
	/* This control character has two bytes, which a terminal treats as a single character. */
	note(4711, last + 2, "shard", "a\302\205z", 0);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = last + 1000, .end = last + 9000000);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = last + 500, .end = last + 8999000);
	mark(2, last + 5000000, "merge", 3);
	mark(1, last + 9500000, "retry", -1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = last + 10000000, .id = 4711);
	/* This note is for a request that is not open. */
	note(4711, last + 15000000, "late", "1", 0);
	mark(1, last + 15000000, "of no request", 0);
}

static void outlast(void)
{
	made_thread(&t, 1, "main", 0, 100000);
	func(lookup, NULL, .tid = 1, .gen = 1, .start = 1000, .end = 50000);
	func(request_handler, lookup, .tid = 1, .gen = 2, .parent = 1, .depth = 1, .start = 10000,
	     .end = 20000);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 15000, .end = 24000, .gen = 2);
	func(request_handler, lookup, .tid = 1, .gen = 3, .parent = 1, .depth = 1, .start = 22000,
	     .end = 30000);
}

static void twice(void)
{
	made_thread(&t, 1, "main", 0, 100000);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 1);
	func(lookup, NULL, .tid = 1, .gen = 1, .start = 2000, .end = 30000);
	made_req(&t, .op = LDB_REQ_OP_BLOCK, .tid = 1, .tick = 10000, .id = 1, .queue = 0x1000);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 20000, .id = 1, .queue = 0x1000);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 40000, .id = 1);
}

static void hostile(void)
{
	made_task(&t, 900, 900, "\033]0;\007\x9b" "2J\xc2\x9b");
	made_switch(&t, .tick = 60, .next = 1);
	made_switch(&t, .tick = 70, .prev = 1, .state = LDB_STATE_RUNNING, .next = 900);
	made_switch(&t, .tick = 90, .prev = 900, .state = LDB_STATE_RUNNING, .next = 1);
	writer_add_meta(t.w, "kernel_events", "\033[7mperf");
	writer_add_meta(t.w, "kernel_why", "\033[2J\n\x90\xc2\x90");
	made_thread(&t, 1, "\033]0;owned\007\xc2\x9d" "0;\x9d", 0, 1000000);
	writer_add_meta(t.w, "cmdline", "\033[2Jcat \"/etc/passwd\"\n\xff\xfe\x9b" "31m\xc2\x9b" "31m");
	writer_add_module(t.w, &(struct ldb_row_module){
		.start = 0x1000, .end = 0x2000, .path = "/tmp/\033[31m\n,\"evil\"\x9b\xc2\x85", .build_id = "00",
		.end_tick = INT64_MAX });
	made_func(&t, .tid = 1, .pc = (void *)0x1010, .ret = (void *)0x1020, .gen = 1, .start = 100,
		  .end = 200);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 50, .id = UINT64_MAX);
	made_func(&t, .tid = 1, .pc = (void *)0x1030, .ret = (void *)0x1020, .gen = 2, .start = 6000,
		  .end = 1000000, .flags = LDB_FUNC_F_OPEN);
	made_class(&t, 60, UINT64_MAX, "\033[31mclass\n\x9b\xc2\x9b");
	made_wait(&t, .tid = 1, .lock = 0x1030, .owner = 1, .begin = 120, .end = 5000, .gen = 1);
	writer_add_meta(t.w, "kernel_syscalls", "\033[7mall");
	made_call(&t, .tid = 1, .start = 7000, .end = 8000, .name = "\033[7mread",
		  .file = "\033]0;owned\007\x9b" "2J\n");
	writer_add_meta(t.w, "samples", "\033[7mclock 1");
	writer_add_ksym(t.w, &(struct ldb_row_ksym){ .id = 7, .name = "\033]0;owned\007\x9b" "2J\n" });
	writer_add_sample(t.w, &(struct ldb_row_sample){ .tid = 1, .tick = 9000, .kernel = 7 });
	writer_add_sample(t.w, &(struct ldb_row_sample){ .tid = 1, .tick = 9100, .pc = 0x1010, .ret = 0x1021 });
	writer_add_sample(t.w, &(struct ldb_row_sample){ .tid = 1, .tick = 9200, .kernel = UINT32_MAX });
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 10000, .id = UINT64_MAX);
}

static void markup(void)
{
	static const char script[] = "</script><script>window.owned=1</script>";
	static const char image[] = "<img src=x onerror=window.owned=2>";

	writer_add_meta(t.w, "cmdline", "</title><script>window.owned=3</script><!--");
	writer_add_meta(t.w, "kernel_events", "module");
	writer_add_meta(t.w, "kernel_why", image);
	made_thread(&t, 1, image, 0, 1000000);
	made_thread(&t, 2, "\"><svg onload=window.owned=4>", 0, 1000000);
	made_task(&t, 900, 900, script);
	writer_add_module(t.w, &(struct ldb_row_module){
		.start = 0x1000, .end = 0x2000, .build_id = "00", .end_tick = INT64_MAX,
		.path = "/tmp/<img src=x onerror=window.owned=5><!--<script>" });
	made_func(&t, .tid = 1, .pc = (void *)0x1010, .ret = (void *)0x1020, .gen = 1, .start = 100,
		  .end = 9000);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 50, .id = 7);
	made_class(&t, 60, 7, script);
	made_wait(&t, .tid = 1, .lock = 0x1030, .owner = 2, .begin = 120, .end = 5000, .gen = 1);
	made_hold(&t, .tid = 2, .lock = 0x1030, .begin = 110, .end = 4900, .gen = 1);
	made_switch(&t, .tick = 6000, .prev = 1, .state = LDB_STATE_RUNNING, .next = 900);
	made_switch(&t, .tick = 7000, .prev = 900, .state = LDB_STATE_RUNNING, .next = 1);
	writer_add_meta(t.w, "kernel_syscalls", "all");
	made_call(&t, .tid = 1, .start = 7500, .end = 8000, .name = script, .file = image);
	writer_add_meta(t.w, "samples", script);
	writer_add_ksym(t.w, &(struct ldb_row_ksym){ .id = 2, .name = image });
	writer_add_sample(t.w, &(struct ldb_row_sample){ .tid = 1, .tick = 8500, .kernel = 2 });
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 10000, .id = 7);
}

static void kernelonly(void)
{
	writer_add_meta(t.w, "kernel_events", "perf");
	writer_add_meta(t.w, "kernel_only", "1");
	made_task(&t, 7, 7, "nginx");
	made_switch(&t, .tick = 1000, .prev = 7, .state = LDB_STATE_SLEEPING);
	made_wakeup(&t, .tick = 5000, .woken = 7);
	made_switch(&t, .tick = 6000, .next = 7);
}

static void nokernel(void)
{
	figure1();
	writer_add_meta(t.w, "kernel_events", "none");
	writer_add_meta(t.w, "kernel_why", "no /dev/ldb; perf_event_paranoid is 3");
}

/* Two threads take turns on one CPU, with a request now and then. */
static void bigsched(long rows)
{
	writer_add_meta(t.w, "kernel_events", "module");
	made_thread(&t, 1, "one", 0, rows * 1000);
	made_thread(&t, 2, "two", 0, rows * 1000);
	for (long i = 0; i < rows; i++) {
		made_switch(&t, .tick = i * 1000, .prev = 1 + i % 2, .state = LDB_STATE_RUNNING,
			    .next = 2 - i % 2);
		if (i % 1000 == 500) {
			made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = i * 1000, .id = i);
			made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = i * 1000 + 50000,
				 .id = i);
		}
	}
}

static void big(long rows)
{
	for (long i = 0; i < rows; i++)
		func(i % 3 ? request_handler : lookup, i % 5 ? snapshot : lookup, .tid = 1 + i % 4,
		     .gen = i + 2, .parent = 1, .depth = 1, .start = i * 100,
		     .end = i * 100 + 50 + i % 1000);
}

/*
 * Calls between components.  Each call is recorded, except those of STRCMP and EXIT, of which there
 * are only sums.
 */
enum { DEFLATE = 1, ENCRYPT, STEP, PREAD, COND_WAIT, LOCK_API, STRCMP, EXIT, NR_FLOW_APIS };

static struct ldb_row_flow flow_sums[4][NR_FLOW_APIS];

static void flow_call(uint32_t tid, uint32_t api, int64_t start, int64_t ns, unsigned gen)
{
	struct ldb_row_flow *s = &flow_sums[tid][api];

	made_flow_call(&t, .tid = tid, .api = api, .start = start, .end = start + ns, .gen = GEN(gen),
		       .site = (uintptr_t)request_handler + 2);
	s->calls++;
	s->timed++;
	s->sum += ns;
	s->shared += ns / 2;
	s->min = s->calls == 1 || ns < (int64_t)s->min ? (uint64_t)ns : s->min;
	s->max = ns > (int64_t)s->max ? (uint64_t)ns : s->max;
}

static void flow_apis(void)
{
	static const struct {
		unsigned caller, target, flags;
		const char *name;
	} apis[NR_FLOW_APIS] = {
		[DEFLATE] = { 0, 1, LDB_FLOW_F_PLT, "deflate" },
		[ENCRYPT] = { 0, 2, LDB_FLOW_F_GOT, "EVP_EncryptUpdate" },
		[STEP] = { 0, 3, LDB_FLOW_F_PLT, "sqlite3_step" },
		[PREAD] = { 3, 4, LDB_FLOW_F_PLT, "pread64" },
		[COND_WAIT] = { 0, 4, LDB_FLOW_F_PLT, "pthread_cond_wait" },
		[LOCK_API] = { 3, 4, LDB_FLOW_F_PLT, "pthread_mutex_lock" },
		[STRCMP] = { 0, 5, LDB_FLOW_F_PLT, "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareERKS4_" },
		[EXIT] = { 0, 4, LDB_FLOW_F_PLT | LDB_FLOW_F_NOTIME, "exit" },
	};
	static const char *const libraries[] = {
		"/usr/lib/libz.so.1.3.1", "/usr/lib/libcrypto.so.3", "/usr/lib/libsqlite3.so.0.8.6",
		"/usr/lib/libc.so.6", "/usr/lib/libstdc++.so.6",
	};

	writer_add_meta(t.w, "exe", made_self.path);
	writer_add_meta(t.w, "flows_threshold_ns", "20000");
	writer_add_meta(t.w, "flows_no_slot", "3");
	writer_add_meta(t.w, "flows_address_taken", "2");
	writer_add_meta(t.w, "flows_unknown_calls", "4");
	for (unsigned i = 1; i <= 5; i++)
		writer_add_module(t.w, &(struct ldb_row_module){
			.end_tick = INT64_MAX, .start = MADE_COMPONENT(i), .end = MADE_COMPONENT(i + 1),
			.bias = MADE_COMPONENT(i), .build_id = "", .path = libraries[i - 1],
		});
	for (unsigned i = 1; i < NR_FLOW_APIS; i++)
		made_flow_api(&t, .id = i, .flags = apis[i].flags, .name = apis[i].name,
			      .caller = apis[i].caller ? MADE_COMPONENT(apis[i].caller) : made_self.start,
			      .target = MADE_COMPONENT(apis[i].target) + 64 * i);
}

/*
 * Makes a request of 3.5 ms: 1 ms of it in deflate(), 0.5 ms in EVP_EncryptUpdate(), 1.5 ms in
 * sqlite3_step().  longer: how much longer it is, all in deflate().
 */
static void flow_request(uint64_t id, int64_t at, int64_t longer)
{
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = at, .id = id);
	func(request_handler, lookup, .tid = 1, .gen = 10 + id, .start = at + 10000, .end = at + 3490000 + longer);
	flow_call(1, DEFLATE, at + 100000, 1000000 + longer, 10 + id);
	at += longer;
	flow_call(1, ENCRYPT, at + 1200000, 500000, 10 + id);
	flow_call(1, PREAD, at + 2000000, 200000, 10 + id);
	flow_call(1, STEP, at + 1800000, 1500000, 10 + id);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = at + 3500000, .id = id);
}

static void flows(int64_t longer)
{
	made_thread(&t, 1, "main", 0, 100000000);
	made_thread(&t, 2, "worker-1", 10000000, 90000000);
	made_thread(&t, 3, "worker-2", 10000000, 90000000);
	flow_apis();
	for (unsigned i = 0; i < 20; i++)
		flow_request(100 + i, i * 4500000, (i == 19 ? 3000000 : 0) + longer);
	/* The workers: one waits half of its time, the other most of it. */
	flow_call(2, COND_WAIT, 20000000, 40000000, 0);
	flow_call(3, COND_WAIT, 15000000, 70000000, 0);
	/* Only every 10th call of a frequent function is timed. */
	flow_sums[2][STRCMP] = (struct ldb_row_flow){
		.calls = 100000, .timed = 10000, .sum = 1000000, .shared = 500000, .min = 40, .max = 220,
	};
	made_flow_hist(&t, .tid = 2, .api = STRCMP, .tick = 90000000, .bucket = flow_bucket(80), .count = 5000);
	made_flow_hist(&t, .tid = 2, .api = STRCMP, .tick = 90000000, .bucket = flow_bucket(120), .count = 5000);
	flow_sums[1][EXIT].calls = 1;
	for (uint32_t tid = 1; tid <= 3; tid++)
		for (uint32_t api = 1; api < NR_FLOW_APIS; api++) {
			struct ldb_row_flow *row = &flow_sums[tid][api];

			row->tid = tid;
			row->api = api;
			row->tick = tid == 1 ? 100000000 : 90000000;
			if (row->calls)
				writer_add_flow(t.w, row);
		}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";

	if (argc < 3) {
		fputs("usage: report-trace KIND FILE [ROWS]\n", stderr);
		return 2;
	}
	made_begin(&t, "trace");
	if (!strcmp(kind, "figure1"))
		figure1();
	else if (!strcmp(kind, "otherhost")) {
		figure1();
		writer_add_meta(t.w, "host", "elsewhere");
	} else if (!strcmp(kind, "asked")) {
		figure1();
		writer_add_meta(t.w, "request", "loop");
	} else if (!strcmp(kind, "client"))
		client();
	else if (!strcmp(kind, "server"))
		server();
	else if (!strcmp(kind, "twice"))
		twice();
	else if (!strcmp(kind, "chain"))
		chain();
	else if (!strcmp(kind, "calls"))
		calls();
	else if (!strcmp(kind, "disk"))
		disk();
	else if (!strcmp(kind, "flows"))
		flows(argc > 3 ? atol(argv[3]) : 0);
	else if (!strcmp(kind, "waits"))
		waits();
	else if (!strcmp(kind, "untagged"))
		untagged();
	else if (!strcmp(kind, "noted"))
		noted(argc > 3);
	else if (!strcmp(kind, "outlast"))
		outlast();
	else if (!strcmp(kind, "plain"))
		func(lookup, snapshot, .tid = 1, .gen = 1, .start = 100, .end = 200);
	else if (!strcmp(kind, "sched"))
		sched();
	else if (!strcmp(kind, "kernelonly"))
		kernelonly();
	else if (!strcmp(kind, "nokernel"))
		nokernel();
	else if (!strcmp(kind, "bigsched"))
		bigsched(argc > 3 ? atol(argv[3]) : 1000000);
	else if (!strcmp(kind, "hostile"))
		hostile();
	else if (!strcmp(kind, "markup"))
		markup();
	else if (!strcmp(kind, "big"))
		big(argc > 3 ? atol(argv[3]) : 1000000);
	if (writer_close(t.w))
		return 1;
	/* The trace is made in a separate folder, which may be on another file system. */
	char command[1024];

	snprintf(command, sizeof(command), "mv '%s' '%s'", t.path, argv[2]);
	if (system(command))
		return 1;
	return 0;
}
