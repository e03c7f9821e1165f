// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the request table when a hostile program chooses ids, threads and order: it must take less
 * than RATIO times the CPU time that other programs take.  It also compares the table for random
 * rows with a very simple one.
 */
#include <time.h>
#include "trace/reqtab.h"
#include "trace-sample.h"

#define NR	50000
#define RATIO	12	/* limit of the ratio; that of a quadratic table was over 100 */
#define OLD	0x9e3779b97f4a7c15ULL	/* factor of an earlier hash, which had no secret */

static double cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;

	for (int i = 0; i < 6; i++)
		x *= 2 - odd * x;
	return x;
}

typedef uint64_t id_fn(uint64_t i);

static uint64_t id_usual(uint64_t i)
{
	return i;
}

/* A table whose index is bits 20 and up of the product has all these ids in one slot. */
static uint64_t id_hostile(uint64_t i)
{
	return (i << 44) * inverse(OLD);
}

static uint64_t id_high_bits(uint64_t i)
{
	return i << 40;
}

static void add(struct reqtab *t, unsigned op, uint32_t tid, uint64_t id, int64_t tick)
{
	struct ldb_row_req r = { .op = op, .tid = tid, .id = id, .tick = tick };

	if (reqtab_add(t, &r))
		bail_out("the table is full");
}

/*
 * Returns the CPU time of starting NR ids, which the thread then leaves, beginning with the first
 * or the last one.
 */
static double time_of(id_fn *id, bool first_first, unsigned op)
{
	struct reqtab *t = reqtab_alloc(NR);
	double begin = cpu_s();

	for (uint64_t i = 0; i < NR; i++)
		add(t, LDB_REQ_OP_START, 1, id(i), i);
	for (uint64_t i = 0; i < NR; i++)
		add(t, op, 1, id(first_first ? i : NR - 1 - i), NR + i);
	add(t, LDB_REQ_OP_END_ALL, 1, 0, 3 * NR);
	begin = cpu_s() - begin;
	reqtab_free(t);
	return begin;
}

static double best_of(id_fn *id, bool first_first, unsigned op)
{
	double best = time_of(id, first_first, op);

	for (int i = 0; i < 4; i++) {
		double again = time_of(id, first_first, op);

		best = again < best ? again : best;
	}
	return best;
}

static void test_times(void)
{
	double usual = best_of(id_usual, false, LDB_REQ_OP_END);
	static const struct {
		const char *name;
		id_fn *id;
		bool first_first;
		unsigned op;
	} cases[] = {
		{ "ids chosen for a known hash", id_hostile, false, LDB_REQ_OP_END },
		{ "ids in the high bits", id_high_bits, false, LDB_REQ_OP_END },
		{ "many open ones, the first one queued first", id_usual, true, LDB_REQ_OP_BLOCK },
		{ "both", id_hostile, true, LDB_REQ_OP_BLOCK },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double once = time_of(cases[i].id, cases[i].first_first, cases[i].op);
		double took = once;

		/* A quadratic table need not be measured again. */
		if (once < 1)
			took = best_of(cases[i].id, cases[i].first_first, cases[i].op);
		ok(took < RATIO * usual, "%s: %.1f times as long as usual ids", cases[i].name,
		   took / usual);
	}
}

/* Computes the same table, by a linear search each time. */

#define MODEL_ROWS	4000
#define MODEL_THREADS	3

static struct {
	struct ldb_row_reqtab rows[MODEL_ROWS];
	bool works[MODEL_THREADS][MODEL_ROWS];
	size_t nr;
} model;

static size_t model_open(uint64_t id, int64_t tick)
{
	for (size_t i = 0; i < model.nr; i++)
		if (model.rows[i].id == id && !model.rows[i].complete)
			return i;
	model.rows[model.nr] = (struct ldb_row_reqtab){ .id = id, .start = tick, .end = tick };
	return model.nr++;
}

static void model_end(size_t row, int64_t tick)
{
	model.rows[row].complete = 1;
	model.rows[row].end = tick;
}

static void model_add(unsigned op, uint32_t tid, uint64_t id, int64_t tick)
{
	size_t row;

	switch (op) {
	case LDB_REQ_OP_START:
	case LDB_REQ_OP_BLOCK:
		row = model_open(id, tick);
		model.works[tid][row] = op == LDB_REQ_OP_START;
		model.rows[row].nr_segments += op == LDB_REQ_OP_START;
		break;
	case LDB_REQ_OP_END:
		for (row = 0; row < model.nr; row++)
			if (model.rows[row].id == id && !model.rows[row].complete)
				model_end(row, tick);
		break;
	default:
		for (row = 0; row < model.nr; row++) {
			if (model.works[tid][row] && !model.rows[row].complete)
				model_end(row, tick);
			model.works[tid][row] = false;
		}
	}
}

static int by_id_start(const void *a, const void *b)
{
	const struct ldb_row_reqtab *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static void test_random(unsigned nr_ids, unsigned end_all_in)
{
	static const unsigned ops[] = {
		LDB_REQ_OP_START, LDB_REQ_OP_START, LDB_REQ_OP_BLOCK, LDB_REQ_OP_END,
	};
	struct reqtab *t = reqtab_alloc(MODEL_ROWS);
	const struct ldb_row_reqtab *rows;
	bool is_same = true;
	size_t nr;

	memset(&model, 0, sizeof(model));
	for (int64_t tick = 0; tick < 8000 && model.nr < MODEL_ROWS; tick++) {
		uint64_t r = sample_random(), id = r % nr_ids;
		unsigned op = (r >> 20) % end_all_in ? ops[(r >> 40) % 4] : LDB_REQ_OP_END_ALL;
		uint32_t tid = (r >> 50) % MODEL_THREADS;

		add(t, op, tid, id, tick);
		model_add(op, tid, id, tick);
	}
	rows = reqtab_finish(t, 0, &nr);
	qsort(model.rows, model.nr, sizeof(model.rows[0]), by_id_start);
	for (size_t i = 0; i < nr && nr == model.nr; i++)
		is_same &= rows[i].id == model.rows[i].id && rows[i].start == model.rows[i].start &&
			   rows[i].end == model.rows[i].end &&
			   rows[i].complete == model.rows[i].complete &&
			   rows[i].nr_segments == model.rows[i].nr_segments;
	is_int(nr, model.nr, "as many requests as by looking at all");
	ok(is_same, "the same ones: %u ids, END_ALL one in %u", nr_ids, end_all_in);
	reqtab_free(t);
}

int main(void)
{
	alarm(120);
	test_random(5, 50);
	test_random(100, 30);
	test_random(500, 500);
	test_random(2000, 3000);
	test_times();
	return done();
}
