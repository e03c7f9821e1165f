// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Converts rows of a part to rows of the result.  Columns are converted by their meaning in
 * schemas.def; other changes have code of their own.
 */
#include <string.h>
#include <linux/ldb.h>
#include "base/search.h"
#include "trace/join-private.h"

static const struct join_space *space_of(const struct join_part *p, uint64_t addr)
{
	uint32_t number = addr >> LDB_ADDRESS_BITS;

	for (size_t i = 0; i < p->nr_spaces; i++)
		if (p->spaces[i].from == number)
			return &p->spaces[i];
	return NULL;	/* an address of the kernel, or no address */
}

static uint64_t with_number(uint64_t addr, uint32_t number)
{
	return (addr & JOIN_ADDRESS_MASK) | (uint64_t)number << LDB_ADDRESS_BITS;
}

uint64_t join_data(const struct join_part *p, uint64_t addr)
{
	const struct join_space *s = addr ? space_of(p, addr) : NULL;
	uint64_t shared = s && s->nr_shared ? join_shared_at(s, addr & JOIN_ADDRESS_MASK) : 0;

	if (shared)
		return shared;
	return s ? with_number(addr, s->row.number) : addr;
}

static const struct join_code *code_at(const struct join_space *s, uint64_t plain)
{
	size_t n = search_by(s->code, s->nr_code, c, c->start <= plain);

	return n && plain < s->code[n - 1].end ? &s->code[n - 1] : NULL;
}

/* Converting columns.  Each column has a loop of its own over all rows. */

#define EACH(type, value, what) do {						\
	char *at_ = at;								\
										\
	for (size_t i = 0; i < nr; i++, at_ += stride) {			\
		type value;							\
										\
		memcpy(&value, at_, sizeof(value));				\
		value = what;							\
		memcpy(at_, &value, sizeof(value));				\
	}									\
} while (0)

/* Converts addresses of code.  Consecutive rows mostly have addresses in the same module. */
static void map_code(const struct join_part *p, char *at, size_t nr, size_t stride)
{
	uint64_t start = 1, end = 0, more = 0, addr, plain;
	const struct join_space *s;
	const struct join_code *c;

	for (; nr; nr--, at += stride) {
		memcpy(&addr, at, sizeof(addr));
		if (addr - start >= end - start || end < start) {
			s = addr ? space_of(p, addr) : NULL;
			plain = addr & JOIN_ADDRESS_MASK;
			c = s ? code_at(s, plain) : NULL;
			if (!c) {
				addr = join_data(p, addr);
				memcpy(at, &addr, sizeof(addr));
				continue;
			}
			start = addr - plain + c->start;
			end = addr - plain + c->end;
			more = with_number(addr, c->number) - addr;
		}
		addr += more;
		memcpy(at, &addr, sizeof(addr));
	}
}

static void map_ids(const struct join_ids *ids, char *at, size_t nr, size_t stride)
{
	EACH(uint32_t, id, join_id(ids, id));
}

static void map_column(const struct join_part *p, const struct schema_column *c, char *at, size_t nr,
		       size_t stride)
{
	switch (c->meaning) {
	case COLUMN_IS_TICK:
		if (p->shift || !p->is_same_clock)
			EACH(int64_t, tick, join_tick(p, tick));
		break;
	case COLUMN_IS_TICKS:
		if (!p->is_same_clock)
			EACH(uint64_t, ticks, join_ticks(p, ticks));
		break;
	case COLUMN_IS_CODE:
		map_code(p, at, nr, stride);
		break;
	case COLUMN_IS_DATA:
		EACH(uint64_t, addr, join_data(p, addr));
		break;
	case COLUMN_IS_TID:
		if (p->tid_base)
			EACH(uint32_t, tid, tid ? tid + p->tid_base : 0);
		break;
	case COLUMN_IS_REQUEST:
		if (p->id_base)
			EACH(uint64_t, id, id + p->id_base);
		break;
	case COLUMN_IS_API:
		map_ids(&p->apis, at, nr, stride);
		break;
	case COLUMN_IS_KSYM:
		map_ids(&p->ksyms, at, nr, stride);
		break;
	case COLUMN_IS_NAMED:
		map_ids(&p->files, at, nr, stride);
		break;
	}
}

/* Conversions that the meanings of columns do not express. */

#define ROWS_OF(name)	struct ldb_row_##name *r = rows, *end = r + nr

/*
 * Members whose meaning depends on the row: their values are saved before the columns are
 * converted.
 */
struct aside {
	uint64_t value[ENCODER_TILE], other[ENCODER_TILE];
};

static bool is_address(const struct ldb_row_sched *r)
{
	return r->op != LDB_SCHED_OP_MIGRATE;
}

