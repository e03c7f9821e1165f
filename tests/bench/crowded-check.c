// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares a trace of tests/programs/crowded.c with what the program wrote down, and prints lines
 * "NAME VALUE": crowded-check TRACE LOG CLAIM.
 *
 *	waits, placed	number of waits of 50 us or more; % of them for which the trace has the
 *			right function with all its callers
 *	long, observed	number of invocations of 500 us or more without a switch; % of them that
 *			have a row
 *	from		us; of the invocations of this length, and of each greater length, 95 % have
 *			a row
 *	claim, at_claim	us, from CLAIM: the report says that 95 % of the invocations of this
 *			length are observed; % of the invocations up to twice as long that have a row
 *	outside		number of rows whose bounds do not contain the true start and end
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/ldb.h>
#include "base/minmax.h"
#include "base/search.h"
#include "facts/estimate.h"
#include "trace/reader.h"
#include "../programs/crowded.h"

#define THREADS_MAX	16
#define FUNC_SIZE_MAX	8192
#define WAIT_US		50
#define LONG_US		500
/* newer invocations to which a wait could be attributed by mistake */
#define BETWEEN_MAX	64

/* The data of an invocation in the trace. */
struct found {
	bool is_there;
	uint64_t parent;	/* generation */
	uint64_t pc;
	int64_t start_min, end_max;
	struct estimate estimate;
};

struct left {
	int64_t tick;
	uint64_t gen;
};

static struct thread_log {
	struct crowded_head head;
	struct crowded_call *calls;
	struct crowded_wait *waits;
	struct found *found;	/* by call */
	struct left *lefts;
	size_t nr_lefts, room_lefts;
} logs[THREADS_MAX];
static unsigned nr_logs;
static int64_t t0;
static double us_per_tick;

static void die(const char *what)
{
	fprintf(stderr, "crowded-check: %s\n", what);
	exit(1);
}

static void *read_array(FILE *f, size_t size, size_t nr)
{
	void *at = calloc(nr + 1, size);

	if (!at || fread(at, size, nr, f) != nr)
		die("the log is short");
	return at;
}

static void read_log(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct crowded_head h;

	if (!f)
		die("no log");
	while (nr_logs < THREADS_MAX && fread(&h, sizeof(h), 1, f) == 1) {
		struct thread_log *l = &logs[nr_logs++];

		if (h.magic != CROWDED_MAGIC)
			die("no log");
		l->head = h;
		l->calls = read_array(f, sizeof(*l->calls), h.nr_calls);
		l->waits = read_array(f, sizeof(*l->waits), h.nr_waits);
		l->found = calloc(h.nr_calls + 1, sizeof(*l->found));
		if (!l->found)
			die("out of memory");
	}
	fclose(f);
}

static struct thread_log *log_of(uint32_t tid)
{
	for (unsigned i = 0; i < nr_logs; i++)
		if (logs[i].head.tid == tid)
			return &logs[i];
	return NULL;
}

/*
 * Returns the call of a generation: generations number the calls of a thread.  CROWDED_NONE: the
 * thread has no such call.
 */
static uint32_t call_of(const struct thread_log *l, uint64_t gen)
{
	uint32_t n = search(l->head.nr_calls, i, l->calls[i].gen < gen);

	return n < l->head.nr_calls && l->calls[n].gen == gen ? n : CROWDED_NONE;
}

/* The trace */

static int take_funcs(void *arg, const struct reader_rows *in)
{
	for (size_t i = 0; i < in->nr; i++) {
		const struct ldb_row_func *r = &in->func[i];
		struct thread_log *l = log_of(r->tid);
		uint32_t n = l ? call_of(l, r->gen >> 16) : CROWDED_NONE;

		if (n == CROWDED_NONE)
			continue;
		l->found[n] = (struct found){
			.is_there = true, .parent = r->parent_gen >> 16, .pc = r->pc,
			.end_max = r->end_max, .estimate = estimate_func(r),
		};
		l->found[n].start_min = l->found[n].estimate.start_min;
	}
	return 0;
}

static int take_switches(void *arg, const struct reader_rows *in)
{
	for (size_t i = 0; i < in->nr; i++) {
		const struct ldb_row_sched *r = &in->sched[i];
		struct thread_log *l = log_of(r->tid);

		if (r->op != LDB_SCHED_OP_SWITCH || !(r->flags & LDB_SCHED_F_TID) || !l || !r->gen)
			continue;
		if (l->nr_lefts == l->room_lefts) {
			l->room_lefts = l->room_lefts * 2 + 1024;
			l->lefts = realloc(l->lefts, l->room_lefts * sizeof(*l->lefts));
			if (!l->lefts)
				die("out of memory");
		}
		l->lefts[l->nr_lefts++] = (struct left){ r->tick, r->gen >> 16 };
	}
	return 0;
}

static int by_tick(const void *a, const void *b)
{
	const struct left *x = a, *y = b;

	return x->tick < y->tick ? -1 : x->tick > y->tick;
}

/* Waits */

/*
 * Returns the call that the thread was in when it waited, according to the trace: by the kernel
 * event of the switch, or else by times.
 */
static uint32_t innermost(const struct thread_log *l, const struct crowded_wait *w)
{
	int64_t begin = w->begin - t0, end = w->end - t0, middle = begin + (end - begin) / 2;
	size_t n = search(l->nr_lefts, i, l->lefts[i].tick < begin);
	uint32_t last = min(w->call + BETWEEN_MAX, l->head.nr_calls);

	if (n < l->nr_lefts && l->lefts[n].tick < end)
		return call_of(l, l->lefts[n].gen);
	while (last--) {
		const struct found *f = &l->found[last];

		if (f->is_there && f->estimate.start <= middle && f->estimate.end >= middle)
			return last;
	}
	return CROWDED_NONE;
}

