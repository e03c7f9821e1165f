// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the rows of invocations; see chain.h.  Some are rows of the scanner, narrowed by what the
 * kernel has observed; others are from the kernel alone.  Rows are written in order of their ends,
 * after a delay in which other rows that bound them can arrive (nest.c).
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "record/chain/private.h"

/* rows are written at most this often in the time for which an invocation is retained */
#define BATCHES		8

static uint64_t hash_of(uint32_t tid, uint64_t gen)
{
	return hash_mix(hash_mix(0, tid), gen);
}

static uint64_t width(int64_t min, int64_t max)
{
	return min == NOT_KNOWN ? LDB_UNC_UNKNOWN : (uint64_t)(max - min);
}

static int64_t lower(int64_t max, uint64_t unc)
{
	return unc == LDB_UNC_UNKNOWN ? NOT_KNOWN : max - (int64_t)unc;
}

/*
 * Returns true if the thread's counter of calls includes this invocation.  The counter includes all
 * invocations that are still running at the end of the recording; of the others, those that began
 * during the recording.
 */
static bool is_counted(uint32_t flags)
{
	return !(flags & LDB_FUNC_F_FROM_START) || flags & LDB_FUNC_F_OPEN;
}

/* Invocations that were written or dropped before the scanner's row arrived: see struct alone */

static const struct alone *find_alone(const struct chains *c, uint32_t tid, uint64_t gen)
{
	uint32_t n;

	hash_each(&c->by_alone, hash_of(tid, gen), n)
		if (c->alone[n].gen == gen && c->alone[n].tid == tid)
			return &c->alone[n];
	return NULL;
}

/* Stores an invocation; drops the older half if there are too many. */
static void remember_alone(struct chains *c, const struct seen *s, bool is_left_out)
{
	size_t half = ALONE_MAX / 2;

	if (c->nr_alone == ALONE_MAX) {
		c->nr_alone -= half;
		memmove(c->alone, c->alone + half, c->nr_alone * sizeof(*c->alone));
		hash_clear(&c->by_alone);
		for (size_t i = 0; i < c->nr_alone; i++)
			hash_put(&c->by_alone, hash_of(c->alone[i].tid, c->alone[i].gen), i);
	}
	if (array_room(&c->alone, &c->room_alone, c->nr_alone, sizeof(*c->alone)) &&
	    !hash_add(&c->by_alone, hash_of(s->tid, s->gen), c->nr_alone))
		c->alone[c->nr_alone++] = (struct alone){ s->tid, is_left_out, s->gen };
}

/* Writing */

static void write_row(struct chains *c, const struct seen *s)
{
	struct chain *t = chain_of(c, s->tid);
	/* The end must not be before the beginning. */
	int64_t end_min = s->end_min == NOT_KNOWN ? NOT_KNOWN : max(s->end_min, s->start_min);
	struct ldb_row_func row = {
		.flags = s->flags, .tid = s->tid, .pc = s->pc, .ret = s->ret, .gen = s->gen,
		.parent_gen = s->parent, .depth = s->depth,
		.start_max = s->start_max, .start_unc = width(s->start_min, s->start_max),
		.end_max = s->end_max, .end_unc = width(end_min, s->end_max),
	};

	/* Its caller is not known: if the scanner delivers a row of it, that row is written. */
	if (!s->is_placed)
		return;
	if (!s->by_scanner) {
		remember_alone(c, s, c->only_scanned);
		if (c->only_scanned || (!s->flags && s->end_max - s->start_min < c->least))
			return;
	}
	if (t) {
		t->nr_alone += is_counted(s->flags);
		t->written = max(t->written, row.end_max);
	}
	c->ops->out(c->arg, &row);
}

static struct seen *find_ended(const struct chains *c, uint32_t tid, uint64_t gen)
{
	uint32_t n;

	hash_each(&c->by_gen, hash_of(tid, gen), n)
		if (c->ended[n].gen == gen && c->ended[n].tid == tid)
			return &c->ended[n];
	return NULL;
}

