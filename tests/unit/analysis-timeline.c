// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests timelines: clipping, nesting, blockers of a request, where the time went. */
#include "analysis/report/requests.h"
#include "analysis/timeline/timeline.h"
#include "analysis-sample.h"

#define LOCK	0x7000
#define LOCK2	0x7100

enum { START = LDB_REQ_OP_START, BLOCK = LDB_REQ_OP_BLOCK, END = LDB_REQ_OP_END };

__attribute__((noinline)) void server_loop(void)	{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void request_handler(void)	{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void lookup(void)		{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void snapshot(void)		{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void write_out(void)		{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void flush_disk(void)		{ __asm__ volatile("nop; nop" ::: "memory"); }

static struct made t;
static struct requests r;
static struct timeline tl;

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

static const struct segment *find_nth(enum segment_kind kind, uint32_t tid, const char *function,
				      int nth)
{
	for (size_t i = 0; i < tl.nr_segments; i++) {
		const struct segment *s = &tl.segments[i];

		if (s->kind == kind && s->tid == tid &&
		    (!function || !strcmp(s->func->function, function)) && nth-- == 0)
			return s;
	}
	return NULL;
}

static const struct segment *find(enum segment_kind kind, uint32_t tid, const char *function)
{
	return find_nth(kind, tid, function, 0);
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

/* If one thread at a time works on a request, its leaves add up to its latency. */
static void is_whole(const char *name)
{
	int64_t sum = 0;

	for (size_t i = 0; i < tl.nr_causes; i++)
		sum += tl.causes[i].ns;
	is_int(sum, tl.latency_ns, name);
}

/*
 * This is Figure 1 of the LDB paper: a request waits for a lock while another thread makes a
 * snapshot.
 */
static void test_figure1(void)
{
	const struct segment *s;

	made_begin(&t, "figure1.data");
	made_thread(&t, 1, "main", 0, 100000000);
	made_thread(&t, 2, "snapshotter", 0, 100000000);
	func(server_loop, .tid = 1, .gen = 1, .start = 10, .end = 90000000);
	made_req(&t, .op = START, .tid = 1, .tick = 1000000, .id = 42);
	func(request_handler, .tid = 1, .gen = 2, .parent = 1, .depth = 1, .start = 1000100,
	     .end = 13700000);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 1000200, .end = 13500000,
		  .gen = 2);
	func(lookup, .tid = 1, .gen = 3, .parent = 2, .depth = 2, .start = 13500100,
	     .end = 13600000);
	made_req(&t, .op = END, .tid = 1, .tick = 13750000, .id = 42);
	func(snapshot, .tid = 2, .gen = 9, .start = 900000, .end = 13499000);
	func(write_out, .tid = 2, .gen = 10, .parent = 9, .depth = 1, .start = 950000,
	     .end = 13000000);
	func(lookup, .tid = 2, .gen = 8, .start = 1000, .end = 2000);	/* before */
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 940000, .end = 13499500, .gen = 9);
	/* This call does not concern the request. */
	func(lookup, .tid = 3, .gen = 1, .start = 2000000, .end = 3000000);
	build(42);
	is_int(tl.latency_ns, 12750000, "latency");
	ok(is_at(find(SEGMENT_REQUEST, 1, NULL), 1000000, 13750000), "the thread's span");
	s = find(SEGMENT_FUNCTION, 1, "server_loop");
	ok(is_at(s, 1000000, 13750000) && s->is_clipped && s->full_end_ns == 90000000,
	   "a function around it is clipped");
	s = find(SEGMENT_FUNCTION, 1, "request_handler");
	ok(is_at(s, 1000100, 13700000) && !s->is_clipped && s->depth == 1 && !s->blocks_req,
	   "the handler");
	s = find(SEGMENT_LOCK_WAIT, 1, NULL);
	ok(is_at(s, 1000200, 13500000) && s->lock == LOCK && s->owner == 2 && s->depth == 2 &&
	   s->level == 1, "the wait");
	s = find(SEGMENT_LOCK_HOLD, 2, NULL);
	ok(is_at(s, 1000200, 13499500) && s->blocks_req && !s->is_inferred &&
	   s->full_start_ns == 940000, "the hold, from the begin of the wait");
	s = find(SEGMENT_FUNCTION, 2, "snapshot");
	ok(is_at(s, 1000200, 13499000) && s->blocks_req, "what the holder executed");
	ok(is_at(find(SEGMENT_FUNCTION, 2, "write_out"), 1000200, 13000000), "and in it");
	ok(!find(SEGMENT_FUNCTION, 2, "lookup") && !find(SEGMENT_FUNCTION, 3, "lookup"),
	   "nothing else");
	ok(tl.causes[0].kind == LEAF_LOCK && tl.causes[0].ns == 12499800, "the cause");
	ok(tl.causes[0].hold && tl.causes[0].hold->tid == 2 && tl.causes[0].hold_func &&
	   !strcmp(tl.causes[0].hold_func->func->function, "write_out"),
	   "the deepest function that lasted for most of the hold");
	is_whole("the leaves add up to the latency");
	end();
}

/* The estimates overlap where the calls did not. */
static void test_nesting(void)
{
	const struct segment *a, *b;

	made_begin(&t, "nesting.data");
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 1);
	func(request_handler, .tid = 1, .gen = 1, .start = 5000, .end = 50000, .unc = 2000);
	func(lookup, .tid = 1, .gen = 2, .parent = 1, .depth = 1, .start = 4500, .end = 20400,
	     .unc = 2000);	/* begins "before" its caller */
	func(lookup, .tid = 1, .gen = 3, .parent = 1, .depth = 1, .start = 20000, .end = 51000,
	     .unc = 2000);	/* and ends "after" it */
	func(write_out, .tid = 1, .gen = 4, .parent = 3, .depth = 2, .start = 19000, .end = 52000,
	     .unc = 2000);
	build(1);
	a = find_nth(SEGMENT_FUNCTION, 1, "lookup", 0);
	b = find_nth(SEGMENT_FUNCTION, 1, "lookup", 1);
	ok(is_at(a, 5000, 20200), "a child is clipped to its caller, siblings meet in the middle");
	ok(is_at(b, 20200, 50000), "the next sibling");
	ok(is_at(find(SEGMENT_FUNCTION, 1, "write_out"), 20200, 50000), "and its child");
	ok(a && !a->is_clipped && a->resolution_ns == 2000, "within the resolution");
	is_whole("the leaves add up to the latency");
	end();
}

/* A stamped wait in a frame is more exact than the scanner's polls. */
static void test_tighten(void)
{
	const struct segment *s;

	made_begin(&t, "tighten.data");
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 1);
	/* start in [1000, 21000] */
	func(request_handler, .tid = 1, .gen = 5, .start = 11000, .end = 90000, .unc = 20000);
	made_wait(&t, .tid = 1, .lock = LOCK, .begin = 3000, .end = 80000, .gen = 5);
	build(1);
	s = find(SEGMENT_FUNCTION, 1, "request_handler");
	ok(is_at(s, 2000, 90000), "start in [1000, 3000], as it waits from 3000 on");
	is_int(s ? s->resolution_ns : 0, 1000 + 10000, "the resolution is better by as much");
	end();
}

/* The lock has three holders in turn; the hold of one of them was not recorded. */
static void test_convoy(void)
{
	const struct segment *s;

	made_begin(&t, "convoy.data");
	for (uint32_t tid = 1; tid <= 5; tid++)
		made_thread(&t, tid, "thread", 0, 1000000);
	made_req(&t, .op = START, .tid = 1, .tick = 0, .id = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 1);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 10000, .end = 90000);
	made_hold(&t, .tid = 3, .lock = LOCK, .begin = 40000, .end = 60000);
	made_hold(&t, .tid = 4, .lock = LOCK, .begin = 61000, .end = 89000);
	made_hold(&t, .tid = 5, .lock = LOCK, .begin = 89500, .end = 89600);
	/* a hold of another lock */
	made_hold(&t, .tid = 5, .lock = LOCK2, .begin = 10000, .end = 90000);
	/* a hold by the request's own thread */
	made_hold(&t, .tid = 1, .lock = LOCK, .begin = 90000, .end = 95000);
	made_hold(&t, .tid = 4, .lock = LOCK, .begin = 91000, .end = 99000);	/* after the wait */
	func(snapshot, .tid = 2, .gen = 1, .start = 5000, .end = 39000);
	func(write_out, .tid = 3, .gen = 1, .start = 35000, .end = 70000);
	func(flush_disk, .tid = 4, .gen = 1, .start = 61500, .end = 88000);
	build(1);
	s = find(SEGMENT_LOCK_HOLD, 2, NULL);
	ok(is_at(s, 10000, 40000) && s->is_inferred,
	   "the owner named by the wait, until the next hold begins");
	ok(is_at(find(SEGMENT_LOCK_HOLD, 3, NULL), 40000, 60000), "the second holder");
	ok(is_at(find(SEGMENT_LOCK_HOLD, 4, NULL), 61000, 89000), "the third holder");
	ok(!find_nth(SEGMENT_LOCK_HOLD, 4, NULL, 1), "not what came after the wait");
	ok(is_at(find(SEGMENT_LOCK_HOLD, 5, NULL), 89500, 89600) &&
	   !find_nth(SEGMENT_LOCK_HOLD, 5, NULL, 1), "not another lock");
	ok(!find(SEGMENT_LOCK_HOLD, 1, NULL), "not the request itself");
	ok(is_at(find(SEGMENT_FUNCTION, 2, "snapshot"), 10000, 39000), "what the first executed");
	ok(is_at(find(SEGMENT_FUNCTION, 3, "write_out"), 40000, 60000), "the second");
	ok(is_at(find(SEGMENT_FUNCTION, 4, "flush_disk"), 61500, 88000), "the third");
	end();
}

/* Thread 1 waits for 2, which waits for 3 meanwhile; and two threads wait for each other. */
static void test_chain(void)
{
	const struct segment *s;

	made_begin(&t, "chain.data");
	made_req(&t, .op = START, .tid = 1, .tick = 0, .id = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 1);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 10000, .end = 90000);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 5000, .end = 90000);
	made_wait(&t, .tid = 2, .lock = LOCK2, .owner = 3, .begin = 20000, .end = 80000);
	/* This wait ended before the thread blocked the request. */
	made_wait(&t, .tid = 2, .lock = LOCK2, .owner = 3, .begin = 1000, .end = 4000);
	made_hold(&t, .tid = 3, .lock = LOCK2, .begin = 15000, .end = 79000);
	func(flush_disk, .tid = 3, .gen = 1, .start = 10000, .end = 78000);
	build(1);
	s = find(SEGMENT_LOCK_WAIT, 2, NULL);
	ok(is_at(s, 20000, 80000) && s->blocks_req && s->level == 2, "the holder waits itself");
	ok(!find_nth(SEGMENT_LOCK_WAIT, 2, NULL, 1), "only what it waited for meanwhile");
	s = find(SEGMENT_LOCK_HOLD, 3, NULL);
	ok(is_at(s, 20000, 79000) && s->blocks_req && s->level == 2, "for this one");
	ok(is_at(find(SEGMENT_FUNCTION, 3, "flush_disk"), 20000, 78000), "that executed this");
	is_int(tl.lock_wait_ns, 80000, "only the request's own waits count as its waits");
	end();

	made_begin(&t, "cycle.data");
	made_req(&t, .op = START, .tid = 1, .tick = 0, .id = 1);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 10000, .end = 90000);
	made_wait(&t, .tid = 2, .lock = LOCK2, .owner = 1, .begin = 10000, .end = 90000);
	made_hold(&t, .tid = 2, .lock = LOCK, .begin = 5000, .end = 90000);
	made_hold(&t, .tid = 1, .lock = LOCK2, .begin = 5000, .end = 90000);
	build(1);
	ok(find(SEGMENT_LOCK_HOLD, 2, NULL) && find(SEGMENT_LOCK_HOLD, 1, NULL),
	   "a deadlock is shown and ends");
	ok(!tl.is_complete, "a request that did not end");
	end();

	made_begin(&t, "long-chain.data");
	made_req(&t, .op = START, .tid = 1, .tick = 0, .id = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 1);
	for (uint32_t i = 1; i <= 20; i++) {
		made_wait(&t, .tid = i, .lock = LOCK + 8 * i, .owner = i + 1, .begin = 10000,
			  .end = 90000);
		made_hold(&t, .tid = i + 1, .lock = LOCK + 8 * i, .begin = 5000, .end = 90000);
	}
	build(1);
	ok(find(SEGMENT_LOCK_HOLD, 9, NULL) && !find(SEGMENT_LOCK_HOLD, 10, NULL),
	   "8 levels are followed");
	end();
}

