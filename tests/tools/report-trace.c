// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a trace with known content: report-trace KIND FILE.
 *
 *	figure1		a request waits for a lock that another thread holds
 *	empty		no events at all
 *	plain		functions only: no locks, no requests
 *	sched		kernel events: a holder that is preempted, a thread that is moved and
 *			has to wait for its CPU, a futex of no lock, a hidden task
 *	kernelonly	nothing else
 *	nokernel	a recording that could have none
 *	otherhost	figure1, recorded elsewhere
 *	twice		a thread puts a request into a queue and takes it out itself
 *	chain		a holder that waits for a preempted one, requests that are behind others,
 *			a thread that is woken by a working one, page faults, interrupts, lost
 *			events, a scanner
 *	outlast		a wait that ends after the estimated end of its function
 *	hostile		names that try to steer the terminal
 *	markup		names that try to be a part of a page
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

static void func(uint32_t tid, void (*f)(void), void (*from)(void), unsigned gen, unsigned parent,
		 unsigned depth, int64_t start, int64_t end)
{
	made_func(&t, tid, (char *)f + 1, from ? (char *)from + 2 : NULL, gen, parent, depth, start,
		  end, 100);
}

static void figure1(void)
{
	made_thread(&t, 1, "main", 0, 100000000);
	made_thread(&t, 2, "snapshotter", 0, 100000000);
	for (int i = 0; i < 200; i++) {
		int64_t at = i * 100000;

		made_req(&t, LDB_REQ_OP_START, 1, at, i, 0);
		made_class(&t, at, i, i % 2 ? "GET" : "SET");
		func(1, request_handler, lookup, 10 + i, 0, 0, at + 100, at + 1000);
		made_req(&t, LDB_REQ_OP_END, 1, at + 1100, i, 0);
	}
	made_req(&t, LDB_REQ_OP_START, 1, 30000000, 4711, 0);
	func(1, request_handler, lookup, 500, 0, 0, 30000100, 42700000);
	made_wait(&t, 1, LOCK, 2, 30000200, 42500000, 500);
	made_req(&t, LDB_REQ_OP_END, 1, 42750000, 4711, 0);
	func(2, snapshot, NULL, 9, 0, 0, 29900000, 42499000);
	made_hold(&t, 2, LOCK, 29940000, 42499500, 9);
	/* The same id again, shorter. */
	made_req(&t, LDB_REQ_OP_START, 1, 50000000, 4711, 0);
	made_req(&t, LDB_REQ_OP_END, 1, 50000500, 4711, 0);
	writer_add_lost(t.w, &(struct ldb_row_lost){ .count = 3, .what = LDB_LOST_OVERRUN });
	writer_add_gap(t.w, &(struct ldb_row_gap){ .tid = 0, .begin = 10, .end = 2000010 });
	writer_add_meta(t.w, "cmdline", "./figure1 -q");
	writer_add_meta(t.w, "end", "exit:0");
}

