// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the partition, in which each nanosecond of each request is in one leaf.  For each kind of
 * piece there is a trace that is made by hand.  Then there are random programs: the shares of their
 * requests must sum to the latency, and agree with the causes in each timeline and with sums that
 * are computed in another way (paint.h).
 */
#include "facts/instances.h"
#include "analysis/partition/partition.h"
#include "analysis/timeline/timeline.h"
#include "analysis-sample.h"
#include "paint.h"

#define LOCK	((uint64_t)(uintptr_t)&a_lock)
#define QUEUE	((uint64_t)(uintptr_t)&a_queue)

int a_lock, a_queue;

__attribute__((noinline)) void outer(void)	{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void inner(void)	{ __asm__ volatile("nop; nop; nop" ::: "memory"); }

static struct partition built(struct made *t)
{
	struct partition_options o = { .from = INT64_MIN, .to = INT64_MAX };
	struct partition p;

	made_open(t);
	if (partition_build(t->model, &o, &p))
		bail_out("partition_build");
	return p;
}

static void done_with(struct made *t, struct partition *p)
{
	partition_free(p);
	made_close(t);
}

static const struct request *find(const struct partition *p, uint64_t id)
{
	for (size_t i = 0; i < p->nr_requests; i++)
		if (p->requests[i].id == id)
			return &p->requests[i];
	bail_out("no such request");
	return NULL;
}

/*
 * Returns the time of a kind, below a function or queue (NULL: wherever), with a label (NULL:
 * any).
 */
static int64_t spent(const struct partition *p, uint64_t id, enum leaf_kind kind, const char *path,
		     const char *label)
{
	const struct request *r = find(p, id);
	int64_t ns = 0;

	for (uint32_t i = 0; i < r->nr_shares; i++) {
		const struct share *s = &p->shares[r->first + i];
		const struct leaf *leaf = &p->leaves[s->leaf];

		if (leaf->kind == kind && (!path || !strcmp(path_name(p, leaf->path), path)) &&
		    (!label || !strcmp(leaf->label, label)))
			ns += s->ns;
	}
	return ns;
}

/*
 * Counts requests that have a negative or an empty share, or two shares of one leaf, and those
 * whose shares do not sum up.
 */
static unsigned count_wrong(const struct partition *p)
{
	unsigned nr = 0;

	for (size_t i = 0; i < p->nr_requests; i++) {
		const struct request *r = &p->requests[i];
		int64_t sum = 0;
		bool ok = true;

		for (uint32_t k = 0; k < r->nr_shares; k++) {
			const struct share *s = &p->shares[r->first + k];

			sum += s->ns;
			ok &= s->ns > 0 || (!s->ns && s->nr);
			ok &= !k || s[-1].leaf < s->leaf;
		}
		nr += !ok || sum != r->latency_ns;
	}
	return nr;
}

static void test_thread(void)
{
	struct partition p;
	struct made t;

	made_begin(&t, "thread");
	made_thread(&t, 1, "worker", 0, 20000);
	made_func(&t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 500, .end = 15000);
	made_func(&t, .tid = 1, .pc = (char *)inner + 1, .ret = (char *)outer + 2, .gen = 2,
		  .parent = 1, .depth = 1, .start = 2000, .end = 4000);
	made_func(&t, .tid = 1, .pc = (char *)inner + 1, .ret = (char *)outer + 2, .gen = 3,
		  .parent = 1, .depth = 1, .start = 4500, .end = 4600);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 5000, .end = 6000, .gen = 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 9000, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 14000, .id = 8);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 16000, .id = 8);
	p = built(&t);
	is_int(p.nr_requests, 2, "thread: requests");
	is_int(count_wrong(&p), 0, "thread: they sum up");
	is_int(spent(&p, 7, LEAF_FUNCTION, "outer", NULL), 4900, "thread: a function's own time");
	is_int(spent(&p, 7, LEAF_FUNCTION, "inner", NULL), 2100, "thread: that of what it called");
	is_int(spent(&p, 7, LEAF_LOCK, "outer", "a_lock"), 1000, "thread: a wait, where it was");
	is_int(spent(&p, 8, LEAF_FUNCTION, "outer", NULL), 1000, "thread: cut at the request's begin");
	is_int(spent(&p, 8, LEAF_UNKNOWN, NULL, NULL), 1000, "thread: in no function");
	for (uint32_t i = 0; i < find(&p, 7)->nr_shares; i++) {
		const struct share *s = &p.shares[find(&p, 7)->first + i];

		if (!strcmp(path_name(&p, p.leaves[s->leaf].path), "inner"))
			is_int(s->nr, 2, "thread: calls are counted");
	}
	done_with(&t, &p);
}

static void test_not_observed(void)
{
	const char *away = PARTITION_UNOBSERVED;
	struct partition p;
	struct made t;

	made_begin(&t, "watched");
	made_thread(&t, 1, "worker", 0, 20000);
	made_func(&t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 2000, .end = 4000);
	/*
	 * The observation gaps overlap each other, and a function that was nevertheless observed.
	 */
	made_gap(&t, 1, 4500, 5000);
	made_gap(&t, 0, 3000, 4600);
	made_gap(&t, 2, 6000, 7000);
	made_gap(&t, 0, 7500, 9000);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 8000, .id = 7);
	p = built(&t);
	is_int(count_wrong(&p), 0, "not observed: the sum is right");
	is_int(spent(&p, 7, LEAF_FUNCTION, "outer", NULL), 2000, "not observed: a function that was observed stays");
	is_int(spent(&p, 7, LEAF_UNKNOWN, NULL, away), 1500, "not observed: gaps of all threads, and of this one");
	is_int(spent(&p, 7, LEAF_UNKNOWN, NULL, ""), 3500, "not observed: the rest is uninstrumented code");
	done_with(&t, &p);
}