static bool is_right(const struct thread_log *l, const struct crowded_wait *w)
{
	int64_t begin = w->begin - t0, end = w->end - t0;
	uint32_t n = innermost(l, w);

	if (n != w->call)
		return false;
	for (; n != CROWDED_NONE; n = l->calls[n].parent) {
		const struct crowded_call *c = &l->calls[n];
		const struct found *f = &l->found[n];
		uint64_t parent = c->parent == CROWDED_NONE ? 0 : l->calls[c->parent].gen;

		if (!f->is_there || f->parent != parent || f->pc < c->function ||
		    f->pc - c->function > FUNC_SIZE_MAX || f->start_min > begin || f->end_max < end)
			return false;
	}
	return true;
}

static double us(uint64_t begin, uint64_t end)
{
	return (end - begin) * us_per_tick;
}

static void percent(const char *name, const char *share, uint64_t nr, uint64_t of)
{
	printf("%s %lu\n%s %.2f\n", name, (unsigned long)of, share, of ? 100.0 * nr / of : 0);
}

static void judge_waits(void)
{
	uint64_t nr = 0, right = 0;

	for (unsigned t = 0; t < nr_logs; t++)
		for (uint32_t i = 0; i < logs[t].head.nr_waits; i++) {
			const struct crowded_wait *w = &logs[t].waits[i];

			if (us(w->begin, w->end) < WAIT_US)
				continue;
			nr++;
			right += is_right(&logs[t], w);
		}
	percent("waits", "placed", right, nr);
}

/* Invocations */

static double length_of(const struct crowded_call *c)
{
	return us(c->begin, c->end);
}

static int longest_first(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x > y ? -1 : x < y;
}

/* Lengths of all invocations, and of those without a row. */
struct lengths {
	double *all, *missed;
	size_t nr, nr_missed;
};

static struct lengths get_lengths(void)
{
	struct lengths l = { 0 };
	size_t room = 1;

	for (unsigned t = 0; t < nr_logs; t++)
		room += logs[t].head.nr_calls;
	l.all = calloc(room, sizeof(*l.all));
	l.missed = calloc(room, sizeof(*l.missed));
	if (!l.all || !l.missed)
		die("out of memory");
	for (unsigned t = 0; t < nr_logs; t++)
		for (uint32_t i = 0; i < logs[t].head.nr_calls; i++) {
			double length = length_of(&logs[t].calls[i]);

			l.all[l.nr++] = length;
			if (!logs[t].found[i].is_there)
				l.missed[l.nr_missed++] = length;
		}
	qsort(l.all, l.nr, sizeof(*l.all), longest_first);
	qsort(l.missed, l.nr_missed, sizeof(*l.missed), longest_first);
	return l;
}

static size_t count_between(const double *v, size_t nr, double from, double to)
{
	return search(nr, i, v[i] >= from) - search(nr, i, v[i] > to);
}

/*
 * Returns the least length such that of the invocations of this length and up to a quarter longer,
 * 95 % have a row, and so on for all greater lengths.  A range with fewer than 100 invocations is
 * not judged.
 */
static double seen_from(const struct lengths *l)
{
	double from = l->nr ? l->all[0] : 0;

	for (double at = from / 1.25; at > 1; at /= 1.05) {
		size_t nr = count_between(l->all, l->nr, at, at * 1.25);

		if (nr >= 100 && count_between(l->missed, l->nr_missed, at, at * 1.25) * 20 > nr)
			break;
		from = at;
	}
	return from;
}

static void judge_lengths(double claim)
{
	struct lengths all = get_lengths(), *l = &all;
	size_t nr = count_between(l->all, l->nr, claim, claim * 2);
	size_t missed = count_between(l->missed, l->nr_missed, claim, claim * 2);

	printf("from %.1f\nclaim %.1f\nat_claim %.2f\n", seen_from(l), claim,
	       nr ? 100.0 * (nr - missed) / nr : 0);
}

static void judge_long(void)
{
	uint64_t nr = 0, seen = 0, outside = 0;

	for (unsigned t = 0; t < nr_logs; t++)
		for (uint32_t i = 0; i < logs[t].head.nr_calls; i++) {
			const struct crowded_call *c = &logs[t].calls[i];
			const struct found *f = &logs[t].found[i];

			if (length_of(c) >= LONG_US && !c->nr_switches) {
				nr++;
				seen += f->is_there;
			}
			outside += f->is_there && (f->start_min > (int64_t)(c->begin - t0) ||
						   f->end_max < (int64_t)(c->end - t0));
		}
	percent("long", "observed", seen, nr);
	printf("outside %lu\n", (unsigned long)outside);
}

int main(int argc, char **argv)
{
	struct reader *r;
	char err[256];

	if (argc < 4)
		die("usage: crowded-check TRACE LOG CLAIM");
	read_log(argv[2]);
	r = reader_open(argv[1], err, sizeof(err));
	if (!r)
		die(err);
	t0 = reader_header(r)->t0;
	us_per_tick = reader_ticks_to_ns(r, 1e6) / 1e9;
	reader_each(r, LDB_BLK_FUNC, NULL, take_funcs, NULL);
	reader_each(r, LDB_BLK_SCHED, NULL, take_switches, NULL);
	for (unsigned t = 0; t < nr_logs; t++)
		qsort(logs[t].lefts, logs[t].nr_lefts, sizeof(struct left), by_tick);
	judge_waits();
	judge_long();
	judge_lengths(strtod(argv[3], NULL));
	reader_close(r);
	return 0;
}
