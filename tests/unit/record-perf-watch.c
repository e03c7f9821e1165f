// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests perf without the kernel, second half: which events concern the observed thread group.
 * The group is 100 with the threads 100 and 101; 200 and 201 are others, 0 is the idle thread.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include "record/perf/private.h"
#include "record/session/session.h"
#include "tap.h"

static char text[8192];

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *fmt, ...)
{
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, ap);
	va_end(ap);
}

static const char *op_name(unsigned op)
{
	switch (op) {
	case LDB_SCHED_OP_SWITCH: return "switch";
	case LDB_SCHED_OP_RUNNING: return "running";
	case LDB_SCHED_OP_WAKING: return "waking";
	case LDB_SCHED_OP_WAKEUP: return "wakeup";
	case LDB_SCHED_OP_MIGRATE: return "migrate";
	case LDB_SCHED_OP_FORK: return "fork";
	case LDB_SCHED_OP_EXEC: return "exec";
	case LDB_SCHED_OP_EXIT: return "exit";
	}
	return "?";
}

/* Prints "TICK:switch 100 200 cpu0 R+ tid other", with " value@addr" unless both are 0. */
static void say_sched(const struct ldb_row_sched *r)
{
	static const char states[] = "RSDTtXI???????????";

	say("%d:%s %u %u cpu%u", (int)r->tick, op_name(r->op), r->tid, r->other, r->cpu);
	if (r->op == LDB_SCHED_OP_SWITCH || r->op == LDB_SCHED_OP_RUNNING)
		say(" %c%s", states[LDB_SCHED_STATE(r->flags)],
		    r->flags & LDB_SCHED_F_PREEMPT ? "+" : "");
	if (r->value || r->addr)
		say(" %u@%llx", r->value, (unsigned long long)r->addr);
	say("%s%s%s%s\n", r->flags & LDB_SCHED_F_TID ? " tid" : "",
	    r->flags & LDB_SCHED_F_OTHER ? " other" : "",
	    r->flags & LDB_SCHED_F_HIDDEN ? " hidden" : "",
	    r->flags & LDB_SCHED_F_NEW ? " new" : "");
}

static void say_task(const struct ldb_row_task *r)
{
	say("%d:task %u of %u %s%s\n", (int)r->tick, r->tid, r->pid, r->name,
	    r->flags & LDB_SCHED_F_TID ? " tid" : "");
}

static void say_lost(const struct ldb_row_lost *r)
{
	say("%d:lost %llu cpu%u\n", (int)r->tick, (unsigned long long)r->count, r->ring);
}

static void say_fault(const struct ldb_row_fault *r)
{
	say("%d:fault %u %llx\n", (int)r->tick, r->tid, (unsigned long long)r->addr);
}

static void say_irq(const struct ldb_row_irq *r)
{
	say("%d-%d:irq %u cpu%u %u/%u%s%s\n", (int)r->start, (int)r->end, r->tid, r->cpu, r->kind,
	    r->nr, *r->name ? " " : "", r->name);
}

static void say_call(const struct ldb_row_syscall *r)
{
	say("%d-%d:%s(%d, %d) = %d of %s, %u%s", (int)r->start, (int)r->end, r->name, (int)r->arg0,
	    (int)r->arg, (int)r->result, r->file, r->tid,
	    r->flags & LDB_SYSCALL_F_SLEEP ? " asleep" : "");
	if (r->nr_short)
		say(", %u shorter", r->nr_short);
	say("\n");
}

static void say_disk(const struct ldb_row_disk *r)
{
	say("%d-%d:disk %s %u of %u%s%s\n", (int)r->start, (int)r->end, r->device, (unsigned)r->bytes, r->tid,
	    r->flags & LDB_DISK_F_OWN ? " own" : "", r->flags & LDB_DISK_F_FAILED ? " failed" : "");
}

/* wanted: a mask of the kinds to print */
static void on_row(void *wanted, unsigned kind, const void *row)
{
	if (!(*(const uint64_t *)wanted & 1ULL << kind))
		return;
	switch (kind) {
	case LDB_BLK_SCHED:
		say_sched(row);
		break;
	case LDB_BLK_TASK:
		say_task(row);
		break;
	case LDB_BLK_LOST:
		say_lost(row);
		break;
	case LDB_BLK_FAULT:
		say_fault(row);
		break;
	case LDB_BLK_IRQ:
		say_irq(row);
		break;
	case LDB_BLK_SYSCALL:
		say_call(row);
		break;
	case LDB_BLK_DISK:
		say_disk(row);
		break;
	default:
		say("a row of kind %u\n", kind);
	}
}