static double error2_of(const struct partition *p, uint64_t id, enum leaf_kind kind)
{
	const struct request *r = find(p, id);

	for (uint32_t i = 0; i < r->nr_shares; i++) {
		const struct share *s = &p->shares[r->first + i];

		if (p->leaves[s->leaf].kind == kind)
			return s->error2;
	}
	return -1;
}

static void test_resolution(void)
{
	struct partition p;
	struct made t;

	made_begin(&t, "resolution");
	made_thread(&t, 1, "worker", 0, 90000);
	/* Begin and end are known to +-1000 each, so its length to +-2000. */
	made_func(&t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 20000, .end = 26000,
		  .unc = 2000);
	for (unsigned i = 0; i < 4; i++) {
		static const int64_t spans[][2] = {
			{ 10000, 19500 }, { 19600, 25500 }, { 25600, 25700 }, { 28500, 30000 },
		};

		made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = spans[i][0], .id = 7 + i);
		made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = spans[i][1], .id = 7 + i);
	}
	p = built(&t);
	is_int(find(&p, 7)->resolution_ns, 2000, "resolution: a function may have begun before");
	is_int(find(&p, 8)->resolution_ns, 2000, "resolution: it began in this request");
	is_int(find(&p, 9)->resolution_ns, 100, "resolution: it may have ended before; not more than the latency");
	is_int(find(&p, 10)->resolution_ns, 0, "resolution: it had ended long before");
	is_int(error2_of(&p, 8, LEAF_FUNCTION), 4000000, "error: of the function that began in it");
	is_int(error2_of(&p, 8, LEAF_UNKNOWN), 4000000, "error: and of what that is in");
	is_int(error2_of(&p, 9, LEAF_FUNCTION), 0, "error: none where it began earlier");
	is_int(find(&p, 7)->noise_ns, 0, "resolution: no function of its own");
	is_int(find(&p, 8)->noise_ns, 2000, "resolution: one of its own");
	done_with(&t, &p);
}

static void test_off_cpu(void)
{
	struct partition p;
	struct made t;

	made_begin(&t, "off");
	writer_add_meta(t.w, "kernel_events", "module");
	made_task(&t, 1, 1, "worker");
	made_task(&t, 900, 900, "hog-17");
	made_thread(&t, 1, "worker", 0, 20000);
	made_func(&t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 500, .end = 15000);
	made_switch(&t, .tick = 100, .next = 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 7);
	/* The thread is preempted, then in I/O, then woken behind the hog. */
	made_switch(&t, .tick = 2000, .prev = 1, .state = LDB_STATE_RUNNING | LDB_SCHED_F_PREEMPT,
		    .next = 900, .gen = 1);
	made_switch(&t, .tick = 3000, .prev = 900, .state = LDB_STATE_RUNNING | LDB_SCHED_F_PREEMPT,
		    .next = 1);
	made_switch(&t, .tick = 4000, .prev = 1, .state = LDB_STATE_DISK, .next = 900, .gen = 1);
	made_waking(&t, .tick = 6000, .waker = 900, .flags = LDB_SCHED_F_HARDIRQ, .woken = 1);
	made_wakeup(&t, .tick = 6000, .woken = 1, .running = 900);
	made_switch(&t, .tick = 6500, .prev = 900, .state = LDB_STATE_RUNNING | LDB_SCHED_F_PREEMPT,
		    .next = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 9000, .id = 7);
	p = built(&t);
	is_int(count_wrong(&p), 0, "off: it sums up");
	is_int(spent(&p, 7, LEAF_PREEMPTED, "outer", "hog"), 1000, "off: preempted, by whom");
	is_int(spent(&p, 7, LEAF_IO, "outer", NULL), 2000, "off: input and output");
	is_int(spent(&p, 7, LEAF_RUNNABLE, "outer", "hog"), 500, "off: waiting for the CPU");
	is_int(spent(&p, 7, LEAF_FUNCTION, "outer", NULL), 4500, "off: the rest is the function's");
	done_with(&t, &p);
}

struct slept {
	const char *name, *file;	/* name of the call */
	const char *label;		/* name of the leaf */
};

/* Makes a request that sleeps once in each of these calls, for 1000 ns after 1000 ns on the CPU. */
static struct partition sleeps(struct made *t, const struct slept *at, size_t nr, bool has_calls)
{
	int64_t end = 1000 + 2000 * (int64_t)nr;

	made_begin(t, "sleeps");
	writer_add_meta(t->w, "kernel_events", "bpf");
	if (has_calls)
		writer_add_meta(t->w, "kernel_syscalls", "sleep");
	made_task(t, 1, 1, "worker");
	made_thread(t, 1, "worker", 0, end + 9000);
	made_func(t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 500, .end = end + 8000);
	made_switch(t, .tick = 100, .next = 1);
	made_req(t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 7);
	for (size_t i = 0; i < nr; i++) {
		int64_t out = 2000 + 2000 * (int64_t)i;

		made_switch(t, .tick = out, .prev = 1, .state = i % 2 ? LDB_STATE_DISK : LDB_STATE_SLEEPING,
			    .gen = 1);
		/* The time of the call's row may differ a little. */
		if (has_calls && at[i].name)
			made_call(t, .tid = 1, .start = out + 40 - 30 * (int64_t)(i % 3), .name = at[i].name,
				  .file = at[i].file);
		made_waking(t, .tick = out + 1000, .flags = LDB_SCHED_F_HARDIRQ, .woken = 1);
		made_wakeup(t, .tick = out + 1000, .woken = 1);
		made_switch(t, .tick = out + 1000, .next = 1);
	}
	made_req(t, .op = LDB_REQ_OP_END, .tid = 1, .tick = end, .id = 7);
	return built(t);
}

