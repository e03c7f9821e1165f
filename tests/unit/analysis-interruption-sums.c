// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests page faults and interrupts: each is delivered once, with its thread and among its
 * segments; and the counts of a request and of a thread.
 */
#include <string.h>

#include "analysis/timeline/timeline.h"
#include "facts/interruption-sums.h"
#include "facts/interruptions.h"
#include "facts/rows.h"
#include "facts/ticks.h"
#include "analysis/report/requests.h"
#include "analysis/report/schedstats.h"
#include "analysis/tracks/tracks.h"
#include "analysis-sample.h"

#define NR_FAULTS	200000	/* faults of thread 2: more than fit into little memory */

static void fault(struct made *t, uint32_t tid, int64_t tick, uint32_t flags)
{
	writer_add_fault(t->w, &(struct ldb_row_fault){
		.tid = tid, .tick = tick, .addr = tick * 16, .pc = 7, .flags = flags,
	});
}

static void make(struct made *t, const char *name)
{
	made_begin(t, name);
	writer_add_meta(t->w, "kernel_events", "module");
	writer_add_meta(t->w, "kernel_faults", "1");
	writer_add_meta(t->w, "kernel_irqs", "1");
	made_task(t, 1, 1, "one");
	made_task(t, 2, 1, "two");
	made_thread(t, 1, "one", 0, 1000000);
	made_thread(t, 2, "two", 0, 1000000);
	made_req(t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 9);
	made_req(t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 50000, .id = 9);
	made_switch(t, .tick = 100, .cpu = 1, .next = 1);
	made_switch(t, .tick = 100, .cpu = 2, .next = 2);
	/* The rows are out of order: the inner interrupt comes first, because it ends first. */
	fault(t, 1, 3000, LDB_FAULT_F_WRITE | LDB_FAULT_ROW_MAJOR);
	fault(t, 1, 2000, LDB_FAULT_F_KERNEL);
	fault(t, 1, 60000, LDB_FAULT_ROW_MINOR);
	made_irq(t, .tid = 1, .start = 5200, .end = 5400, .kind = LDB_IRQ_HARD, .nr_short = 2,
		 .name = "eth0");
	made_irq(t, .tid = 1, .start = 5000, .end = 6000, .kind = LDB_IRQ_SOFT, .name = "NET_RX");
	made_irq(t, .tid = 1, .start = 49000, .end = 51000, .kind = LDB_IRQ_LOCAL_TIMER,
		 .name = "local_timer");
	made_irq(t, .tid = 1, .start = 70000, .end = 70500, .kind = LDB_IRQ_HARD, .name = "");
	made_irq(t, .tid = 77, .start = 80000, .end = 80500, .kind = LDB_IRQ_SOFT, .name = "RCU");
	for (int i = 0; i < NR_FAULTS; i++)
		fault(t, 2, (int64_t)i * 7919 % NR_FAULTS, 0);
	made_open(t);
}

static char told[1024];
static int64_t last_start;
static unsigned nr_two, nr_bad, nr_segments;
static bool is_late;

static int on_thread(void *arg, const struct thread *t)
{
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "thread %u\n", t->tid);
	last_start = INT64_MIN;
	return 0;
}

static void on_fault(const struct segment *s)
{
	const struct fault *f = s->fault;

	nr_bad += s->start != f->tick || s->end != f->tick || f->addr != (uint64_t)f->tick * 16 ||
		  f->pc != 7 || !f->thread || f->thread->tid != f->tid || s->thread != f->thread;
	if (f->tid == 2)
		nr_two++;
	else
		snprintf(told + strlen(told), sizeof(told) - strlen(told), "fault %d%s%s%s\n",
			 (int)f->tick, f->is_kernel ? " kernel" : "", f->has_major ? " known" : "",
			 f->is_major ? " major" : "");
}

static void on_irq(const struct segment *s)
{
	const struct irq *q = s->irq;

	nr_bad += s->start != q->start || s->end != q->end || s->thread != q->thread;
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "irq %d-%d kind %u cpu %u '%s' %u\n",
		 (int)q->start, (int)q->end, q->kind, q->cpu, q->name, q->nr_short);
}

static int on_segment(void *arg, const struct segment *s)
{
	is_late |= s->start < last_start;
	last_start = s->start;
	if (s->kind == SEGMENT_FAULT)
		on_fault(s);
	else if (s->kind == SEGMENT_IRQ)
		on_irq(s);
	else
		nr_segments++;
	return 0;
}

static const struct tracks_sink sink = { .thread = on_thread, .segment = on_segment };

static int run(struct made *t, const struct tracks_options *o, struct tracks_result *result)
{
	*told = '\0';
	nr_two = nr_bad = nr_segments = 0;
	is_late = false;
	return tracks_each(t->model, o, &sink, result);
}

