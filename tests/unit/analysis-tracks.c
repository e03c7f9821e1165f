// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests tracks: everything in a trace, thread by thread.  Each segment must come once, with the
 * same sums as in the reports.  Functions must be as in a timeline of the whole trace, and nested.
 * Memory must be bounded.
 */
#include <malloc.h>

#include "analysis/report/locks.h"
#include "facts/lock-events.h"
#include "facts/instances.h"
#include "analysis/report/schedstats.h"
#include "base/spill.h"
#include "analysis/report/stats.h"
#include "analysis/timeline/timeline.h"
#include "analysis/tracks/tracks.h"
#include "analysis-sample.h"

#define NR_TIDS		3
#define GENS_MAX	(1U << 21)
#define LOCK		((uint64_t)(uintptr_t)&a_lock)
#define QUEUE		((uint64_t)(uintptr_t)&a_queue)

int a_lock[10], a_queue[10];

__attribute__((noinline)) void outer(void)	{ __asm__ volatile("nop; nop" ::: "memory"); }
__attribute__((noinline)) void inner(void)	{ __asm__ volatile("nop; nop; nop" ::: "memory"); }

/* A simulated program */

struct maker {
	struct made *t;
	uint32_t tid;
	unsigned gen;
	int64_t now;
	uint64_t nr_left, req;
};

/* The true span of a request in which each invocation was, by thread and generation. */
struct true_part {
	int64_t start, end;
};

static struct true_part parts[NR_TIDS + 1][1 << 20];
static uint32_t part_of[NR_TIDS + 1][GENS_MAX];

static int64_t some(int64_t max)
{
	return sample_random() % max;
}

static void wait_or_hold(struct maker *k, unsigned gen)
{
	int64_t at = k->now + some(200), end = at + 1000 + some(3000);

	switch (some(5)) {
	case 0:
		made_wait(k->t, .tid = k->tid, .lock = LOCK, .owner = k->tid % NR_TIDS + 1,
			  .begin = at, .end = end, .gen = gen, .nr_later = 1);
		break;
	case 4:		/* the time asleep in the invocation */
		made_wait(k->t, .tid = k->tid, .lock = LOCK, .owner = k->tid % NR_TIDS + 1,
			  .begin = at, .end = end, .gen = gen, .nr_later = 1);
		made_futex_wait(k->t, .tick = at + 100, .cpu = k->tid, .tid = k->tid, .addr = LOCK,
				.owner = k->tid % NR_TIDS + 1);
		made_switch(k->t, .tick = at + 200, .cpu = k->tid, .prev = k->tid,
			    .state = LDB_STATE_SLEEPING, .gen = gen);
		made_waking(k->t, .tick = end - 300, .waker = k->tid % NR_TIDS + 1,
			    .woken = k->tid);
		made_wakeup(k->t, .tick = end - 300, .cpu = k->tid, .woken = k->tid,
			    .running = 900);
		made_switch(k->t, .tick = end - 100, .cpu = k->tid, .prev = 900,
			    .state = LDB_STATE_RUNNING, .next = k->tid);
		break;
	case 1:
		made_hold(k->t, .tid = k->tid, .lock = LOCK, .begin = at, .end = end, .gen = gen);
		break;
	case 2:
		made_bounded_hold(k->t, .tid = k->tid, .lock = LOCK, .end = end, .gen = gen);
		break;
	default:	/* off the CPU */
		made_switch(k->t, .tick = at, .cpu = k->tid, .prev = k->tid,
			    .state = LDB_STATE_SLEEPING, .gen = gen);
		made_waking(k->t, .tick = end, .waker = k->tid % NR_TIDS + 1, .woken = k->tid);
		made_wakeup(k->t, .tick = end, .cpu = k->tid, .woken = k->tid, .running = 900);
		end += 500;
		made_switch(k->t, .tick = end, .cpu = k->tid, .prev = 900,
			    .state = LDB_STATE_RUNNING, .next = k->tid);
		break;
	}
	k->now = end + 100;
}

