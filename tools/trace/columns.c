// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables of the trace file and their codings.  trace-format.h and
 * ldb.data.v1(5) say the same in words.
 *
 * Decoding is where hostile files are met: every read is bounded by the end of
 * its column, and a block is taken whole or not at all.
 */
#include <string.h>
#include "trace/columns.h"

#define COLUMNS_MAX	16

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
	V(thread, below_threshold),
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
	V(scan, paused),
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
	[LDB_BLK_SCHED]	  = SCHEMA(sched, 0),
	[LDB_BLK_TASK]	  = SCHEMA(task, 1),
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

void schema_extent(unsigned kind, const void *row, struct extent *e)
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
	default:
		break;
	}
}

/* Coding */

static inline uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ -(v >> 63);
}

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

static inline uint8_t *put_varint(uint8_t *out, uint64_t v)
{
	while (v >= 0x80) {
		*out++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*out++ = (uint8_t)v;
	return out;
}

/* NULL: it runs past end, or is no 64-bit value. */
static const uint8_t *get_varint_bytes(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t value = 0;

	for (unsigned shift = 0; p < end; shift += 7) {
		uint8_t byte = *p++;

		if (shift == 63 && byte > 1)
			return NULL;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*v = value;
			return p;
		}
	}
	return NULL;
}

/* The same, with the lengths that make up nearly all values laid out. */
static inline const uint8_t *get_varint(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t x;

	if (end - p < 4)
		return get_varint_bytes(p, end, v);
	x = p[0];
	if (x < 0x80) {
		*v = x;
		return p + 1;
	}
	x = (x & 0x7f) | (uint64_t)p[1] << 7;
	if (p[1] < 0x80) {
		*v = x;
		return p + 2;
	}
	x = (x & 0x3fff) | (uint64_t)p[2] << 14;
	if (p[2] < 0x80) {
		*v = x;
		return p + 3;
	}
	return get_varint_bytes(p, end, v);
}

static inline uint64_t load(const char *row, const struct column *c)
{
	uint32_t v32;
	uint64_t v64;

	if (c->size == 4) {
		memcpy(&v32, row + c->offset, 4);
		return v32;
	}
	memcpy(&v64, row + c->offset, 8);
	return v64;
}

static inline uint64_t load_base(const char *row, const struct column *c)
{
	uint64_t v;

	memcpy(&v, row + c->base, 8);
	return v;
}

static uint8_t *encode_strings(const struct column *c, const char *row, size_t nr, size_t stride,
			       uint8_t *out)
{
	for (; nr; nr--, row += stride) {
		const char *s;
		size_t length;

		memcpy(&s, row + c->offset, sizeof(s));
		length = strlen(s);
		out = put_varint(out, length);
		memcpy(out, s, length);
		out += length;
	}
	return out;
}

static uint8_t *encode_column(const struct column *c, const char *row, size_t nr, size_t stride,
			      uint8_t *out)
{
	uint64_t before = 0, v;

	switch (c->coding) {
	case COLUMN_V:
		for (; nr; nr--, row += stride)
			out = put_varint(out, load(row, c));
		break;
	case COLUMN_D:
		for (; nr; nr--, row += stride) {
			v = load(row, c);
			out = put_varint(out, zigzag(v - before));
			before = v;
		}
		break;
	case COLUMN_R:
		for (; nr; nr--, row += stride)
			out = put_varint(out, load(row, c) - load_base(row, c));
		break;
	case COLUMN_Z:
		for (; nr; nr--, row += stride)
			out = put_varint(out, zigzag(load(row, c) - load_base(row, c)));
		break;
	case COLUMN_S:
		out = encode_strings(c, row, nr, stride, out);
		break;
	}
	return out;
}

size_t columns_bound(const struct schema *s, size_t nr, size_t string_bytes)
{
	return s->nr_columns * (4 + nr * 10) + string_bytes;
}

size_t columns_encode(const struct schema *s, const void *rows, size_t nr, uint8_t *out)
{
	uint8_t *p = out;

	for (unsigned i = 0; i < s->nr_columns; i++) {
		uint8_t *column = p + 4;
		uint32_t bytes;

		p = encode_column(&s->columns[i], rows, nr, s->row_bytes, column);
		bytes = p - column;
		memcpy(column - 4, &bytes, 4);
	}
	return p - out;
}