/* A sleep is named after the system call, by a name that other requests have, too. */
static void test_system_calls(void)
{
	static const struct slept at[] = {
		{ "read", "a pipe", "read of a pipe" },
		{ "fdatasync", "svc.dat", "fdatasync of svc.dat" },
		{ "poll", "", "poll" },
		{ NULL, NULL, "" },		/* a page fault */
		{ "recvfrom", "socket 10.0.0.1:5432", "recvfrom of socket 10.0.0.1:5432" },
		{ "write", "000123.log", "write of *.log" },
		{ "recvfrom", "socket 10.0.0.1:50001", "recvfrom of a client's socket" },
		{ "fsync", "a12.db", "fsync of a12.db" },
		{ "recvfrom", "socket [2001:db8::1]:40000", "recvfrom of a client's socket" },
		{ "connect", "socket /run/db.sock", "connect of socket /run/db.sock" },
	};
	const size_t nr = sizeof(at) / sizeof(at[0]);
	struct partition p, old;
	struct made t, old_t;

	p = sleeps(&t, at, nr, true);
	is_int(count_wrong(&p), 0, "system calls: it sums up");
	for (size_t i = 0; i < nr; i++)
		is_int(spent(&p, 7, i % 2 ? LEAF_IO : LEAF_SLEEP, "outer", at[i].label), i == 6 || i == 8 ? 2000 : 1000,
		       "system calls: what it slept in");
	old = sleeps(&old_t, at, nr, false);
	is_int(spent(&old, 7, LEAF_SLEEP, "outer", ""), nr / 2 * 1000, "system calls: a recording without has no names");
	is_int(spent(&p, 7, LEAF_SLEEP, NULL, NULL), spent(&old, 7, LEAF_SLEEP, NULL, NULL),
	       "system calls: and has the same times asleep,");
	is_int(spent(&p, 7, LEAF_IO, NULL, NULL), spent(&old, 7, LEAF_IO, NULL, NULL), "system calls: in I/O,");
	is_int(spent(&p, 7, LEAF_FUNCTION, NULL, NULL), spent(&old, 7, LEAF_FUNCTION, NULL, NULL),
	       "system calls: and in functions");
	done_with(&old_t, &old);
	done_with(&t, &p);
}

/*
 * All sleeps during a system call whose length is known belong to that call, if they have no rows
 * of their own.
 */
static void test_long_calls(void)
{
	struct partition p;
	struct made t;

	made_begin(&t, "calls");
	writer_add_meta(t.w, "kernel_events", "bpf");
	writer_add_meta(t.w, "kernel_syscalls", "all");
	made_task(&t, 1, 1, "worker");
	made_thread(&t, 1, "worker", 0, 20000);
	made_func(&t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 500, .end = 15000);
	made_switch(&t, .tick = 100, .next = 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 7);
	for (int64_t out = 2000; out < 8000; out += 2000) {
		made_switch(&t, .tick = out, .prev = 1, .state = LDB_STATE_SLEEPING, .gen = 1);
		made_waking(&t, .tick = out + 1000, .flags = LDB_SCHED_F_HARDIRQ, .woken = 1);
		made_wakeup(&t, .tick = out + 1000, .woken = 1);
		made_switch(&t, .tick = out + 1000, .next = 1);
	}
	made_call(&t, .tid = 1, .start = 1900, .end = 5500, .name = "fsync", .file = "db");
	made_call(&t, .tid = 2, .start = 5600, .end = 7500, .name = "read", .file = "");
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 9000, .id = 7);
	p = built(&t);
	is_int(count_wrong(&p), 0, "long calls: it sums up");
	is_int(spent(&p, 7, LEAF_SLEEP, "outer", "fsync of db"), 2000, "long calls: two sleeps in one");
	is_int(spent(&p, 7, LEAF_SLEEP, "outer", ""), 1000, "long calls: one in none, of this thread");
	done_with(&t, &p);
}

/* An interrupt stops everything that its thread does, even waiting on the CPU for a lock. */
static void test_interrupts(void)
{
	struct partition p;
	struct made t;

	made_begin(&t, "interrupts");
	writer_add_meta(t.w, "kernel_events", "module");
	writer_add_meta(t.w, "kernel_irqs", "1");
	made_task(&t, 1, 1, "worker");
	made_thread(&t, 1, "worker", 0, 20000);
	made_switch(&t, .tick = 100, .cpu = 1, .next = 1);
	made_func(&t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 500, .end = 15000);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 5000, .end = 6000, .gen = 1);
	made_irq(&t, .tid = 1, .start = 2000, .end = 2300, .kind = LDB_IRQ_SOFT, .name = "TIMER");
	made_irq(&t, .tid = 1, .start = 5200, .end = 5600, .kind = LDB_IRQ_SOFT, .name = "NET_RX");
	made_irq(&t, .tid = 1, .start = 5900, .end = 6100, .kind = LDB_IRQ_SOFT, .name = "TIMER");
	/* One interrupt is nested in another one: the time belongs to the inner interrupt. */
	made_irq(&t, .tid = 1, .start = 7000, .end = 7500, .kind = LDB_IRQ_SOFT, .name = "NET_RX");
	made_irq(&t, .tid = 1, .start = 7100, .end = 7200, .kind = LDB_IRQ_SOFT, .name = "TIMER");
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 9000, .id = 7);
	p = built(&t);
	is_int(count_wrong(&p), 0, "interrupts: it sums up");
	is_int(spent(&p, 7, LEAF_IRQ, "outer", NULL), 300 + 400 + 200 + 500, "interrupts: each has its time");
	is_int(spent(&p, 7, LEAF_LOCK, "outer", "a_lock"), 1000 - 400 - 100,
	       "interrupts: of a wait for a lock, too");
	is_int(spent(&p, 7, LEAF_FUNCTION, "outer", NULL), 8000 - 1400 - 500, "interrupts: the rest is the function's");
	is_int(spent(&p, 7, LEAF_IRQ, NULL, "TIMER"), 300 + 200 + 100, "interrupts: by its name");
	is_int(spent(&p, 7, LEAF_IRQ, NULL, "NET_RX"), 400 + 400, "interrupts: the other one's");
	done_with(&t, &p);
}

