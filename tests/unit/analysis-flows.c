// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the sums of calls between components: the test makes programs call by call, and adds up
 * their times in another way, by where each nanosecond was spent.
 */
#include <inttypes.h>
#include "analysis/flows/flowdiff.h"
#include "analysis-sample.h"

#define NR_COMPONENTS	4	/* component 0 is the program */
#define NR_APIS		24
#define NR_THREADS	3
#define DEPTH_MAX	6
#define WAIT		NR_COMPONENTS

/*
 * Functions of component `callee`, called by component `caller`; is_wait: time in them is waiting
 * time.
 */
static struct {
	unsigned caller, callee;
	bool is_wait;
} apis[NR_APIS];

struct sums {
	uint64_t calls, timed, sum, min, max, back;
	uint64_t lengths[LDB_FLOW_BUCKETS];
};

struct program {
	int64_t now;
	/* time by innermost component, and the waiting time */
	int64_t spent[NR_THREADS][NR_COMPONENTS + 1];
	struct sums sums[NR_THREADS][NR_APIS];
	uint64_t nr_calls;
};

static const int64_t until[NR_THREADS] = { 9000000, 5000000, 7000000 };

static void make_apis(void)
{
	for (unsigned i = 0; i < NR_APIS; i++) {
		apis[i].caller = i % NR_COMPONENTS;
		apis[i].callee = (i % NR_COMPONENTS + 1 + i / NR_COMPONENTS % (NR_COMPONENTS - 1)) % NR_COMPONENTS;
		apis[i].is_wait = i % 7 == 3;
	}
}

/* Simulates a thread that executes component `code`.  in: the current call; NR_APIS: none. */
static void run(struct program *p, unsigned thread, unsigned code, unsigned in, unsigned depth)
{
	unsigned inside = in == NR_APIS ? 0 : apis[in].is_wait ? WAIT : apis[in].callee;

	for (unsigned n = 0; n < 3 && p->now < until[thread]; n++) {
		int64_t ns = 1 + sample_random() % 400, start;
		unsigned api = sample_random() % NR_APIS;
		struct sums *s = &p->sums[thread][api];

		p->now += ns;
		p->spent[thread][inside] += ns;
		/*
		 * The calling code is the current component's, or a callback in the component that
		 * called the current function.
		 */
		if (depth == DEPTH_MAX || (in != NR_APIS && apis[in].is_wait) ||
		    (apis[api].caller != code && (in == NR_APIS || apis[api].caller != apis[in].caller)))
			continue;
		start = p->now;
		p->nr_calls++;
		run(p, thread, apis[api].callee, api, depth + 1);
		s->calls++;
		s->timed++;
		s->sum += p->now - start;
		ns = p->now - start;
		s->min = s->timed == 1 || ns < (int64_t)s->min ? (uint64_t)ns : s->min;
		s->max = ns > (int64_t)s->max ? (uint64_t)ns : s->max;
		s->lengths[flow_bucket(p->now - start)]++;
		if (in != NR_APIS && apis[api].caller != apis[in].callee)
			p->sums[thread][in].back += p->now - start;
	}
}

static void write_sums(struct made *t, const struct sums *s, uint32_t tid, uint32_t id, int64_t tick)
{
	made_flow(t, .tid = tid, .api = id, .tick = tick, .calls = s->calls, .timed = s->timed, .sum = s->sum,
		  .shared = s->sum, .min = s->min, .max = s->max, .back = s->back);
	for (unsigned b = 0; b < LDB_FLOW_BUCKETS; b++)
		if (s->lengths[b])
			made_flow_hist(t, .tid = tid, .api = id, .tick = tick, .bucket = b, .count = s->lengths[b]);
}

static void write_apis(struct made *t)
{
	char name[32];

	for (unsigned i = 0; i < NR_APIS; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		made_flow_api(t, .id = i + 1, .caller = MADE_COMPONENT(apis[i].caller) + 5,
			      .target = MADE_COMPONENT(apis[i].callee) + 64 * i,
			      .name = apis[i].is_wait ? "pthread_cond_wait" : name);
	}
}

static const struct flow_part *part_of(const struct flowstats *s, unsigned component)
{
	char name[32];

	snprintf(name, sizeof(name), component ? "lib%u.so.%u" : "app", component, component);
	for (size_t i = 0; i < s->nr_parts; i++)
		if (s->parts[i].component ? component != WAIT && !strcmp(s->parts[i].component->name, name) :
		    component == WAIT)
			return &s->parts[i];
	bail_out("a component is missing");
}