static void invoke(struct maker *k, unsigned parent, unsigned depth)
{
	unsigned gen = ++k->gen;
	/* Sometimes there is an observation gap, near which estimates are far off. */
	int64_t width = some(200) ? 200 : 20000, start = k->now, s_unc = some(width), e_unc = some(width);
	int64_t s_late = s_unc ? some(s_unc) : 0, e_late = e_unc ? some(e_unc) : 0;

	part_of[k->tid][gen] = k->req;
	k->nr_left--;
	k->now += 20 + some(500);
	if (!some(50))
		wait_or_hold(k, gen);
	while (depth < 12 && k->nr_left && some(5) < 2) {
		invoke(k, gen, depth + 1);
		k->now += some(100);
	}
	/* Some calls are never observed, so their callees have no parent. */
	if (some(100))
		writer_add_func(k->t->w, &(struct ldb_row_func){
			.tid = k->tid, .pc = (uintptr_t)(depth % 2 ? inner : outer) + 1,
			.ret = (uintptr_t)outer + 2, .gen = GEN(gen),
			.parent_gen = parent ? GEN(parent) : 0, .depth = depth,
			.start_max = start + s_late, .start_unc = s_unc,
			.end_max = k->now + e_late, .end_unc = e_unc,
		});
}

static void run_thread(struct maker *k)
{
	while (k->nr_left) {
		uint64_t req = k->tid * 1000000 + k->req++;
		struct true_part *part = &parts[k->tid][k->req];

		part->start = k->now;
		made_req(k->t, .op = LDB_REQ_OP_START, .tid = k->tid, .tick = k->now, .id = req,
			 .gen = GEN(k->gen), .nr_later = k->gen);
		k->now += 50;
		invoke(k, 1, 1);
		k->now += 50;
		part->end = k->now;
		/* In each thread, only the outermost function has not returned. */
		if (k->req % 8)
			made_req(k->t, .op = LDB_REQ_OP_END, .tid = k->tid, .tick = k->now,
				 .id = req, .gen = GEN(k->gen), .nr_later = k->gen);
		else
			made_req(k->t, .op = LDB_REQ_OP_BLOCK, .tid = k->tid, .tick = k->now,
				 .id = req, .queue = QUEUE, .gen = GEN(k->gen), .nr_later = k->gen);
		k->now += some(2) ? 20000 : 200;
	}
}

/* Makes nr invocations in each thread.  The outermost one lasts for the whole time. */
static void make(struct made *t, const char *name, uint64_t nr)
{
	made_begin(t, name);
	sample_state = 1;
	writer_add_meta(t->w, "kernel_events", "module");
	made_task(t, 900, 900, "hog");
	for (uint32_t tid = 1; tid <= NR_TIDS; tid++) {
		struct maker k = { .t = t, .tid = tid, .gen = 1, .now = 10000, .nr_left = nr };

		made_task(t, tid, 1, "worker");
		made_switch(t, .tick = 100, .cpu = tid, .next = tid);
		run_thread(&k);
		made_func(t, .tid = tid, .pc = (char *)outer + 1, .gen = 1, .start = 5000,
			  .end = k.now);
		made_thread(t, tid, "worker", 0, k.now + 1000);
	}
	/* The trace does not know this thread. */
	made_func(t, .tid = 77, .pc = (char *)outer + 1, .gen = 1, .start = 5000, .end = 6000);
	made_open(t);
}

/* The emitted segments */

struct got {
	struct made *t;
	uint8_t *seen[NR_TIDS + 1];	/* by generation */
	uint64_t nr_twice, nr_disorder, nr_crossing, nr_outside, nr_not_in_part;
	uint64_t nr[NR_SEGMENT_KINDS], nr_open;
	int64_t sum[NR_SEGMENT_KINDS], resolution[NR_SEGMENT_KINDS];
	uint64_t with_req, nr_wrong_req, nr_outer_req, nr_out_of_part, hash;
	int64_t asleep_ns;
	struct segment stack[256];
	unsigned nr_stack;
	int64_t last_start;
	uint64_t nr_threads, nr_instances, nr_runs, nr_wakeups;
	int64_t instance_start;
	int64_t run_ns;
	size_t heap;			/* the peak memory */
};

static int on_thread(void *arg, const struct thread *t)
{
	struct got *g = arg;

	g->nr_threads++;
	g->nr_stack = 0;
	g->last_start = INT64_MIN;
	return 0;
}

static void check_nesting(struct got *g, const struct segment *s)
{
	while (g->nr_stack && g->stack[g->nr_stack - 1].end <= s->start &&
	       !(g->stack[g->nr_stack - 1].end == s->start && s->end == s->start))
		g->nr_stack--;
	if (g->nr_stack && s->end > g->stack[g->nr_stack - 1].end)
		g->nr_crossing++;
	if (g->nr_stack < 256)
		g->stack[g->nr_stack++] = *s;
}

