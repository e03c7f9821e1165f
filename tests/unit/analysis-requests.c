// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests request instances and their latencies. */
#include "analysis/report/requests.h"
#include "analysis-sample.h"

enum { START = LDB_REQ_OP_START, BLOCK = LDB_REQ_OP_BLOCK, END = LDB_REQ_OP_END,
       END_ALL = LDB_REQ_OP_END_ALL, CUT = LDB_REQ_OP_CUT, ARRIVED = LDB_REQ_OP_ARRIVED };

static struct made t;
static struct requests r;

static void begin(void)
{
	made_begin(&t, "requests.data");
}

/* In ARRIVED rows, .site is the time since the arrival. */
#define req(what, ...)	made_req(&t, .op = what, __VA_ARGS__)

/* Returns all instances of an id. */
static void instances_of(uint64_t id)
{
	struct requests_options o = REQUESTS_OPTIONS_ALL;

	made_open(&t);
	o.has_id = true;
	o.id = id;
	if (requests_build(t.model, &o, &r))
		bail_out("requests_build");
}

static void end(void)
{
	requests_free(&r);
	made_close(&t);
}

static const struct instance *instance(size_t i)
{
	static const struct instance none;

	return i < r.nr_instances ? &r.instances[i] : &none;
}

static void test_simple(void)
{
	begin();
	req(START, .tid = 1, .tick = 100, .id = 7);
	req(END, .tid = 1, .tick = 250, .id = 7);
	instances_of(7);
	is_int(r.nr_instances, 1, "one instance");
	ok(instance(0)->start == 100 && instance(0)->end == 250 && instance(0)->is_complete, "from START to END");
	is_int(instance(0)->nr_parts, 1, "one span");
	is_int(r.all.p50_ns, 150, "its latency");
	end();
}

/*
 * Request 7 is cut twice: in a queue, and while thread 2 works on it.  Its id is used again each
 * time.
 */
static void cut_one(uint64_t id)
{
	begin();
	req(START, .tid = 1, .tick = 50, .id = 8);
	req(BLOCK, .tid = 1, .tick = 100, .id = 7, .queue = 5);
	req(CUT, .tick = 300, .id = 7, .queue = 7);
	req(BLOCK, .tid = 1, .tick = 300, .id = 7, .queue = 5);
	req(START, .tid = 2, .tick = 310, .id = 7, .queue = 5);
	req(CUT, .tick = 400, .id = 7, .queue = 7);
	req(START, .tid = 2, .tick = 500, .id = 7);
	req(END, .tid = 2, .tick = 510, .id = 7);
	req(END, .tid = 1, .tick = 600, .id = 8);
	instances_of(id);
}

static void test_cut_one(void)
{
	cut_one(7);
	is_int(r.nr_instances, 3, "three instances");
	ok(!instance(0)->is_complete && instance(0)->end == 300, "the first has no known end");
	ok(!instance(1)->is_complete && instance(1)->start == 300 && instance(1)->nr_parts == 2 &&
	   instance(1)->parts[0].end - instance(1)->parts[0].start == 10, "the second waited from its own BLOCK on");
	ok(instance(2)->is_complete && instance(2)->start == 500 && instance(2)->end == 510, "the third is its own");
	end();
	cut_one(8);
	ok(r.nr_instances == 1 && instance(0)->is_complete, "no other request is cut");
	end();
}

/* The recording is paused twice while requests are open; their ids are used again. */
static void test_cut(void)
{
	begin();
	req(START, .tid = 1, .tick = 100, .id = 7);
	req(CUT, .tick = 200);
	req(END, .tid = 1, .tick = 210, .id = 7);
	req(START, .tid = 1, .tick = 300, .id = 7);
	req(END, .tid = 1, .tick = 350, .id = 7);
	req(START, .tid = 1, .tick = 400, .id = 7);
	req(CUT, .tick = 500);
	req(START, .tid = 2, .tick = 600, .id = 8);
	req(END_ALL, .tid = 1, .tick = 650, .id = 0);
	req(START, .tid = 1, .tick = 700, .id = 7);
	req(END, .tid = 1, .tick = 710, .id = 7);
	instances_of(7);
	is_int(r.nr_instances, 4, "four instances");
	ok(!instance(0)->is_complete && instance(0)->end == 200, "the first is cut at the pause");
	ok(instance(1)->is_complete && instance(1)->start == 300 && instance(1)->end == 350, "the next is its own");
	ok(!instance(2)->is_complete && instance(2)->start == 400 && instance(2)->end == 500, "one more is cut");
	ok(instance(3)->is_complete && instance(3)->start == 700, "the end of all did not end the one that was cut");
	end();
}