/* A request for each cause; 1 is main, 2 the snapshotter, 900 a hog. */
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
	made_switch(&t, 100, 0, 0, R, 1, 0);
	made_switch(&t, 100, 1, 0, R, 2, 0);

	/* 1: waits for a lock whose holder lost its CPU. */
	func(2, snapshot, NULL, 9, 0, 0, 9 * ms, 21 * ms);
	made_hold(&t, 2, LOCK, 9 * ms + 1000, 20 * ms, 9);
	made_switch(&t, 9 * ms + 5000, 1, 2, R | LDB_SCHED_F_PREEMPT, 900, 9);
	made_req(&t, LDB_REQ_OP_START, 1, 10 * ms, 1, 0);
	func(1, request_handler, lookup, 10, 0, 0, 10 * ms + 1000, 20 * ms + 90000);
	made_wait(&t, 1, LOCK, 2, 10 * ms + 2000, 20 * ms + 50000, 10);
	made_futex_wait(&t, 10 * ms + 3000, 0, 1, LOCK, 2);
	made_switch(&t, 10 * ms + 4000, 0, 1, S, 0, 10);
	made_switch(&t, 19 * ms, 1, 900, R, 2, 0);
	made_futex_wake(&t, 20 * ms, 1, 2, LOCK);
	made_waking(&t, 20 * ms + 1000, 1, 2, 0, 1);
	made_wakeup(&t, 20 * ms + 2000, 0, 1, 0);
	made_switch(&t, 20 * ms + 40000, 0, 0, R, 1, 0);
	made_req(&t, LDB_REQ_OP_END, 1, 20 * ms + 100000, 1, 0);

	/* 2: moved to a CPU that the hog has. */
	made_req(&t, LDB_REQ_OP_START, 1, 30 * ms, 2, 0);
	func(1, request_handler, lookup, 11, 0, 0, 30 * ms + 1000, 34 * ms + 50000);
	made_switch(&t, 31 * ms, 0, 1, R, 918, 11);
	made_migrate(&t, 31 * ms + 5000, 1, 0, 3);
	made_switch(&t, 34 * ms, 3, 900, R, 1, 0);
	made_req(&t, LDB_REQ_OP_END, 1, 34 * ms + 100000, 2, 0);

	/* 3: woken by an interrupt, and the hog has the CPU. */
	made_req(&t, LDB_REQ_OP_START, 1, 50 * ms, 3, 0);
	func(1, request_handler, lookup, 12, 0, 0, 50 * ms + 1000, 57 * ms + 50000);
	made_switch(&t, 51 * ms, 3, 1, D, 900, 12);
	made_waking(&t, 52 * ms, 3, 900, LDB_SCHED_F_HARDIRQ, 1);
	made_wakeup(&t, 52 * ms, 3, 1, 900);
	made_switch(&t, 57 * ms, 3, 900, R, 1, 0);
	made_req(&t, LDB_REQ_OP_END, 1, 57 * ms + 100000, 3, 0);

	/* 4: a futex that is no lock of the shim's. */
	func(2, snapshot, NULL, 10, 0, 0, 59 * ms, 79 * ms);
	made_req(&t, LDB_REQ_OP_START, 1, 60 * ms, 4, 0);
	func(1, request_handler, lookup, 13, 0, 0, 60 * ms + 1000, 65 * ms + 50000);
	made_futex_wait(&t, 60 * ms + 9000, 3, 1, (uintptr_t)&raw_lock, 2);
	made_switch(&t, 60 * ms + 10000, 3, 1, S, 0, 13);
	made_futex_wake(&t, 65 * ms, 1, 2, (uintptr_t)&raw_lock);
	made_waking(&t, 65 * ms, 1, 2, 0, 1);
	made_wakeup(&t, 65 * ms, 3, 1, 0);
	made_switch(&t, 65 * ms + 10000, 3, 0, R, 1, 0);
	made_req(&t, LDB_REQ_OP_END, 1, 65 * ms + 100000, 4, 0);

	/* 5: no time left, and a task whose name is not for us. */
	made_req(&t, LDB_REQ_OP_START, 1, 70 * ms, 5, 0);
	made_switch(&t, 70 * ms + 1000, 3, 1, R, 0, 0);
	made_switch(&t, 71 * ms, 3, 0, R, 1, 0);
	made_switch(&t, 71 * ms + 1000, 3, 1, R | LDB_SCHED_F_HIDDEN, 0, 0);
	made_switch(&t, 71 * ms + 500000, 3, 0, R | LDB_SCHED_F_HIDDEN, 1, 0);
	made_req(&t, LDB_REQ_OP_END, 1, 72 * ms, 5, 0);
	made_class(&t, 70 * ms, 5, "SET");
}

/* 1 waits for 2, which waits for 3, which the hog keeps off the CPU. */
static void chain_of_holders(int64_t us)
{
	enum { R = LDB_STATE_RUNNING };

	func(3, snapshot, NULL, 7, 0, 0, us, 99 * us);
	made_req(&t, LDB_REQ_OP_START, 1, 1 * us, 1, 0);
	made_wait(&t, 1, LOCK, 2, 10 * us, 95 * us, 0);
	made_hold(&t, 2, LOCK, 5 * us, 94 * us, 0);
	made_wait(&t, 2, LOCK + 8, 3, 12 * us, 92 * us, 0);
	made_hold(&t, 3, LOCK + 8, 11 * us, 91 * us, 7);
	made_switch(&t, 20 * us, 2, 3, R, 900, 7);
	made_migrate(&t, 70 * us, 3, 2, 3);
	made_switch(&t, 80 * us, 3, 900, R, 3, 0);
	writer_add_fault(t.w, &(struct ldb_row_fault){ .tid = 1, .tick = 96 * us, .addr = 0x1000 });
	made_irq(&t, 1, 97 * us, 98 * us, 0, 0, "eth0");
	made_req(&t, LDB_REQ_OP_END, 1, 100 * us, 1, 0);
}