static void mix(struct got *g, uint64_t value)
{
	g->hash = (g->hash ^ value) * 0x9e3779b97f4a7c15ULL;
	g->hash ^= g->hash >> 29;
}

static bool is_in_part(const struct segment *s, unsigned gen)
{
	const struct true_part *p = &parts[s->tid][part_of[s->tid][gen]];

	return s->start >= p->start && s->end <= p->end;
}

static int on_segment(void *arg, const struct segment *s)
{
	struct got *g = arg;
	unsigned gen = s->gen >> 16;

	g->nr[s->kind]++;
	g->nr_disorder += s->start < g->last_start || s->end < s->start;
	g->last_start = s->start;
	g->nr_open += s->kind == SEGMENT_FUNCTION && s->is_truncated;
	if (!s->is_truncated || s->kind != SEGMENT_FUNCTION) {
		g->sum[s->kind] += s->duration_ns;
		g->resolution[s->kind] += s->duration_resolution_ns;
	}
	g->with_req += s->has_req;
	g->asleep_ns += s->kind == SEGMENT_LOCK_WAIT && s->sched ? s->sched->asleep_ns : 0;
	/* The outermost function lasts for all requests, the others for one request. */
	if (s->kind == SEGMENT_FUNCTION && s->tid <= NR_TIDS) {
		g->nr_outer_req += gen == 1 && s->has_req;
		g->nr_wrong_req += gen > 1 && (!s->has_req || s->req / 1000000 != s->tid);
		g->nr_out_of_part += gen > 1 && !is_in_part(s, gen);
	}
	mix(g, s->start), mix(g, s->end), mix(g, s->kind), mix(g, s->req), mix(g, s->depth);
	mix(g, s->gen), mix(g, s->resolution_ns), mix(g, s->sched ? s->sched->asleep_ns : 1);
	if (s->kind == SEGMENT_FUNCTION) {
		check_nesting(g, s);
		if (s->tid <= NR_TIDS && gen < GENS_MAX) {
			g->nr_twice += g->seen[s->tid][gen];
			g->seen[s->tid][gen] = 1;
		}
	}
	if (!(g->nr[s->kind] & 0xfff) && mallinfo2().uordblks + mallinfo2().hblkhd > g->heap)
		g->heap = mallinfo2().uordblks + mallinfo2().hblkhd;
	return 0;
}

static int on_instance(void *arg, const struct instance *instance)
{
	struct got *g = arg;

	g->nr_instances++;
	g->nr_disorder += instance->start < g->instance_start || !instance->nr_parts || !instance->parts;
	g->instance_start = instance->start;
	return 0;
}

static int on_run(void *arg, const struct tracks_run *r)
{
	struct got *g = arg;

	g->nr_runs++;
	if (r->who.kind == CONTEXT_TASK && r->who.tid <= NR_TIDS)
		g->run_ns += r->end - r->start;
	return 0;
}

static int on_wakeup(void *arg, const struct tracks_wakeup *w)
{
	struct got *g = arg;

	g->nr_wakeups += w->waker.kind == CONTEXT_TASK && w->waker.tid && w->thread &&
			 w->waker.name && *w->waker.name;
	return 0;
}

static void walk(struct got *g, struct made *t, const struct tracks_options *o,
		 struct tracks_result *result)
{
	struct tracks_sink sink = {
		.thread = on_thread, .segment = on_segment, .request = on_instance, .run = on_run,
		.wakeup = on_wakeup, .arg = g,
	};

	*g = (struct got){ .t = t, .instance_start = INT64_MIN };
	for (unsigned i = 1; i <= NR_TIDS; i++)
		g->seen[i] = calloc(GENS_MAX, 1);
	is_int(tracks_each(t->model, o, &sink, result), 0, "tracks_each");
}

static void forget(struct got *g)
{
	for (unsigned i = 1; i <= NR_TIDS; i++)
		free(g->seen[i]);
}

/* Tests */

static int sum_lock(void *arg, const struct lock_event *e)
{
	(*(uint64_t *)arg)++;
	return 0;
}

