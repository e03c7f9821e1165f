// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares a trace of tests/programs/truth.cc with what the program itself wrote down.
 *
 *	truth-check TRACE LOG [coverage]
 *
 * With "coverage" (recorded with --budget 100%), 99 % of the invocations of 2 us and more that lie
 * outside of the observation gaps must be in the trace.  It prints TAP.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/ldb.h>
#include "trace/reader.h"

#define NR_FUNCS	10
#define FUNC_SIZE_MAX	8192
#define LONG_NS		2000
#define COVERAGE_PCT	99.0

struct entry {
	uint64_t gen, before, t0, t1, after;
	uint32_t fn, tid;
};

struct total {
	uint64_t first_gen, last_gen, start, end;
	uint32_t tid, pad;
};

struct logfile_header {
	char magic[8];
	uint64_t tsc_hz, nr_entries, nr_totals, func[NR_FUNCS];
};

static struct logfile_header head;
static struct total *totals;
static struct entry *entries;
static size_t *first;		/* for each total: the index of its first entry */
static unsigned char *hits;
static struct ldb_row_gap *gaps;
static size_t nr_gaps;
static uint64_t t0_clock;

static uint64_t rows, invented, twice, wrong_function, bad_start, bad_end, open_rows;
static int64_t worst_start, worst_end;
static int failures, tests;

static void ok(bool good, const char *name)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++tests, name);
	failures += !good;
}

static void die(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(1);
}

static void log_read(const char *path)
{
	FILE *f = fopen(path, "rb");
	size_t at = 0;

	if (!f || fread(&head, sizeof(head), 1, f) != 1 || memcmp(head.magic, "LDBTRUTH", 8))
		die("no log");
	totals = calloc(head.nr_totals, sizeof(*totals));
	entries = calloc(head.nr_entries, sizeof(*entries));
	first = calloc(head.nr_totals, sizeof(*first));
	hits = calloc(head.nr_entries, 1);
	if (fread(totals, sizeof(*totals), head.nr_totals, f) != head.nr_totals ||
	    fread(entries, sizeof(*entries), head.nr_entries, f) != head.nr_entries)
		die("short log");
	fclose(f);
	for (size_t i = 0; i < head.nr_totals; i++) {
		first[i] = at;
		at += totals[i].last_gen - totals[i].first_gen;
	}
	/* the program logs each invocation, so none may be missing */
	ok(at == head.nr_entries, "the log has an entry for every generation");
	if (at != head.nr_entries)
		exit(1);
}

static const struct total *total_of(uint32_t tid, uint64_t gen)
{
	for (size_t i = 0; i < head.nr_totals; i++)
		if (totals[i].tid == tid && gen > totals[i].first_gen && gen <= totals[i].last_gen)
			return &totals[i];
	return NULL;
}

static void check_bounds(const struct ldb_row_func *r, const struct entry *e)
{
	int64_t start_max = r->start_max + t0_clock, end_max = r->end_max + t0_clock;
	int64_t start_min = start_max - r->start_unc, end_min = end_max - r->end_unc;
	int64_t early = e->before ? (int64_t)e->before - start_max : 0;
	int64_t late = start_min - (int64_t)e->t0;
	int64_t off = early > late ? early : late;

	if (off > 0 && !(r->flags & LDB_FUNC_F_FROM_START)) {
		bad_start++;
		if (off > worst_start)
			worst_start = off;
	}
	if (r->flags & LDB_FUNC_F_OPEN) {
		open_rows++;
		return;
	}
	early = (int64_t)e->t1 - end_max;
	late = e->after ? end_min - (int64_t)e->after : 0;
	off = early > late ? early : late;
	if (off > 0) {
		bad_end++;
		if (off > worst_end)
			worst_end = off;
	}
}

static int func_rows(void *arg, const struct reader_rows *in)
{
	for (size_t i = 0; i < in->nr; i++) {
		const struct ldb_row_func *r = &in->func[i];
		const struct total *t = total_of(r->tid, r->gen >> 16);
		const struct entry *e;
		size_t at;

		if (!t)
			continue;
		rows++;
		at = first[t - totals] + (r->gen >> 16) - t->first_gen - 1;
		e = &entries[at];
		if (e->gen != r->gen >> 16 || e->tid != r->tid) {
			invented++;
			continue;
		}
		if (r->pc < head.func[e->fn] || r->pc - head.func[e->fn] > FUNC_SIZE_MAX)
			wrong_function++;
		if (hits[at]++)
			twice++;
		check_bounds(r, e);
	}
	return 0;
}