static void test_queue(void)
{
	struct partition p;
	struct made t;

	made_begin(&t, "queue");
	made_thread(&t, 1, "listener", 0, 20000);
	made_thread(&t, 2, "worker", 0, 20000);
	made_func(&t, .tid = 2, .pc = (char *)outer + 1, .gen = 1, .start = 100, .end = 19000);
	made_func(&t, .tid = 2, .pc = (char *)inner + 1, .ret = (char *)outer + 2, .gen = 2,
		  .parent = 1, .depth = 1, .start = 5000, .end = 5400);
	made_class(&t, 10, 5, "BIG");
	made_class(&t, 10, 6, "BIG");
	made_class(&t, 10, 7, "SMALL");
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 500, .id = 5);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_BLOCK, .tid = 1, .tick = 1200, .id = 7, .queue = QUEUE);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 3000, .id = 5);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 3500, .id = 6);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 4500, .id = 6);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 6000, .id = 7, .queue = QUEUE);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 6800, .id = 7);
	p = built(&t);
	is_int(count_wrong(&p), 0, "queue: all sum up");
	is_int(spent(&p, 7, LEAF_BEHIND, "queue a_queue", "BIG"), 2800, "queue: behind others");
	is_int(spent(&p, 7, LEAF_FUNCTION, "outer", NULL), 500 + 500 + 600 + 800,
	       "queue: what its server did for nobody, and then for it");
	is_int(spent(&p, 7, LEAF_FUNCTION, "inner", NULL), 400, "queue: a function of that");
	is_int(spent(&p, 7, LEAF_UNKNOWN, NULL, NULL), 200, "queue: the thread that put it there");
	is_int(find(&p, 7)->nr_ahead, 2, "queue: how many were ahead");
	is_int(spent(&p, 5, LEAF_BEHIND, NULL, NULL), 0, "queue: the first one waited for nobody");
	done_with(&t, &p);
}

/*
 * Two requests wait for a server that sleeps: an interrupt ends the first sleep, and the thread
 * that puts the second request into the queue ends the other one.
 */
static void test_nap(void)
{
	struct partition p;
	struct made t;

	made_begin(&t, "nap");
	writer_add_meta(t.w, "kernel_events", "module");
	made_thread(&t, 1, "listener", 0, 20000);
	made_thread(&t, 2, "worker", 0, 20000);
	made_switch(&t, .tick = 100, .cpu = 1, .next = 2);
	made_func(&t, .tid = 2, .pc = (char *)outer + 1, .gen = 1, .start = 500, .end = 19000);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_BLOCK, .tid = 1, .tick = 1200, .id = 7, .queue = QUEUE);
	made_switch(&t, .tick = 1100, .cpu = 1, .prev = 2, .state = LDB_STATE_SLEEPING);
	made_waking(&t, .tick = 5000, .cpu = 1, .flags = LDB_SCHED_F_HARDIRQ, .woken = 2);
	made_wakeup(&t, .tick = 5000, .cpu = 1, .woken = 2);
	made_switch(&t, .tick = 5000, .cpu = 1, .next = 2);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 5200, .id = 7, .queue = QUEUE);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 6000, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 9000, .id = 8);
	made_req(&t, .op = LDB_REQ_OP_BLOCK, .tid = 1, .tick = 9200, .id = 8, .queue = QUEUE);
	made_switch(&t, .tick = 8000, .cpu = 1, .prev = 2, .state = LDB_STATE_SLEEPING);
	made_waking(&t, .tick = 9500, .waker = 1, .woken = 2);
	made_wakeup(&t, .tick = 9500, .cpu = 1, .woken = 2);
	made_switch(&t, .tick = 9500, .cpu = 1, .next = 2);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 9600, .id = 8, .queue = QUEUE);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 9900, .id = 8);
	p = built(&t);
	is_int(count_wrong(&p), 0, "nap: all sum up");
	is_int(spent(&p, 7, LEAF_SLEEP, "outer", NULL), 3800, "nap: its server slept for nobody");
	is_int(spent(&p, 7, LEAF_QUEUE, NULL, NULL), 0, "nap: nothing of the queue is left");
	is_int(spent(&p, 8, LEAF_QUEUE, "queue a_queue", "hand-over"), 300, "nap: this one waited to be handed over");
	is_int(spent(&p, 8, LEAF_SLEEP, NULL, NULL), 0, "nap: it has no sleep");
	done_with(&t, &p);
}

