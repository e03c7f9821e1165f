// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes the times that threads were off the CPU from readings of the kernel's counters; see
 * counters.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "counters.h"
#include "rows.h"
#include "ticks.h"

#define VAGUE_NS	1000000		/* an error up to this is always accepted */
/*
 * a thread that slept no longer than this, or than the resolution, before a wait for a CPU is taken
 * to have been preempted
 */
#define TOGETHER_NS	50000
#define COUNTERS_MAX	(1U << 24)	/* rows */

/* One row, in ticks. */
struct reading {
	uint32_t tid, nr_runs, nr_sleeps;
	int64_t tick, unc, ran, run, wait;
	unsigned flags;
};

struct off {
	uint32_t tid;
	int64_t out, woken, in;
	int64_t resolution;
	unsigned state;
	bool has_out, has_in;
};

struct counters {
	struct reader *reader;
	struct reading *readings;
	size_t nr_readings, room_readings;
	struct off *offs;
	size_t nr, room;
	int64_t vague, together;	/* ticks */
	int64_t unplaced;
	double ticks_per_ns;
};

/* The state of a thread after a reading. */
struct now {
	bool is_off, has_out;
	int64_t out, resolution;
	/* the kernel's counter of the time spent waiting for a CPU, when the thread left its CPU */
	int64_t wait;
	/*
	 * since this tick all readings have found the thread waiting for a CPU; INT64_MAX: the last
	 * one did not
	 */
	int64_t waits;
	/* the thread's state if a reading found it asleep; otherwise not known */
	unsigned state;
	bool is_wait;			/* the thread has not slept since it left its CPU */
	/* the interval off the CPU consists of several sleeps and waits */
	bool is_merged;
	/* the last reading that has the number of sleeps; NULL: none */
	const struct reading *status;
};

static int64_t ticks_of(const struct counters *c, uint64_t ns)
{
	double ticks = ns * c->ticks_per_ns;

	return ticks < (double)TICKS_MAX ? (int64_t)ticks : TICKS_MAX;
}

static int add_row(void *arg, const void *at)
{
	const struct ldb_row_schedstat *row = at;
	struct counters *c = arg;

	if (c->nr_readings == COUNTERS_MAX)
		return 0;
	return array_push(c->readings, c->nr_readings, c->room_readings, ((struct reading){
		.tid = row->tid, .nr_runs = row->nr_runs, .nr_sleeps = row->nr_sleeps, .tick = ticks_sane(row->tick),
		.unc = ticks_sane_length(row->unc), .ran = ticks_sane(min(row->ran, row->tick)),
		.run = ticks_of(c, row->run_ns), .wait = ticks_of(c, row->wait_ns), .flags = row->flags,
	}));
}

COMPARE(reading_compare, struct reading, UP(tid) UP(tick) UP(nr_runs))

static bool is_on(const struct reading *r)
{
	return r->flags & LDB_SCHEDSTAT_F_ON_CPU;
}

/*
 * Returns when the thread became runnable.  The kernel's counter of the time spent waiting for a
 * CPU lacks the time that the hypervisor took; so a thread that a reading found waiting is taken to
 * have waited from that reading on.  A thread that no reading found asleep, and that waited for
 * most of a single interval, or slept for no longer than TOGETHER_NS or the resolution, is taken to
 * have waited for all of it.
 */
static int64_t woken_at(const struct counters *c, const struct now *n, int64_t in, int64_t waited)
{
	int64_t woken = max(in - max(waited, 0), n->out), asleep;

	woken = n->is_wait ? n->out : max(min(woken, n->waits), n->out);
	asleep = woken - n->out;
	if (woken == in || n->state != SCHED_STATE_UNKNOWN || n->is_merged)
		return woken;
	return asleep <= max(c->together, n->resolution) || asleep < in - woken ? n->out : woken;
}

/* Stores an interval off the CPU, which may consist of several sleeps and waits. */
static int add_off(struct counters *c, const struct now *n, uint32_t tid, int64_t in, int64_t waited,
		   bool has_in)
{
	struct off off = {
		.tid = tid, .out = n->out, .in = in, .resolution = n->resolution, .state = n->state,
		.has_out = n->has_out, .has_in = has_in,
	};

	if (in <= n->out)
		return 0;
	off.woken = woken_at(c, n, in, waited);
	return array_push(c->offs, c->nr, c->room, off);
}

/* Takes into account a reading of a thread that was off the CPU. */
static void read_off(struct now *n, const struct reading *b)
{
	unsigned state = LDB_SCHED_STATE(b->flags);

	if (state == LDB_STATE_RUNNING) {
		n->waits = min(n->waits, b->tick - b->unc);
	} else {
		n->state = state;
		n->waits = INT64_MAX;
	}
}