static uint64_t all = ~(1ULL << LDB_BLK_FAULT | 1ULL << LDB_BLK_IRQ);
static uint64_t no_others = 1ULL << LDB_BLK_SYSCALL;
static uint64_t no_tasks = ~(1ULL << LDB_BLK_TASK);
static uint64_t no_scheds = ~(1ULL << LDB_BLK_TASK | 1ULL << LDB_BLK_SCHED);
static const struct perf_sink sink = { on_row, &all };
static const struct perf_sink interruptions = { on_row, &no_scheds };
static const struct perf_sink calls_only = { on_row, &no_others };
static const struct perf_sink rows_only = { on_row, &no_tasks };
static struct perf_tids tids = {
	.tgid = 100, .keys_are_tids = true, .same_namespace = true, .shown_tgid = 100,
};
static struct perf_watch *w;
static int now;

static void begin(const struct perf_sink *s, enum perf_mode mode)
{
	perf_watch_free(w);
	w = perf_watch_alloc(&tids, mode, 2, s);
	perf_watch_member(w, 100, "main");
	perf_watch_member(w, 101, "worker");
	*text = '\0';
	now = 0;
}

static bool is_102_ours;

static int tgid_of(int tid)
{
	return tid == 101 || (tid == 102 && is_102_ours) ? 100 : tid;
}

static struct perf_event event(unsigned kind, int cpu, int by)
{
	struct perf_event e = { .kind = kind, .cpu = cpu, .by = by };

	e.by_tid = by;
	e.by_tgid = tgid_of(by);
	return e;
}

static void feed(const struct perf_event *e)
{
	perf_watch_learn(w, e);
	perf_rows_event(w, e, ++now);
}

static void named(char *name, int tid)
{
	memset(name, 0, 16);
	snprintf(name, 16, "n%d", tid);
}

static void sw(int cpu, int prev, int next, unsigned flags)
{
	struct perf_event e = event(PERF_EVENT_SWITCH, cpu, prev);

	e.a = prev;
	e.b = next;
	e.flags = flags;
	e.names = 3;
	named(e.name_a, prev);
	named(e.name_b, next);
	feed(&e);
}

#define S	LDB_STATE_SLEEPING
#define R	LDB_STATE_RUNNING
#define RP	(LDB_STATE_RUNNING | LDB_SCHED_F_PREEMPT)
#define X	LDB_STATE_DEAD

/* The kind determines the meaning of .a, .b and .value. */
#define simple(kind, cpu, by, ...)	\
	feed_fields(kind, cpu, by, &(struct perf_event){ __VA_ARGS__ })

static void feed_fields(unsigned kind, int cpu, int by, const struct perf_event *fields)
{
	struct perf_event e = event(kind, cpu, by);

	e.a = fields->a;
	e.b = fields->b;
	e.value = fields->value;
	feed(&e);
}

static void wakeup(int cpu, int by, int tid, int target)
{
	simple(PERF_EVENT_WAKEUP, cpu, by, .a = tid, .value = target);
}

static void check(const char *want, const char *name)
{
	is_str(text, want, name);
	*text = '\0';
}

static void test_switch(void)
{
	begin(&rows_only, PERF_TRACEPOINTS);
	sw(0, 200, 201, S);
	sw(0, 201, 100, S);
	sw(0, 100, 101, S);
	sw(0, 101, 0, S);
	sw(1, 0, 200, R);
	check("2:switch 201 100 cpu0 S other\n"
	      "3:switch 100 101 cpu0 S tid other\n"
	      "4:switch 101 0 cpu0 S tid\n", "switches of the group and no others");
	sw(0, 0, 101, R);
	sw(0, 101, 200, LDB_STATE_DISK);
	check("6:switch 0 101 cpu0 R other\n7:switch 101 200 cpu0 D tid\n",
	      "the idle thread is 0 and not hidden");
}