static int gap_rows(void *arg, const struct reader_rows *in)
{
	gaps = realloc(gaps, (nr_gaps + in->nr) * sizeof(*gaps));
	memcpy(gaps + nr_gaps, in->gap, in->nr * sizeof(*gaps));
	nr_gaps += in->nr;
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct ldb_row_gap *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/*
 * Returns true if the thread has an observation gap in the interval.  The gaps of one scanner do
 * not overlap, but those of threads may, so the search goes back a little.
 */
static bool in_gap(uint32_t tid, int64_t begin, int64_t end)
{
	size_t lo = 0, hi = nr_gaps;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (gaps[mid].begin < end)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t back = 0; lo-- && back < 4096; back++)
		if (gaps[lo].end > begin && (!gaps[lo].tid || gaps[lo].tid == tid))
			return true;
	return false;
}

static uint64_t nr_lost;

static int lost_rows(void *arg, const struct reader_rows *in)
{
	for (size_t i = 0; i < in->nr; i++)
		nr_lost += in->lost[i].count;
	return 0;
}

static uint64_t made, seen;

static int thread_rows(void *arg, const struct reader_rows *in)
{
	for (size_t i = 0; i < in->nr; i++) {
		const struct ldb_row_thread *t = &in->thread[i];

		if (t->flags & LDB_THREAD_F_EXITED || t->end) {
			made += t->made;
			seen += t->seen;
		}
	}
	return 0;
}

static void coverage(bool required)
{
	uint64_t ticks = LONG_NS * (head.tsc_hz / 1e9);
	uint64_t all = 0, all_hit = 0, clear = 0, clear_hit = 0;
	char name[160];
	double pct;

	for (size_t i = 0; i < head.nr_entries; i++) {
		const struct entry *e = &entries[i];
		int64_t begin = e->t0 - t0_clock, end = e->t1 - t0_clock;

		if (e->t1 - e->t0 < ticks)
			continue;
		all++;
		all_hit += hits[i] != 0;
		if (in_gap(e->tid, begin, end))
			continue;
		clear++;
		clear_hit += hits[i] != 0;
	}
	pct = clear ? 100.0 * clear_hit / clear : 0;
	printf("# of %" PRIu64 " invocations of 2 us and more, %" PRIu64 " (%.2f %%) are in the trace\n",
	       all, all_hit, all ? 100.0 * all_hit / all : 0);
	printf("# outside the recorded gaps: %" PRIu64 " of %" PRIu64 " (%.3f %%)\n",
	       clear_hit, clear, pct);
	printf("# of all %" PRIu64 " invocations, %" PRIu64 " are in the trace\n",
	       head.nr_entries, rows);
	snprintf(name, sizeof(name),
		 "at least %g %% of the long invocations outside gaps are observed", COVERAGE_PCT);
	if (required)
		ok(clear >= 100 && pct >= COVERAGE_PCT, name);
}

int main(int argc, char **argv)
{
	struct reader *r;
	char err[256];

	if (argc < 3)
		die("usage: truth-check TRACE LOG [coverage]");
	log_read(argv[2]);
	r = reader_open(argv[1], err, sizeof(err));
	if (!r)
		die(err);
	t0_clock = reader_header(r)->t0;
	reader_each(r, LDB_BLK_FUNC, NULL, func_rows, NULL);
	reader_each(r, LDB_BLK_GAP, NULL, gap_rows, NULL);
	reader_each(r, LDB_BLK_LOST, NULL, lost_rows, NULL);
	reader_each(r, LDB_BLK_THREAD, NULL, thread_rows, NULL);
	qsort(gaps, nr_gaps, sizeof(*gaps), by_begin);

	printf("# %" PRIu64 " rows, %zu gaps, calls %" PRIu64 ", observed %" PRIu64 ", open %" PRIu64 "\n",
	       rows, nr_gaps, made, seen, open_rows);
	ok(rows > 1000, "the trace has invocations of the program");
	ok(!reader_is_damaged(r), "the trace is whole");
	ok(!invented, "none that the program did not make");
	ok(!wrong_function, "each is of the right function");
	ok(!twice, "none appears twice");
	printf("# outside their bounds: %" PRIu64 " starts (worst %.0f ns), %" PRIu64
	       " ends (worst %.0f ns)\n", bad_start, worst_start * 1e9 / head.tsc_hz, bad_end,
	       worst_end * 1e9 / head.tsc_hz);
	ok(!bad_start, "each start is inside its stated bounds");
	ok(!bad_end, "each end is inside its stated bounds");
	ok(nr_lost == 0, "no record was lost");
	ok(made >= head.nr_entries, "at least the invocations of the log are counted");
	ok(seen <= made && seen >= rows, "observed: at most all, and at least the rows of the log");
	coverage(argc > 3 && !strcmp(argv[3], "coverage"));
	printf("1..%d\n", tests);
	reader_close(r);
	return failures != 0;
}