static void test_sums(struct made *t, const struct got *g, const struct tracks_result *result)
{
	struct stats_options so = STATS_OPTIONS_ALL;
	struct locks_options lo = LOCKS_OPTIONS_ALL;
	struct schedstats_options ko = SCHEDSTATS_OPTIONS_ALL;
	int64_t total = 0, waits = 0, holds = 0, hold_count = 0, wait_count = 0;
	uint64_t nr_events = 0, nr_not_kept;
	struct lock_events_options eo = { .from = INT64_MIN, .to = INT64_MAX };
	struct lock_events_sink sink = { .event = sum_lock, .arg = &nr_events };
	struct stats stats;
	struct locks locks;
	struct schedstats sched;

	stats_build(t->model, &so, &stats);
	for (size_t i = 0; i < stats.nr; i++)
		total += stats.entries[i].total_ns;
	is_int(g->nr[SEGMENT_FUNCTION], stats.count + stats.open, "as many functions as the report");
	is_int(g->nr_open, stats.open, "as many without an end");
	is_int(g->sum[SEGMENT_FUNCTION], total, "that took as long, to the nanosecond");
	is_int(g->nr[SEGMENT_FUNCTION], result->nr[SEGMENT_FUNCTION], "the result says how many");
	stats_free(&stats);

	locks_build(t->model, &lo, &locks);
	for (size_t i = 0; i < locks.nr; i++) {
		waits += locks.entries[i].waits.total_ns;
		holds += locks.entries[i].holds.total_ns;
		wait_count += locks.entries[i].waits.count;
		hold_count += locks.entries[i].holds.count;
	}
	is_int(g->nr[SEGMENT_LOCK_WAIT] + g->nr[SEGMENT_FUTEX_WAIT], wait_count, "as many waits");
	is_int(g->sum[SEGMENT_LOCK_WAIT] + g->sum[SEGMENT_FUTEX_WAIT], waits, "as long");
	is_int(g->nr[SEGMENT_LOCK_HOLD], hold_count, "as many holds");
	is_int(g->sum[SEGMENT_LOCK_HOLD], holds, "as long");
	lock_events_each(t->model, &eo, &sink, &nr_not_kept);
	is_int(nr_events, locks.nr_waits + locks.nr_holds, "lock_events_each() gives each event once");
	locks_free(&locks);

	schedstats_build(t->model, &ko, &sched);
	is_int(g->sum[SEGMENT_BLOCKED] + g->asleep_ns, sched.all.blocked_ns, "as long asleep");
	is_int(g->sum[SEGMENT_RUNNABLE], sched.all.runnable_ns, "as long runnable");
	is_int(g->run_ns, sched.all.on_cpu_ns, "as long on the CPUs");
	is_int(g->nr_wakeups, g->nr[SEGMENT_RUNNABLE], "each sleep ends with somebody's wake-up");
	schedstats_free(&sched);
}

static int count_instance(void *arg, struct instance *instance)
{
	uint64_t *nr = arg;

	nr[0]++;
	for (size_t i = 0; i < instance->nr_parts; i++)
		nr[1 + instance->parts[i].is_queue]++;
	return 0;
}

static void test_requests(struct made *t, const struct got *g)
{
	struct instances_result result;
	uint64_t nr[3] = { 0 };

	instances_each(t->model, count_instance, nr, &result);
	is_int(g->nr_instances, nr[0], "as many requests");
	is_int(g->nr[SEGMENT_REQUEST], nr[1], "each span on a thread");
	is_int(g->nr[SEGMENT_QUEUE], nr[2], "each span in a queue");
}

/* Compares the functions with those of a timeline of the whole thread. */
struct compare {
	const struct timeline *timeline;
	int64_t *start, *end;		/* by generation */
	uint64_t nr, nr_other, nr_far;
	uint64_t nr_rest, hash_rest;	/* segments of waits and times off the CPU, in any order */
};

static uint64_t hash_segment(const struct segment *s)
{
	struct got g = { .hash = s->kind };

	mix(&g, s->start), mix(&g, s->end), mix(&g, s->depth), mix(&g, s->resolution_ns);
	mix(&g, s->sched ? s->sched->asleep_ns : 0);
	mix(&g, (uintptr_t)s->site), mix(&g, s->gen);
	return g.hash;
}

/*
 * Returns true if the segment must be the same in a timeline of a request that lasts for the whole
 * time.  That timeline also shows where the thread was before its first event; tracks do not.
 */
static bool is_rest(const struct segment *s)
{
	return s->tid == 2 && s->start > 0 && s->kind != SEGMENT_FUNCTION && s->kind != SEGMENT_LOCK_HOLD &&
	       s->kind != SEGMENT_REQUEST && s->kind != SEGMENT_QUEUE;
}