static void test_queues(void)
{
	made_begin(&t, "queues.data");
	made_thread(&t, 1, "net", 0, 1000000);
	made_thread(&t, 2, "worker", 0, 1000000);
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 1);
	made_req(&t, .op = BLOCK, .tid = 1, .tick = 2000, .id = 1, .queue = 0xa0);
	made_req(&t, .op = START, .tid = 2, .tick = 50000, .id = 1, .queue = 0xa0);
	made_req(&t, .op = BLOCK, .tid = 2, .tick = 60000, .id = 1, .queue = 0xb0);
	made_req(&t, .op = START, .tid = 1, .tick = 61000, .id = 1, .queue = 0xb0);
	made_req(&t, .op = END, .tid = 1, .tick = 62000, .id = 1);
	func(server_loop, .tid = 1, .gen = 1, .start = 0, .end = 100000);
	func(request_handler, .tid = 1, .gen = 2, .parent = 1, .depth = 1, .start = 3000,
	     .end = 40000);	/* while the request is in the queue */
	func(lookup, .tid = 2, .gen = 1, .start = 51000, .end = 59000);
	/* a wait while the request is in the queue */
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 10000, .end = 20000);
	build(1);
	ok(is_at(find(SEGMENT_QUEUE, 1, NULL), 2000, 50000), "the first queue");
	ok(find(SEGMENT_QUEUE, 1, NULL)->to_tid == 2 && find(SEGMENT_QUEUE, 1, NULL)->lock == 0xa0,
	   "which, and to whom");
	ok(is_at(find(SEGMENT_QUEUE, 2, NULL), 60000, 61000), "the second queue");
	ok(is_at(find_nth(SEGMENT_FUNCTION, 1, "server_loop", 0), 1000, 2000) &&
	   is_at(find_nth(SEGMENT_FUNCTION, 1, "server_loop", 1), 61000, 62000),
	   "a function is shown while its thread works on the request");
	ok(!find(SEGMENT_FUNCTION, 1, "request_handler") && !find(SEGMENT_LOCK_WAIT, 1, NULL),
	   "what it did in between is not shown");
	ok(is_at(find(SEGMENT_FUNCTION, 2, "lookup"), 51000, 59000), "the other thread");
	ok(tl.causes[0].kind == LEAF_QUEUE && tl.causes[0].ns == 48000, "the cause");
	is_whole("the leaves add up to the latency");
	end();
}

