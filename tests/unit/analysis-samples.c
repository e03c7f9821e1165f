// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests samples: each is in the leaf in which its thread was, even if the interrupt that took it is
 * in the trace; its place is named.  Also tests Wilson's intervals.
 */
#include <math.h>
#include <string.h>

#include "analysis/partition/partition.h"
#include "analysis-sample.h"

static void outer(void) {}
static void inner(void) {}


static void add(struct made *t, uint32_t tid, int64_t tick, uint32_t kernel, void *pc)
{
	writer_add_sample(t->w, &(struct ldb_row_sample){
		.tid = tid, .tick = tick, .kernel = kernel, .pc = (uintptr_t)pc,
	});
}

/* Request 1 is [1000, 9000) of thread 1: outer() in [1000, 8000), inner() in [3000, 5000). */
static void make(struct made *t, bool has_meta)
{
	made_begin(t, "samples");
	writer_add_meta(t->w, "kernel_irqs", "1");
	if (has_meta)
		writer_add_meta(t->w, "samples", "cpu-clock 199");
	writer_add_ksym(t->w, &(struct ldb_row_ksym){ .id = 2, .name = "vfs_read" });
	writer_add_ksym(t->w, &(struct ldb_row_ksym){ .id = 3, .name = "vfs_read" });
	writer_add_ksym(t->w, &(struct ldb_row_ksym){ .id = 4, .name = "vfs_write" });
	made_thread(t, 1, "one", 0, 100000);
	made_thread(t, 2, "two", 0, 100000);
	made_func(t, .tid = 1, .pc = outer, .gen = 1, .start = 1000, .end = 8000);
	made_func(t, .tid = 1, .pc = inner, .gen = 2, .parent = 1, .depth = 1, .start = 3000, .end = 5000);
	made_req(t, .op = LDB_REQ_OP_START, .tid = 1, .tick = 1000, .id = 1);
	made_req(t, .op = LDB_REQ_OP_END, .tid = 1, .tick = 9000, .id = 1);
	made_irq(t, .tid = 1, .kind = LDB_IRQ_LOCAL_TIMER, .start = 4000, .end = 4500, .name = "local_timer");
	add(t, 1, 500, 2, NULL);		/* before the request */
	add(t, 1, 1500, 2, NULL);
	add(t, 1, 2500, 3, NULL);		/* the same function, elsewhere */
	add(t, 1, 3500, 4, NULL);
	add(t, 1, 4200, 2, NULL);		/* in an interrupt during inner() */
	add(t, 1, 6000, LDB_SAMPLE_KERNEL, NULL);
	add(t, 1, 7000, 99, NULL);		/* there is no such name */
	add(t, 2, 3500, 2, NULL);		/* a sample of a thread that works on no request */
	add(t, 1, 8500, 0, NULL);		/* in no function; in no module */
	add(t, 1, 9500, 2, NULL);		/* after it */
	made_open(t);
}

struct expected {
	void *in;
	const char *function;
	enum place_kind kind;
};

static void test_join(void)
{
	static const struct expected want[] = {
		{ outer, "vfs_read", PLACE_KERNEL }, { outer, "vfs_read", PLACE_KERNEL },
		{ inner, "vfs_write", PLACE_KERNEL }, { inner, "vfs_read", PLACE_KERNEL },
		{ outer, "", PLACE_KERNEL }, { outer, "", PLACE_KERNEL }, { NULL, "", PLACE_UNKNOWN },
	};
	const size_t nr = sizeof(want) / sizeof(*want);
	struct partition_options o = { .from = INT64_MIN, .to = INT64_MAX };
	struct partition p;
	struct made t;

	make(&t, true);
	is_int(partition_build(t.model, &o, &p), 0, "a partition with samples");
	is_int(p.nr_samples, nr, "those of the request");
	for (size_t i = 0; i < nr && i < p.nr_samples; i++) {
		const struct symbol *func = p.paths[p.leaves[p.samples[i].leaf].path].func;
		const struct symbol *in = want[i].in ? symtab_lookup(t.model->symtab, (uintptr_t)want[i].in, 0) : NULL;
		const struct sample_place *place = &p.places.at[p.samples[i].place];

		ok(func == in && p.samples[i].request == 0, "sample %zu: in its function", i);
		ok(place->kind == want[i].kind && !strcmp(place->function, want[i].function),
		   "sample %zu: its place", i);
	}
	is_int(p.places.nr, 4, "each place once");
	partition_free(&p);
	made_close(&t);

	make(&t, false);
	is_int(partition_build(t.model, &o, &p), 0, "a trace that does not say what its samples are");
	is_int(p.nr_samples, 0, "none are read");
	partition_free(&p);
	made_close(&t);
}

static bool is_near(double a, double b)
{
	return fabs(a - b) < 0.0005;
}

/* The values are those of R's prop.test(correct = FALSE). */
static void test_intervals(void)
{
	static const struct { uint64_t nr, all; double low, high; } want[] = {
		{ 10, 20, 0.2993, 0.7007 }, { 0, 10, 0, 0.2775 }, { 10, 10, 0.7225, 1 },
		{ 1, 1, 0.2065, 1 }, { 700, 1000, 0.6709, 0.7276 }, { 0, 0, 0, 1 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		double low, high;

		split_interval(want[i].nr, want[i].all, &low, &high);
		ok(is_near(low, want[i].low) && is_near(high, want[i].high), "%zu of %zu: %.4f to %.4f",
		   (size_t)want[i].nr, (size_t)want[i].all, low, high);
	}
}

/* There are more places than there is room for: those with most samples must remain, in order. */
static void test_split(void)
{
	struct sample_place at[SPLIT_MAX + 4];
	struct places p = { .at = at, .nr = SPLIT_MAX + 4 };
	uint32_t numbers[256];
	size_t nr = 0, last = SIZE_MAX, nr_wrong = 0;
	struct split split;

	for (uint32_t i = 0; i < p.nr; i++) {
		at[i] = (struct sample_place){ .kind = PLACE_LINE, .line = i };
		for (uint32_t k = 0; k < 1 + i * 7 % p.nr; k++)
			numbers[nr++] = i;
	}
	places_split(&p, numbers, nr, &split);
	is_int(split.nr_samples, nr, "all are counted");
	is_int(split.nr_parts, SPLIT_MAX, "the biggest places");
	for (size_t i = 0; i < split.nr_parts; i++) {
		nr_wrong += split.parts[i].nr > last || split.parts[i].nr != 1 + split.parts[i].place.line * 7 % p.nr ||
			    split.parts[i].low > split.parts[i].share || split.parts[i].high < split.parts[i].share;
		last = split.parts[i].nr;
	}
	is_int(nr_wrong, 0, "by size, each with its own number");
	is_int(split.parts[0].nr, p.nr, "the biggest first");
}

int main(void)
{
	test_join();
	test_intervals();
	test_split();
	return done();
}
