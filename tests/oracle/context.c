// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads what a trace says about its recording: how it began and ended, its threads, its losses, its
 * clocks.  The automata's exceptions depend on these data, so they are checked as well.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <ldb/control.h>
#include "oracle.h"

/* A time stamp near a lock may be early by this much: see locks.c. */
#define STAMP_NS	500
#define SHOWN_MAX	20	/* violations of each automaton that are printed */
#define GUESSES		2	/* see oracle_excused() */

static const char *const names[ORACLE_NR] = { "trace", "threads", "locks", "requests", "calls", "flows" };

void oracle_out_of_memory(void)
{
	fprintf(stderr, "oracle: out of memory\n");
	exit(2);
}

void oracle_violation(struct oracle *o, enum automaton a, const char *rule, const char *fmt, ...)
{
	va_list ap;

	if (!o->nr_violations++)
		o->first_rule = rule;
	if (o->of[a]++ >= SHOWN_MAX || !o->out)
		return;
	fprintf(o->out, "violation: %s: %s: ", names[a], rule);
	va_start(ap, fmt);
	vfprintf(o->out, fmt, ap);
	va_end(ap);
	fputc('\n', o->out);
}

void oracle_counts(struct oracle *o, enum automaton a, const char *fmt, ...)
{
	va_list ap;

	if (!o->out)
		return;
	fprintf(o->out, "%s: ", names[a]);
	va_start(ap, fmt);
	vfprintf(o->out, fmt, ap);
	va_end(ap);
	if (o->of[a])
		fprintf(o->out, "; %" PRIu64 " violations", o->of[a]);
	fputc('\n', o->out);
}

bool oracle_excused(struct oracle *o)
{
	if (!o->lost_left)
		return false;
	o->lost_left--;
	o->nr_excused++;
	return true;
}

struct instance *oracle_instance(struct oracle *o, uint32_t tid, int64_t tick)
{
	size_t lo = 0, hi = o->nr_instances;

	/* finds the last thread with (tid, start) <= (tid, tick) */
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct instance *l = &o->instances[mid];

		if (l->tid < tid || (l->tid == tid && l->start <= tick))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && o->instances[lo - 1].tid == tid)
		return &o->instances[lo - 1];
	return lo < o->nr_instances && o->instances[lo].tid == tid ? &o->instances[lo] : NULL;
}

bool oracle_alive(struct oracle *o, enum automaton a, const char *what, uint32_t tid, int64_t tick)
{
	const struct instance *l = oracle_instance(o, tid, tick);

	if (!l) {
		/*
		 * Threads that were not observed have no row, and are only counted.  A recorder that
		 * was killed may not have observed the thread yet.
		 */
		if (o->nr_unobserved || o->is_cut || oracle_excused(o))
			return true;
		oracle_violation(o, a, "thread unknown", "%s of tid %u at %" PRId64
				 ": no such thread", what, tid, tick);
		return false;
	}
	if (tick >= l->start && (!l->exited || tick <= l->end))
		return true;
	oracle_violation(o, a, "outside of its instance", "%s of tid %u at %" PRId64 ", which lived %" PRId64
			 " .. %" PRId64, what, tid, tick, l->start, l->end);
	return false;
}

static uint64_t meta_number(const struct oracle *o, const char *key)
{
	const char *text = reader_meta(o->r, key);

	return text ? strtoull(text, NULL, 10) : 0;
}

static int64_t ticks(const struct oracle *o, uint64_t ns)
{
	return (unsigned __int128)ns * reader_header(o->r)->clock_hz / 1000000000;
}

static uint64_t count_unobserved(const struct oracle *o)
{
	size_t nr;
	const struct ldb_row_meta *metas = reader_metas(o->r, &nr);
	uint64_t found = 0, n;

	for (size_t i = 0; i < nr; i++)
		if (!strcmp(metas[i].key, "warning") && strstr(metas[i].value, "unobserved") &&
		    sscanf(metas[i].value, "%" SCNu64 " thread", &n) == 1)
			found += n;
	return found;
}

static void read_metas(struct oracle *o)
{
	const char *text = reader_meta(o->r, "attached");

	o->attached = text && !strcmp(text, "pid");
	text = reader_meta(o->r, "kernel_events");
	o->kernel_module = text && !strcmp(text, "module");
	o->nr_cpus = meta_number(o, "nr_cpus");
	o->nr_scanners = meta_number(o, "nr_scanners");
	o->lock_threshold = ticks(o, meta_number(o, "lock_threshold_ns"));
	/*
	 * Each stamp of perf is converted separately, and the trace states the error of the
	 * conversion at its end.  The module's stamps are in the session's own clock.  The result
	 * is rounded up.
	 */
	if (!o->kernel_module)
		o->kernel_err = ticks(o, meta_number(o, "kernel_err_ns")) + 1;
	o->knows_err = o->kernel_module || reader_meta(o->r, "kernel_err_ns");
	o->nr_unobserved = count_unobserved(o);
	/* As in a recording of a process that ran already, all threads may have begun before. */
	o->is_dump = reader_meta(o->r, "flight");
	o->attached |= o->is_dump;
	text = reader_meta(o->r, "end");
	if (!o->is_cut && !text)
		oracle_violation(o, ORACLE_TRACE, "no end", "closed, but why the recording ended is not said");
}