static void test_running(void)
{
	begin(&rows_only, PERF_TRACEPOINTS);
	sw(0, 200, 100, S);
	sw(0, 100, 200, RP);
	sw(1, 200, 201, S);
	check("1:switch 200 100 cpu0 S other\n2:switch 100 200 cpu0 R+ tid\n",
	      "another CPU's switches do not matter");
	sw(0, 200, 201, S);
	sw(0, 201, 0, S);
	sw(0, 0, 200, R);
	check("4:running 200 201 cpu0 S\n5:running 201 0 cpu0 S\n6:running 0 200 cpu0 R\n",
	      "preempted: who has its CPU instead");
	simple(PERF_EVENT_MIGRATE, 1, 201, .a = 100, .value = 1);
	sw(0, 200, 201, S);
	sw(1, 201, 200, S);
	sw(1, 200, 100, S);
	sw(1, 100, 201, S);
	sw(1, 201, 200, S);
	check("7:migrate 100 0 cpu1 1@0 tid\n9:running 201 200 cpu1 S\n"
	      "10:switch 200 100 cpu1 S other\n11:switch 100 201 cpu1 S tid\n",
	      "it waits where it was moved to, and not any more once it has run");
	wakeup(1, 200, 100, 0);
	sw(0, 201, 200, S);
	sw(0, 200, 100, S);
	sw(0, 100, 200, S);
	sw(0, 200, 201, S);
	check("13:wakeup 100 201 cpu1 tid\n14:running 201 200 cpu0 S\n"
	      "15:switch 200 100 cpu0 S other\n16:switch 100 200 cpu0 S tid\n",
	      "woken: who has the CPU it waits for");
	sw(0, 201, 101, S);
	wakeup(0, 101, 101, 0);
	*text = '\0';
	sw(0, 101, 200, S);
	sw(0, 200, 201, S);
	check("20:switch 101 200 cpu0 S tid\n", "woken while it ran: it does not wait");
}

static void test_wakes(void)
{
	begin(&rows_only, PERF_TRACEPOINTS);
	simple(PERF_EVENT_WAKING, 0, 100, .a = 200);
	wakeup(0, 100, 200, 0);
	check("1:waking 100 200 cpu0 tid\n", "whom the group wakes, but not what becomes of it");
	wakeup(0, 200, 100, 1);
	check("3:wakeup 100 0 cpu0 1@0 tid hidden\n", "nothing was seen of that CPU yet");
	simple(PERF_EVENT_WAKING, 1, 101, .a = 100);
	wakeup(0, 200, 100, 1);
	check("4:waking 101 100 cpu1 tid other\n5:wakeup 100 101 cpu0 1@0 tid other\n",
	      "waker, and who has the CPU");
	sw(1, 101, 0, S);
	wakeup(0, 200, 100, 1);
	check("6:switch 101 0 cpu1 S tid\n7:wakeup 100 0 cpu0 1@0 tid\n", "an idle CPU is not hidden");
	simple(PERF_EVENT_LOST, 1, -1, .value = 7);
	wakeup(0, 200, 100, 1);
	check("8:lost 7 cpu1\n9:wakeup 100 0 cpu0 1@0 tid hidden\n",
	      "after a loss nobody knows who runs there");
}

static void fork_of(int by, int child, bool is_thread)
{
	struct perf_event e = event(PERF_EVENT_FORK, 0, by);

	e.a = child;
	e.value = is_thread;
	feed(&e);
}

static void test_instances(void)
{
	begin(&rows_only, PERF_TRACEPOINTS);
	is_102_ours = true;
	fork_of(101, 102, true);
	fork_of(100, 300, false);
	fork_of(200, 202, true);
	sw(0, 100, 102, S);
	sw(0, 102, 300, S);
	sw(0, 300, 202, S);
	check("1:fork 101 102 cpu0 100@0 tid other\n2:fork 100 300 cpu0 300@0 tid\n"
	      "4:switch 100 102 cpu0 S tid other\n5:switch 102 300 cpu0 S tid\n",
	      "new threads are observed, new processes are not");
	simple(PERF_EVENT_EXIT, 0, 102, .a = 102);
	simple(PERF_EVENT_EXIT, 0, 300, .a = 300, .value = 1);
	sw(0, 102, 200, X);
	is_102_ours = false;
	fork_of(200, 102, true);
	sw(0, 200, 102, S);
	check("7:exit 102 0 cpu0 tid\n9:switch 102 200 cpu0 X tid\n", "a number used again is another thread");
	simple(PERF_EVENT_EXEC, 0, 100, .a = 100, .b = 101);
	check("12:exec 100 101 cpu0 tid\n", "exec by another thread than the first");
	simple(PERF_EVENT_EXIT, 0, 100, .a = 100, .value = 2);
	check("13:exit 100 0 cpu0 1@0 tid\n", "the last thread, on a kernel whose event does not say so");
}

