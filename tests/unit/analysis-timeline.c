// SPDX-License-Identifier: GPL-2.0-or-later
/* Timelines: clipping, nesting, who held the request up, where the time went. */
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
	if (requests_build(t.model, &o, &r) || !r.nr_lives ||
	    timeline_build(t.model, &r.lives[0], &tl))
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

static void func(uint32_t tid, void (*f)(void), unsigned gen, unsigned parent, unsigned depth,
		 int64_t start, int64_t stop, uint64_t unc)
{
	made_func(&t, tid, (char *)f + 1, NULL, gen, parent, depth, start, stop, unc);
}

/* All leaves of a request that one thread at a time works on add up to its latency. */
static void is_whole(const char *name)
{
	int64_t sum = 0;

	for (size_t i = 0; i < tl.nr_causes; i++)
		sum += tl.causes[i].ns;
	is_int(sum, tl.latency_ns, name);
}

/* The paper's Figure 1. */
static void test_figure1(void)
{
	const struct segment *s;

	made_begin(&t, "figure1.data");
	made_thread(&t, 1, "main", 0, 100000000);
	made_thread(&t, 2, "snapshotter", 0, 100000000);
	func(1, server_loop, 1, 0, 0, 10, 90000000, 0);
	made_req(&t, START, 1, 1000000, 42, 0);
	func(1, request_handler, 2, 1, 1, 1000100, 13700000, 0);
	made_wait(&t, 1, LOCK, 2, 1000200, 13500000, 2);
	func(1, lookup, 3, 2, 2, 13500100, 13600000, 0);
	made_req(&t, END, 1, 13750000, 42, 0);
	func(2, snapshot, 9, 0, 0, 900000, 13499000, 0);
	func(2, write_out, 10, 9, 1, 950000, 13000000, 0);
	func(2, lookup, 8, 0, 0, 1000, 2000, 0);	/* before */
	made_hold(&t, 2, LOCK, 940000, 13499500, 9);
	func(3, lookup, 1, 0, 0, 2000000, 3000000, 0);	/* has nothing to do with it */
	build(42);
	is_int(tl.latency_ns, 12750000, "latency");
	ok(is_at(find(SEGMENT_REQUEST, 1, NULL), 1000000, 13750000), "the thread's part");
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
	ok(tl.causes[0].kind == SEGMENT_LOCK_WAIT && tl.causes[0].ns == 12499800, "the cause");
	ok(tl.causes[0].hold && tl.causes[0].hold->tid == 2 && tl.causes[0].hold_func &&
	   !strcmp(tl.causes[0].hold_func->func->function, "write_out"),
	   "the deepest function that lasted for most of the hold");
	is_whole("the leaves add up to the latency");
	end();
}

