// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what ldb-why says about a function: that it was slower, or that other requests do not call
 * it.
 */
#include "analysis/why/categories.h"
#include "analysis/why/why.h"
#include "render/why.h"
#include "analysis-sample.h"

#define NR	20	/* requests, which begin 10000 apart */

__attribute__((noinline)) void outer(void)	{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void inner(void)	{ __asm__ volatile("nop; nop; nop" ::: "memory"); }
__attribute__((noinline)) void brief(void)	{ __asm__ volatile("nop" ::: "memory"); }
__attribute__((noinline)) void rare(void)	{ __asm__ volatile("nop; nop; nop; nop" ::: "memory"); }

/*
 * Each request calls inner(), mostly for 1000, from outer(), which continues from request to
 * request.  One in three calls brief(), too.  Requests 8 to 10 take 7000 more: the first in rare(),
 * the second in outer() itself, the third in inner().
 */
static void make(struct made *t)
{
	int64_t end = NR * 10000;

	made_begin(t, "why.data");
	made_thread(t, 1, "worker", 0, end + 1000);
	made_func(t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 500, .end = end + 500);
	for (int i = 0; i < NR; i++) {
		int64_t at = 1000 + i * 10000, took = i >= 7 && i <= 9 ? 8000 : 1000;
		int64_t in = i == 9 ? 8000 : 1000;

		made_req(t, .op = LDB_REQ_OP_START, .tid = 1, .tick = at, .id = i + 1);
		made_func(t, .tid = 1, .pc = (char *)inner + 1, .ret = (char *)outer + 2,
			  .gen = 3 * i + 2, .parent = 1, .depth = 1, .start = at, .end = at + in);
		if (i % 3 == 0)
			made_func(t, .tid = 1, .pc = (char *)brief + 1, .ret = (char *)inner + 2,
				  .gen = 3 * i + 3, .parent = 3 * i + 2, .depth = 2,
				  .start = at + 100, .end = at + in - 700);
		if (i == 7)
			made_func(t, .tid = 1, .pc = (char *)rare + 1, .ret = (char *)outer + 2,
				  .gen = 3 * i + 4, .parent = 1, .depth = 1, .start = at + 1000,
				  .end = at + took);
		made_req(t, .op = LDB_REQ_OP_END, .tid = 1, .tick = at + took, .id = i + 1);
	}
	made_open(t);
}

static const struct why_cause *first_of(const struct why *w, uint64_t id)
{
	for (size_t i = 0; i < w->nr_targets; i++)
		if (w->targets[i].request->id == id && w->targets[i].nr_amounts)
			return &w->causes[w->targets[i].amounts[0].cause];
	bail_out("a request without a cause");
	return NULL;
}

/* The advice names the thread that ended the wait, if it is known, and that thread's function. */
static void is_advised(const struct why *w, const char *who)
{
	struct why_cause c = w->causes[w->targets[0].amounts[0].cause];
	char text[WHY_SENTENCE_MAX], want[WHY_SENTENCE_MAX];

	c.advice = "wake it";
	snprintf(want, sizeof(want), "wake it (in the slowest %s)", who);
	is_str(why_cause_advice(&c, text), want, "what helps");
	c.chain = NULL;
	is_str(why_cause_advice(&c, text), "wake it", "without a chain");
	c.advice = "";
	is_str(why_cause_advice(&c, text), "", "nothing is known");
}

/* The last of three requests sleeps until thread 2 or an interrupt wakes it. */
static void test_waker(unsigned flags, bool is_seen)
{
	struct partition_options po = { .from = INT64_MIN, .to = INT64_MAX };
	struct why_options wo = {
		.has_id = true, .id = 3, .reference_lo = 40, .reference_hi = 60, .explain = 0.8,
		.nr_chains = 10,
	};
	const struct chain *chain;
	struct partition p;
	struct made t;
	struct why w;

	made_begin(&t, "why-waker.data");
	writer_add_meta(t.w, "kernel_events", "module");
	writer_add_meta(t.w, "pid", "1");
	made_thread(&t, 1, "worker", 0, 100000);
	made_thread(&t, 2, "helper", 0, 100000);
	made_task(&t, 2, 1, "helper");
	made_switch(&t, .tick = 100, .next = 1);
	made_switch(&t, .tick = 100, .cpu = 1, .next = 2);
	made_func(&t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 500, .end = 90000);
	if (is_seen)
		made_func(&t, .tid = 2, .pc = (char *)rare + 1, .gen = 1, .start = 21000,
			  .end = 69000);
	for (int i = 0; i < 3; i++) {
		made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000 + i * 10000,
			 .id = i + 1);
		made_req(&t, .op = LDB_REQ_OP_END, .tid = 1,
			 .tick = 2000 + i * 10000 + (i == 2) * 50000, .id = i + 1);
	}
	made_switch(&t, .tick = 22000, .prev = 1, .state = LDB_STATE_SLEEPING);
	made_waking(&t, .tick = 70000, .cpu = 1, .waker = 2, .flags = flags, .woken = 1);
	made_wakeup(&t, .tick = 70000, .woken = 1);
	made_switch(&t, .tick = 70100, .next = 1);
	made_open(&t);
	if (partition_build(t.model, &po, &p) || why_build(&p, &wo, &w) || !w.nr_targets)
		bail_out("why_build");
	chain = w.targets[0].chain;
	ok(chain && chain->nr && chain->links[0].kind == LEAF_SLEEP, "it slept");
	ok(w.targets[0].root == (is_seen && !flags ? LEAF_FUNCTION : LEAF_SLEEP), "the root");
	if (flags)
		ok(chain && chain->nr == 2 && chain->links[1].kind == LINK_WOKEN_BY &&
		   !chain->links[1].tid && !strcmp(chain->links[1].label, "an interrupt"),
		   "an interrupt ended it, not whom it interrupted");
	else
		ok(chain && chain->nr == 2 && chain->links[1].kind == LINK_WOKEN_BY &&
		   !strcmp(chain->links[1].thread, "helper") && chain->links[1].tid == 2 &&
		   chain->links[1].source == EDGE_WAKER, "until a thread ended it");
	if (!flags && is_seen)
		ok(chain && chain->nr == 2 && !strcmp(chain->links[1].label, "rare") &&
		   chain->links[1].ns == 47000, "which did something until then");
	is_advised(&w, flags ? "an interrupt woke it" :
		   is_seen ? "thread helper woke it, which was in rare()" : "thread helper woke it");
	why_free(&w);
	wo.id = 1;
	if (why_build(&p, &wo, &w))
		bail_out("why_build");
	ok(w.nr_targets == 1 && !w.targets[0].nr_amounts && !w.targets[0].chain,
	   "one that took no longer than others has no cause, and no chain");
	why_free(&w);
	partition_free(&p);
	made_close(&t);
}