/*
 * Reads the clocks and the end of the recording: it ends with a CLOCK row, after which nothing is
 * stamped.
 */
static void read_clock(struct oracle *o)
{
	struct cursor *c = reader_cursor(o->r, LDB_BLK_CLOCK, NULL);
	struct ldb_row_clock before = { 0 };
	struct reader_rows in;
	uint64_t nr = 0;

	o->end = INT64_MIN;
	while (c && cursor_next(c, &in) > 0) {
		for (size_t i = 0; i < in.nr; i++) {
			const struct ldb_row_clock *row = &in.clock[i];

			if (nr++ && (row->tick < before.tick || row->raw_ns < before.raw_ns ||
				     row->mono_ns < before.mono_ns))
				oracle_violation(o, ORACLE_TRACE, "clock goes back", "tick %" PRId64
						 " after %" PRId64, row->tick, before.tick);
			before = *row;
		}
	}
	cursor_close(c);
	if (nr)
		o->end = before.tick + (int64_t)before.err;
	/* If the recorder was killed, the last CLOCK row may be up to a second old. */
	if (o->is_cut || !nr)
		o->end = INT64_MAX / 2;
	if (!nr && !o->is_cut)
		oracle_violation(o, ORACLE_TRACE, "no clock", "there is no row of the clocks");
	oracle_counts(o, ORACLE_TRACE, "%" PRIu64 " readings of the clocks, end %" PRId64, nr,
		      o->is_cut ? -1 : o->end);
}

static void read_losses(struct oracle *o)
{
	struct cursor *c = reader_cursor(o->r, LDB_BLK_LOST, NULL);
	uint64_t of[LDB_LOST_KERNEL + 1] = { 0 }, left = 0, left_funcs = 0;
	struct reader_rows in;
	const char *text;

	while (c && cursor_next(c, &in) > 0) {
		for (size_t i = 0; i < in.nr; i++) {
			const struct ldb_row_lost *row = &in.lost[i];

			/* Events in a pause are not known. */
			if (row->what == LDB_LEFT_PAUSE)
				left = UINT32_MAX;
			else if (row->what > LDB_LEFT_PAUSE && row->what <= LDB_LEFT_REQUESTS)
				left += row->count;
			if (row->what == LDB_LEFT_FUNCS || row->what == LDB_LEFT_SHORT)
				left_funcs += row->count;
			if (row->what >= LDB_LEFT_PAUSE && row->what <= LDB_LEFT_REQUESTS)
				continue;
			if (!row->what || row->what > LDB_LOST_KERNEL || !row->count) {
				oracle_violation(o, ORACLE_TRACE, "loss of nothing", "what %u, count %" PRIu64,
						 row->what, row->count);
				continue;
			}
			of[row->what] += row->count;
		}
	}
	cursor_close(c);
	/*
	 * Lost records of threads without a page have no other effect than that they are
	 * missing.
	 */
	for (unsigned what = 1; what <= LDB_LOST_KERNEL; what++)
		if (what != LDB_LOST_UNOBSERVED)
			o->nr_lost += of[what];
	o->nr_unobserved += of[LDB_LOST_UNOBSERVED];
	text = reader_meta(o->r, "end");
	o->disk_full = of[LDB_LOST_DISK] || (text && !strcmp(text, "disk"));
	left += o->nr_lost;
	o->nr_left_out = left_funcs;
	o->lost_left = left > UINT64_MAX / GUESSES ? UINT64_MAX : left * GUESSES;
	if (o->nr_lost && o->out)
		fprintf(o->out, "trace: %" PRIu64 " records lost: overrun %" PRIu64 ", unfinished %" PRIu64
			", torn %" PRIu64 ", disk %" PRIu64 ", kernel %" PRIu64 "\n", o->nr_lost, of[1],
			of[2], of[3], of[4], of[6]);
}

/* Threads */

static void check_row(struct oracle *o, const struct ldb_row_thread *t)
{
	if (!t->tid || t->end < t->start || (t->flags & ~3U))
		oracle_violation(o, ORACLE_THREADS, "thread row", "tid %u flags %x start %" PRId64
				 " end %" PRId64, t->tid, t->flags, t->start, t->end);
	if (t->flags & LDB_THREAD_F_EXITED && t->end > o->end)
		oracle_violation(o, ORACLE_THREADS, "exit after the end", "tid %u at %" PRId64, t->tid,
				 t->end);
}

