// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes rows of invocations: of the scanner's rows with what the kernel knows of them, and of what
 * the kernel alone has observed; see chain.h.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "record/chain-private.h"

static uint64_t hash_of(uint32_t tid, uint64_t gen)
{
	return hash_mix(hash_mix(0, tid), gen);
}

static uint64_t width(int64_t min, int64_t max)
{
	return min == NOT_KNOWN ? LDB_UNC_UNKNOWN : (uint64_t)(max - min);
}

/* Of an invocation that the scanner has not observed. */
static void write_alone(struct chains *c, const struct seen *s, uint32_t flags)
{
	struct chain *t = chain_of(c, s->tid);
	struct ldb_row_func row = {
		.flags = flags | (s->start_min == NOT_KNOWN ? LDB_FUNC_F_FROM_START : 0), .tid = s->tid,
		.pc = s->pc, .ret = s->ret, .gen = s->gen, .parent_gen = s->parent, .depth = s->depth,
		.start_max = s->start_max, .start_unc = width(s->start_min, s->start_max),
		.end_max = s->end_max, .end_unc = width(s->end_min, s->end_max),
	};

	if (s->start_min != NOT_KNOWN && !flags && s->end_max - s->start_min < c->least)
		return;
	if (t)
		t->nr_alone++;
	c->out(c->arg, &row);
}

/* Narrows the bounds [max - *unc, *max] of a row; if they contradict, the row's stay. */
static void narrow(int64_t *max, uint64_t *unc, int64_t seen_min, int64_t seen_max)
{
	int64_t new_max = min(*max, seen_max);
	int64_t min = *unc == LDB_UNC_UNKNOWN ? NOT_KNOWN : *max - (int64_t)*unc;

	min = max(min, seen_min);
	if (min > new_max)
		return;
	*max = new_max;
	*unc = width(min, new_max);
}

static void put_row(struct chains *c, struct ldb_row_func *row)
{
	int64_t start_min = row->start_max - (int64_t)row->start_unc;

	/* It did not end before it began. */
	if (row->start_unc != LDB_UNC_UNKNOWN && row->end_unc != LDB_UNC_UNKNOWN &&
	    row->end_max - (int64_t)row->end_unc < start_min)
		row->end_unc = row->end_max - start_min;
	c->out(c->arg, row);
}

/* For the scanner it is still running, but the scanner was away when it ended. */
static void close_row(struct chains *c, struct ldb_row_func *row, int64_t end_min, int64_t end_max)
{
	struct chain *t = chain_of(c, row->tid);

	row->flags &= ~LDB_FUNC_F_OPEN;
	row->end_max = end_max;
	row->end_unc = width(end_min, end_max);
	/* The scanner counts those that ran before only if they have not ended. */
	if (t && row->flags & LDB_FUNC_F_FROM_START)
		t->nr_alone--;
}

static void join_end(struct chains *c, struct ldb_row_func *row, struct seen *s)
{
	if (!(row->flags & LDB_FUNC_F_OPEN)) {
		narrow(&row->end_max, &row->end_unc, s->end_min, s->end_max);
		s->end_max = row->end_max;
	} else if (s->end_max == INT64_MAX) {
		row->end_max = max(row->end_max, s->end_min);
	} else {
		close_row(c, row, s->end_min, s->end_max);
	}
}

static void write_joined(struct chains *c, const struct ldb_row_func *scanned, struct seen *s)
{
	struct ldb_row_func row = *scanned;

	if (!(row.flags & LDB_FUNC_F_FROM_START))
		narrow(&row.start_max, &row.start_unc, s->start_min, s->start_max);
	/* All blocks were read at one time, the scanner's one after the other. */
	if (s->is_placed) {
		row.depth = s->depth;
		row.parent_gen = s->parent;
	}
	join_end(c, &row, s);
	s->is_written = true;
	put_row(c, &row);
}

/* Invocations that have ended */

static struct seen *find_ended(const struct chains *c, uint32_t tid, uint64_t gen)
{
	uint32_t n;

	hash_each(&c->by_gen, hash_of(tid, gen), n)
		if (c->ended[n].gen == gen && c->ended[n].tid == tid)
			return &c->ended[n];
	return NULL;
}

/* The scanner may know better when a caller ended that is gone since the same reading. */
static void end_with_callers(const struct chains *c, struct seen *s)
{
	const struct seen *caller = find_ended(c, s->tid, s->parent);

	for (unsigned i = 0; caller && i < LDB_STACK_MAX; i++) {
		s->end_max = min(s->end_max, max(caller->end_max, s->start_max));
		s->end_min = min(s->end_min, s->end_max);
		caller = find_ended(c, s->tid, caller->parent);
	}
}

static void write_ended(struct chains *c, int64_t before)
{
	for (; c->nr_written < c->nr_ended; c->nr_written++) {
		struct seen *s = &c->ended[c->nr_written];

		if (s->is_written)
			continue;
		if (s->end_max >= before)
			return;
		end_with_callers(c, s);
		write_alone(c, s, 0);
		s->is_written = true;
	}
}

/* Forgets the older half of those that were written. */
static void forget_written(struct chains *c)
{
	size_t nr = c->nr_written / 2;

	memmove(c->ended, c->ended + nr, (c->nr_ended - nr) * sizeof(*c->ended));
	c->nr_ended -= nr;
	c->nr_written -= nr;
	hash_clear(&c->by_gen);
	for (size_t i = 0; i < c->nr_ended; i++)
		hash_put(&c->by_gen, hash_of(c->ended[i].tid, c->ended[i].gen), i);
}