/* The exit of 101 was lost, and the tid belongs to another process now. */
static void test_reuse(void)
{
	struct perf_event e = event(PERF_EVENT_SWITCH, 0, 101);

	begin(&rows_only, PERF_TRACEPOINTS);
	sw(0, 101, 200, R);
	*text = '\0';
	e.a = 101;
	e.by_tgid = 500;
	e.b = 200;
	feed(&e);
	sw(0, 200, 201, S);
	check("", "an event's own thread group corrects what was believed");
}

static void test_names(void)
{
	struct perf_event e = event(PERF_EVENT_NAME, 0, 100);

	begin(&sink, PERF_TRACEPOINTS);
	sw(0, 200, 201, S);
	check("", "no names of threads that no row names");
	sw(0, 201, 100, S);
	check("2:task 201 of 201 n201\n2:task 100 of 100 n100 tid\n2:switch 201 100 cpu0 S other\n",
	      "names come with the first row");
	sw(0, 100, 203, S);
	check("3:switch 100 203 cpu0 S tid\n", "nobody knows yet whose thread it is");
	sw(0, 203, 201, S);
	check("4:task 203 of 203 n203\n", "it is told when it is known");
	e.a = 100;
	e.names = 1;
	strcpy(e.name_a, "renamed");
	feed(&e);
	feed(&e);
	check("5:task 100 of 100 renamed tid\n", "a new name, once");
	sw(0, 201, 100, S);
	sw(0, 100, 205, S);
	*text = '\0';
	perf_rows_finish(w);
	check("8:task 205 of 0 n205\n", "at the end without the thread group");
}

/* The recorder is in an inner namespace: thread 7 of group 5 has the key 1007. */
static void test_namespaces(void)
{
	struct perf_tids inner = { .tgid = 5, .same_namespace = true, .shown_tgid = 5 };
	struct perf_event e = { .kind = PERF_EVENT_SWITCH, .by = 1007, .by_tgid = 5, .by_tid = 7 };
	struct perf_event wake = { .kind = PERF_EVENT_WAKEUP, .by = 0, .a = 1007 };

	perf_watch_free(w);
	w = perf_watch_alloc(&inner, PERF_TRACEPOINTS, 2, &rows_only);
	perf_watch_member(w, 7, "");
	*text = '\0';
	now = 0;
	e.a = 1007;
	e.b = 1200;
	/* this record was read, but it is processed after the wake-up */
	perf_watch_learn(w, &e);
	feed(&wake);
	feed(&e);
	check("1:wakeup 7 0 cpu0 tid\n2:switch 7 0 cpu0 R tid hidden\n",
	      "keys are learned from events, ahead of time; others are hidden");
}

static void test_switches_only(void)
{
	struct perf_event out = event(PERF_EVENT_OUT, 0, 100), in = event(PERF_EVENT_IN, 0, 101);
	struct perf_event dead = event(PERF_EVENT_SWITCH, 0, -1);

	begin(&rows_only, PERF_SWITCHES_OWN);
	out.a = 100;
	out.flags = S;
	in.b = 101;
	feed(&out);
	feed(&in);
	simple(PERF_EVENT_EXIT, 0, 101, .a = 101, .value = 2);
	simple(PERF_EVENT_EXIT, 0, 100, .a = 100, .value = 2);
	check("1:switch 100 0 cpu0 S tid hidden\n2:switch 0 101 cpu0 R other hidden\n"
	      "3:exit 101 0 cpu0 tid\n4:exit 100 0 cpu0 1@0 tid\n", "own switches: the other is hidden");
	begin(&rows_only, PERF_SWITCHES_ALL);
	sw(0, 200, 101, S);
	simple(PERF_EVENT_EXIT, 0, 101, .a = 101, .value = 2);
	dead.a = -1;
	dead.b = 200;
	dead.flags = S;
	feed(&dead);
	check("1:switch 200 101 cpu0 S other\n2:exit 101 0 cpu0 tid\n3:switch 101 200 cpu0 X tid\n",
	      "a thread that has ended is the one that came last");
}