struct told {			/* a THREAD row, and its position in the file */
	struct instance instance;
	size_t nr;
};

static struct told told_row(const struct ldb_row_thread *t, size_t nr)
{
	return (struct told){ .nr = nr, .instance = {
		.tid = t->tid, .creator = t->creator,
		.start = t->start <= 0 ? TICK_UNKNOWN : t->start, .end = t->end,
		.exited = t->flags & LDB_THREAD_F_EXITED,
		.unobserved = t->flags & LDB_THREAD_F_UNOBSERVED,
		.made = t->made, .seen = t->seen, .below = t->below_threshold,
	} };
}

static int by_tid_start(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->instance.tid != y->instance.tid)
		return x->instance.tid < y->instance.tid ? -1 : 1;
	if (x->instance.start != y->instance.start)
		return x->instance.start < y->instance.start ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

/*
 * A thread instance has a row from when it was first observed, and a last row; the last row counts.
 */
static void add_instance(struct oracle *o, const struct instance *l)
{
	struct instance *before = o->nr_instances ? &o->instances[o->nr_instances - 1] : NULL;

	if (!before || before->tid != l->tid || before->start != l->start) {
		o->instances[o->nr_instances++] = *l;
		return;
	}
	/*
	 * A thread gets another row with its creator if its beginning was read after its end, and
	 * one if the kernel has observed invocations that the scanner has not.
	 */
	if (before->exited && (!l->exited || l->end != before->end ||
			       (before->creator && l->seen == before->seen)))
		oracle_violation(o, ORACLE_THREADS, "exits twice", "tid %u, start %" PRId64, l->tid,
				 l->start);
	if (l->made < before->made || l->seen < before->seen)
		oracle_violation(o, ORACLE_THREADS, "counter goes back", "tid %u made %" PRIu64
				 " seen %" PRIu64, l->tid, l->made, l->seen);
	*before = *l;
}

static void check_instances(struct oracle *o)
{
	uint64_t nr_exited = 0;

	for (size_t i = 0; i < o->nr_instances; i++) {
		const struct instance *l = &o->instances[i], *next = l + 1;

		nr_exited += l->exited;
		if (i + 1 < o->nr_instances && next->tid == l->tid && (!l->exited || l->end > next->start))
			oracle_violation(o, ORACLE_THREADS, "two instances at once", "tid %u until %" PRId64
					 ", and from %" PRId64, l->tid, l->end, next->start);
		/*
		 * The creator of a thread must have existed at the thread's start.  If the thread
		 * is older than the recording, the creator may be gone.
		 */
		if (l->creator && l->start != TICK_UNKNOWN) {
			const struct instance *by = oracle_instance(o, l->creator, l->start);

			if (by ? by->start > l->start : !o->attached && !o->nr_unobserved && !o->is_cut &&
						       !oracle_excused(o))
				oracle_violation(o, ORACLE_THREADS, "made by nobody", "tid %u by tid %u at %"
						 PRId64, l->tid, l->creator, l->start);
		}
	}
	oracle_counts(o, ORACLE_THREADS, "%zu instances, %" PRIu64 " ended, %" PRIu64 " not observed",
		      o->nr_instances, nr_exited, o->nr_unobserved);
}

static void read_instances(struct oracle *o)
{
	struct cursor *c = reader_cursor(o->r, LDB_BLK_THREAD, NULL);
	struct told *rows = NULL;
	size_t nr = 0, room = 0;
	struct reader_rows in;

	while (c && cursor_next(c, &in) > 0) {
		if (nr + in.nr > room) {
			room = 2 * (nr + in.nr);
			rows = realloc(rows, room * sizeof(*rows));
			if (!rows)
				oracle_out_of_memory();
		}
		for (size_t i = 0; i < in.nr; i++, nr++) {
			check_row(o, &in.thread[i]);
			rows[nr] = told_row(&in.thread[i], nr);
		}
	}
	cursor_close(c);
	o->instances = calloc(nr + 1, sizeof(*o->instances));
	if (!o->instances)
		oracle_out_of_memory();
	if (nr)
		qsort(rows, nr, sizeof(*rows), by_tid_start);
	for (size_t i = 0; i < nr; i++)
		add_instance(o, &rows[i].instance);
	free(rows);
	check_instances(o);
}

void check_trace(struct oracle *o)
{
	o->store_err = ticks(o, STAMP_NS);
	if (reader_header(o->r)->clock_id == LDB_CLOCK_TSC)
		o->stamp_err = ticks(o, STAMP_NS);
	read_metas(o);
	read_clock(o);
	read_losses(o);
	read_instances(o);
}