static void number_ended(struct chains *c)
{
	hash_clear(&c->by_gen);
	for (size_t i = 0; i < c->nr_ended; i++)
		if (c->ended[i].by_kernel)
			hash_put(&c->by_gen, hash_of(c->ended[i].tid, c->ended[i].gen), i);
}

/*
 * Makes the bounds of all invocations consistent.  Invocations that have not ended bound the
 * others, too.  Returns false if there is no memory.
 */
static bool make_agree(struct chains *c)
{
	struct chain_nest *n = &c->nest;

	if (!array_reserve(&c->bounded, &c->room_bounded, c->nr_ended, sizeof(*c->bounded)))
		return false;
	chain_nest_begin(n);
	for (size_t i = 0; i < c->nr_ended; i++) {
		c->bounded[i] = c->ended[i];
		if (c->bounded[i].is_placed)
			chain_nest_add(n, &c->bounded[i]);
	}
	for (size_t i = 0; i < c->nr_chains; i++) {
		struct chain *t = &c->chains[i];

		for (size_t d = 0; d < t->nr; d++) {
			struct seen *s = &t->stack[d];

			if (s->is_placed && !(s->by_scanner && find_ended(c, s->tid, s->gen)))
				chain_nest_add(n, s);
		}
	}
	chain_nest_finish(n);
	return true;
}

void chain_rows_bound_running(struct chains *c)
{
	make_agree(c);
}

/*
 * Returns true if the invocation may be written: it ended before `before`, or the scanner has
 * polled the thread since, so that the scanner's row, if there is one, has arrived.
 */
static bool is_ripe(const struct chains *c, const struct seen *s, int64_t tick, int64_t before)
{
	const struct chain *t = chain_of(c, s->tid);

	return s->end_max < before || (t && s->end_max < t->polled && t->polled <= tick);
}

/*
 * Invocations without an end come last.  Of invocations that end at the same time, callees come
 * first.
 */
static int by_end(const void *pa, const void *pb)
{
	const struct seen *a = pa, *b = pb;
	uint32_t a_open = a->flags & LDB_FUNC_F_OPEN, b_open = b->flags & LDB_FUNC_F_OPEN;

	if (a_open != b_open)
		return a_open ? 1 : -1;
	if (!a_open)
		UP(end_max)
	DOWN(depth)
	DOWN(gen)
	return 0;
}

static void write_bounded(struct chains *c)
{
	sort_by(c->bounded, c->nr_bounded, by_end);
	for (size_t i = 0; i < c->nr_bounded; i++)
		write_row(c, &c->bounded[i]);
}

/*
 * An invocation in a thread's last reading has ended if its caller has, or if a newer one began
 * afterwards.  Such an invocation is written now, because the rows of its callers are written, too.
 */
static void take_ended(struct chains *c, struct chain *t, int64_t tick, int64_t before)
{
	for (size_t i = 0; i < t->nr && !c->only_scanned; i++) {
		struct seen *s = &t->stack[i], copy = *s;

		if (!s->is_placed || s->by_scanner || s->ends_by == INT64_MAX)
			continue;
		chain_end_known(c, t, &copy);
		if (!is_ripe(c, &copy, tick, before) ||
		    !array_room(&c->bounded, &c->room_bounded, c->nr_bounded, sizeof(copy)))
			continue;
		c->bounded[c->nr_bounded++] = copy;
		/* From here on, the invocation is treated as if its row had been delivered. */
		s->by_scanner = true;
	}
}

static void write_ended(struct chains *c, int64_t tick, int64_t before)
{
	size_t nr_left = 0;

	if (!make_agree(c))
		return;
	c->nr_bounded = 0;
	for (size_t i = 0; i < c->nr_ended; i++)
		if (is_ripe(c, &c->bounded[i], tick, before))
			c->bounded[c->nr_bounded++] = c->bounded[i];
		else
			/*
			 * the copy contains the bounds that follow from the invocations that are
			 * written now
			 */
			c->ended[nr_left++] = c->bounded[i];
	for (size_t i = 0; i < c->nr_chains; i++)
		take_ended(c, &c->chains[i], tick, before);
	write_bounded(c);
	c->nr_ended = nr_left;
	number_ended(c);
}

