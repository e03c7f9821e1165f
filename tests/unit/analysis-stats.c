// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests statistics of functions: estimates, keys, filters, modules that come and go. */
#include "analysis/report/stats.h"
#include "analysis-sample.h"

__attribute__((noinline)) int served(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

__attribute__((noinline)) int caller_a(int x)
{
	x = served(x);
	__asm__ volatile("" : "+r"(x));
	return x;
}

__attribute__((noinline)) int caller_b(int x)
{
	x = served(x);
	__asm__ volatile("" : "+r"(x));
	return x;
}

/* Returns an address inside of the function; it need not be a real return address. */
static const void *in(int (*f)(int), int off)
{
	return (const char *)f + off;
}

static const struct stats_entry *find(const struct stats *s, const char *function,
				      const char *caller)
{
	const struct stats_entry *found = NULL;

	for (size_t i = 0; i < s->nr; i++)
		if (!strcmp(s->entries[i].func->function, function) &&
		    (!caller || !strcmp(s->entries[i].site->function, caller))) {
			if (found)
				return NULL;	/* the name is not unique */
			found = &s->entries[i];
		}
	return found;
}

static void make(struct made *t)
{
	struct ldb_row_func row;

	made_begin(t, "stats.data");
	made_thread(t, 1, "main", 0, 1000000);
	made_thread(t, 2, "worker", 0, 1000000);
	for (int i = 0; i < 100; i++)
		made_func(t, .tid = 1, .pc = in(served, 1), .ret = in(caller_a, 5), .gen = 10 + i,
			  .parent = 1, .depth = 1, .start = i * 1000, .end = i * 1000 + i + 1,
			  .unc = 20);
	for (int i = 0; i < 10; i++)
		made_func(t, .tid = 2, .pc = in(served, 1), .ret = in(caller_b, 5), .gen = 10 + i,
			  .parent = 1, .depth = 1, .start = i * 1000, .end = i * 1000 + 500,
			  .unc = 2 * i);
	made_func(t, .tid = 1, .pc = in(caller_a, 1), .ret = in(caller_b, 5), .gen = 5, .start = 0,
		  .end = 5000);
	/* One call was running when the recording ended, another one before it began. */
	row = (struct ldb_row_func){
		.flags = LDB_FUNC_F_OPEN, .tid = 1, .pc = (uintptr_t)in(served, 1),
		.ret = (uintptr_t)in(caller_a, 5), .gen = GEN(900), .start_max = 1000,
		.end_max = 900000, .start_unc = 10,
	};
	writer_add_func(t->w, &row);
	row.flags = LDB_FUNC_F_FROM_START;
	row.start_unc = LDB_UNC_UNKNOWN;
	writer_add_func(t->w, &row);
	made_open(t);
}

static void test_numbers(struct made *t)
{
	struct stats_options o = STATS_OPTIONS_ALL;
	const struct stats_entry *e;
	struct stats s;

	is_int(stats_build(t->model, &o, &s), 0, "stats_build");
	is_int(s.nr, 3, "three calls");
	e = find(&s, "served", "caller_a");
	ok(e, "served() from caller_a()");
	if (!e)
		bail_out("no symbols: is the test stripped?");
	is_int(e->count, 100, "count");
	is_int(e->open, 2, "truncated ones are counted");
	is_int(e->p50_ns, 50, "p50");
	is_int(e->p99_ns, 99, "p99");
	is_int(e->p9999_ns, 100, "p99.99");
	is_int(e->max_ns, 100, "a truncated one is not the greatest");
	is_int(e->total_ns, 5050, "total");
	is_int(e->resolution_ns, 20, "resolution: half of both widths");
	e = find(&s, "served", "caller_b");
	is_int(e->resolution_ns, 8, "resolution: the median");
	is_int(e->resolution_max_ns, 18, "resolution: the greatest");
	ok(strstr(e->site->file, "analysis-stats.c"), "call site: %s", e->site->file);
	ok(e->site->line > 20 && e->site->line < 40, "call site: line %u", e->site->line);
	ok(e->func->func_line == 6, "definition: line %u", e->func->func_line);
	is_int(s.count, 111, "all invocations");
	is_int(s.open, 2, "all truncated ones");
	stats_free(&s);
}

static void test_selection(struct made *t)
{
	struct stats_options o = STATS_OPTIONS_ALL;
	struct stats s;

	o.by = STATS_BY_FUNCTION;
	stats_build(t->model, &o, &s);
	ok(s.nr == 2 && find(&s, "served", NULL)->count == 110, "by function");
	stats_free(&s);
	o.by = STATS_BY_MODULE;
	stats_build(t->model, &o, &s);
	ok(s.nr == 1 && s.entries[0].count == 111, "by module");
	stats_free(&s);
	o.by = STATS_BY_SITE;
	o.thread = "2";
	stats_build(t->model, &o, &s);
	ok(s.nr == 1 && s.entries[0].count == 10, "by tid");
	stats_free(&s);
	o.thread = "work*";
	stats_build(t->model, &o, &s);
	ok(s.nr == 1 && s.entries[0].count == 10, "by name of thread");
	stats_free(&s);
	o.thread = NULL;
	o.function = "caller_?";
	stats_build(t->model, &o, &s);
	ok(s.nr == 1 && s.entries[0].count == 1, "by name of function");
	stats_free(&s);
	o.function = NULL;
	o.from = 50500;
	stats_build(t->model, &o, &s);
	is_int(find(&s, "served", "caller_a")->count, 49, "from a time on");
	stats_free(&s);
}

/*
 * There are two libraries at one address, one after the other; addresses between modules; and
 * rows that make no sense.
 */
static void test_modules(void)
{
	struct ldb_row_module m = {
		.start = 0x10000, .end = 0x20000, .bias = 0x10000, .build_id = "",
		.path = "/nonexistent/liba.so", .tick = 100, .end_tick = 1000,
	};
	struct stats_options o = STATS_OPTIONS_ALL;
	struct made t;
	struct stats s;

	made_begin(&t, "modules.data");
	writer_add_module(t.w, &m);
	m.path = "/nonexistent/libb.so";
	m.tick = 2000;
	m.end_tick = INT64_MAX;
	writer_add_module(t.w, &m);
	/*
	 * These modules are hostile: empty, reversed, without a path, a device, a folder, the
	 * whole address space.
	 */
	m = (struct ldb_row_module){ .path = "", .build_id = "", .end_tick = INT64_MAX };
	writer_add_module(t.w, &m);
	m.start = UINT64_MAX;
	m.path = "/dev/zero";
	writer_add_module(t.w, &m);
	m = (struct ldb_row_module){ .start = 0x30000, .end = 0x40000, .bias = UINT64_MAX,
				     .path = "/dev/zero", .build_id = "zz", .end_tick = INT64_MAX };
	writer_add_module(t.w, &m);
	m.start = 0x50000;
	m.end = 0x60000;
	m.path = "/tmp";
	m.build_id = "../../../../etc/passwd";
	writer_add_module(t.w, &m);
	for (int i = 0; i < 10; i++)
		made_func(&t, .tid = 1, .pc = (void *)0x10010, .ret = (void *)0x10020, .gen = 1 + i,
			  .start = 200, .end = 300);
	for (int i = 0; i < 3; i++)
		made_func(&t, .tid = 1, .pc = (void *)0x10010, .ret = (void *)0x10020,
			  .gen = 21 + i, .start = 1500, .end = 1600);
	for (int i = 0; i < 4; i++)
		made_func(&t, .tid = 1, .pc = (void *)0x10010, .ret = (void *)0x10020,
			  .gen = 41 + i, .start = 2500, .end = 2600);
	made_func(&t, .tid = 1, .pc = (void *)0x30010, .ret = (void *)0x50020, .gen = 90,
		  .start = 2500, .end = 2600);
	made_func(&t, .tid = 1, .pc = (void *)0x70010, .gen = 91, .start = 2500, .end = 2600);
	made_open(&t);
	is_int(t.model->nr_bad_modules, 2, "modules that make no sense are counted");
	stats_build(t.model, &o, &s);
	ok(find(&s, "liba.so+0x10", NULL) && find(&s, "liba.so+0x10", NULL)->count == 10,
	   "while the first library was loaded");
	ok(find(&s, "libb.so+0x10", NULL) && find(&s, "libb.so+0x10", NULL)->count == 7,
	   "the second one, and just before its load was reported");
	ok(find(&s, "zero+0x10", NULL), "a device is not opened");
	ok(find(&s, "0x70010", "0x0"), "an address of no module");
	stats_free(&s);
	made_close(&t);
}

/*
 * There are more values than are retained: the result is right to 0.4 %, and is marked as not
 * exact.
 */
static void test_many(void)
{
	struct stats_options o = STATS_OPTIONS_ALL;
	struct made t;
	struct stats s;

	made_begin(&t, "many.data");
	for (int i = 0; i < 100000; i++)
		made_func(&t, .tid = 1, .pc = in(served, 1), .ret = in(caller_a, 5), .gen = i + 1,
			  .start = i, .end = i + 1000 + i);
	made_open(&t);
	stats_build(t.model, &o, &s);
	ok(s.nr == 1 && !s.entries[0].is_exact, "not exact");
	ok(s.entries[0].p50_ns > 50800 && s.entries[0].p50_ns < 51200, "p50 of a histogram");
	is_int(s.entries[0].max_ns, 100999, "the greatest is exact");
	stats_free(&s);
	ok(!s.entries && !s.nr, "freed: nothing is left that could be used, or freed again");
	stats_free(&s);
	made_close(&t);
}

int main(void)
{
	struct made t;

	make(&t);
	test_numbers(&t);
	test_selection(&t);
	made_close(&t);
	test_modules();
	test_many();
	return caller_a(1) + caller_b(1) == 4 ? done() : 1;
}