/*
 * Rows are wide, and a block of them is larger than the caches near the CPU: so
 * all columns of a few rows are decoded before the next few.
 */
#define TILE_ROWS	256

struct column_state {
	const uint8_t *p, *end;
	uint64_t before;
};

/* Inlined with constant coding and size, so that the loop holds no decisions. */
static inline __attribute__((always_inline)) bool
decode_numbers(const struct column *c, unsigned coding, unsigned size, struct column_state *state,
	       char *row, size_t nr, size_t stride)
{
	const uint8_t *p = state->p, *end = state->end;
	uint64_t before = state->before, v;

	for (char *last = row + nr * stride; row != last; row += stride) {
		p = get_varint(p, end, &v);
		if (!p)
			return false;
		if (coding == COLUMN_D)
			v = before += unzigzag(v);
		else if (coding == COLUMN_R)
			v += load_base(row, c);
		else if (coding == COLUMN_Z)
			v = unzigzag(v) + load_base(row, c);
		if (size == 4) {
			uint32_t v32 = v;

			if (v32 != v)
				return false;
			memcpy(row + c->offset, &v32, 4);
		} else {
			memcpy(row + c->offset, &v, 8);
		}
	}
	state->p = p;
	state->before = before;
	return true;
}

static bool decode_strings(const struct column *c, struct column_state *state, char *row, size_t nr,
			   size_t stride, char **strings)
{
	char *out = *strings;

	for (; nr; nr--, row += stride) {
		uint64_t length;

		state->p = get_varint(state->p, state->end, &length);
		if (!state->p || length > (size_t)(state->end - state->p))
			return false;
		memcpy(row + c->offset, &out, sizeof(out));
		memcpy(out, state->p, length);
		out[length] = '\0';
		out += length + 1;
		state->p += length;
	}
	*strings = out;
	return true;
}

static bool decode_column(const struct column *c, struct column_state *state, char *row, size_t nr,
			  size_t stride, char **strings)
{
	switch (c->coding) {
	case COLUMN_V:
		if (c->size == 4)
			return decode_numbers(c, COLUMN_V, 4, state, row, nr, stride);
		return decode_numbers(c, COLUMN_V, 8, state, row, nr, stride);
	case COLUMN_D:
		if (c->size == 4)
			return decode_numbers(c, COLUMN_D, 4, state, row, nr, stride);
		return decode_numbers(c, COLUMN_D, 8, state, row, nr, stride);
	case COLUMN_R:
		return decode_numbers(c, COLUMN_R, 8, state, row, nr, stride);
	case COLUMN_Z:
		return decode_numbers(c, COLUMN_Z, 8, state, row, nr, stride);
	default:
		return decode_strings(c, state, row, nr, stride, strings);
	}
}

static bool find_columns(const struct schema *s, const uint8_t *p, const uint8_t *end,
			 struct column_state *states)
{
	for (unsigned i = 0; i < s->nr_columns; i++) {
		uint32_t bytes;

		if (end - p < 4)
			return false;
		memcpy(&bytes, p, 4);
		p += 4;
		if (bytes > (size_t)(end - p))
			return false;
		states[i] = (struct column_state){ p, p + bytes, 0 };
		p += bytes;
	}
	return true;	/* columns of a later version may follow */
}

bool columns_decode(const struct schema *s, const uint8_t *payload, size_t bytes, void *rows,
		    size_t nr, char *strings)
{
	struct column_state states[COLUMNS_MAX];
	char *row = rows;

	if (!find_columns(s, payload, payload + bytes, states))
		return false;
	while (nr) {
		size_t n = nr < TILE_ROWS ? nr : TILE_ROWS;

		for (unsigned i = 0; i < s->nr_columns; i++)
			if (!decode_column(&s->columns[i], &states[i], row, n, s->row_bytes,
					   &strings))
				return false;
		row += n * s->row_bytes;
		nr -= n;
	}
	for (unsigned i = 0; i < s->nr_columns; i++)
		if (states[i].p != states[i].end)
			return false;
	return true;
}
