/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where threads spent their time without the tools' analysis: each thread is a row of
 * ticks, over which the rows of a trace are painted, those of a higher priority over those of a
 * lower one.  It is an oracle for the attribution, for traces whose calls are known exactly.
 */
#ifndef PAINT_H
#define PAINT_H

#include <stdlib.h>
#include <string.h>
#include "analysis/attribution/states.h"
#include "trace/reader.h"

#define PAINT_TIDS	8
#define PAINT_DEPTHS	8
#define PAINT_NONE	0xff
#define PAINT_ROWS	50000

/* Holds a tick's state, and for FUNCTION the number of the function: paint_number(). */
struct paint_tick {
	uint8_t state, function;
};

struct paint {
	struct paint_tick *at[PAINT_TIDS];
	int64_t nr;
	uint64_t pcs[8];		/* addresses of the functions, by their number */
	unsigned nr_pcs, depth;
	int64_t out[PAINT_TIDS], woken[PAINT_TIDS];
	uint32_t state[PAINT_TIDS];
	struct ldb_row_func *funcs;
	struct ldb_row_flow_call *calls;
	size_t nr_funcs, nr_calls;
};

static unsigned paint_number(struct paint *p, uint64_t pc)
{
	unsigned n = 0;

	while (n < p->nr_pcs && p->pcs[n] != pc)
		n++;
	if (n == p->nr_pcs && n < 8)
		p->pcs[p->nr_pcs++] = pc;
	return n;
}

static void paint(struct paint *p, uint32_t tid, int64_t start, int64_t end, unsigned state,
		  unsigned function)
{
	for (int64_t t = start > 0 ? start : 0; tid < PAINT_TIDS && t < end && t < p->nr; t++)
		p->at[tid][t] = (struct paint_tick){ state, function };
}

static int paint_funcs(void *arg, const struct reader_rows *rows)
{
	struct paint *p = arg;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct ldb_row_func *f = &rows->func[i];

		if (f->depth == p->depth)
			paint(p, f->tid, f->start_max, f->end_max, LEAF_FUNCTION, paint_number(p, f->pc));
	}
	return 0;
}

/* Collects the calls of functions and of libraries.  Returns true if there are too many. */
static int paint_collect(void *arg, const struct reader_rows *rows)
{
	struct paint *p = arg;

	for (size_t i = 0; i < rows->nr; i++) {
		size_t n = rows->kind == LDB_BLK_FUNC ? p->nr_funcs++ : p->nr_calls++;

		if (rows->kind == LDB_BLK_FUNC && n < PAINT_ROWS)
			p->funcs[n] = rows->func[i];
		else if (n < PAINT_ROWS)
			p->calls[n] = rows->flow_call[i];
	}
	return p->nr_funcs > PAINT_ROWS || p->nr_calls > PAINT_ROWS;
}

