// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the tables of schemas.def: their columns, and the extents of their rows. */
#include <string.h>
#include "trace/columns.h"

/* Counts how many columns of each table are strings. */
#define V(field, ...)
#define D(field, ...)
#define S(field)	+ 1
#define R(field, to, ...)
#define Z(field, to, ...)
enum {
#define ROWS(KIND, name, when, bulk, columns)	name##_strings = 0 columns,
#include "trace/schemas.def"
};
#undef V
#undef D
#undef S
#undef R
#undef Z

#define FIELD(coding, field, base, meaning) \
	{ coding, sizeof(((row *)0)->field), offsetof(row, field), base, meaning },
#define V(field, ...)		FIELD(COLUMN_V, field, 0, COLUMN_IS_##__VA_ARGS__)
#define D(field, ...)		FIELD(COLUMN_D, field, 0, COLUMN_IS_##__VA_ARGS__)
#define S(field)		FIELD(COLUMN_S, field, 0, COLUMN_IS_)
#define R(field, to, ...)	FIELD(COLUMN_R, field, offsetof(row, to), COLUMN_IS_##__VA_ARGS__)
#define Z(field, to, ...)	FIELD(COLUMN_Z, field, offsetof(row, to), COLUMN_IS_##__VA_ARGS__)

#define SMALL			0
#define BULKY			SCHEMA_F_BULKY
#define TIMELESS		0
#define SPAN(begin, end)	SCHEMA_F_TIME
#define SPAN_OF(begin, end, id)	(SCHEMA_F_TIME | SCHEMA_F_ID)
#define LASTS(begin, end, id)	(SCHEMA_F_TIME | SCHEMA_F_ID | SCHEMA_F_DUR)

#define ROWS(KIND, ROW, when, bulk, list)						\
	case LDB_BLK_##KIND: {								\
		typedef struct ldb_row_##ROW row;					\
		static const struct schema_column columns[] = { list };			\
		static const struct schema schema = {					\
			.name = #ROW, .columns = columns,				\
			.nr_columns = sizeof(columns) / sizeof(columns[0]),		\
			.nr_strings = ROW##_strings, .row_bytes = sizeof(row),		\
			.flags = (when) | (bulk),					\
		};									\
											\
		_Static_assert(sizeof(columns) <= COLUMNS_MAX * sizeof(columns[0]), #ROW); \
		return &schema;								\
	}

const struct schema *schema_find(unsigned kind)
{
	switch (kind) {
#include "trace/schemas.def"
	default:
		return NULL;
	}
}

#undef TIMELESS
#undef SPAN
#undef SPAN_OF
#undef LASTS

static inline void set_extent(struct extent *e, int64_t begin, int64_t end, uint64_t id,
			      bool has_dur)
{
	e->t_min = begin;
	e->t_max = end > begin ? end : begin;
	e->id_min = e->id_max = id;
	e->dur = has_dur ? (uint64_t)e->t_max - e->t_min : 0;
}

/* The extent of a FUNC row begins at its earliest possible start. */
static inline void adjust_func(const struct ldb_row_func *f, struct extent *e)
{
	/* An unknown start must not extend the block to the start of the recording. */
	if (f->start_unc != LDB_UNC_UNKNOWN)
		e->t_min = (int64_t)((uint64_t)f->start_max - f->start_unc);
	if (e->t_min > f->start_max)
		e->t_min = INT64_MIN;
	e->t_max = f->end_max;
}

static inline void adjust_sched(const struct ldb_row_sched *k, struct extent *e)
{
	if (k->other < k->tid)
		e->id_min = k->other;
	else
		e->id_max = k->other;
}

static inline void set_all_ids(struct extent *e)
{
	e->id_min = 0;
	e->id_max = UINT64_MAX;
}

static inline __attribute__((always_inline)) void adjust_req(const struct ldb_row_req *r, struct extent *e)
{
	if (r->op == LDB_REQ_OP_END_ALL || r->op == LDB_REQ_OP_CUT)
		set_all_ids(e);
}

/* Corrects the extents that cannot be described in schemas.def. */
static inline __attribute__((always_inline)) void adjust(unsigned kind, const void *row,
							 struct extent *e)
{
	if (kind == LDB_BLK_FUNC)
		adjust_func(row, e);
	else if (kind == LDB_BLK_SCHED)
		adjust_sched(row, e);
	else if (kind == LDB_BLK_REQ)
		adjust_req(row, e);
	else if (kind == LDB_BLK_GAP && !((const struct ldb_row_gap *)row)->tid)
		set_all_ids(e);
}

#define TIMELESS		*e = (struct extent){ 0 }
#define SPAN(begin, end)	set_extent(e, r->begin, r->end, 0, false)
#define SPAN_OF(begin, end, id)	set_extent(e, r->begin, r->end, r->id, false)
#define LASTS(begin, end, id)	set_extent(e, r->begin, r->end, r->id, true)

static inline __attribute__((always_inline)) void row_extent(unsigned kind, const void *row,
							     struct extent *e)
{
	switch (kind) {
#define ROWS(KIND, name, when, bulk, list)						\
	case LDB_BLK_##KIND: {								\
		const struct ldb_row_##name *r = row;					\
											\
		(void)r;								\
		when;									\
		break;									\
	}
#include "trace/schemas.def"
	default:
		TIMELESS;
	}
	adjust(kind, row, e);
}

/* This function is inlined for each kind, so that the compiler specialises it. */
static inline __attribute__((always_inline)) void
widen(unsigned kind, const char *row, size_t nr, size_t stride, struct extent *sum)
{
	struct extent all = *sum, e;

	for (; nr; nr--, row += stride) {
		row_extent(kind, row, &e);
		extent_widen(&all, &e);
	}
	*sum = all;
}

void schema_extents(unsigned kind, const void *rows, size_t nr, struct extent *sum)
{
	switch (kind) {
#define ROWS(KIND, name, when, bulk, list)						\
	case LDB_BLK_##KIND:								\
		widen(kind, rows, nr, sizeof(struct ldb_row_##name), sum);		\
		break;
#include "trace/schemas.def"
	}
}

static inline __attribute__((always_inline)) size_t
filter(unsigned kind, const struct extent *want, char *to, const char *row, size_t nr, size_t size)
{
	char *out = to;
	struct extent e;

	for (; nr; nr--, row += size) {
		row_extent(kind, row, &e);
		if (!extent_matches(want, &e))
			continue;
		if (out != row)
			memcpy(out, row, size);
		out += size;
	}
	return (out - to) / size;
}

size_t schema_filter(unsigned kind, const struct extent *want, void *to, const void *rows, size_t nr)
{
	switch (kind) {
#define ROWS(KIND, name, when, bulk, list)						\
	case LDB_BLK_##KIND:								\
		return filter(kind, want, to, rows, nr, sizeof(struct ldb_row_##name));
#include "trace/schemas.def"
	}
	return 0;
}