/* Each cause has the category of its kind and name; without categories it has none. */
static void is_categorised(const struct partition *p, const struct why_options *o)
{
	size_t wrong = 0, found = 0;
	struct why w;

	if (why_build(p, o, &w))
		bail_out("why_build");
	for (size_t i = 0; i < w.nr_causes; i++) {
		const struct why_cause *c = &w.causes[i];
		bool is_rare = o->categories && !strcmp(c->label, "rare");

		found += is_rare;
		wrong += strcmp(c->category, is_rare ? "Seldom" : "") != 0;
		wrong += strcmp(c->advice, is_rare ? "call it less" : "") != 0;
	}
	ok(w.nr_causes > 1 && !wrong && found == !!o->categories, "%s categories",
	   o->categories ? "with" : "without");
	why_free(&w);
}

static void test_categories(const struct partition *p, struct why_options o)
{
	const char *path = sample_path("categories.csv");
	char err[256] = "";
	FILE *f = fopen(path, "w");

	if (!f || fputs("rare,function,Seldom,app,call it less\n", f) < 0 || fclose(f))
		bail_out("cannot write a temporary file");
	is_categorised(p, &o);
	o.categories = categories_open(path, err, sizeof(err));
	if (!o.categories)
		bail_out(err);
	is_categorised(p, &o);
	categories_close(o.categories);
}

static void work_on(struct made *t, uint64_t id, int64_t start, int64_t end)
{
	made_class(t, start - 1, id, "OTHER");
	made_req(t, .op = LDB_REQ_OP_START, .tid = 1, .tick = start, .id = id);
	made_req(t, .op = LDB_REQ_OP_END, .tid = 1, .tick = end, .id = id);
}

/*
 * Each request waits for another server for 65000.  The thread reads the answer of the last request
 * 30000 later, because it works on requests 101 and 102 first.  Request 100 took longer, but was
 * over before the answer came.
 */