static void add_ended(struct chains *c, const struct seen *s)
{
	const struct chain *t = chain_of(c, s->tid);

	/* Readers rely on callees being written before their callers. */
	if (t && s->end_max <= t->written && !(s->flags & LDB_FUNC_F_OPEN)) {
		c->nr_late += s->by_scanner || !c->only_scanned;
		if (!s->by_scanner)
			remember_alone(c, s, c->only_scanned);
		return;
	}
	if (c->nr_ended == ENDED_MAX)
		write_ended(c, INT64_MAX, INT64_MAX);
	if (array_room(&c->ended, &c->room_ended, c->nr_ended, sizeof(*s)) &&
	    !(s->by_kernel && hash_add(&c->by_gen, hash_of(s->tid, s->gen), c->nr_ended)))
		c->ended[c->nr_ended++] = *s;
	else
		write_row(c, s);
}

/* Joining */

/* Narrows the first pair of bounds by the second, unless the two contradict each other. */
static void narrow(int64_t *min, int64_t *max, int64_t other_min, int64_t other_max)
{
	int64_t new_min = max(*min, other_min), new_max = min(*max, other_max);

	if (new_min > new_max)
		return;
	*min = new_min;
	*max = new_max;
}

void chain_rows_end(struct chains *c, const struct seen *s)
{
	struct seen *known;

	if (!s->by_scanner || s->is_left) {
		add_ended(c, s);
		return;
	}
	known = find_ended(c, s->tid, s->gen);
	if (known)
		narrow(&known->end_min, &known->end_max, s->end_min, s->end_max);
}

static struct seen seen_of(const struct ldb_row_func *row)
{
	struct bounds b = {
		lower(row->start_max, row->start_unc), row->start_max, lower(row->end_max, row->end_unc), row->end_max,
		row->flags,
	};

	return (struct seen){
		.tid = row->tid, .flags = row->flags, .depth = row->depth, .is_placed = true, .by_scanner = true,
		.gen = row->gen, .parent = row->parent_gen, .pc = row->pc, .ret = row->ret,
		.start_min = b.start_min, .start_max = b.start_max, .end_min = b.end_min, .end_max = b.end_max,
		.ends_by = INT64_MAX, .scanned = b,
	};
}

/*
 * Sets the end of a row whose invocation is still running as far as the scanner knows, because the
 * scanner did not run when the invocation ended.
 */
static void close_row(struct seen *s, int64_t end_min, int64_t end_max)
{
	s->flags &= ~LDB_FUNC_F_OPEN;
	s->end_min = end_min;
	s->end_max = end_max;
}

/*
 * Joins what the scanner and the kernel know of an invocation.  If k->end_max is INT64_MAX, the
 * invocation has not ended.
 */
static struct seen join(const struct ldb_row_func *row, const struct seen *k)
{
	struct seen s = seen_of(row);

	s.by_kernel = true;
	/*
	 * The scanner marks an invocation that it finds at its first poll as older than the
	 * recording.
	 */
	if (k->start_min != NOT_KNOWN)
		s.flags &= ~LDB_FUNC_F_FROM_START;
	narrow(&s.start_min, &s.start_max, k->start_min, k->start_max);
	/* The kernel reads all blocks at the same time, the scanner one after another. */
	if (k->is_placed) {
		s.depth = k->depth;
		s.parent = k->parent;
	}
	if (!(row->flags & LDB_FUNC_F_OPEN))
		narrow(&s.end_min, &s.end_max, k->end_min, k->end_max);
	else if (k->end_max == INT64_MAX)
		s.end_max = max(s.end_max, k->end_min);
	else
		close_row(&s, k->end_min, k->end_max);
	return s;
}

/* Joins the scanner's row with an invocation that is in the kernel's last reading of the thread. */
static void join_running(struct chains *c, const struct chain *t, const struct ldb_row_func *row,
			 struct seen *s)
{
	struct seen still = *s;