void chain_rows_end(struct chains *c, const struct seen *s)
{
	if (c->nr_ended == ENDED_MAX) {
		write_ended(c, INT64_MAX);
		forget_written(c);
	}
	if (!array_room(&c->ended, &c->room_ended, c->nr_ended, sizeof(*s)) ||
	    hash_add(&c->by_gen, hash_of(s->tid, s->gen), c->nr_ended)) {
		if (!s->is_written)
			write_alone(c, s, 0);
		return;
	}
	c->ended[c->nr_ended++] = *s;
}

/* The scanner's rows */

/* Of two with one caller the newer one began when the other had ended. */
static bool has_ended_before(const struct seen *s, const struct ldb_row_func *row)
{
	return BLOCK(s->gen) == BLOCK(row->gen) && s->gen < row->gen && s->depth >= row->depth;
}

/* Bounds the ends of what the kernel alone has observed and had returned when the row began. */
static void end_before(struct chains *c, const struct ldb_row_func *row, int64_t gone)
{
	size_t i = search(c->nr_ended, n, c->ended[n].gone < gone);

	for (; i < c->nr_ended && c->ended[i].gone == gone; i++) {
		struct seen *s = &c->ended[i];

		if (s->tid == row->tid && has_ended_before(s, row) && !s->is_written)
			s->end_max = min(s->end_max, max(row->start_max, s->end_min));
	}
}

/* The same for what is in the last reading; the next one has not come yet. */
static void end_on_stack(struct chain *t, const struct ldb_row_func *row)
{
	for (size_t i = t->nr; i && t->stack[i - 1].depth >= row->depth; i--)
		if (has_ended_before(&t->stack[i - 1], row))
			t->stack[i - 1].ends_by = min(t->stack[i - 1].ends_by, row->start_max);
}

/*
 * It is in no reading, and was there at start_max: so it is between the two around that.  Those
 * that it called are in none either, and end with it.
 */
static void write_scanned(struct chains *c, struct chain *t, const struct ldb_row_func *scanned)
{
	struct ldb_row_func row = *scanned;
	size_t n = search(t->nr_readings, i, t->readings[i].tick <= row.start_max);

	if (n && !(row.flags & LDB_FUNC_F_FROM_START))
		narrow(&row.start_max, &row.start_unc, t->readings[n - 1].came - CLOCK_ERROR, INT64_MAX);
	if (n == t->nr_readings) {
		end_on_stack(t, &row);
	} else {
		int64_t gone = t->readings[n].tick + CLOCK_ERROR;

		if (row.flags & LDB_FUNC_F_OPEN)
			close_row(c, &row, row.end_max < gone ? row.end_max : row.start_max, gone);
		else
			narrow(&row.end_max, &row.end_unc, NOT_KNOWN, gone);
		end_before(c, &row, t->readings[n].tick);
	}
	put_row(c, &row);
}

/*
 * May it have been running at a reading, or tell of what the next one did not find any more?  Not
 * all readings are remembered.
 */
static bool is_around_reading(const struct chain *t, const struct ldb_row_func *row)
{
	int64_t start = row->start_max - (int64_t)row->start_unc;
	size_t n = search(t->nr_readings, i, t->readings[i].tick < row->end_max + CLOCK_ERROR);

	return !t->nr_readings || (n < t->nr_readings ? t->readings[n].nr_gone : t->nr) ||
	       row->start_unc == LDB_UNC_UNKNOWN || row->flags & LDB_FUNC_F_OPEN ||
	       start <= t->readings[0].tick ||
	       (n && t->readings[n - 1].tick + CLOCK_ERROR > start);
}

static void take_row(struct chains *c, const struct ldb_row_func *row)
{
	struct chain *t = chain_of(c, row->tid);
	struct seen *s;

	/* Most are short: they are known without a search. */
	if (!t || !is_around_reading(t, row)) {
		c->out(c->arg, row);
		return;
	}
	s = chain_find(t, row->gen);
	if (s) {
		struct seen still = *s;

		/* It was there when it was read last, and the thread has not run since. */
		still.end_min = chain_running_since(t);
		still.end_max = INT64_MAX;
		if (!s->is_written)
			write_joined(c, row, &still);
		s->is_written = true;
		return;
	}
	s = find_ended(c, row->tid, row->gen);
	if (!s)
		write_scanned(c, t, row);
	else if (!s->is_written)
		write_joined(c, row, s);
	else
		t->nr_alone--;	/* the scanner has counted it, too, and late */
}

bool chains_func(struct chains *c, const struct ldb_row_func *row)
{
	if (!c->is_on || !array_room(&c->rows, &c->room_rows, c->nr_rows, sizeof(*row)))
		return false;
	c->rows[c->nr_rows++] = *row;
	return true;
}

static void take_rows(struct chains *c, int64_t tick)
{
	while (c->nr_done < c->nr_rows && c->rows[c->nr_done].end_max <= tick)
		take_row(c, &c->rows[c->nr_done++]);
	if (c->nr_done < c->nr_rows / 2)
		return;
	c->nr_rows -= c->nr_done;
	memmove(c->rows, c->rows + c->nr_done, c->nr_rows * sizeof(*c->rows));
	c->nr_done = 0;
}

void chain_rows_open(struct chains *c, const struct seen *s)
{
	if (!s->is_written)
		write_alone(c, s, LDB_FUNC_F_OPEN);
}

void chain_rows_release(struct chains *c, int64_t tick)
{
	take_rows(c, tick);
	write_ended(c, tick == INT64_MAX ? INT64_MAX : tick - c->wait);
}