/* A request goes from the network thread through two queues, on three threads. */
static void test_hops(void)
{
	const struct instance *l;

	begin();
	req(START, .tid = 1, .tick = 100, .id = 7);
	req(BLOCK, .tid = 1, .tick = 200, .id = 7, .queue = 0xa0);
	req(START, .tid = 2, .tick = 350, .id = 7, .queue = 0xa0);
	req(BLOCK, .tid = 2, .tick = 400, .id = 7, .queue = 0xb0);
	req(START, .tid = 3, .tick = 1000, .id = 7, .queue = 0xb0);
	req(END, .tid = 3, .tick = 1100, .id = 7);
	instances_of(7);
	l = instance(0);
	ok(r.nr_instances == 1 && l->is_complete && l->start == 100 && l->end == 1100, "one instance");
	is_int(l->nr_parts, 5, "three threads and two queues");
	if (l->nr_parts == 5) {
		ok(l->parts[1].is_queue && l->parts[1].queue == 0xa0 && l->parts[1].start == 200 &&
		   l->parts[1].end == 350 && l->parts[1].tid == 1 && l->parts[1].to_tid == 2,
		   "the first queue");
		ok(l->parts[3].is_queue && l->parts[3].end - l->parts[3].start == 600 &&
		   l->parts[3].to_tid == 3, "the second queue");
	}
	end();
}

static bool is_part(size_t i, bool is_queue, int64_t start, int64_t end)
{
	const struct instance_part *p = &instance(0)->parts[i];

	return i < instance(0)->nr_parts && p->is_queue == is_queue && p->start == start && p->end == end;
}

static void test_arrived(void)
{
	begin();
	req(ARRIVED, .tid = 1, .tick = 500, .id = 7, .queue = 0xa0, .site = 400);
	req(START, .tid = 1, .tick = 510, .id = 7, .queue = 0xa0, .site = 0x4711);
	req(END, .tid = 1, .tick = 600, .id = 7);
	instances_of(7);
	ok(r.nr_instances == 1 && instance(0)->start == 100 && instance(0)->end == 600 && instance(0)->is_complete,
	   "an instance begins at the arrival");
	ok(instance(0)->nr_parts == 2 && is_part(0, true, 100, 510) && is_part(1, false, 510, 600),
	   "in the queue until START");
	ok(instance(0)->parts[0].queue == 0xa0 && instance(0)->parts[0].to_tid == 1 &&
	   instance(0)->parts[0].tid == 1 && instance(0)->parts[0].site == 0x4711, "which one, whose, where");
	ok(!instance(0)->has_lost_handoff && instance(0)->parts[1].was_queued, "and taken out of it");
	is_int(r.all.p50_ns, 500, "its latency");
	end();

	begin();
	req(ARRIVED, .tid = 1, .tick = 500, .id = 7, .site = 700);
	req(START, .tid = 1, .tick = 510, .id = 7);
	req(END, .tid = 1, .tick = 600, .id = 7);
	instances_of(7);
	ok(instance(0)->start == -200 && instance(0)->nr_parts == 2, "before the recording began, in no queue");
	end();

	begin();
	req(ARRIVED, .tid = 1, .tick = 500, .id = 7, .queue = 0xa0, .site = UINT64_MAX);
	req(START, .tid = 1, .tick = 510, .id = 7, .queue = 0xa0);
	req(END, .tid = 1, .tick = 600, .id = 7);
	instances_of(7);
	ok(r.nr_instances == 1 && instance(0)->is_complete && instance(0)->start == 500, "an age that cannot be");
	end();
}

