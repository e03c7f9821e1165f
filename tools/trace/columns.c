// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables of the trace file and their codings.  trace-format.h and
 * ldb.data.v2(5) say the same in words.
 */
#include <string.h>
#include "trace/columns.h"

#define FIELD(row, coding, field) \
	{ coding, sizeof(((struct ldb_row_##row *)0)->field), \
	  offsetof(struct ldb_row_##row, field), 0 }
#define V(row, field)	FIELD(row, COLUMN_V, field)
#define D(row, field)	FIELD(row, COLUMN_D, field)
#define S(row, field)	FIELD(row, COLUMN_S, field)
#define RELATIVE(row, coding, field, to) \
	{ coding, 8, offsetof(struct ldb_row_##row, field), offsetof(struct ldb_row_##row, to) }

static const struct column meta_columns[] = {
	S(meta, key), S(meta, value),
};

static const struct column clock_columns[] = {
	D(clock, tick), D(clock, raw_ns), D(clock, mono_ns), D(clock, real_ns), V(clock, err),
};

static const struct column module_columns[] = {
	V(module, flags), D(module, tick), D(module, end_tick), V(module, start), V(module, end),
	V(module, bias), S(module, build_id), S(module, path),
};

static const struct column thread_columns[] = {
	V(thread, tid), V(thread, flags), D(thread, start), D(thread, end), V(thread, made),
	V(thread, seen), V(thread, scans), V(thread, invalid), V(thread, foreign),
	V(thread, too_deep), V(thread, disorder), V(thread, gap), V(thread, start_routine),
	V(thread, creator), S(thread, name),
	V(thread, below_threshold), V(thread, cost),
};

static const struct column func_columns[] = {
	V(func, flags), D(func, tid), D(func, pc), D(func, ret), D(func, gen),
	D(func, parent_gen), V(func, depth), D(func, start_max), V(func, start_unc),
	RELATIVE(func, COLUMN_Z, end_max, start_max), V(func, end_unc),
};

static const struct column lock_columns[] = {
	V(lock, op), V(lock, flags), D(lock, tid), D(lock, lock), V(lock, owner), D(lock, begin),
	RELATIVE(lock, COLUMN_R, end, begin), D(lock, gen), D(lock, site),
};

static const struct column req_columns[] = {
	V(req, op), D(req, tid), D(req, tick), D(req, id), D(req, queue), D(req, site),
};

static const struct column gap_columns[] = {
	V(gap, tid), D(gap, begin), RELATIVE(gap, COLUMN_R, end, begin),
};

static const struct column lost_columns[] = {
	D(lost, tick), V(lost, ring), V(lost, count), V(lost, what),
};

static const struct column reqtab_columns[] = {
	D(reqtab, id), D(reqtab, start), RELATIVE(reqtab, COLUMN_R, end, start),
	V(reqtab, nr_segments), V(reqtab, complete),
};

static const struct column index_columns[] = {
	V(index, kind), V(index, rows), D(index, offset), V(index, bytes), D(index, t_min),
	D(index, t_max), V(index, id_min), V(index, id_max), V(index, max_dur),
};

static const struct column scan_columns[] = {
	V(scan, scanner), V(scan, rounds), V(scan, looks), V(scan, changes), V(scan, scans),
	V(scan, invalid), V(scan, frames), V(scan, gaps), V(scan, gap), V(scan, busy),
	V(scan, paused), V(scan, moving), V(scan, cost), V(scan, pages), V(scan, handed),
};

static const struct column reqname_columns[] = {
	D(reqname, tick), D(reqname, id), V(reqname, trace_hi), V(reqname, trace_lo),
	V(reqname, span), S(reqname, name),
};

static const struct column sched_columns[] = {
	V(sched, op), V(sched, flags), V(sched, cpu), D(sched, tick), D(sched, tid),
	D(sched, other), D(sched, addr), D(sched, gen), D(sched, pc), V(sched, value),
};

static const struct column task_columns[] = {
	V(task, tid), V(task, pid), V(task, flags), D(task, tick), S(task, name),
};

static const struct column fault_columns[] = {
	V(fault, flags), D(fault, tid), D(fault, tick), D(fault, addr), D(fault, pc),
};

static const struct column irq_columns[] = {
	V(irq, kind), V(irq, flags), V(irq, cpu), V(irq, nr), D(irq, tid), D(irq, start),
	RELATIVE(irq, COLUMN_R, end, start), V(irq, nr_short), S(irq, name),
};

static const struct column file_columns[] = {
	V(file, id), V(file, flags), S(file, build_id), S(file, path),
};

static const struct column symbol_columns[] = {
	V(symbol, file), V(symbol, ask), V(symbol, flags), D(symbol, addr), V(symbol, offset),
	V(symbol, line), V(symbol, func_line), S(symbol, raw), S(symbol, source),
	S(symbol, func_source),
};

static const struct column call_columns[] = {
	V(call, file), S(call, caller), S(call, callee),
};

#define SCHEMA(row, strings) \
	{ #row, row##_columns, sizeof(row##_columns) / sizeof(row##_columns[0]), strings, \
	  sizeof(struct ldb_row_##row) }

_Static_assert(sizeof(thread_columns) / sizeof(thread_columns[0]) <= COLUMNS_MAX, "the widest");

static const struct schema schemas[] = {
	[LDB_BLK_META]	  = SCHEMA(meta, 2),
	[LDB_BLK_CLOCK]	  = SCHEMA(clock, 0),
	[LDB_BLK_MODULE]  = SCHEMA(module, 2),
	[LDB_BLK_THREAD]  = SCHEMA(thread, 1),
	[LDB_BLK_FUNC]	  = SCHEMA(func, 0),
	[LDB_BLK_LOCK]	  = SCHEMA(lock, 0),
	[LDB_BLK_REQ]	  = SCHEMA(req, 0),
	[LDB_BLK_GAP]	  = SCHEMA(gap, 0),
	[LDB_BLK_LOST]	  = SCHEMA(lost, 0),
	[LDB_BLK_REQTAB]  = SCHEMA(reqtab, 0),
	[LDB_BLK_INDEX]	  = SCHEMA(index, 0),
	[LDB_BLK_SCAN]	  = SCHEMA(scan, 0),
	[LDB_BLK_REQNAME] = SCHEMA(reqname, 1),
	[LDB_BLK_FILE]	  = SCHEMA(file, 2),
	[LDB_BLK_SYMBOL]  = SCHEMA(symbol, 3),
	[LDB_BLK_CALL]	  = SCHEMA(call, 2),
	[LDB_BLK_SCHED]	  = SCHEMA(sched, 0),
	[LDB_BLK_TASK]	  = SCHEMA(task, 1),
	[LDB_BLK_FAULT]	  = SCHEMA(fault, 0),
	[LDB_BLK_IRQ]	  = SCHEMA(irq, 1),
};

const struct schema *schema_find(unsigned kind)
{
	if (kind >= sizeof(schemas) / sizeof(schemas[0]) || !schemas[kind].name)
		return NULL;
	return &schemas[kind];
}

static void extent_func(const struct ldb_row_func *f, struct extent *e)
{
	/* An unknown start must not stretch the block over the whole recording. */
	bool known = f->start_unc != LDB_UNC_UNKNOWN;

	e->t_min = known ? (int64_t)((uint64_t)f->start_max - f->start_unc) : f->start_max;
	if (e->t_min > f->start_max)
		e->t_min = INT64_MIN;
	e->t_max = f->end_max;
	e->id_min = e->id_max = f->tid;
	e->dur = f->end_max > f->start_max ? (uint64_t)f->end_max - f->start_max : 0;
}

static void extent_interval(struct extent *e, int64_t begin, int64_t end, uint64_t id)
{
	e->t_min = begin;
	e->t_max = end > begin ? end : begin;
	e->id_min = e->id_max = id;
}

static void extent_all_ids(struct extent *e, bool all)
{
	if (all) {
		e->id_min = 0;
		e->id_max = UINT64_MAX;
	}
}

static inline __attribute__((always_inline)) void row_extent(unsigned kind, const void *row,
							     struct extent *e)
{
	memset(e, 0, sizeof(*e));
	switch (kind) {
	case LDB_BLK_CLOCK: {
		const struct ldb_row_clock *c = row;

		extent_interval(e, c->tick, c->tick, 0);
		break;
	}
	case LDB_BLK_MODULE: {
		const struct ldb_row_module *m = row;

		extent_interval(e, m->tick, m->end_tick, 0);
		break;
	}
	case LDB_BLK_THREAD: {
		const struct ldb_row_thread *t = row;

		extent_interval(e, t->start, t->end, t->tid);
		break;
	}
	case LDB_BLK_FUNC:
		extent_func(row, e);
		break;
	case LDB_BLK_LOCK: {
		const struct ldb_row_lock *l = row;

		extent_interval(e, l->begin, l->end, l->tid);
		e->dur = (uint64_t)e->t_max - e->t_min;
		break;
	}
	case LDB_BLK_REQ: {
		const struct ldb_row_req *r = row;

		extent_interval(e, r->tick, r->tick, r->id);
		extent_all_ids(e, r->op == LDB_REQ_OP_END_ALL);
		break;
	}
	case LDB_BLK_GAP: {
		const struct ldb_row_gap *g = row;

		extent_interval(e, g->begin, g->end, g->tid);
		extent_all_ids(e, !g->tid);
		e->dur = (uint64_t)e->t_max - e->t_min;
		break;
	}
	case LDB_BLK_LOST: {
		const struct ldb_row_lost *l = row;

		extent_interval(e, l->tick, l->tick, 0);
		break;
	}
	case LDB_BLK_REQTAB: {
		const struct ldb_row_reqtab *r = row;

		extent_interval(e, r->start, r->end, r->id);
		e->dur = (uint64_t)e->t_max - e->t_min;
		break;
	}
	case LDB_BLK_REQNAME: {
		const struct ldb_row_reqname *n = row;

		extent_interval(e, n->tick, n->tick, n->id);
		break;
	}
	case LDB_BLK_SCHED: {
		const struct ldb_row_sched *k = row;

		extent_interval(e, k->tick, k->tick, k->tid);
		e->id_min = k->tid < k->other ? k->tid : k->other;
		e->id_max = k->tid < k->other ? k->other : k->tid;
		break;
	}
	case LDB_BLK_TASK: {
		const struct ldb_row_task *t = row;

		extent_interval(e, t->tick, t->tick, t->tid);
		break;
	}
	case LDB_BLK_FAULT: {
		const struct ldb_row_fault *f = row;

		extent_interval(e, f->tick, f->tick, f->tid);
		break;
	}
	case LDB_BLK_IRQ: {
		const struct ldb_row_irq *i = row;

		extent_interval(e, i->start, i->end, i->tid);
		break;
	}
	default:
		break;
	}
}

void schema_extent(unsigned kind, const void *row, struct extent *e)
{
	row_extent(kind, row, e);
}

/* Inlined with a constant kind. */
static inline __attribute__((always_inline)) void
widen(unsigned kind, const char *row, size_t nr, size_t stride, struct extent *sum)
{
	struct extent all = *sum, e;

	for (; nr; nr--, row += stride) {
		row_extent(kind, row, &e);
		all.t_min = e.t_min < all.t_min ? e.t_min : all.t_min;
		all.t_max = e.t_max > all.t_max ? e.t_max : all.t_max;
		all.id_min = e.id_min < all.id_min ? e.id_min : all.id_min;
		all.id_max = e.id_max > all.id_max ? e.id_max : all.id_max;
		all.dur = e.dur > all.dur ? e.dur : all.dur;
	}
	*sum = all;
}

void schema_extents(unsigned kind, const void *rows, size_t nr, struct extent *sum)
{
	size_t stride = schemas[kind].row_bytes;

	switch (kind) {		/* those that come by the million */
	case LDB_BLK_FUNC:
		widen(LDB_BLK_FUNC, rows, nr, stride, sum);
		break;
	case LDB_BLK_LOCK:
		widen(LDB_BLK_LOCK, rows, nr, stride, sum);
		break;
	case LDB_BLK_REQ:
		widen(LDB_BLK_REQ, rows, nr, stride, sum);
		break;
	case LDB_BLK_SCHED:
		widen(LDB_BLK_SCHED, rows, nr, stride, sum);
		break;
	default:
		widen(kind, rows, nr, stride, sum);
	}
}