/* Feeds a switch that another source reports after the tracepoint, see help_deaf_cpu(). */
static void switch_too(int cpu, int prev, int next)
{
	struct perf_event e = event(PERF_EVENT_SWITCH_TOO, cpu, prev);

	e.a = prev;
	e.b = next;
	feed(&e);
}

static void test_deaf(void)
{
	struct perf_watch *taken;

	begin(&rows_only, PERF_TRACEPOINTS);
	sw(0, 200, 0, S);
	sw(0, 0, 100, R);
	ok(!perf_watch_is_deaf(w, 0) && perf_watch_heard_idle(w, 0), "all is heard");
	sw(0, 100, 0, S);
	sw(0, 101, 0, S);
	ok(perf_watch_is_deaf(w, 0) && !perf_watch_is_deaf(w, 1),
	   "a thread runs that never came: a switch was not reported");
	*text = '\0';
	switch_too(0, 0, 100);
	sw(0, 100, 200, S);
	switch_too(0, 100, 200);
	switch_too(0, 200, 101);
	check("5:switch 0 100 cpu0 R other\n6:switch 100 200 cpu0 S tid\n"
	      "8:switch 200 101 cpu0 R other\n", "what the tracepoint has told is not told twice");
	*text = '\0';
	sw(0, 101, 100, S);
	switch_too(0, 101, -1);
	switch_too(0, -1, -1);
	switch_too(0, 100, -1);
	check("9:switch 101 100 cpu0 S tid other\n12:switch 100 0 cpu0 R tid hidden\n",
	      "nor if it came to a thread that is ending, which has no number any more");
	begin(&rows_only, PERF_TRACEPOINTS);
	sw(0, 100, 200, S);
	taken = w;
	w = NULL;
	begin(&rows_only, PERF_TRACEPOINTS);
	perf_watch_take_cpus(w, taken);
	perf_watch_free(taken);
	ok(!perf_watch_is_deaf(w, 0), "what another watch has been told");
	simple(PERF_EVENT_EXEC, 0, 101, .a = 101, .b = 101);
	ok(perf_watch_is_deaf(w, 0), "tells that a thread came unseen");
	begin(&rows_only, PERF_TRACEPOINTS);
	sw(0, 200, 101, S);
	simple(PERF_EVENT_EXEC, 0, 100, .a = 100, .b = 101);
	ok(!perf_watch_is_deaf(w, 0), "an exec changes a thread's number, that is all");
}

static void call(unsigned kind, int by, unsigned nr, uint64_t time, uint64_t addr, const char *file)
{
	struct perf_event e = event(kind, 0, by);

	e.value = nr;
	e.time = time;
	e.addr = addr;
	e.file = file;
	feed(&e);
}

static void test_calls(void)
{
	begin(&calls_only, PERF_TRACEPOINTS);
	perf_watch_set_call_min(w, 10000);
	sw(0, 101, 200, S);
	call(PERF_EVENT_IN_CALL, 101, SYS_read, 0, 3, "a pipe");
	sw(0, 200, 101, S);
	is_str(text, "1-1:read(3, 0) = 0 of a pipe, 101 asleep\n", "a thread sleeps in a call");
	ok(!perf_watch_is_deaf(w, 0), "that it had left already is no event that was lost");
	*text = '\0';
	sw(0, 101, 200, R);
	call(PERF_EVENT_IN_CALL, 101, SYS_read, 0, 3, "a pipe");
	sw(0, 200, 101, S);
	sw(0, 101, 200, S);
	is_str(text, "", "one that is preempted in a call does not sleep in it");
	begin(&calls_only, PERF_SWITCHES_OWN);
	call(PERF_EVENT_IN_CALL, 101, SYS_poll, 0, 0, NULL);
	sw(0, 101, 200, S);
	call(PERF_EVENT_IN_CALL, 200, SYS_poll, 0, 0, NULL);
	is_str(text, "2-2:poll(0, 0) = 0 of , 101 asleep\n", "the switch may be told later");
	begin(&calls_only, PERF_TRACEPOINTS);
	perf_watch_set_call_min(w, 10000);
	call(PERF_EVENT_CALL_LEAVE, 101, SYS_write, 50000, 1, NULL);
	call(PERF_EVENT_CALL_ENTER, 101, SYS_write, 60000, 3, NULL);
	call(PERF_EVENT_CALL_LEAVE, 101, SYS_write, 69999, 1, NULL);
	call(PERF_EVENT_CALL_ENTER, 101, SYS_write, 70000, 3, NULL);
	call(PERF_EVENT_CALL_LEAVE, 101, SYS_write, 80000, -EINTR, NULL);
	is_str(text, "4-5:write(3, 0) = -4 of , 101, 1 shorter\n", "calls with lengths");
}