/* Estimates that overlap where the calls did not. */
static void test_nesting(void)
{
	const struct segment *a, *b;

	made_begin(&t, "nesting.data");
	made_req(&t, START, 1, 1000, 1, 0);
	made_req(&t, END, 1, 100000, 1, 0);
	func(1, request_handler, 1, 0, 0, 5000, 50000, 2000);
	func(1, lookup, 2, 1, 1, 4500, 20400, 2000);	/* begins "before" its caller */
	func(1, lookup, 3, 1, 1, 20000, 51000, 2000);	/* and ends "after" it */
	func(1, write_out, 4, 3, 2, 19000, 52000, 2000);
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

/* A stamped wait in a frame says more than the scanner's looks. */
static void test_tighten(void)
{
	const struct segment *s;

	made_begin(&t, "tighten.data");
	made_req(&t, START, 1, 1000, 1, 0);
	made_req(&t, END, 1, 100000, 1, 0);
	func(1, request_handler, 5, 0, 0, 11000, 90000, 20000);	/* start in [1000, 21000] */
	made_wait(&t, 1, LOCK, 0, 3000, 80000, 5);
	build(1);
	s = find(SEGMENT_FUNCTION, 1, "request_handler");
	ok(is_at(s, 2000, 90000), "start in [1000, 3000], as it waits from 3000 on");
	is_int(s ? s->resolution_ns : 0, 1000 + 10000, "the resolution is better by as much");
	end();
}

/* Three holders in turn; one of them was never recorded as holding. */
static void test_convoy(void)
{
	const struct segment *s;

	made_begin(&t, "convoy.data");
	for (uint32_t tid = 1; tid <= 5; tid++)
		made_thread(&t, tid, "thread", 0, 1000000);
	made_req(&t, START, 1, 0, 1, 0);
	made_req(&t, END, 1, 100000, 1, 0);
	made_wait(&t, 1, LOCK, 2, 10000, 90000, 0);
	made_hold(&t, 3, LOCK, 40000, 60000, 0);
	made_hold(&t, 4, LOCK, 61000, 89000, 0);
	made_hold(&t, 5, LOCK, 89500, 89600, 0);
	made_hold(&t, 5, LOCK2, 10000, 90000, 0);	/* of another lock */
	made_hold(&t, 1, LOCK, 90000, 95000, 0);	/* the request's own */
	made_hold(&t, 4, LOCK, 91000, 99000, 0);	/* after the wait */
	func(2, snapshot, 1, 0, 0, 5000, 39000, 0);
	func(3, write_out, 1, 0, 0, 35000, 70000, 0);
	func(4, flush_disk, 1, 0, 0, 61500, 88000, 0);
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

/* 1 waits for 2, which waits for 3 meanwhile; and two that wait for each other. */
static void test_chain(void)
{
	const struct segment *s;

	made_begin(&t, "chain.data");
	made_req(&t, START, 1, 0, 1, 0);
	made_req(&t, END, 1, 100000, 1, 0);
	made_wait(&t, 1, LOCK, 2, 10000, 90000, 0);
	made_hold(&t, 2, LOCK, 5000, 90000, 0);
	made_wait(&t, 2, LOCK2, 3, 20000, 80000, 0);
	made_wait(&t, 2, LOCK2, 3, 1000, 4000, 0);	/* before it held us up */
	made_hold(&t, 3, LOCK2, 15000, 79000, 0);
	func(3, flush_disk, 1, 0, 0, 10000, 78000, 0);
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
	made_req(&t, START, 1, 0, 1, 0);
	made_wait(&t, 1, LOCK, 2, 10000, 90000, 0);
	made_wait(&t, 2, LOCK2, 1, 10000, 90000, 0);
	made_hold(&t, 2, LOCK, 5000, 90000, 0);
	made_hold(&t, 1, LOCK2, 5000, 90000, 0);
	build(1);
	ok(find(SEGMENT_LOCK_HOLD, 2, NULL) && find(SEGMENT_LOCK_HOLD, 1, NULL),
	   "a deadlock is shown and ends");
	ok(!tl.is_complete, "a request that did not end");
	end();

	made_begin(&t, "long-chain.data");
	made_req(&t, START, 1, 0, 1, 0);
	made_req(&t, END, 1, 100000, 1, 0);
	for (uint32_t i = 1; i <= 20; i++) {
		made_wait(&t, i, LOCK + 8 * i, i + 1, 10000, 90000, 0);
		made_hold(&t, i + 1, LOCK + 8 * i, 5000, 90000, 0);
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
	made_req(&t, START, 1, 1000, 1, 0);
	made_req(&t, BLOCK, 1, 2000, 1, 0xa0);
	made_req(&t, START, 2, 50000, 1, 0xa0);
	made_req(&t, BLOCK, 2, 60000, 1, 0xb0);
	made_req(&t, START, 1, 61000, 1, 0xb0);
	made_req(&t, END, 1, 62000, 1, 0);
	func(1, server_loop, 1, 0, 0, 0, 100000, 0);
	func(1, request_handler, 2, 1, 1, 3000, 40000, 0);	/* for another request */
	func(2, lookup, 1, 0, 0, 51000, 59000, 0);
	made_wait(&t, 1, LOCK, 2, 10000, 20000, 0);		/* for another request */
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
	ok(tl.causes[0].kind == SEGMENT_QUEUE && tl.causes[0].ns == 48000, "the cause");
	is_whole("the leaves add up to the latency");
	end();
}

/* What has no end yet, bounded holds, waits too short to follow. */
static void test_edges(void)
{
	const struct segment *s;
	struct ldb_row_func row;

	made_begin(&t, "edges.data");
	made_req(&t, START, 1, 1000, 1, 0);
	made_req(&t, END, 1, 100000, 1, 0);
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
	made_wait(&t, 1, LOCK, 2, 10000, 60000, 1);
	made_bounded_hold(&t, 2, LOCK, 59000, 7);
	made_wait(&t, 1, LOCK2, 3, 70000, 70999, 1);
	made_hold(&t, 3, LOCK2, 65000, 70998, 0);
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

/* More invocations than are kept. */
static void test_prune(void)
{
	made_begin(&t, "prune.data");
	made_req(&t, START, 1, 0, 1, 0);
	made_req(&t, END, 1, 100000000, 1, 0);
	for (unsigned i = 0; i < 2 * TIMELINE_FRAMES_MAX + 1000; i++)
		func(1, lookup, i + 2, 0, 0, i * 40, i * 40 + 10 + i % 20, 0);
	func(1, request_handler, 1, 0, 0, 0, 99999999, 0);
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
	sample_cleanup();
	return done();
}