static void test_tracks(struct made *t)
{
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct tracks_result result;

	o.memory = 1 << 20;
	o.with_faults = o.with_irqs = true;
	ok(t->model->has_faults && t->model->has_irqs, "the trace says that they were recorded");
	is_int(run(t, &o, &result), 0, "all of it, in little memory");
	is_str(told, "thread 1\nfault 2000 kernel\nfault 3000 known major\n"
	       "irq 5000-6000 kind 2 cpu 1 'NET_RX' 0\nirq 5200-5400 kind 1 cpu 1 'eth0' 2\n"
	       "irq 49000-51000 kind 3 cpu 1 'local_timer' 0\nfault 60000 known\n"
	       "irq 70000-70500 kind 1 cpu 1 '' 0\n"
	       "thread 2\nthread 77\nirq 80000-80500 kind 2 cpu 1 'RCU' 0\n",
	       "thread by thread, in order of time");
	is_int(nr_two, NR_FAULTS, "each fault once");
	ok(!nr_bad && !is_late && nr_segments, "in order, among the segments");
	ok(result.nr[SEGMENT_FAULT] == NR_FAULTS + 3 && result.nr[SEGMENT_IRQ] == 5, "and counted");
	o.thread = "one";
	o.from = 3000;
	o.to = 50000;
	run(t, &o, &result);
	is_str(told, "thread 1\nfault 3000 known major\nirq 5000-6000 kind 2 cpu 1 'NET_RX' 0\n"
	       "irq 5200-5400 kind 1 cpu 1 'eth0' 2\nirq 49000-51000 kind 3 cpu 1 'local_timer' 0\n",
	       "of one thread, of some time");
}

static int refuse(void *arg, const struct segment *s)
{
	return s->kind == SEGMENT_IRQ ? 42 : 0;
}

static void test_sink(struct made *t)
{
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct tracks_sink one = { .segment = refuse };
	struct tracks_result result;

	o.with_irqs = true;
	is_int(tracks_each(t->model, &o, &one, &result), 42, "what the sink says stops it");
	o.with_irqs = false;
	is_int(tracks_each(t->model, &o, &one, &result), 0, "nobody wants them");
	ok(!result.nr[SEGMENT_FAULT] && !result.nr[SEGMENT_IRQ], "then nobody gets them");
}

static void test_request(struct made *t)
{
	struct requests_options o = REQUESTS_OPTIONS_ALL;
	struct requests requests;
	struct timeline timeline;
	struct interruptions h;

	o.nr_slowest = 1;
	if (requests_build(t->model, &o, &requests) || requests.nr_instances != 1 ||
	    timeline_build(t->model, &requests.instances[0], &timeline) ||
	    timeline_interruptions(t->model, &timeline, &h))
		bail_out("no timeline");
	ok(h.nr_faults == 2 && h.nr_major == 1, "the faults of a request");
	is_int(h.nr_irqs, 5, "its interrupts, with those too short");
	is_int(h.irq_ns, 2000, "nested ones once, and only what is within it");
	timeline_free(&timeline);
	requests_free(&requests);
}

static void test_threads(struct made *t)
{
	struct schedstats_options o = SCHEDSTATS_OPTIONS_ALL;
	struct schedstats s;

	if (schedstats_build(t->model, &o, &s))
		bail_out("no statistics");
	for (size_t i = 0; i < s.nr; i++) {
		const struct interruptions *h = &s.entries[i].interruptions;

		if (s.entries[i].tid == 1)
			ok(h->nr_faults == 3 && h->nr_irqs == 6 && h->irq_ns == 3500, "thread 1");
		if (s.entries[i].tid == 2)
			ok(h->nr_faults == NR_FAULTS && !h->nr_irqs, "thread 2");
	}
	ok(s.nr == 2 && s.all.interruptions.nr_faults == NR_FAULTS + 3, "all threads");
	schedstats_free(&s);
}

/* A trace of an earlier version has no such rows. */
static void test_old(void)
{
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct tracks_result result;
	struct made t;

	o.with_faults = o.with_irqs = true;
	made_begin(&t, "old");
	made_thread(&t, 1, "one", 0, 1000);
	made_open(&t);
	ok(!t.model->has_faults && !t.model->has_irqs, "a trace from before");
	is_int(run(&t, &o, &result), 0, "can be read");
	is_str(told, "thread 1\n", "and has none");
	made_close(&t);
}

static int count_fault(void *arg, const struct fault *f)
{
	nr_bad += f->tick > TICKS_MAX || !f->thread || f->thread->tid != 1;
	++*(unsigned *)arg;
	return 0;
}

static int count_irq(void *arg, const struct irq *q)
{
	nr_bad += q->start != 5000 || q->end != 5000 || !q->thread || strcmp(q->name, "eth0");
	++*(unsigned *)arg;
	return 0;
}

static int stop(void *arg, const struct irq *q)
{
	return 43;
}

/* Values that make no sense are limited when the rows are read. */
static void test_limits(void)
{
	struct reader_filter early = ROWS_WITHIN(0, 4500);
	unsigned nr_faults = 0, nr_irqs = 0, nr_early = 0;
	struct made t;

	nr_bad = 0;
	made_begin(&t, "limits");
	made_thread(&t, 1, "one", 0, 10000);
	fault(&t, 1, INT64_MAX, 0);
	fault(&t, 1, 4000, 0);
	made_irq(&t, .tid = 1, .start = 5000, .end = 4999, .kind = LDB_IRQ_HARD, .name = "eth0");
	made_open(&t);
	is_int(faults_each(t.model, NULL, count_fault, &nr_faults), 0, "faults");
	is_int(irqs_each(t.model, NULL, count_irq, &nr_irqs), 0, "interrupts");
	ok(nr_faults == 2 && nr_irqs == 1, "all of them");
	is_int(nr_bad, 0, "none is later than times can be, or ends before it begins");
	is_int(faults_each(t.model, &early, count_fault, &nr_early), 0, "of a time");
	is_int(nr_early, 1, "no others");
	is_int(irqs_each(t.model, NULL, stop, NULL), 43, "what the function returns stops them");
	made_close(&t);
}

int main(void)
{
	struct made t;

	make(&t, "interruptions");
	test_tracks(&t);
	test_sink(&t);
	test_request(&t);
	test_threads(&t);
	made_close(&t);
	test_old();
	test_limits();
	return done();
}