/* Off the CPU while events were lost, with nobody known to have it; then asleep until 3 is done. */
static void off_the_cpu(int64_t us)
{
	enum { R = LDB_STATE_RUNNING, S = LDB_STATE_SLEEPING };

	made_req(&t, LDB_REQ_OP_START, 1, 200 * us, 2, 0);
	func(1, request_handler, lookup, 8, 0, 0, 201 * us, 399 * us);
	made_switch(&t, 210 * us, 0, 1, R | LDB_SCHED_F_PREEMPT, 900, 8);
	writer_add_lost(t.w, &(struct ldb_row_lost){ .tick = 220 * us, .count = 2, .what = LDB_LOST_KERNEL });
	made_switch(&t, 240 * us, 0, 917, R, 1, 0);
	func(3, snapshot, NULL, 9, 0, 0, 241 * us, 390 * us);
	made_switch(&t, 250 * us, 0, 1, S, 0, 8);
	made_waking(&t, 380 * us, 3, 3, 0, 1);
	made_wakeup(&t, 380 * us, 0, 1, 0);
	made_switch(&t, 381 * us, 0, 0, R, 1, 0);
	made_req(&t, LDB_REQ_OP_END, 1, 400 * us, 2, 0);
}

/* A worker takes them out of their queue one by one; the last of each burst waits for all. */
static void bursts(int64_t us)
{
	for (int i = 0; i < 300; i++) {
		int64_t at = 1000 * us + i * 100 * us;
		int64_t burst = i % 50 >= 45 ? at - i % 5 * 100 * us : at - 5 * us;

		made_req(&t, LDB_REQ_OP_BLOCK, 1, burst, 100 + i, 0x1000);
		made_class(&t, burst, 100 + i, i % 3 ? "GET" : "PUT");
		made_req(&t, LDB_REQ_OP_START, 2, at, 100 + i, 0x1000);
		func(2, request_handler, lookup, 20 + i, 0, 0, at + us, at + 90 * us);
		made_req(&t, LDB_REQ_OP_END, 2, at + 95 * us, 100 + i, 0);
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
		made_switch(&t, 100 + tid, tid - 1, 0, LDB_STATE_RUNNING, tid, 0);
	}
	made_task(&t, 900, 900, "hog");
	writer_add_scan(t.w, &(struct ldb_row_scan){ .rounds = 1000, .looks = 3000, .changes = 500 });
	chain_of_holders(us);
	off_the_cpu(us);
	bursts(us);
}

static void outlast(void)
{
	made_thread(&t, 1, "main", 0, 100000);
	func(1, lookup, NULL, 1, 0, 0, 1000, 50000);
	func(1, request_handler, lookup, 2, 1, 1, 10000, 20000);
	made_wait(&t, 1, LOCK, 2, 15000, 24000, 2);
	func(1, request_handler, lookup, 3, 1, 1, 22000, 30000);
}

static void twice(void)
{
	made_thread(&t, 1, "main", 0, 100000);
	made_req(&t, LDB_REQ_OP_START, 1, 1000, 1, 0);
	func(1, lookup, NULL, 1, 0, 0, 2000, 30000);
	made_req(&t, LDB_REQ_OP_BLOCK, 1, 10000, 1, 0x1000);
	made_req(&t, LDB_REQ_OP_START, 1, 20000, 1, 0x1000);
	made_req(&t, LDB_REQ_OP_END, 1, 40000, 1, 0);
}