/*
 * An event loop sends a message for request 7 to another server, serves request 8 meanwhile, sleeps
 * until the answer comes, and serves request 8 again before it reads the answer.
 */
static void test_upstream(void)
{
	struct partition p;
	struct made t;

	made_begin(&t, "upstream");
	writer_add_meta(t.w, "kernel_events", "module");
	made_thread(&t, 1, "loop", 0, 20000);
	made_switch(&t, .tick = 100, .cpu = 1, .next = 1);
	made_func(&t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 500, .end = 19000);
	made_class(&t, 10, 8, "OTHER");
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_BLOCK, .tid = 1, .tick = 1200, .id = 7, .queue = LDB_REQ_QUEUE_UPSTREAM);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1500, .id = 8);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 2500, .id = 8);
	made_switch(&t, .tick = 3000, .cpu = 1, .prev = 1, .state = LDB_STATE_SLEEPING);
	made_waking(&t, .tick = 5000, .cpu = 1, .flags = LDB_SCHED_F_HARDIRQ, .woken = 1);
	made_wakeup(&t, .tick = 5000, .cpu = 1, .woken = 1);
	made_switch(&t, .tick = 5000, .cpu = 1, .next = 1);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 5100, .id = 8);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 5600, .id = 8);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 5700, .id = 7, .queue = LDB_REQ_QUEUE_UPSTREAM);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 6000, .id = 7);
	p = built(&t);
	is_int(count_wrong(&p), 0, "upstream: all sum up");
	is_int(spent(&p, 7, LEAF_QUEUE, "queue upstream", ""), 3800, "upstream: until the loop was awake");
	is_int(spent(&p, 7, LEAF_BEHIND, "queue upstream", "OTHER"), 500, "upstream: behind what it did then");
	is_int(spent(&p, 7, LEAF_FUNCTION, "outer", NULL), 200 + 200 + 300,
	       "upstream: what it did for nobody then, and for it");
	done_with(&t, &p);
}

static void test_batch(void)
{
	struct partition p;
	struct made t;

	made_begin(&t, "batch");
	made_thread(&t, 1, "worker", 0, 20000);
	made_func(&t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 100, .end = 19000);
	for (uint64_t id = 1; id <= 3; id++)
		made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = id);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 2000, .id = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 5000, .id = 2);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 6000, .id = 3);
	p = built(&t);
	is_int(count_wrong(&p), 0, "batch: all sum up");
	is_int(spent(&p, 1, LEAF_BEHIND, NULL, NULL), 0, "batch: the first");
	is_int(spent(&p, 2, LEAF_BEHIND, NULL, NULL), 1000, "batch: the second is behind it");
	is_int(spent(&p, 2, LEAF_FUNCTION, "outer", NULL), 3000, "batch: and has its own time");
	is_int(spent(&p, 3, LEAF_BEHIND, NULL, NULL), 4000, "batch: the third is behind both");
	is_int(find(&p, 3)->nr_ahead, 2, "batch: which are two");
	is_int(find(&p, 1)->nr_ahead, 0, "batch: none before the first");
	done_with(&t, &p);
}

/* Returns how many requests of a class were ahead. */
static uint32_t nr_behind(const struct partition *p, uint64_t id, const char *class)
{
	const struct request *r = find(p, id);
	uint32_t nr = 0;

	for (uint32_t i = 0; i < r->nr_shares; i++) {
		const struct share *s = &p->shares[r->first + i];
		const struct leaf *leaf = &p->leaves[s->leaf];

		if (leaf->kind == LEAF_BEHIND && !strcmp(leaf->label, class))
			nr += s->nr;
	}
	return nr;
}

/* In a batch of two classes, the requests ahead are counted for each class. */
static void test_batch_of_classes(void)
{
	struct partition p;
	struct made t;

	made_begin(&t, "classes");
	made_thread(&t, 1, "worker", 0, 20000);
	made_func(&t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 100, .end = 19000);
	for (uint64_t id = 1; id <= 4; id++) {
		made_class(&t, 10, id, id == 2 ? "SET" : "GET");
		made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = id);
	}
	for (uint64_t id = 1; id <= 4; id++)
		made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 1000 + 1000 * id, .id = id);
	p = built(&t);
	is_int(count_wrong(&p), 0, "classes: all sum up");
	is_int(nr_behind(&p, 4, "GET"), 2, "classes: two of one class were ahead");
	is_int(nr_behind(&p, 4, "SET"), 1, "classes: one of the other");
	is_int(find(&p, 4)->nr_ahead, 3, "classes: three in all");
	is_int(nr_behind(&p, 2, "GET"), 1, "classes: one was ahead of the second");
	is_int(nr_behind(&p, 2, "SET"), 0, "classes: none of its own class");
	done_with(&t, &p);
}

/* The request is put into a queue, and ended by another thread: no thread took it out. */
static void test_never_taken(void)
{
	struct partition p;
	struct made t;

	made_begin(&t, "never");
	for (uint32_t tid = 1; tid <= 2; tid++) {
		made_thread(&t, tid, "worker", 0, 20000);
		made_func(&t, .tid = tid, .pc = (char *)outer + 1, .gen = 1, .start = 100,
			  .end = 19000);
	}
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_BLOCK, .tid = 1, .tick = 2000, .id = 7, .queue = QUEUE);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 5000, .id = 7);
	/* The trace has no other row of this thread. */
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 77, .tick = 6000, .id = 8);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 77, .tick = 6500, .id = 8);
	p = built(&t);
	is_int(count_wrong(&p), 0, "never taken: it sums up");
	is_int(spent(&p, 8, LEAF_UNKNOWN, NULL, NULL), 500, "never taken: beside one of which nothing is known");
	is_int(spent(&p, 7, LEAF_QUEUE, "queue a_queue", NULL), 3000, "never taken: in the queue");
	is_int(spent(&p, 7, LEAF_FUNCTION, "outer", NULL), 1000, "never taken: before it on its thread");
	done_with(&t, &p);
}