/* ARRIVED neither repeats nor contradicts known times. */
static void test_arrived_known(void)
{
	begin();
	req(START, .tid = 1, .tick = 100, .id = 7);
	req(BLOCK, .tid = 1, .tick = 200, .id = 7, .queue = 0xa0);
	req(ARRIVED, .tid = 2, .tick = 500, .id = 7, .queue = 0xa0, .site = 450);
	req(START, .tid = 2, .tick = 510, .id = 7, .queue = 0xa0);
	req(ARRIVED, .tid = 2, .tick = 520, .id = 7, .queue = 0xa0, .site = 450);
	req(END, .tid = 2, .tick = 600, .id = 7);
	instances_of(7);
	ok(instance(0)->start == 100 && instance(0)->nr_parts == 3 && is_part(1, true, 200, 510),
	   "a queue that BLOCK named, and a thread that works on it already");
	ok(instance(0)->is_complete && !instance(0)->has_lost_handoff, "are left as they are");
	end();

	begin();
	req(START, .tid = 1, .tick = 100, .id = 7);
	req(ARRIVED, .tid = 2, .tick = 500, .id = 7, .queue = 0xb0, .site = 450);
	req(START, .tid = 2, .tick = 510, .id = 7, .queue = 0xb0);
	req(END, .tid = 2, .tick = 600, .id = 7);
	req(END, .tid = 1, .tick = 610, .id = 7);
	instances_of(7);
	ok(instance(0)->start == 100 && instance(0)->nr_parts == 3 && is_part(1, true, 100, 510),
	   "in the middle of an instance: not before what was last");
	end();

	begin();
	req(START, .tid = 1, .tick = 100, .id = 7);
	req(BLOCK, .tid = 1, .tick = 150, .id = 7, .queue = 0xa0);
	req(END, .tid = 1, .tick = 200, .id = 7);
	req(ARRIVED, .tid = 1, .tick = 500, .id = 7, .site = 50);
	req(START, .tid = 1, .tick = 510, .id = 7);
	req(END, .tid = 1, .tick = 600, .id = 7);
	req(ARRIVED, .tid = 1, .tick = 700, .id = 7, .site = 50);
	req(START, .tid = 1, .tick = 710, .id = 7);
	req(END, .tid = 1, .tick = 800, .id = 7);
	req(ARRIVED, .tid = 1, .tick = 900, .id = 7, .queue = 0xc0, .site = 50);
	instances_of(7);
	is_int(r.nr_instances, 4, "an id that is used again has an instance each time");
	ok(instance(1)->start == 450 && instance(1)->end == 600 && instance(2)->start == 650, "from its arrival");
	ok(!instance(3)->is_complete && instance(3)->has_lost_handoff && instance(3)->start == 850,
	   "never started: lost");
	end();
}

static void test_repeats(void)
{
	begin();
	req(START, .tid = 1, .tick = 100, .id = 7);
	req(END, .tid = 1, .tick = 150, .id = 7);
	req(START, .tid = 2, .tick = 200, .id = 7);
	req(END, .tid = 2, .tick = 900, .id = 7);
	req(START, .tid = 1, .tick = 1000, .id = 7);
	instances_of(7);
	is_int(r.nr_instances, 3, "an id that is used again has an instance each time");
	ok(instance(1)->end - instance(1)->start == 700, "the second one");
	ok(!instance(2)->is_complete, "the third one did not end");
	ok(r.all.count == 2 && r.all.incomplete == 1, "and is counted apart");
	end();
}

/* Three threads work at a time; END is per thread. */
static void test_parallel(void)
{
	begin();
	req(START, .tid = 1, .tick = 100, .id = 7);
	req(START, .tid = 2, .tick = 120, .id = 7);
	req(START, .tid = 3, .tick = 130, .id = 7);
	req(END, .tid = 2, .tick = 200, .id = 7);
	req(END, .tid = 1, .tick = 210, .id = 7);
	req(END, .tid = 3, .tick = 300, .id = 7);
	instances_of(7);
	ok(r.nr_instances == 1 && instance(0)->end == 300 && instance(0)->nr_parts == 3,
	   "over when the last thread is done");
	end();

	begin();
	req(START, .tid = 1, .tick = 100, .id = 7);
	req(END, .tid = 2, .tick = 200, .id = 7);
	req(START, .tid = 1, .tick = 300, .id = 7);
	req(END, .tid = 1, .tick = 310, .id = 7);
	instances_of(7);
	ok(r.nr_instances == 2 && instance(0)->end == 200, "END on a thread that had no part ends all");
	end();
}

static void test_end_all(void)
{
	begin();
	req(START, .tid = 1, .tick = 100, .id = 7);
	req(START, .tid = 1, .tick = 110, .id = 8);
	req(START, .tid = 2, .tick = 115, .id = 7);
	req(END_ALL, .tid = 1, .tick = 200, .id = 0);
	req(END, .tid = 2, .tick = 250, .id = 7);
	instances_of(7);
	ok(instance(0)->is_complete && instance(0)->end == 250, "END_ALL ends the parts of its thread");
	is_int(r.all.count, 2, "of every request");
	end();
}