static int paint_call_compare(const void *pa, const void *pb)
{
	const struct ldb_row_flow_call *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

static int paint_func_compare(const void *pa, const void *pb)
{
	const struct ldb_row_func *a = pa, *b = pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->gen < b->gen ? -1 : a->gen > b->gen;
}

/* Paints the library calls that functions of the present depth made, the outer ones first. */
static void paint_calls(struct paint *p)
{
	for (size_t i = 0; i < p->nr_calls; i++) {
		const struct ldb_row_flow_call *c = &p->calls[i];
		struct ldb_row_func want = { .tid = c->tid, .gen = c->gen - ((uint64_t)(c->nr_later - 1) << 16) };
		const struct ldb_row_func *f = bsearch(&want, p->funcs, p->nr_funcs, sizeof(want), paint_func_compare);

		if (f && f->depth == p->depth)
			paint(p, c->tid, c->start, c->end, LEAF_LIBCALL, 0);
	}
}

static int paint_waits(void *arg, const struct reader_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		if (rows->lock[i].op == LDB_LOCK_OP_WAIT)
			paint(arg, rows->lock[i].tid, rows->lock[i].begin, rows->lock[i].end, LEAF_LOCK, 0);
	return 0;
}

/* A sleep in a wait for a lock is attributed to the lock, except for a sleep in disk I/O. */
static void paint_sleep(struct paint *p, uint32_t tid, int64_t start, int64_t end)
{
	unsigned state = p->state[tid] == LDB_STATE_DISK ? LEAF_IO : LEAF_SLEEP;

	for (int64_t t = start; t < end && t < p->nr; t++)
		if (state == LEAF_IO || p->at[tid][t].state != LEAF_LOCK)
			p->at[tid][t] = (struct paint_tick){ state, 0 };
}

static int paint_sched(void *arg, const struct reader_rows *rows)
{
	struct paint *p = arg;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct ldb_row_sched *s = &rows->sched[i];

		if (s->op == LDB_SCHED_OP_SWITCH && s->tid < PAINT_TIDS && s->tid) {
			p->out[s->tid] = s->tick;
			p->woken[s->tid] = -1;
			p->state[s->tid] = LDB_SCHED_STATE(s->flags);
		}
		if (s->op == LDB_SCHED_OP_WAKEUP && s->tid < PAINT_TIDS)
			p->woken[s->tid] = s->tick;
		if (s->op == LDB_SCHED_OP_SWITCH && s->other < PAINT_TIDS && s->other &&
		    p->woken[s->other] >= 0 && p->out[s->other] >= 0) {
			paint_sleep(p, s->other, p->out[s->other], p->woken[s->other]);
			paint(p, s->other, p->woken[s->other], s->tick, LEAF_RUNNABLE, 0);
		}
	}
	return 0;
}

static int paint_irqs(void *arg, const struct reader_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		paint(arg, rows->irq[i].tid, rows->irq[i].start, rows->irq[i].end,
		      rows->irq[i].kind == LDB_IRQ_STOLEN ? LEAF_STOLEN : LEAF_IRQ, 0);
	return 0;
}

/* Returns false if there is no memory, or there are too many calls. */
static bool paint_all(struct paint *p, struct reader *r, int64_t nr)
{
	*p = (struct paint){ .nr = nr };
	for (unsigned tid = 0; tid < PAINT_TIDS; tid++) {
		p->at[tid] = malloc(nr * sizeof(*p->at[tid]));
		if (!p->at[tid])
			return false;
		memset(p->at[tid], PAINT_NONE, nr * sizeof(*p->at[tid]));
		p->out[tid] = p->woken[tid] = -1;
	}
	p->funcs = calloc(PAINT_ROWS, sizeof(*p->funcs));
	p->calls = calloc(PAINT_ROWS, sizeof(*p->calls));
	if (!p->funcs || !p->calls || reader_each(r, LDB_BLK_FUNC, NULL, paint_collect, p) ||
	    reader_each(r, LDB_BLK_FLOW_CALL, NULL, paint_collect, p))
		return false;
	qsort(p->funcs, p->nr_funcs, sizeof(*p->funcs), paint_func_compare);
	qsort(p->calls, p->nr_calls, sizeof(*p->calls), paint_call_compare);
	for (p->depth = 0; p->depth < PAINT_DEPTHS; p->depth++) {
		reader_each(r, LDB_BLK_FUNC, NULL, paint_funcs, p);
		paint_calls(p);
	}
	reader_each(r, LDB_BLK_LOCK, NULL, paint_waits, p);
	reader_each(r, LDB_BLK_SCHED, NULL, paint_sched, p);
	reader_each(r, LDB_BLK_IRQ, NULL, paint_irqs, p);
	return true;
}

static void paint_free(struct paint *p)
{
	for (unsigned tid = 0; tid < PAINT_TIDS; tid++)
		free(p->at[tid]);
	free(p->funcs);
	free(p->calls);
}

/* Counts ticks of [start, end) in the state; for FUNCTION, in the function at pc. */
static int64_t paint_sum(struct paint *p, uint32_t tid, int64_t start, int64_t end, unsigned state,
			 uint64_t pc)
{
	unsigned number = state == LEAF_FUNCTION ? paint_number(p, pc) : 0;
	int64_t sum = 0;

	for (int64_t t = start; t < end && t < p->nr; t++)
		sum += p->at[tid][t].state == state && p->at[tid][t].function == number;
	return sum;
}

#endif