/* There are calls without an end, bounded holds, and waits too short to follow. */
static void test_edges(void)
{
	const struct segment *s;
	struct ldb_row_func row;

	made_begin(&t, "edges.data");
	made_req(&t, .op = START, .tid = 1, .tick = 1000, .id = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000, .id = 1);
	row = (struct ldb_row_func){
		.flags = LDB_FUNC_F_OPEN, .tid = 1, .pc = (uintptr_t)server_loop + 1,
		.gen = GEN(1), .start_max = 500, .end_max = 200000, .start_unc = 10,
	};
	writer_add_func(t.w, &row);
	row = (struct ldb_row_func){
		.flags = LDB_FUNC_F_OPEN | LDB_FUNC_F_FROM_START, .tid = 2,
		.pc = (uintptr_t)snapshot + 1, .gen = GEN(7), .start_max = 100,
		.end_max = 200000, .start_unc = LDB_UNC_UNKNOWN,
	};
	writer_add_func(t.w, &row);
	made_wait(&t, .tid = 1, .lock = LOCK, .owner = 2, .begin = 10000, .end = 60000, .gen = 1);
	made_bounded_hold(&t, .tid = 2, .lock = LOCK, .end = 59000, .gen = 7);
	made_wait(&t, .tid = 1, .lock = LOCK2, .owner = 3, .begin = 70000, .end = 70999, .gen = 1);
	made_hold(&t, .tid = 3, .lock = LOCK2, .begin = 65000, .end = 70998);
	build(1);
	s = find(SEGMENT_FUNCTION, 1, "server_loop");
	ok(is_at(s, 1000, 100000) && s->is_truncated, "a function that was still running");
	s = find(SEGMENT_FUNCTION, 2, "snapshot");
	ok(is_at(s, 10000, 59000) && s->is_truncated, "a holder that ran from the start to the end");
	s = find(SEGMENT_LOCK_HOLD, 2, NULL);
	ok(is_at(s, 10000, 59000) && !s->is_inferred && s->resolution_ns > 0,
	   "a hold that was not stamped began before the wait that names it");
	ok(is_at(find_nth(SEGMENT_LOCK_WAIT, 1, NULL, 1), 70000, 70999) &&
	   !find(SEGMENT_LOCK_HOLD, 3, NULL), "a wait below 1 us is shown and not followed");
	end();
}