static void test_ahead(void)
{
	struct partition_options po = { .from = INT64_MIN, .to = INT64_MAX };
	struct why_options wo = {
		.has_id = true, .id = 10, .reference_lo = 40, .reference_hi = 60, .explain = 0.8, .nr_chains = 10,
	};
	const struct chain *chain;
	struct partition p;
	struct made t;
	struct why w;

	made_begin(&t, "why-ahead.data");
	writer_add_meta(t.w, "kernel_events", "module");
	made_thread(&t, 1, "loop", 0, 3000000);
	made_switch(&t, .tick = 100, .cpu = 1, .next = 1);
	made_func(&t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 500, .end = 2900000);
	for (int64_t i = 1; i <= 10; i++) {
		int64_t at = i * 200000, late = i == 10 ? 30000 : 0;

		made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = at, .id = i);
		made_req(&t, .op = LDB_REQ_OP_BLOCK, .tid = 1, .tick = at + 5000, .id = i, .queue = LDB_REQ_QUEUE_UPSTREAM);
		if (late)
			work_on(&t, 100, at + 6000, at + 46000);
		made_switch(&t, .tick = at + 50000, .cpu = 1, .prev = 1, .state = LDB_STATE_SLEEPING);
		made_waking(&t, .tick = at + 69000, .cpu = 1, .flags = LDB_SCHED_F_HARDIRQ, .woken = 1);
		made_wakeup(&t, .tick = at + 69000, .cpu = 1, .woken = 1);
		made_switch(&t, .tick = at + 69000, .cpu = 1, .next = 1);
		if (late) {
			work_on(&t, 101, at + 70000, at + 85000);
			made_irq(&t, .tid = 1, .kind = LDB_IRQ_STOLEN, .start = at + 71000, .end = at + 84000);
			work_on(&t, 102, at + 85000, at + 100000 - 1);
		}
		made_req(&t, .op = LDB_REQ_OP_START, .tid = 1, .tick = at + 70000 + late, .id = i,
			 .queue = LDB_REQ_QUEUE_UPSTREAM);
		made_req(&t, .op = LDB_REQ_OP_END, .tid = 1, .tick = at + 73000 + late, .id = i);
	}
	made_open(&t);
	if (partition_build(t.model, &po, &p) || why_build(&p, &wo, &w))
		bail_out("why_build");
	chain = w.nr_targets ? w.targets[0].chain : NULL;
	if (!chain || chain->nr < 2)
		bail_out("the request is not followed to the one ahead");
	is_int(chain->links[0].ns, 29999, "behind what went on until the answer was read");
	is_str(chain->links[1].label, "101", "and the longest of these is named, not one that delayed nobody");
	is_int(chain->links[1].ns, 15000, "with its time");
	ok(chain->nr > 2 && chain->links[2].kind == LEAF_STOLEN && chain->links[2].ns == 13000,
	   "of which most was taken by the hypervisor");
	why_free(&w);
	partition_free(&p);
	made_close(&t);
}

/*
 * Returns the sentence about a request that was in a queue for 46 ms, of which `ns` were more than
 * usual.
 */
static const char *queue_sentence(int64_t ns, char *buf)
{
	struct chain chain = {
		.links = {
			{ .kind = LEAF_QUEUE, .label = "jobs", .call = "", .file = "", .thread = "", .ns = ns },
			{ .kind = LINK_TAKEN_BY, .label = "worker", .call = "", .file = "", .thread = "worker",
			  .tid = 7, .ns = 46000000 },
		},
		.nr = 2,
	};
	struct why_class class = { .name = "GET", .nr = 2, .nr_reference = 1, .reference_ns = 1000000 };
	struct why_cause cause = { .kind = LEAF_QUEUE, .label = "queue jobs", .call = "" };
	struct request r = { .id = 5, .latency_ns = 50000000 };
	struct why_amount amount = { .ns = ns };
	struct why_target t = { .request = &r, .amounts = &amount, .nr_amounts = 1, .deviation_ns = 49000000,
				.chain = &chain };
	struct why w = { .classes = &class, .causes = &cause };

	return why_target_sentence(&w, &t, buf);
}

static void test_stay(void)
{
	char buf[WHY_SENTENCE_MAX];

	is_str(queue_sentence(46000000, buf),
	       "req 5 GET 50.0ms (usual 1.00ms): 46.0ms in queue jobs, taken out by thread worker 7",
	       "all of the time in a queue was more than usual");
	is_str(queue_sentence(30000000, buf),
	       "req 5 GET 50.0ms (usual 1.00ms): 30.0ms in queue jobs (it was there for 46.0ms), taken out by thread worker 7",
	       "only a part was: the whole time is said as well");
}

int main(void)
{
	test_stay();
	struct partition_options po = { .from = INT64_MIN, .to = INT64_MAX };
	struct why_options wo = {
		.target_lo = 90, .target_hi = 100, .reference_lo = 40, .reference_hi = 60, .explain = 0.8,
	};
	const struct why_cause *c;
	struct partition p;
	struct made t;
	struct why w;

	make(&t);
	if (partition_build(t.model, &po, &p) || why_build(&p, &wo, &w))
		bail_out("why_build");
	is_int(w.nr_targets, 3, "the slow ones");
	c = first_of(&w, 8);
	ok(!strcmp(c->label, "rare") && c->anomaly == ANOMALY_UNEXPECTED, "others do not call it");
	c = first_of(&w, 9);
	ok(!strcmp(c->label, "outer") && c->anomaly == ANOMALY_SLOWER,
	   "others call it, if it has no time of its own there: %s", anomaly_name(c->anomaly));
	c = first_of(&w, 10);
	ok(!strcmp(c->label, "brief") && c->anomaly == ANOMALY_SLOWER,
	   "others may call it, though few were seen in it: %s", anomaly_name(c->anomaly));
	why_free(&w);
	test_categories(&p, wo);
	partition_free(&p);
	made_close(&t);
	test_waker(0, false);
	test_waker(0, true);
	test_waker(LDB_SCHED_F_HARDIRQ, true);
	test_ahead();
	return done();
}