static void set_aside(unsigned kind, void *rows, size_t nr, struct aside *a)
{
	if (kind == LDB_BLK_REQ) {
		for (ROWS_OF(req); r < end; r++) {
			bool is_cut = r->op == LDB_REQ_OP_CUT;

			a->value[r - (struct ldb_row_req *)rows] = is_cut ? r->id : r->site;
			a->other[r - (struct ldb_row_req *)rows] = r->queue;
		}
	} else if (kind == LDB_BLK_SCHED) {
		for (ROWS_OF(sched); r < end; r++)
			a->value[r - (struct ldb_row_sched *)rows] = r->addr;
	}
}

static void put_back_req(const struct join *j, const struct join_part *p, void *rows, size_t nr,
			 const struct aside *a)
{
	for (ROWS_OF(req); r < end; r++) {
		size_t i = r - (struct ldb_row_req *)rows;

		if (r->op == LDB_REQ_OP_ARRIVED)
			r->site = join_ticks(p, a->value[i]);
		if (r->op != LDB_REQ_OP_CUT)
			continue;
		/*
		 * A CUT row ends requests of its part only, whose ids are a range.  If the ids of
		 * parts are not ranges (no id_step), the row ends all requests.  A row that ends
		 * only some requests of its part has a range of ids already.
		 */
		r->id = a->value[i];
		r->queue = a->other[i];
		if (r->queue || (j->is_process && j->id_step)) {
			r->queue = p->id_base + (r->queue ? r->queue : j->id_step - 1);
			r->id += p->id_base;
		}
	}
}

static void put_back(const struct join *j, const struct join_part *p, unsigned kind, void *rows,
		     size_t nr, const struct aside *a)
{
	if (kind == LDB_BLK_REQ) {
		put_back_req(j, p, rows, nr, a);
	} else if (kind == LDB_BLK_SCHED) {
		for (ROWS_OF(sched); r < end; r++)
			if (!is_address(r))
				r->addr = a->value[r - (struct ldb_row_sched *)rows];
	} else if (kind == LDB_BLK_FLOW_HIST) {
		for (ROWS_OF(flow_hist); r < end && !p->is_same_clock; r++)
			r->bucket = flow_bucket(join_ticks(p, flow_bucket_start(r->bucket)));
	} else if (kind == LDB_BLK_LOST) {
		for (ROWS_OF(lost); r < end; r++) {
			if (r->what != LDB_LEFT_PAUSE)
				continue;
			r->count = join_ticks(p, r->count);
			r->ring = r->ring ? r->ring + p->tid_base : p->spaces[0].row.pid;
		}
	}
}

/*
 * Ends all threads of a program that has ended: the recorder may have missed the end of some.  Also
 * sets the pids of threads.
 */
static void end_threads(const struct join_part *p, void *rows, size_t nr)
{
	for (ROWS_OF(thread); r < end; r++) {
		if (!r->pid)
			r->pid = p->spaces[0].row.pid;
		if (!p->has_ended || r->flags & LDB_THREAD_F_EXITED)
			continue;
		r->flags |= LDB_THREAD_F_EXITED;
		if (r->end > p->to)
			r->end = p->to;
	}
}

static bool is_own_thread(const struct join *j, const struct join_part *not, uint32_t tid)
{
	for (size_t i = 0; i < j->nr; i++) {
		const struct join_part *p = &j->parts[i];
		size_t n = search_by(p->threads, p->nr_threads, t, t->tid < tid);

		if (p != not && n < p->nr_threads && p->threads[n].tid == tid)
			return true;
	}
	return false;
}

/*
 * Drops rows about tasks that are threads of other parts: the recorder of their own process knows
 * more about them.
 */
static size_t drop_strangers(const struct join *j, const struct join_part *p,
			     struct ldb_row_task *rows, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++)
		if (rows[i].flags & LDB_SCHED_F_TID || !is_own_thread(j, p, rows[i].tid))
			rows[kept++] = rows[i];
	return kept;
}

size_t join_rows(struct join *j, struct join_part *p, unsigned kind, void *rows, size_t nr)
{
	const struct schema *s = schema_find(kind);
	char *row = rows;
	struct aside a;

	for (size_t done = 0, n; done < nr; done += n, row += n * s->row_bytes) {
		n = nr - done < ENCODER_TILE ? nr - done : ENCODER_TILE;
		set_aside(kind, row, n, &a);
		for (unsigned i = 0; i < s->nr_columns; i++)
			map_column(p, &s->columns[i], row + s->columns[i].offset, n, s->row_bytes);
		put_back(j, p, kind, row, n, &a);
	}
	if (kind == LDB_BLK_THREAD && j->is_process)
		end_threads(p, rows, nr);
	if (kind == LDB_BLK_TASK && j->is_process)
		nr = drop_strangers(j, p, rows, nr);
	return nr;
}