	if (s->by_scanner)
		return;
	still.end_min = chain_running_since(c, t);
	still.end_max = INT64_MAX;
	still = join(row, &still);
	s->by_scanner = true;
	/* in an incomplete reading */
	if (!s->is_placed) {
		s->depth = still.depth;
		s->parent = still.parent;
		s->is_placed = true;
	}
	s->start_min = still.start_min;
	s->start_max = still.start_max;
	s->flags &= still.flags | LDB_FUNC_F_OPEN;
	/*
	 * If the scanner, too, has observed no end of the invocation, it is written with those that
	 * only the kernel has observed.
	 */
	s->is_left = still.flags & LDB_FUNC_F_OPEN;
	if (s->is_left) {
		s->end_min = still.end_max;
		return;
	}
	s->end_max = s->ends_by = still.end_max;
	add_ended(c, &still);
}

/*
 * Adds an invocation that is in no reading of the kernel.  It was running at start_max, so it began
 * and ended between the readings before and after that time.  Time stamps are not exact, so a
 * reading close to that time may be either of the two.
 */
static void add_scanned(struct chains *c, const struct chain *t, const struct ldb_row_func *row)
{
	struct seen s = seen_of(row);
	size_t before = search(t->nr_readings, i, t->readings[i].tick <= row->start_max - c->error);
	size_t after = search(t->nr_readings, i, t->readings[i].tick <= row->start_max + c->error);
	int64_t gone;

	if (before && !(row->flags & LDB_FUNC_F_FROM_START))
		narrow(&s.start_min, &s.start_max, t->readings[before - 1].came - c->error, INT64_MAX);
	if (after < t->nr_readings) {
		gone = t->readings[after].tick + c->error;
		if (row->flags & LDB_FUNC_F_OPEN)
			close_row(&s, row->end_max < gone ? row->end_max : row->start_max, gone);
		else
			narrow(&s.end_min, &s.end_max, NOT_KNOWN, gone);
	}
	add_ended(c, &s);
}

static void take_row(struct chains *c, const struct ldb_row_func *row)
{
	struct chain *t = chain_of(c, row->tid);
	const struct alone *alone;
	struct seen *s, only;

	if (t && row->flags & LDB_FUNC_F_RESUMED && !t->is_left_alone)
		chain_leave_alone(c, t);
	if (!t || t->is_left_alone || !t->was_read || row->start_max < t->born) {
		c->ops->out(c->arg, row);
		return;
	}
	t->nr_alone -= is_counted(row->flags);
	s = chain_find(t, row->gen);
	if (s) {
		join_running(c, t, row, s);
		return;
	}
	s = find_ended(c, row->tid, row->gen);
	alone = s ? NULL : find_alone(c, row->tid, row->gen);
	if (s && !s->by_scanner) {
		*s = join(row, s);
	} else if (alone && alone->is_left_out) {
		/* A reading contained it, so add_scanned() would be wrong. */
		only = seen_of(row);
		add_ended(c, &only);
	} else if (!s && !alone) {
		add_scanned(c, t, row);
	}
}

bool chains_func(struct chains *c, const struct ldb_row_func *row)
{
	if (!c->is_on || !array_room(&c->rows, &c->room_rows, c->nr_rows, sizeof(*row)))
		return false;
	c->rows[c->nr_rows++] = *row;
	return true;
}

/*
 * Processes rows whose invocations are still running as far as the scanner knows.  Readings after
 * the scanner's last poll of the thread can show more, so the rows are retained until the thread or
 * the recording has ended.
 */
static void take_open_rows(struct chains *c, bool is_end)
{
	size_t nr_left = 0;

	for (size_t i = 0; i < c->nr_open; i++) {
		const struct chain *t = chain_of(c, c->open[i].tid);

		if (is_end || !t || t->has_ended)
			take_row(c, &c->open[i]);
		else
			c->open[nr_left++] = c->open[i];
	}
	c->nr_open = nr_left;
}