static void test_parallel(void)
{
	struct partition p;
	struct made t;

	/*
	 * Up to three threads work on the request at a time; of these, the one that ends last
	 * counts.
	 */
	made_begin(&t, "parallel");
	for (uint32_t tid = 1; tid <= 3; tid++) {
		made_thread(&t, tid, "worker", 0, 20000);
		made_func(&t, .tid = tid, .pc = (char *)(tid == 2 ? inner : outer) + 1, .gen = 1,
			  .start = 100, .end = 19000);
	}
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 2, .tick = 2000, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 3, .tick = 2500, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 3000, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 3, .tick = 3500, .id = 7);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 2, .tick = 6000, .id = 7);
	p = built(&t);
	is_int(count_wrong(&p), 0, "parallel: it sums up");
	is_int(spent(&p, 7, LEAF_FUNCTION, "inner", NULL), 4000, "parallel: the one that ended last");
	is_int(spent(&p, 7, LEAF_FUNCTION, "outer", NULL), 1000, "parallel: before it the one that began");
	done_with(&t, &p);
}

/* Random programs */

static int64_t some(int64_t max)
{
	return sample_random() % max;
}

/* The start and end of a random call are known to within less than so many ticks; 0: exactly. */
static int64_t random_unc;

/*
 * Makes a library call by function `own`.  Functions with later numbers, up to `last`, began before
 * the call.
 */
static void library_call(struct made *t, uint32_t tid, unsigned last, unsigned own, int64_t start, int64_t end)
{
	made_flow_call(t, .tid = tid, .api = 1 + own % 2, .start = start, .end = end, .gen = GEN(last),
		       .nr_later = last - own + 1);
}

static int64_t invoke(struct made *t, uint32_t tid, unsigned *gen, unsigned parent, unsigned depth,
		      int64_t now)
{
	unsigned own = ++*gen, before;
	int64_t start = now, outer_call, inner_call;

	now += 10 + some(300);
	while (depth < 6 && some(5) < 2) {
		before = *gen;
		outer_call = now;
		now = invoke(t, tid, gen, own, depth + 1, now + 3) + some(200);
		if (!some(3))
			library_call(t, tid, before, own, outer_call, now - 2);
	}
	outer_call = now;
	now += some(50);
	inner_call = now;
	now += some(50);
	if (!some(4)) {
		made_wait(t, .tid = tid, .lock = LOCK, .owner = tid % 3 + 1, .begin = now,
			  .end = now + 500, .gen = own);
		now += 700;
	}
	if (!some(4)) {
		made_switch(t, .tick = now, .cpu = tid, .prev = tid,
			    .state = some(2) ? LDB_STATE_SLEEPING : LDB_STATE_DISK, .next = 900,
			    .gen = own);
		made_waking(t, .tick = now + 400, .waker = tid % 3 + 1, .woken = tid);
		made_wakeup(t, .tick = now + 400, .cpu = tid, .woken = tid, .running = 900);
		now += 400 + some(300);
		made_switch(t, .tick = now, .cpu = tid, .prev = 900, .state = LDB_STATE_RUNNING,
			    .next = tid);
		now += 20;
	}
	if (!some(4)) {
		made_irq(t, .tid = tid, .kind = some(2) ? LDB_IRQ_SOFT : LDB_IRQ_STOLEN,
			 .start = now, .end = now + 40);
		now += 60;
	}
	if (some(2))
		library_call(t, tid, *gen, own, inner_call, now + 7);
	now += 9;
	if (some(2))
		library_call(t, tid, *gen, own, outer_call, now);
	now += some(20);
	made_func(t, .tid = tid, .pc = (char *)(depth % 2 ? inner : outer) + 1,
		  .ret = (char *)outer + 2, .gen = own, .parent = parent, .depth = depth,
		  .start = start, .end = now, .unc = random_unc ? some(random_unc) : 0);
	return now + 5;
}

static void make_random(struct made *t, const char *name)
{
	made_begin(t, name);
	made_flows(t, 10, 2);
	made_flow_api(t, .id = 1, .caller = MADE_COMPONENT(0), .target = MADE_COMPONENT(1), .name = "deflate");
	made_flow_api(t, .id = 2, .caller = MADE_COMPONENT(0), .target = MADE_COMPONENT(1), .name = "inflate");
	writer_add_meta(t->w, "kernel_events", "module");
	writer_add_meta(t->w, "kernel_irqs", "1");
	made_task(t, 900, 900, "hog");
	for (uint32_t tid = 1; tid <= 3; tid++) {
		int64_t now = 5000;
		unsigned gen = 1;

		made_task(t, tid, 1, "worker");
		made_switch(t, .tick = 100, .cpu = tid, .next = tid);
		for (uint64_t i = 0; i < 300; i++) {
			made_req(t, .op = LDB_REQ_OP_START, .tid = tid, .tick = now + some(5),
				 .id = tid * 1000 + i);
			now = invoke(t, tid, &gen, 0, 0, now);
			made_req(t, .op = LDB_REQ_OP_END, .tid = tid, .tick = now - some(4),
				 .id = tid * 1000 + i);
			now += 300;
		}
		made_thread(t, tid, "worker", 0, now + 1000);
	}
}