/* There are more invocations than are retained. */
static void test_prune(void)
{
	made_begin(&t, "prune.data");
	made_req(&t, .op = START, .tid = 1, .tick = 0, .id = 1);
	made_req(&t, .op = END, .tid = 1, .tick = 100000000, .id = 1);
	for (unsigned i = 0; i < 2 * TIMELINE_FRAMES_MAX + 1000; i++)
		func(lookup, .tid = 1, .gen = i + 2, .parent = 1, .depth = 1,
		     .start = i * 40, .end = i * 40 + 10 + i % 20);
	func(request_handler, .tid = 1, .gen = 1, .start = 0, .end = 99999999);
	build(1);
	ok(tl.nr_segments < 2 * TIMELINE_FRAMES_MAX && tl.nr_segments > TIMELINE_FRAMES_MAX / 4,
	   "%zu segments are kept", tl.nr_segments);
	ok(tl.left_out_ns >= 19 && tl.left_out_ns <= 21, "and it is said: below %ld ns",
	   (long)tl.left_out_ns);
	ok(find(SEGMENT_FUNCTION, 1, "request_handler"), "the long ones are there");
	end();
}

int main(void)
{
	test_figure1();
	test_nesting();
	test_tighten();
	test_convoy();
	test_chain();
	test_queues();
	test_edges();
	test_prune();
	return done();
}