/* Rows come from several rings, so their order is only approximate. */
static void take_rows(struct chains *c, int64_t tick)
{
	size_t nr_left = 0;

	for (size_t i = 0; i < c->nr_rows; i++) {
		const struct ldb_row_func *row = &c->rows[i];

		if (row->end_max > tick)
			c->rows[nr_left++] = *row;
		else if (row->flags & LDB_FUNC_F_OPEN && array_room(&c->open, &c->room_open, c->nr_open, sizeof(*row)))
			c->open[c->nr_open++] = *row;
		else
			take_row(c, row);
	}
	c->nr_rows = nr_left;
	take_open_rows(c, tick == INT64_MAX);
}

void chain_rows_open(struct chains *c, const struct seen *s)
{
	if (!s->by_scanner || s->is_left)
		add_ended(c, s);
}

static struct seen only_scanned(const struct seen *s)
{
	struct seen copy = *s;

	copy.flags = s->scanned.flags;
	copy.start_min = s->scanned.start_min;
	copy.start_max = s->scanned.start_max;
	copy.end_min = s->scanned.end_min;
	copy.end_max = s->scanned.end_max;
	return copy;
}

void chain_rows_give_back(struct chains *c, const struct chain *t)
{
	size_t nr = 0;

	if (!array_reserve(&c->bounded, &c->room_bounded, c->nr_ended + t->nr, sizeof(*c->bounded)))
		return;
	c->nr_bounded = 0;
	for (size_t i = 0; i < c->nr_ended; i++)
		if (c->ended[i].tid != t->tid)
			c->ended[nr++] = c->ended[i];
		else if (c->ended[i].by_scanner)
			c->bounded[c->nr_bounded++] = only_scanned(&c->ended[i]);
	for (size_t i = 0; i < t->nr; i++) {
		struct seen *s = &t->stack[i];

		if (!s->is_left)
			continue;
		s->flags |= LDB_FUNC_F_OPEN;
		s->end_max = s->end_min;
		c->bounded[c->nr_bounded++] = *s;
	}
	write_bounded(c);
	c->nr_ended = nr;
	number_ended(c);
}

/*
 * The program may run code on stacks that it has made itself, and that belong to no thread.  When
 * it switches between stacks, frames leave the chain and come back, and the readings do not show
 * which of them have ended.  The scanner can follow such threads.
 */
void chain_leave_alone(struct chains *c, struct chain *t)
{
	chain_rows_give_back(c, t);
	t->is_left_alone = true;
	t->nr = t->nr_fresh = t->nr_readings = 0;
	t->is_away = false;
}

void chain_rows_cut(struct chains *c, uint32_t tid, int64_t tick)
{
	for (size_t i = 0; i < c->nr_ended; i++) {
		struct seen *s = &c->ended[i];

		if (s->tid == tid && s->end_max > tick)
			s->end_max = max(tick, s->start_max);
	}
}

/*
 * Returns when the scanner last polled the thread.  After the thread's exit, its page may belong to
 * another thread.
 */
static int64_t polled_at(const struct chains *c, const struct chain *t)
{
	uint64_t last;

	if (!t->page || t->has_ended || t->page->tid != t->tid)
		return NOT_KNOWN;
	last = t->page->last_look_tsc;
	return last ? (int64_t)(last - c->t0) : NOT_KNOWN;
}

static void note_polls(struct chains *c)
{
	for (size_t i = 0; i < c->nr_chains; i++)
		c->chains[i].polled = polled_at(c, &c->chains[i]);
}

void chain_rows_release(struct chains *c, int64_t tick)
{
	/* The stamp of a reading that has not been processed yet may be late by up to c->error. */
	if (tick != INT64_MAX)
		tick -= c->error;
	take_rows(c, tick);
	/*
	 * At the end of the recording, chain_rows_finish() writes all: the rows of running
	 * invocations, which bound the others, are added first.
	 */
	if (tick == INT64_MAX || tick - c->released < c->wait / BATCHES)
		return;
	write_ended(c, tick, tick - c->wait);
	note_polls(c);
	c->released = tick;
}

void chain_rows_finish(struct chains *c)
{
	write_ended(c, INT64_MAX, INT64_MAX);
}