/* Returns true if the thread has not slept since its number of sleeps was last read. */
static bool has_not_slept(const struct now *n, const struct reading *b)
{
	return n->status && b->flags & LDB_SCHEDSTAT_F_SLEEPS && b->nr_sleeps == n->status->nr_sleeps;
}

/* Begins an interval off the CPU: the thread left its CPU at about tick `out`, before reading b. */
static void leave(struct now *n, const struct reading *b, int64_t out, int64_t resolution, int64_t wait)
{
	*n = (struct now){
		.is_off = true, .has_out = true, .out = min(out, b->tick), .resolution = resolution + b->unc,
		.wait = wait, .waits = INT64_MAX, .state = SCHED_STATE_UNKNOWN,
		.is_wait = has_not_slept(n, b), .status = n->status,
	};
	read_off(n, b);
}

/*
 * Stores an interval off the CPU of `off` ticks in [lo, b], or only adds it to the unplaced time if
 * its place is too uncertain.  The thread was on the CPU at readings a and b.
 */
static int between(struct counters *c, const struct now *now, const struct reading *a,
		   const struct reading *b, int64_t lo, int64_t off)
{
	int64_t room = b->tick - lo, length = min(off, room), slack = (room - length) / 2;
	struct now n = {
		.has_out = true, .out = lo + slack, .resolution = slack + a->unc + b->unc,
		.waits = INT64_MAX, .state = SCHED_STATE_UNKNOWN, .is_wait = has_not_slept(now, b),
		.is_merged = b->nr_runs - a->nr_runs > 1,
	};

	if (slack > max(length / 2, c->vague)) {
		ticks_add(&c->unplaced, off);
		return 0;
	}
	ticks_add(&c->unplaced, off - length);
	return add_off(c, &n, a->tid, lo + slack + length, b->wait - a->wait, true);
}

/* Processes reading b of a thread that was on the CPU at reading a. */
static int after_on(struct counters *c, struct now *n, const struct reading *a, const struct reading *b)
{
	int64_t run = b->run - a->run, off = max(b->tick - a->tick - run, 0);
	int64_t lo = max(a->tick, b->ran), out;
	bool has_come = b->nr_runs != a->nr_runs;

	if (is_on(b)) {
		bool is_unseen = b->flags & LDB_SCHEDSTAT_F_UNSEEN;

		/*
		 * If the number of runs is the same, the thread did not leave its CPU, although its
		 * CPU clock did not advance all the time: the hypervisor, for example, took the
		 * rest.
		 */
		return has_come ? between(c, n, a, b, is_unseen ? lo : a->tick, off) : 0;
	}
	if (!has_come) {
		leave(n, b, a->tick + run, a->unc, a->wait);
	} else if (b->ran > a->tick) {
		out = lo + (b->tick - lo) / 2;
		leave(n, b, out, (b->tick - lo) / 2, b->wait);
		ticks_add(&c->unplaced, max(off - (b->tick - out), 0));
	} else {
		leave(n, b, a->tick + run, run, a->wait);
	}
	return 0;
}

/* Processes reading b of a thread that was off the CPU at reading a, and has been on one since. */
static int after_off(struct counters *c, struct now *n, const struct reading *a, const struct reading *b)
{
	int64_t run = b->run - a->run, off = max(b->tick - a->tick - run, 0), in = b->tick - run;
	int64_t lo = max(a->tick, b->ran), out;
	uint32_t nr = b->nr_runs - a->nr_runs;
	struct now was = *n;
	int ret;

	if (is_on(b)) {
		*n = (struct now){ .status = n->status };
		was.is_merged = nr > 1;
		if (was.is_merged) {
			was.resolution = max(was.resolution, run);
			was.is_wait &= has_not_slept(&was, b);
		}
		if (was.is_merged && run > max((in - was.out) / 2, c->vague)) {
			in = a->tick;
			ticks_add(&c->unplaced, off);
		}
		return add_off(c, &was, a->tid, max(in, a->tick), b->wait - was.wait, true);
	}
	/*
	 * The thread ran between both readings and left its CPU again; only the length of the run
	 * is known.
	 */
	out = lo + (b->tick - lo) / 2;
	in = max(out - run, a->tick);
	was.resolution = max(was.resolution, (b->tick - lo) / 2);
	ret = add_off(c, &was, a->tid, in, b->wait - was.wait, true);
	leave(n, b, max(out, in + run), (b->tick - lo) / 2, b->wait);
	return ret;
}

/*
 * Returns true if both readings are of the same thread.  If a tid is used again, its counters start
 * again at 0.
 */