static void hostile(void)
{
	made_task(&t, 900, 900, "\033]0;\007\x9b" "2J\xc2\x9b");
	made_switch(&t, 60, 0, 0, LDB_STATE_RUNNING, 1, 0);
	made_switch(&t, 70, 0, 1, LDB_STATE_RUNNING, 900, 0);
	made_switch(&t, 90, 0, 900, LDB_STATE_RUNNING, 1, 0);
	writer_add_meta(t.w, "kernel_events", "\033[7mperf");
	writer_add_meta(t.w, "kernel_why", "\033[2J\n\x90\xc2\x90");
	made_thread(&t, 1, "\033]0;owned\007\xc2\x9d" "0;\x9d", 0, 1000000);
	writer_add_meta(t.w, "cmdline", "\033[2Jcat \"/etc/passwd\"\n\xff\xfe\x9b" "31m\xc2\x9b" "31m");
	writer_add_module(t.w, &(struct ldb_row_module){
		.start = 0x1000, .end = 0x2000, .path = "/tmp/\033[31m\n,\"evil\"\x9b\xc2\x85", .build_id = "00",
		.end_tick = INT64_MAX });
	made_func(&t, 1, (void *)0x1010, (void *)0x1020, 1, 0, 0, 100, 200, 0);
	made_req(&t, LDB_REQ_OP_START, 1, 50, UINT64_MAX, 0);
	made_class(&t, 60, UINT64_MAX, "\033[31mclass\n\x9b\xc2\x9b");
	made_wait(&t, 1, 0x1030, 1, 120, 5000, 1);
	made_req(&t, LDB_REQ_OP_END, 1, 10000, UINT64_MAX, 0);
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
	made_func(&t, 1, (void *)0x1010, (void *)0x1020, 1, 0, 0, 100, 9000, 0);
	made_req(&t, LDB_REQ_OP_START, 1, 50, 7, 0);
	made_class(&t, 60, 7, script);
	made_wait(&t, 1, 0x1030, 2, 120, 5000, 1);
	made_hold(&t, 2, 0x1030, 110, 4900, 1);
	made_switch(&t, 6000, 0, 1, LDB_STATE_RUNNING, 900, 0);
	made_switch(&t, 7000, 0, 900, LDB_STATE_RUNNING, 1, 0);
	made_req(&t, LDB_REQ_OP_END, 1, 10000, 7, 0);
}

static void kernelonly(void)
{
	writer_add_meta(t.w, "kernel_events", "perf");
	writer_add_meta(t.w, "kernel_only", "1");
	made_task(&t, 7, 7, "nginx");
	made_switch(&t, 1000, 0, 7, LDB_STATE_SLEEPING, 0, 0);
	made_wakeup(&t, 5000, 0, 7, 0);
	made_switch(&t, 6000, 0, 0, LDB_STATE_RUNNING, 7, 0);
}

static void nokernel(void)
{
	figure1();
	writer_add_meta(t.w, "kernel_events", "none");
	writer_add_meta(t.w, "kernel_why", "no /dev/ldb; perf_event_paranoid is 3");
}

/* Two threads that take turns on one CPU, a request now and then. */
static void bigsched(long rows)
{
	writer_add_meta(t.w, "kernel_events", "module");
	made_thread(&t, 1, "one", 0, rows * 1000);
	made_thread(&t, 2, "two", 0, rows * 1000);
	for (long i = 0; i < rows; i++) {
		made_switch(&t, i * 1000, 0, 1 + i % 2, LDB_STATE_RUNNING, 2 - i % 2, 0);
		if (i % 1000 == 500) {
			made_req(&t, LDB_REQ_OP_START, 1, i * 1000, i, 0);
			made_req(&t, LDB_REQ_OP_END, 1, i * 1000 + 50000, i, 0);
		}
	}
}

static void big(long rows)
{
	for (long i = 0; i < rows; i++)
		func(1 + i % 4, i % 3 ? request_handler : lookup, i % 5 ? snapshot : lookup, i + 2, 1,
		     1, i * 100, i * 100 + 50 + i % 1000);
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
	} else if (!strcmp(kind, "twice"))
		twice();
	else if (!strcmp(kind, "chain"))
		chain();
	else if (!strcmp(kind, "outlast"))
		outlast();
	else if (!strcmp(kind, "plain"))
		func(1, lookup, snapshot, 1, 0, 0, 100, 200);
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
	/* Made in a folder of its own, which may be on another file system. */
	char command[1024];

	snprintf(command, sizeof(command), "mv '%s' '%s'", t.path, argv[2]);
	if (system(command))
		return 1;
	sample_cleanup();
	return 0;
}