/*
 * The error bound must hold however short the recording was and however badly the clocks could be
 * read.
 */
static void test_clock(unsigned clock_id)
{
	struct kernel_clock *c = kernel_clock_alloc(clock_id, CLOCK_MONOTONIC_RAW, 0, 0);
	uint64_t before = clock_now(clock_id), ns, after;
	int64_t tick;

	ns = kernel_clock_now(c);
	after = clock_now(clock_id);
	kernel_clock_sample(c, true);
	tick = kernel_clock_tick(c, ns);
	/* 1 us at 5 GHz is for reading the clock itself. */
	ok(tick >= (int64_t)before - 5000 && tick <= (int64_t)after + 5000 &&
	   kernel_clock_err_ns(c) > 0, "%s: a time between two readings", clock_name(clock_id));
	kernel_clock_free(c);
}

static void irq(unsigned kind, int cpu, int by, unsigned what, unsigned nr)
{
	struct perf_event e = event(kind, cpu, by);

	e.flags = what;
	e.value = nr;
	if (kind == PERF_EVENT_IRQ_ENTER && what == LDB_IRQ_HARD) {
		strcpy(e.name_a, "eth0");
		e.names = 3;
	}
	feed(&e);
}

static void test_interruptions(void)
{
	struct perf_event e;

	begin(&interruptions, PERF_TRACEPOINTS);
	e = event(PERF_EVENT_FAULT, 0, 101);
	e.addr = 0x1000;
	feed(&e);
	e = event(PERF_EVENT_FAULT, 1, 200);
	feed(&e);
	is_str(text, "1:fault 101 1000\n", "a page fault, of ours only");
	begin(&interruptions, PERF_TRACEPOINTS);
	irq(PERF_EVENT_IRQ_ENTER, 0, 101, LDB_IRQ_SOFT, 3);
	irq(PERF_EVENT_IRQ_ENTER, 1, 100, LDB_IRQ_SOFT, 3);
	irq(PERF_EVENT_IRQ_ENTER, 0, 101, LDB_IRQ_HARD, 24);
	irq(PERF_EVENT_IRQ_LEAVE, 0, 101, LDB_IRQ_HARD, 24);
	irq(PERF_EVENT_IRQ_LEAVE, 0, 101, LDB_IRQ_SOFT, 3);
	irq(PERF_EVENT_IRQ_LEAVE, 1, 100, LDB_IRQ_SOFT, 3);
	is_str(text, "3-4:irq 101 cpu0 1/24 eth0\n1-5:irq 101 cpu0 2/3\n"
	       "2-6:irq 100 cpu1 2/3\n", "interrupts, one in another");
	begin(&interruptions, PERF_TRACEPOINTS);
	irq(PERF_EVENT_IRQ_LEAVE, 0, 101, LDB_IRQ_SOFT, 3);
	irq(PERF_EVENT_IRQ_ENTER, 0, 101, LDB_IRQ_SOFT, 1);
	irq(PERF_EVENT_IRQ_ENTER, 0, 101, LDB_IRQ_SOFT, 9);
	irq(PERF_EVENT_IRQ_LEAVE, 0, 101, LDB_IRQ_SOFT, 1);
	irq(PERF_EVENT_IRQ_LEAVE, 0, 101, LDB_IRQ_SOFT, 9);
	irq(PERF_EVENT_IRQ_ENTER, 0, 200, LDB_IRQ_SOFT, 9);
	irq(PERF_EVENT_IRQ_LEAVE, 0, 200, LDB_IRQ_SOFT, 9);
	is_str(text, "2-4:irq 101 cpu0 2/1\n", "halves are left out");
	begin(&interruptions, PERF_TRACEPOINTS);
	irq(PERF_EVENT_IRQ_ENTER, 0, 101, LDB_IRQ_SOFT, 3);
	e = event(PERF_EVENT_LOST, 0, 101);
	e.value = 5;
	feed(&e);
	irq(PERF_EVENT_IRQ_LEAVE, 0, 101, LDB_IRQ_SOFT, 3);
	is_str(text, "2:lost 5 cpu0\n", "none goes over a loss");
	begin(&interruptions, PERF_TRACEPOINTS);
	for (int i = 0; i < 20; i++)
		irq(PERF_EVENT_IRQ_ENTER, 0, 101, LDB_IRQ_SOFT, i);
	irq(PERF_EVENT_IRQ_LEAVE, 0, 101, LDB_IRQ_SOFT, 19);
	is_str(text, "20-21:irq 101 cpu0 2/19\n", "however deep");
}