static void check_parts(const struct program *p, const struct flowstats *s)
{
	bool is_same = true;
	int64_t all = 0;

	for (unsigned c = 0; c <= WAIT; c++) {
		const struct flow_part *part = part_of(s, c);
		int64_t ns = 0;

		for (unsigned i = 0; i < NR_THREADS; i++)
			ns += p->spent[i][c];
		is_same &= part && part->self_ns == ns && !part->err_ns;
		all += part ? part->self_ns : 0;
	}
	ok(is_same, "self times of components are the sums of where each nanosecond was spent");
	ok(all == s->lifetime_ns && s->wait_ns == part_of(s, WAIT)->self_ns, "with the wait they are all of the time");
}

static void check_threads(const struct program *p, const struct flowstats *s)
{
	bool is_same = s->nr_threads == NR_THREADS;
	int64_t shared = 0;

	for (size_t i = 0; i < s->nr_threads; i++) {
		const struct flow_thread *t = &s->threads[i];

		is_same &= t->wait_ns == p->spent[t->thread->tid - 1][WAIT] &&
			   t->lifetime_ns == until[t->thread->tid - 1] && t->effective_ns == t->lifetime_ns - t->wait_ns;
		shared += t->shared_ns;
	}
	ok(is_same, "each thread has its time and its wait");
	ok(llabs(shared - 9000000) <= NR_THREADS, "divided among the threads of each time it is that of the recording");
	ok(s->nr_pools == 2 && s->pools[0].nr_threads + s->pools[1].nr_threads == NR_THREADS,
	   "two threads that are named alike are a pool");
}

static void check_entries(const struct program *p, const struct flowstats *s)
{
	bool is_same = true;
	uint64_t calls = 0;

	for (size_t i = 0; i < s->nr_entries; i++) {
		const struct flow_entry *e = &s->entries[i];
		struct sums all = { 0 };
		unsigned api = e->api->id - 1;

		for (unsigned k = 0; k < NR_THREADS; k++) {
			const struct sums *x = &p->sums[k][api];

			all.min = x->calls && (!all.calls || x->min < all.min) ? x->min : all.min;
			all.max = x->max > all.max ? x->max : all.max;
			all.calls += x->calls;
			all.sum += x->sum;
		}
		calls += e->times.calls;
		is_same &= e->times.calls == all.calls && e->times.ns == (int64_t)all.sum && !e->times.err_ns &&
			   e->times.min_ns == (int64_t)all.min && e->times.max_ns == (int64_t)all.max &&
			   e->times.p50_ns >= e->times.min_ns && e->times.p99_ns >= e->times.p50_ns &&
			   e->times.p99_ns <= e->times.max_ns;
		is_same &= !i || s->entries[i - 1].times.ns >= e->times.ns;
	}
	ok(is_same, "counts, sums, minima and maxima of functions are those of the threads together");
	ok(calls == p->nr_calls && s->calls == p->nr_calls, "%" PRIu64 " calls are counted, and no other", calls);
}

static void check_cells(const struct flowstats *s)
{
	int64_t in[NR_COMPONENTS + 1] = { 0 };
	bool is_same = true;

	for (size_t i = 0; i < s->nr_cells; i++)
		for (unsigned c = 0; c <= WAIT; c++)
			if (s->cells[i].is_wait ? c == WAIT : c < WAIT &&
			    part_of(s, c)->component == &s->flows->components[s->cells[i].to])
				in[c] += s->cells[i].ns;
	for (unsigned c = 0; c <= WAIT; c++)
		is_same &= part_of(s, c)->in_ns == in[c] && in[c];
	ok(is_same, "columns of the matrix are the time in calls into components");
}