static int compare_segment(void *arg, const struct segment *s)
{
	struct compare *c = arg;
	unsigned gen = s->gen >> 16;

	if (is_rest(s)) {
		c->nr_rest++;
		c->hash_rest += hash_segment(s);
	}
	if (s->kind != SEGMENT_FUNCTION || gen >= GENS_MAX)
		return 0;
	c->nr++;
	if (c->start[gen] == s->start && c->end[gen] == s->end)
		return 0;
	c->nr_other++;
	c->nr_far += llabs(c->start[gen] - s->start) > s->resolution_ns ||
		     llabs(c->end[gen] - s->end) > s->resolution_ns;
	return 0;
}

static void test_brute_force(struct made *t)
{
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct instance_part part = { .tid = 2, .start = 0, .end = reader_end_tick(t->reader) + 1 };
	struct instance instance = {
		.start = part.start, .end = part.end, .is_complete = true, .class = "",
		.parts = &part, .nr_parts = 1,
	};
	struct compare c = { .start = calloc(GENS_MAX, 8), .end = calloc(GENS_MAX, 8) };
	struct tracks_sink sink = { .segment = compare_segment, .arg = &c };
	struct tracks_result result;
	uint64_t nr_rest = 0, hash_rest = 0;
	struct timeline timeline;

	if (timeline_build(t->model, &instance, &timeline))
		bail_out("timeline_build");
	for (size_t i = 0; i < timeline.nr_segments; i++) {
		const struct segment *s = &timeline.segments[i];

		if (is_rest(s) && !s->blocks_req) {
			nr_rest++;
			hash_rest += hash_segment(s);
		}
		if (s->kind != SEGMENT_FUNCTION || s->tid != 2)
			continue;
		c.start[s->gen >> 16] = s->start;
		c.end[s->gen >> 16] = s->end;
	}
	o.thread = "2";
	is_int(tracks_each(t->model, &o, &sink, &result), 0, "one thread by its tid");
	is_int(result.nr_threads, 1, "only that one");
	diag("%lu functions, %lu not where the timeline has them, %lu by more than their resolution; "
	     "%lu moved", c.nr, c.nr_other, c.nr_far, result.nr_shifted);
	ok(c.nr_other <= c.nr / 50, "nearly all are where a timeline of the whole has them");
	ok(c.nr_far <= c.nr / 1000, "others are off by their resolution at most, nearly all");
	is_int(c.nr_rest, nr_rest, "as many waits and times off the CPU");
	ok(c.hash_rest == hash_rest, "the same, in functions as deep");
	timeline_free(&timeline);
	free(c.start);
	free(c.end);
}

static void test_options(struct made *t, const struct got *all)
{
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct tracks_result result;
	struct got g;

	o.memory = 1 << 16;
	walk(&g, t, &o, &result);
	ok(g.hash == all->hash, "the same with little memory");
	is_int(g.nr_instances, all->nr_instances, "requests too");
	forget(&g);
	o.memory = 0;
	o.max_functions = 1000;
	walk(&g, t, &o, &result);
	ok(g.nr[SEGMENT_FUNCTION] <= 1000 && g.nr[SEGMENT_FUNCTION] > 900,
	   "the longest 1000: %lu", g.nr[SEGMENT_FUNCTION]);
	is_int(g.nr[SEGMENT_FUNCTION] + result.nr_left_out, all->nr[SEGMENT_FUNCTION],
	       "the others are counted");
	ok(result.min_ns > 0, "and it says how long they were at most");
	forget(&g);
	o.max_functions = 0;
	o.min_ns = 5000;
	walk(&g, t, &o, &result);
	is_int(result.min_ns, 5000, "as long as wanted");
	is_int(g.nr[SEGMENT_FUNCTION] + result.nr_left_out, all->nr[SEGMENT_FUNCTION], "all counted");
	is_int(g.nr_crossing + g.nr_disorder, 0, "in order and nested without them");
	forget(&g);
}

static void test_window(struct made *t)
{
	struct stats_options so = STATS_OPTIONS_ALL;
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct tracks_result result;
	struct stats stats;
	struct got g;

	o.from = so.from = 2000000;
	o.to = so.to = 3000000;
	stats_build(t->model, &so, &stats);
	walk(&g, t, &o, &result);
	is_int(g.nr[SEGMENT_FUNCTION], stats.count + stats.open, "a window has what the report has");
	stats_free(&stats);
	forget(&g);
}