static bool is_same(const struct reading *a, const struct reading *b)
{
	return a && a->tid == b->tid && b->run >= a->run && b->wait >= a->wait &&
	       (int32_t)(b->nr_runs - a->nr_runs) >= 0;
}

static int follow(struct counters *c, struct now *n, const struct reading *a, const struct reading *b)
{
	if (!n->is_off)
		return after_on(c, n, a, b);
	if (b->nr_runs != a->nr_runs)
		return after_off(c, n, a, b);
	read_off(n, b);
	return 0;
}

/* Begins a thread with its first reading, which contains when the thread last ran. */
static void begin(struct now *n, const struct reading *before, const struct reading *b)
{
	bool has_ran = b->ran > -TICKS_MAX;
	int64_t ran = has_ran ? b->ran : b->tick;

	*n = (struct now){ 0 };
	if (is_on(b))
		return;
	if (before && before->tid == b->tid)
		ran = max(ran, before->tick);
	leave(n, b, ran + (b->tick - ran) / 2, (b->tick - ran) / 2, b->wait);
	n->has_out = has_ran;
}

static int make_offs(struct counters *c)
{
	const struct reading *a = NULL;
	struct now n = { 0 };
	int ret = 0;

	for (size_t i = 0; i < c->nr_readings && !ret; i++) {
		const struct reading *b = &c->readings[i];

		if (is_same(a, b)) {
			ret = follow(c, &n, a, b);
		} else {
			if (n.is_off)
				ret = add_off(c, &n, a->tid, a->tick, 0, false);
			begin(&n, a, b);
		}
		if (b->flags & LDB_SCHEDSTAT_F_SLEEPS)
			n.status = b;
		a = b;
	}
	return ret || !n.is_off ? ret : add_off(c, &n, a->tid, a->tick, 0, false);
}

int counters_open(struct counters **counters, struct reader *r)
{
	double ns = reader_ticks_to_ns(r, 1);
	struct counters *c = calloc(1, sizeof(*c));
	int ret;

	*counters = NULL;
	if (!c)
		return -ENOMEM;
	c->reader = r;
	c->ticks_per_ns = ns > 0 ? 1 / ns : 0;
	c->vague = ticks_of(c, VAGUE_NS);
	c->together = ticks_of(c, TOGETHER_NS);
	ret = rows_each(r, LDB_BLK_SCHEDSTAT, NULL, add_row, c);
	if (!ret) {
		sort_by(c->readings, c->nr_readings, reading_compare);
		ret = make_offs(c);
	}
	if (ret || !c->nr_readings)
		counters_close(c);
	else
		*counters = c;
	return ret;
}

void counters_close(struct counters *c)
{
	if (!c)
		return;
	free(c->readings);
	free(c->offs);
	free(c);
}

int64_t counters_unplaced_ns(const struct counters *c)
{
	return ticks_ns(c->reader, c->unplaced);
}

static int call_off(const struct off *o, const struct sched_sink *sink)
{
	struct sched_off off = {
		.tid = o->tid, .out = o->out, .woken = o->woken, .in = o->in, .has_out = o->has_out,
		.has_woken = true, .has_in = o->has_in, .is_counted = true, .resolution = o->resolution,
		.is_preempted = o->woken == o->out, .state = o->state, .cpu_out = UINT32_MAX,
		.cpu_wait = UINT32_MAX, .cpu_in = UINT32_MAX, .cpu_waker = UINT32_MAX,
	};

	return sink->off ? sink->off(sink->arg, &off) : 0;
}

/* Reports that the thread ran from the end of one interval off the CPU to the start of the next. */
static int call_run(const struct off *o, const struct sched_sink *sink)
{
	struct sched_run run = {
		.tid = o->tid, .start = o->in, .end = o[1].out, .has_start = o->has_in, .has_end = true,
	};

	return sink->run && o[1].tid == o->tid && run.end > run.start ? sink->run(sink->arg, &run) : 0;
}

int counters_each(const struct counters *c, int64_t from, int64_t to, const struct sched_sink *sink,
		  struct sched_result *result)
{
	int ret = 0;

	*result = (struct sched_result){ .first = INT64_MAX, .last = INT64_MIN };
	result->nr_rows = c->nr_readings;
	for (size_t i = 0; i < c->nr_readings; i++) {
		result->first = min(result->first, c->readings[i].tick);
		result->last = max(result->last, c->readings[i].tick);
	}
	for (size_t i = 0; i < c->nr && !ret; i++) {
		const struct off *o = &c->offs[i];

		if (o->in < from || o->out > to)
			continue;
		ret = call_off(o, sink);
		if (!ret && i + 1 < c->nr)
			ret = call_run(o, sink);
	}
	return ret;
}