static void test_program(void)
{
	static struct program p;
	struct flowstats_options o = { 0 };
	struct flowstats s;
	struct flows *f;
	struct made t;

	make_apis();
	made_begin(&t, "flows-program");
	made_flows(&t, 1000, NR_COMPONENTS);
	write_apis(&t);
	for (unsigned i = 0; i < NR_THREADS; i++) {
		p.now = 0;
		made_thread(&t, i + 1, i ? i == 1 ? "worker-1" : "worker-17" : "app", 0, until[i]);
		while (p.now < until[i] - 100000)
			run(&p, i, 0, NR_APIS, 0);
		p.spent[i][0] += until[i] - p.now;
		p.now = until[i];
		for (unsigned k = 0; k < NR_APIS; k++) {
			/* An older row with the same sums does not count. */
			if (k % 2 && p.sums[i][k].calls)
				write_sums(&t, &(struct sums){ .calls = 1 }, i + 1, k + 1, 1000);
			if (p.sums[i][k].calls)
				write_sums(&t, &p.sums[i][k], i + 1, k + 1, until[i]);
		}
	}
	made_open(&t);
	f = flows_open(t.model);
	ok(f && f->has_flows && f->threshold_ns == 1000 && !f->nr_bad, "flows are read");
	ok(!flowstats_build(f, &o, &s), "and summed");
	check_parts(&p, &s);
	check_entries(&p, &s);
	check_cells(&s);
	check_threads(&p, &s);
	flowstats_free(&s);
	o.component = "lib2*";
	flowstats_build(f, &o, &s);
	for (size_t i = 0; i < s.nr_entries; i++)
		if (strcmp(s.entries[i].caller->name, "lib2.so.2") && strcmp(s.entries[i].callee->name, "lib2.so.2"))
			s.nr_entries = 0;
	ok(s.nr_entries, "a component's name selects calls from and to it");
	flowstats_free(&s);
	flows_close(f);
	made_close(&t);
}

/*
 * Every 10th of calls with random lengths is timed; the interval must contain the true sum in most
 * cases.
 */
static void test_interval(void)
{
	struct flowstats_options o = { 0 };
	unsigned nr_within = 0, nr = 1000;
	int64_t truth[1000];
	struct flowstats s;
	struct flows *f;
	struct made t;

	made_begin(&t, "flows-interval");
	made_flows(&t, 1000, 2);
	made_thread(&t, 1, "app", 0, 2000000000);
	for (unsigned i = 0; i < nr; i++) {
		struct sums x = { .min = UINT64_MAX };

		truth[i] = 0;
		for (unsigned n = 0; n < 4000; n++) {
			uint64_t ns = 50 + sample_random() % 100 * (sample_random() % 10 ? 1 : 20);

			truth[i] += ns;
			x.calls++;
			if (n % 10)
				continue;
			x.timed++;
			x.sum += ns;
			x.max = ns > x.max ? ns : x.max;
			x.min = ns < x.min ? ns : x.min;
			x.lengths[flow_bucket(ns)]++;
		}
		made_flow_api(&t, .id = i + 1, .caller = MADE_COMPONENT(0), .target = MADE_COMPONENT(1) + i, .name = "f");
		write_sums(&t, &x, 1, i + 1, 2000000000);
	}
	made_open(&t);
	f = flows_open(t.model);
	flowstats_build(f, &o, &s);
	for (size_t i = 0; i < s.nr_entries; i++) {
		const struct flow_times *e = &s.entries[i].times;

		nr_within += llabs(e->ns - truth[s.entries[i].api->id - 1]) <= e->err_ns;
	}
	diag("%u of %u sums are within their intervals", nr_within, nr);
	ok(nr_within >= nr * 92 / 100 && nr_within <= nr * 98 / 100, "intervals have the true sum with about 95 %%");
	ok(s.timed * 10 == s.calls && s.entries[0].times.err_ns > 0, "counts are exact, times have intervals");
	flowstats_free(&s);
	flows_close(f);
	made_close(&t);
}

/* Rows that make no sense must be left out and counted; a tid may be used twice. */
static void test_odd_rows(void)
{
	struct flowstats_options o = { 0 };
	struct flowstats s;
	struct flows *f;
	struct made t;

	made_begin(&t, "flows-odd");
	made_flows(&t, 1000, 2);
	made_thread(&t, 7, "first", 0, 1000);
	made_thread(&t, 7, "second", 2000, 5000);
	made_flow_api(&t, .id = 3, .caller = MADE_COMPONENT(0), .target = MADE_COMPONENT(1), .name = "read");
	made_flow_api(&t, .id = 4, .flags = LDB_FLOW_F_NOTIME, .caller = MADE_COMPONENT(0), .target = 99, .name = "setjmp");
	made_flow(&t, .tid = 7, .api = 3, .tick = 1000, .calls = 1, .timed = 1, .sum = 100, .min = 100, .max = 100);
	made_flow(&t, .tid = 7, .api = 3, .tick = 4000, .calls = 2, .timed = 2, .sum = 900, .min = 400, .max = 500);
	made_flow(&t, .tid = 7, .api = 4, .tick = 4000, .calls = 5);
	made_flow(&t, .tid = 7, .api = 9, .tick = 4000, .calls = 5);
	made_flow(&t, .tid = 8, .api = 3, .tick = 4000, .calls = 5);
	made_flow(&t, .tid = 7, .api = 3, .tick = 4500, .calls = 1, .timed = 2);
	made_flow_hist(&t, .tid = 7, .api = 3, .tick = 4000, .bucket = 1000, .count = 1);
	made_open(&t);
	f = flows_open(t.model);
	flowstats_build(f, &o, &s);
	ok(f->nr_bad == 4, "four rows make no sense: %" PRIu64, f->nr_bad);
	ok(s.nr_threads == 2 && s.calls == 8 && s.unknown == 5, "two threads with one tid have their own sums");
	ok(s.threads[0].calls == 7 && s.threads[0].lifetime_ns == 3000, "the second has calls of its own");
	ok(s.nr_entries == 2 && s.entries[0].times.ns == 1000 && s.entries[1].times.unknown == 5 &&
	   !strcmp(s.entries[1].callee->name, "code of no file"), "calls without time are counted as such");
	flowstats_free(&s);
	flows_close(f);
	made_close(&t);
}