/* Returns the peak memory for a trace of nr invocations in each thread. */
static size_t heap_of(uint64_t nr)
{
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct tracks_result result;
	struct made t;
	struct got g;

	make(&t, "tracks-heap.data", nr);
	o.memory = 4 << 20;
	walk(&g, &t, &o, &result);
	forget(&g);
	made_close(&t);
	diag("%lu invocations: %zu bytes", g.nr[SEGMENT_FUNCTION], g.heap);
	return g.heap;
}

/*
 * There is much of everything except functions, so the most frequent kind of segment ends the
 * windows.
 */
static void make_dense(struct made *t, int64_t nr)
{
	made_begin(t, "dense.data");
	writer_add_meta(t->w, "kernel_events", "module");
	made_task(t, 900, 900, "hog");
	made_task(t, 2, 1, "other");
	made_switch(t, .tick = 10, .cpu = 1, .next = 1);
	for (int64_t i = 0; i < nr; i++) {
		int64_t at = 1000 + i * 1000;

		made_req(t, .op = LDB_REQ_OP_START, .tid = 1, .tick = at, .id = 1000000 + i);
		made_hold(t, .tid = 1, .lock = LOCK, .begin = at + 100, .end = at + 200,
			  .gen = 1 + i / 10);
		made_switch(t, .tick = at + 300, .cpu = 1, .prev = 1, .state = LDB_STATE_SLEEPING,
			    .gen = 1 + i / 10);
		made_waking(t, .tick = at + 400, .waker = 2, .woken = 1);
		made_wakeup(t, .tick = at + 400, .cpu = 1, .woken = 1, .running = 900);
		made_switch(t, .tick = at + 500, .cpu = 1, .prev = 900, .state = LDB_STATE_RUNNING,
			    .next = 1);
		made_req(t, .op = i % 2 ? LDB_REQ_OP_END : LDB_REQ_OP_BLOCK, .tid = 1,
			 .tick = at + 600, .id = 1000000 + i, .queue = QUEUE);
		if (i % 10 == 9)
			made_func(t, .tid = 1, .pc = (char *)inner + 1, .gen = 1 + i / 10,
				  .start = at - 9000, .end = at + 700, .unc = 20);
	}
	made_thread(t, 1, "dense", 0, 1000 + nr * 1000);
	made_open(t);
}

static void test_dense(void)
{
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct tracks_result result;
	struct made t;
	struct got g;

	make_dense(&t, 100000);
	o.memory = 4 << 20;
	walk(&g, &t, &o, &result);
	is_int(g.nr[SEGMENT_FUNCTION], 10000, "few functions among many other things");
	is_int(g.nr[SEGMENT_LOCK_HOLD], 100000, "all holds");
	is_int(g.nr[SEGMENT_REQUEST], 100000, "all requests");
	is_int(g.nr[SEGMENT_QUEUE], 50000, "all in the queue");
	is_int(g.nr_twice + g.nr_disorder + g.nr_crossing, 0, "each once, in order, nested");
	test_sums(&t, &g, &result);
	test_requests(&t, &g);
	ok(g.heap < 150 << 20, "windows stay small: %zu bytes", g.heap);
	forget(&g);
	made_close(&t);
}

/* A program and its library have separate generations, and estimates overlap a little. */

struct two_blocks {
	struct segment library, program;
};

static int on_two_blocks(void *arg, const struct segment *s)
{
	struct two_blocks *two = arg;

	if (s->kind != SEGMENT_FUNCTION || s->depth != 1)
		return 0;
	if ((uint16_t)s->gen)
		two->library = *s;
	else
		two->program = *s;
	return 0;
}