static void disk(unsigned kind, int by, uint64_t sector, unsigned flags, int failed)
{
	struct perf_event e = event(kind, 0, by);

	e.a = failed;
	e.b = 254 << 20;
	e.addr = sector;
	e.value = 4096;
	e.flags = LDB_DISK_WRITE | flags;
	e.file = kind == PERF_EVENT_DISK_END ? NULL : "vda";
	feed(&e);
}

static void test_disks(void)
{
	begin(&interruptions, PERF_TRACEPOINTS);
	disk(PERF_EVENT_DISK_INSERT, 101, 8, 0, 0);
	disk(PERF_EVENT_DISK_ISSUE, 300, 8, PERF_BY_KERNEL, 0);
	disk(PERF_EVENT_DISK_ISSUE, 100, 16, 0, 0);
	disk(PERF_EVENT_DISK_END, 200, 8, 0, 0);
	disk(PERF_EVENT_DISK_END, 0, 16, 0, -5);
	check("1-4:disk vda 4096 of 101 own\n3-5:disk vda 4096 of 100 own failed\n",
	      "a disk works for who inserts it, or issues it");
	disk(PERF_EVENT_DISK_ISSUE, 300, 8, PERF_BY_KERNEL, 0);
	disk(PERF_EVENT_DISK_ISSUE, 200, 16, 0, 0);
	disk(PERF_EVENT_DISK_END, 0, 16, 0, 0);
	disk(PERF_EVENT_DISK_END, 0, 8, 0, 0);
	disk(PERF_EVENT_DISK_END, 0, 8, 0, 0);
	check("6-9:disk vda 4096 of 300\n", "for threads of the kernel, and not for other programs");
	disk(PERF_EVENT_DISK_INSERT, 101, 8, 0, 0);
	disk(PERF_EVENT_DISK_INSERT, 100, 8, 0, 0);
	disk(PERF_EVENT_DISK_END, 0, 8, 0, 0);
	check("12-13:disk vda 4096 of 100 own\n", "an end that was lost");
	for (int i = 0; i < 2 * PERF_FLIGHTS_MAX; i++)
		disk(PERF_EVENT_DISK_ISSUE, 101, 1000 + 8 * i, 0, 0);
	disk(PERF_EVENT_DISK_ISSUE, 101, 5, 0, 0);
	disk(PERF_EVENT_DISK_END, 0, 5, 0, 0);
	ok(strstr(text, ":disk vda 4096 of 101 own\n"), "there is room for the last one");
	*text = '\0';
}

int main(void)
{
	test_clock(LDB_CLOCK_MONO);
	if (clock_choose() == LDB_CLOCK_TSC)
		test_clock(LDB_CLOCK_TSC);
	test_switch();
	test_running();
	test_wakes();
	test_instances();
	test_reuse();
	test_names();
	test_namespaces();
	test_switches_only();
	test_deaf();
	test_calls();
	test_interruptions();
	test_disks();
	perf_watch_free(w);
	return done();
}