static void open_one(struct made *t, const char *name, const char *lib, int64_t sum, bool with_new)
{
	made_begin(t, name);
	writer_add_meta(t->w, "flows_threshold_ns", "1000");
	writer_add_meta(t->w, "exe", name);
	writer_add_module(t->w, &(struct ldb_row_module){ .end_tick = INT64_MAX, .start = MADE_COMPONENT(0),
		.end = MADE_COMPONENT(1), .build_id = "", .path = name });
	writer_add_module(t->w, &(struct ldb_row_module){ .end_tick = INT64_MAX, .start = MADE_COMPONENT(1),
		.end = MADE_COMPONENT(2), .build_id = "", .path = lib });
	made_thread(t, 1, "app", 0, 10000);
	made_flow_api(t, .id = 1, .caller = MADE_COMPONENT(0), .target = MADE_COMPONENT(1), .name = "deflate");
	made_flow_api(t, .id = 2, .caller = MADE_COMPONENT(0), .target = MADE_COMPONENT(1), .name = with_new ? "inflate" : "crc32");
	made_flow(t, .tid = 1, .api = 1, .tick = 10000, .calls = 1, .timed = 1, .sum = sum, .min = sum, .max = sum);
	made_flow(t, .tid = 1, .api = 2, .tick = 10000, .calls = 1, .timed = 1, .sum = 10, .min = 10, .max = 10);
	made_open(t);
}

static void test_diff(void)
{
	struct flowstats_options o = { 0 };
	struct flowstats a, b;
	struct flows *fa, *fb;
	struct made ta, tb;
	struct flowdiff d;

	open_one(&ta, "flows-old", "/usr/lib/libz.so.1.2.13", 2000, false);
	open_one(&tb, "flows-new", "/opt/libz.so.1.3", 5000, true);
	fa = flows_open(ta.model);
	fb = flows_open(tb.model);
	flowstats_build(fa, &o, &a);
	flowstats_build(fb, &o, &b);
	ok(!flowdiff_build(&a, &b, &d), "two recordings are compared");
	ok(d.nr_entries == 3 && !strcmp(d.entries[0].function, "deflate") && d.entries[0].delta_ns == 3000 &&
	   d.entries[0].is_beyond_error, "a function of another version of a library is the same one");
	ok(d.entries[1].delta_ns + d.entries[2].delta_ns == 0 && llabs(d.entries[1].delta_ns) == 10,
	   "one that is called in one recording only is there, too");
	ok(d.nr_parts == 2 && d.parts[0].delta_ns + d.parts[1].delta_ns == 0 &&
	   llabs(d.parts[0].delta_ns) == 3000, "what the library took longer the program took shorter");
	flowdiff_free(&d);
	flowstats_free(&a);
	flowstats_free(&b);
	flows_close(fa);
	flows_close(fb);
	made_close(&ta);
	made_close(&tb);
}

static void test_waits(void)
{
	ok(flow_is_wait("poll") && flow_is_wait("pthread_cond_wait") && flow_is_wait("waitpid") &&
	   flow_is_wait("_ZNSt6thread4joinEv"), "functions that wait are known");
	ok(!flow_is_wait("read") && !flow_is_wait("") && !flow_is_wait("zlibVersion"), "and others are not");
}

int main(void)
{
	test_waits();
	test_program();
	test_interval();
	test_odd_rows();
	test_diff();
	return done();
}