static void test_two_blocks(void)
{
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct two_blocks two = { .library.start = -1, .program.start = -1 };
	struct tracks_sink sink = { .segment = on_two_blocks, .arg = &two };
	struct ldb_row_func library = {
		.tid = 1, .pc = (uintptr_t)inner + 1, .ret = (uintptr_t)outer + 2, .gen = GEN(1) + 1,
		.parent_gen = GEN(1), .depth = 1, .start_max = 10000, .end_max = 20000, .end_unc = 100,
	};
	struct ldb_row_func program = {
		.tid = 1, .pc = (uintptr_t)inner + 1, .ret = (uintptr_t)outer + 2, .gen = GEN(2),
		.parent_gen = GEN(1), .depth = 1, .start_max = 20000, .start_unc = 300, .end_max = 90000,
	};
	struct tracks_result result;
	struct made t;

	made_begin(&t, "two-blocks.data");
	made_thread(&t, 1, "two", 0, 100000);
	made_func(&t, .tid = 1, .pc = (char *)outer + 1, .gen = 1, .start = 5000, .end = 99000);
	writer_add_func(t.w, &library);
	writer_add_func(t.w, &program);
	made_open(&t);
	is_int(tracks_each(t.model, &o, &sink, &result), 0, "functions of two blocks");
	ok(two.library.start == 10000 && two.library.end == 19950, "the library's is as estimated");
	ok(two.program.start == 19950 && two.program.end == 90000,
	   "what follows it, and overlaps a little, is not cut to it: [%ld, %ld]",
	   (long)two.program.start, (long)two.program.end);
	made_close(&t);
}

static int count_item(struct spill *s, uint64_t *nr, uint64_t *nr_wrong)
{
	struct spill_item last = { .nr = 0 };
	int ret = 0;

	for (; !ret && s->has_head; ret = spill_next(s)) {
		const struct spill_item item = s->head;
		const uint64_t *data = item.data;

		*nr_wrong += data[0] != item.major || (int64_t)data[1] != item.minor ||
			     item.size < 16 || (uintptr_t)data & 7;
		*nr_wrong += *nr && (last.major != item.major ? last.major > item.major :
				     last.minor != item.minor ? last.minor > item.minor :
				     last.nr >= item.nr);
		last = item;
		++*nr;
	}
	return ret;
}

static void test_spill(size_t room, bool is_file)
{
	uint64_t data[40], nr = 0, nr_wrong = 0;
	struct spill s;
	int ret = 0;

	spill_open(&s, room);
	for (unsigned i = 0; i < 100000 && !ret; i++) {
		data[0] = some(5);
		data[1] = some(1000) - 500;
		ret = spill_add(&s, data[0], data[1], data, 16 + some(300));
	}
	is_int(ret, 0, "spill_add");
	ok((s.fd >= 0) == is_file, is_file ? "in a file" : "in memory");
	is_int(spill_sort(&s), 0, "spill_sort");
	is_int(count_item(&s, &nr, &nr_wrong), 0, "spill_next");
	is_int(nr, 100000, "all come back");
	is_int(nr_wrong, 0, "in order, equal ones as they came");
	spill_close(&s);
}

int main(void)
{
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct tracks_result result;
	size_t small, large;
	struct made t;
	struct got g;

	make(&t, "tracks.data", 100000);
	walk(&g, &t, &o, &result);
	ok(g.nr[SEGMENT_FUNCTION] > 290000, "%lu functions", g.nr[SEGMENT_FUNCTION]);
	is_int(g.nr_twice, 0, "each once");
	is_int(g.nr_disorder, 0, "in order of start");
	is_int(g.nr_crossing, 0, "they nest");
	is_int(g.nr_threads, NR_TIDS + 1, "threads, the unknown one too");
	ok(g.with_req, "%lu segments belong to one request", g.with_req);
	is_int(g.nr_outer_req, 0, "the outermost function belongs to none");
	/* The times of some functions are so uncertain that they reach into the next request. */
	ok(g.nr_out_of_part < g.nr[SEGMENT_FUNCTION] / 10000,
	   "all but %lu of the others are within what their requests say", g.nr_out_of_part);
	ok(g.nr_wrong_req < g.nr[SEGMENT_FUNCTION] / 100, "the others to theirs, but for %lu",
	   g.nr_wrong_req);
	test_sums(&t, &g, &result);
	ok(g.asleep_ns > 100000, "asleep in waits for locks, too");
	test_requests(&t, &g);
	test_brute_force(&t);
	test_options(&t, &g);
	test_window(&t);
	forget(&g);
	made_close(&t);

	test_dense();
	test_two_blocks();
	test_spill(64 << 20, false);
	test_spill(1 << 16, true);
	small = heap_of(60000);
	large = heap_of(600000);
	if (!small)
		skip(1, "the sanitizer's malloc does not count");
	else
		ok(large < small + small / 2, "a trace ten times as long takes %.2f times the memory",
		   (double)large / small);
	return done();
}