struct compare {
	const struct partition *p;
	unsigned nr, nr_wrong;
};

static int64_t timeline_ns(const struct timeline *t, enum leaf_kind kind, const char *func)
{
	int64_t ns = 0;

	for (size_t i = 0; i < t->nr_causes; i++)
		if (t->causes[i].kind == kind &&
		    (!func || !strcmp(t->causes[i].func->function, func)))
			ns += t->causes[i].ns;
	return ns;
}

static int compare_instance(void *arg, struct instance *instance)
{
	struct compare *c = arg;
	const struct partition *p = c->p;
	uint64_t id = instance->id;
	struct timeline t;
	bool same;

	if (timeline_build(p->m, instance, &t))
		return -1;
	same = timeline_ns(&t, LEAF_LOCK, NULL) == spent(p, id, LEAF_LOCK, NULL, NULL);
	same &= timeline_ns(&t, LEAF_RUNNABLE, NULL) == spent(p, id, LEAF_RUNNABLE, NULL, NULL);
	same &= timeline_ns(&t, LEAF_SLEEP, NULL) == spent(p, id, LEAF_SLEEP, NULL, NULL);
	same &= timeline_ns(&t, LEAF_LIBCALL, NULL) == spent(p, id, LEAF_LIBCALL, NULL, NULL);
	same &= timeline_ns(&t, LEAF_IO, NULL) == spent(p, id, LEAF_IO, NULL, NULL);
	same &= timeline_ns(&t, LEAF_FUNCTION, "outer") ==
		spent(p, id, LEAF_FUNCTION, "outer", NULL);
	same &= timeline_ns(&t, LEAF_FUNCTION, "inner") ==
		spent(p, id, LEAF_FUNCTION, "inner", NULL);
	c->nr++;
	c->nr_wrong += !same;
	if (!same && c->nr_wrong < 4)
		diag("request %llu: lock %lld/%lld outer %lld/%lld", (unsigned long long)id,
		     (long long)timeline_ns(&t, LEAF_LOCK, NULL),
		     (long long)spent(p, id, LEAF_LOCK, NULL, NULL),
		     (long long)timeline_ns(&t, LEAF_FUNCTION, "outer"),
		     (long long)spent(p, id, LEAF_FUNCTION, "outer", NULL));
	timeline_free(&t);
	return 0;
}

/* Compares with the result of painting (paint.h); returns the number of differences. */
static unsigned compare_painted(const struct made *t, const struct partition *p)
{
	static const enum leaf_kind kinds[] = {
		LEAF_LOCK, LEAF_RUNNABLE, LEAF_SLEEP, LEAF_IO, LEAF_IRQ, LEAF_STOLEN, LEAF_LIBCALL,
	};
	unsigned nr_wrong = 0;
	struct paint painted;
	int64_t sums[NR_LEAF_KINDS] = { 0 };

	if (!paint_all(&painted, t->reader, 3000000))
		bail_out("no memory");
	for (size_t i = 0; i < p->nr_requests; i++) {
		const struct request *r = &p->requests[i];
		int64_t painted_ns;

		for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
			painted_ns = paint_sum(&painted, r->tid, r->start, r->end, kinds[k], 0);
			sums[kinds[k]] += painted_ns;
			nr_wrong += painted_ns != spent(p, r->id, kinds[k], NULL, NULL);
		}
		painted_ns = paint_sum(&painted, r->tid, r->start, r->end, LEAF_FUNCTION, (uintptr_t)outer + 1);
		nr_wrong += painted_ns != spent(p, r->id, LEAF_FUNCTION, "outer", NULL);
		painted_ns = paint_sum(&painted, r->tid, r->start, r->end, LEAF_FUNCTION, (uintptr_t)inner + 1);
		nr_wrong += painted_ns != spent(p, r->id, LEAF_FUNCTION, "inner", NULL);
	}
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		ok(sums[kinds[k]] > 0, "random: there is %s", leaf_kinds[kinds[k]].name);
	paint_free(&painted);
	return nr_wrong;
}

static void test_random(void)
{
	struct instances_result result;
	struct compare c = { 0 };
	struct partition p;
	struct made t;

	sample_state = 3;
	make_random(&t, "random");
	p = built(&t);
	c.p = &p;
	is_int(p.nr_requests, 900, "random: requests");
	is_int(count_wrong(&p), 0, "random: all sum up");
	ok(!instances_each(t.model, compare_instance, &c, &result), "random: timelines");
	is_int(c.nr, 900, "random: of all");
	is_int(c.nr_wrong, 0, "random: waits, times off the CPU and functions as the timelines have them");
	is_int(compare_painted(&t, &p), 0, "random: and as painted, tick by tick");
	done_with(&t, &p);
}

/*
 * What bounds a call in the whole trace bounds it in the part that is read for a timeline.  Times
 * off the CPU are shorter here than the error of their stamps, so they bound nothing.
 */
static void test_inexact(int64_t unc, uint64_t seed)
{
	struct instances_result result;
	struct compare c = { 0 };
	struct partition p;
	struct made t;

	diag("calls known to within %ld ns", (long)unc);
	sample_state = seed;
	random_unc = unc;
	make_random(&t, "inexact");
	random_unc = 0;
	p = built(&t);
	c.p = &p;
	is_int(count_wrong(&p), 0, "inexact calls: all sum up");
	ok(!instances_each(t.model, compare_instance, &c, &result), "inexact calls: timelines");
	is_int(c.nr, 900, "inexact calls: of all");
	is_int(c.nr_wrong, 0, "inexact calls: timelines have the partition's times");
	done_with(&t, &p);
}