static void test_races(void)
{
	begin();
	req(START, .tid = 1, .tick = 100, .id = 7);
	/* The consumer's START comes before the BLOCK of the producer. */
	req(START, .tid = 2, .tick = 190, .id = 7, .queue = 0xa0);
	req(BLOCK, .tid = 1, .tick = 200, .id = 7, .queue = 0xa0);
	req(END, .tid = 2, .tick = 300, .id = 7);
	instances_of(7);
	ok(r.nr_instances == 1 && instance(0)->is_complete && !instance(0)->has_lost_handoff,
	   "a consumer may start before the producer's BLOCK");
	ok(instance(0)->nr_parts == 2 && instance(0)->end == 300, "the span in the queue is empty");
	end();

	begin();
	req(START, .tid = 1, .tick = 100, .id = 7);
	req(START, .tid = 1, .tick = 110, .id = 7);
	req(END, .tid = 1, .tick = 200, .id = 7);
	instances_of(7);
	ok(r.nr_instances == 1 && instance(0)->nr_parts == 1, "START twice on one thread is once");
	end();
}

static void test_losses(void)
{
	begin();
	req(START, .tid = 1, .tick = 100, .id = 7);
	req(BLOCK, .tid = 1, .tick = 200, .id = 7, .queue = 0xa0);
	req(END, .tid = 9, .tick = 500, .id = 8);
	req(START, .tid = 1, .tick = 900, .id = 9);
	req(END, .tid = 1, .tick = 1000, .id = 9);
	instances_of(7);
	ok(!instance(0)->is_complete && instance(0)->has_lost_handoff, "put into a queue, never taken out");
	is_int(instance(0)->end, 1000, "it lasts to the end of the trace");
	is_int(r.all.lost_handoffs, 1, "and is counted");
	is_int(r.result.nr_stray, 1, "an END without START is counted");
	end();

	begin();
	req(BLOCK, .tid = 1, .tick = 100, .id = 7, .queue = 0xa0);
	req(START, .tid = 2, .tick = 300, .id = 7, .queue = 0xa0);
	req(END, .tid = 2, .tick = 400, .id = 7);
	instances_of(7);
	ok(instance(0)->start == 100 && instance(0)->nr_parts == 2, "an instance may begin in a queue");
	end();
}

static void test_classes(void)
{
	struct requests_options o = REQUESTS_OPTIONS_ALL;

	begin();
	for (int i = 0; i < 100; i++) {
		bool slow = i % 10 == 0;

		req(START, .tid = 1, .tick = i * 1000, .id = i);
		made_class(&t, i * 1000 + 10, i, slow ? "SET" : "GET");
		req(END, .tid = 1, .tick = i * 1000 + (slow ? 900 : 50) + i % 7, .id = i);
	}
	/* The id of a GET is used again, now without a class. */
	req(START, .tid = 1, .tick = 200000, .id = 5);
	req(END, .tid = 1, .tick = 200010, .id = 5);
	made_open(&t);
	o.nr_slowest = 3;
	requests_build(t.model, &o, &r);
	is_int(r.nr_classes, 2, "two classes");
	ok(!strcmp(r.classes[0].name, "SET") && r.classes[0].count == 10, "the slower one first");
	ok(r.classes[1].count == 91 && r.classes[1].max_ns == 56, "the other one");
	is_int(r.all.count, 101, "all");
	ok(r.nr_instances == 3 && r.instances[0].id == 20 && r.instances[1].id == 90 && r.instances[2].id == 40,
	   "the slowest, in order: %d %d %d", (int)r.instances[0].id, (int)r.instances[1].id,
	   (int)r.instances[2].id);
	ok(!strcmp(r.instances[0].class, "SET"), "with its class");
	requests_free(&r);
	o.class = "G*";
	requests_build(t.model, &o, &r);
	ok(r.all.count == 91 && r.instances[0].id % 10, "only of a class");
	requests_free(&r);
	o.class = NULL;
	o.from = 50000;
	o.to = 59999;
	requests_build(t.model, &o, &r);
	is_int(r.all.count, 10, "only those that start in a time");
	end();
}

/* Many requests are open at the same time, and rows are out of order by less than the window. */
static void test_storm(void)
{
	enum { NR = 50000 };
	struct requests_options o = REQUESTS_OPTIONS_ALL;

	begin();
	for (int i = 0; i < NR; i++)
		req(START, .tid = 1 + i % 50, .tick = i, .id = i);
	for (int i = 0; i < NR; i++)
		req(END, .tid = 1 + i % 50, .tick = 100000 + (i ^ 1), .id = i);
	made_open(&t);
	requests_build(t.model, &o, &r);
	ok(r.all.count == NR && !r.all.incomplete && !r.result.nr_stray, "50000 at the same time");
	is_int(r.all.max_ns, 100001, "latencies do not depend on the order in the file");
	end();
}

int main(void)
{
	test_simple();
	test_cut();
	test_cut_one();
	test_hops();
	test_arrived();
	test_arrived_known();
	test_repeats();
	test_parallel();
	test_end_all();
	test_races();
	test_losses();
	test_classes();
	test_storm();
	return done();
}