/*
 * The start of a call has bounds of an odd width.  Another request, which is not read for the
 * timeline of the first, bounds its end: the start must not move.
 */
static void test_bounded_later(void)
{
	struct instances_result result;
	struct compare c = { 0 };
	struct partition p;
	struct made t;

	made_begin(&t, "bounded-later");
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 100000, .id = 1);
	made_func(&t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 5000, .end = 90000000, .unc = 2001);
	made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 90000500, .id = 2, .gen = GEN(1), .nr_later = 1);
	made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 90004000, .id = 2);
	p = built(&t);
	c.p = &p;
	is_int(spent(&p, 1, LEAF_FUNCTION, "outer", NULL), 95000, "bounded later: the time in the call");
	is_int(spent(&p, 2, LEAF_FUNCTION, "outer", NULL), 250, "bounded later: its end in [500, 1000] of the other");
	ok(!instances_each(t.model, compare_instance, &c, &result) && c.nr == 2, "bounded later: timelines");
	is_int(c.nr_wrong, 0, "bounded later: timelines have the partition's times");
	done_with(&t, &p);
}

static int every_seventh(void *arg, struct partition *p)
{
	for (size_t i = 0; i < p->nr_requests; i++)
		p->requests[i].is_left_out = i % 7;
	return 0;
}

/* If only some requests are selected, their shares are the same. */
static void test_selected(void)
{
	struct partition_options o = { .from = INT64_MIN, .to = INT64_MAX, .select = every_seventh };
	unsigned nr_wrong = 0, nr = 0;
	struct partition all, some;
	struct made t;

	sample_state = 3;
	make_random(&t, "selected");
	all = built(&t);
	if (partition_build(t.model, &o, &some))
		bail_out("partition_build");
	is_int(some.nr_requests, all.nr_requests, "selected: all requests are known");
	for (size_t i = 0; i < some.nr_requests; i++) {
		const struct request *r = &some.requests[i], *s = &all.requests[i];
		enum leaf_kind kind;

		if (i % 7) {
			nr_wrong += r->nr_shares != 0;
			continue;
		}
		nr++;
		nr_wrong += r->id != s->id || r->nr_shares != s->nr_shares;
		for (kind = 0; kind < NR_LEAF_KINDS; kind++)
			nr_wrong += spent(&some, r->id, kind, NULL, NULL) != spent(&all, r->id, kind, NULL, NULL);
	}
	ok(nr > 100, "selected: %u of them", nr);
	is_int(nr_wrong, 0, "selected: they have the shares they have among all, the others none");
	partition_free(&some);
	done_with(&t, &all);
}

/* Requests, parts and queues that make no sense: shares must still sum to the latency. */
static void test_chaos(void)
{
	unsigned nr_wrong = 0;
	size_t nr = 0;

	for (unsigned round = 0; round < 30; round++) {
		struct partition p;
		struct made t;

		sample_state = round + 1;
		made_begin(&t, "chaos");
		for (uint32_t tid = 1; tid <= 4; tid++)
			made_thread(&t, tid, "worker", 0, 200000);
		made_func(&t, .tid = 2, .pc = (char *)outer + 1, .gen = 1, .start = 100,
			  .end = 190000);
		for (int i = 0; i < 600; i++) {
			uint32_t tid = some(4) + 1;
			uint64_t id = some(12);

			made_req(&t, .op = some(4) + 1, .tid = tid,
				 .tick = 1000 + 100 * i + some(150), .id = id,
				 .queue = some(2) ? QUEUE : 0);
			if (!some(3))
				made_wait(&t, .tid = tid, .lock = LOCK, .owner = 1,
					  .begin = 1000 + 100 * i,
					  .end = 1000 + 100 * i + some(400));
		}
		p = built(&t);
		nr += p.nr_requests;
		nr_wrong += count_wrong(&p);
		done_with(&t, &p);
	}
	ok(nr > 1000, "chaos: %zu requests", nr);
	is_int(nr_wrong, 0, "chaos: all sum up");
}

/* Some kernel rows were lost that may belong to a request. */
static void test_losses(void)
{
	static const int64_t ticks[] = { 500, 1000, 1500, 2500, 3000, 4000, 4001 };
	struct partition p;
	struct made t;

	made_begin(&t, "losses.data");
	writer_add_meta(t.w, "nr_cpus", "1");
	made_thread(&t, 1, "worker", 0, 10000);
	for (int i = 0; i < 2; i++) {
		made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000 + i * 2000,
			 .id = i + 1);
		made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 2000 + i * 2000, .id = i + 1);
	}
	for (size_t i = 0; i < sizeof(ticks) / sizeof(*ticks); i++)
		writer_add_lost(t.w, &(struct ldb_row_lost){ .tick = ticks[i], .count = 1,
							     .what = LDB_LOST_OVERRUN });
	p = built(&t);
	is_int(p.nr_losses, 4, "losses in a request, not before, between and after them");
	done_with(&t, &p);
}

int main(void)
{
	test_thread();
	test_losses();
	test_not_observed();
	test_resolution();
	test_off_cpu();
	test_system_calls();
	test_long_calls();
	test_interrupts();
	test_queue();
	test_nap();
	test_upstream();
	test_batch();
	test_batch_of_classes();
	test_parallel();
	test_never_taken();
	test_random();
	test_inexact(200, 3);
	test_inexact(3000, 6);		/* longer than most calls, and than the times between requests */
	test_inexact(5000, 7);
	test_bounded_later();
	test_selected();
	test_chaos();
	return done();
}
