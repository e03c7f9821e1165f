// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes invocations as if the recording ended, while it continues: those that are running, and
 * those that have ended but of which more may become known.  They are written again when they are
 * complete, so this is only for a dump of the flight recorder, which ends now, and for a live
 * recording, whose reader drops old rows.
 */
#include "record/rows/private.h"

/*
 * Returns true if the row passes the filter.  This uses a copy of the filter, which counts what it
 * leaves out: the row is counted later, when the recording gets it.
 */
static bool is_wanted(struct pack *p, const struct ldb_row_func *row)
{
	struct filter copy;

	if (row->flags & LDB_FUNC_F_OPEN || !p->filter || !p->filter->has_funcs)
		return true;
	copy = *p->filter;
	return filter_wants_func(&copy, row);
}

static void write_func(void *pack, const struct ldb_row_func *row)
{
	struct pack *p = pack;

	if (!(row->flags & LDB_FUNC_F_FROM_START) || row->flags & LDB_FUNC_F_OPEN)
		func_counts_add(func_counts_is_earlier(&p->func_counts, row->tid, row->start_max) ?
				&p->waiting_exited : &p->waiting_counts, row->tid, row->start_max);
	if (is_wanted(p, row))
		writer_add_func(p->w, row);
}

static const struct chains_ops ops = { write_func, pack_page };

void pack_waiting_begin(struct pack *p)
{
	pack_waiting_forget(p);
	/* If there is no memory, only running invocations are written. */
	p->waiting = p->func_counts.is_on && chains_are_read(p->chains) ? chains_copy(p->chains, &ops, p) : NULL;
}

void pack_waiting_exit(struct pack *p, uint32_t tid, int64_t tick)
{
	if (p->waiting)
		chains_exited(p->waiting, tick, tid);
}

void pack_waiting_func(struct pack *p, const struct ldb_row_func *row)
{
	if (!p->waiting || !chains_func(p->waiting, row))
		write_func(p, row);
}

void pack_waiting_end(struct pack *p, int64_t tick)
{
	struct ldb_row_lost lost = { .tick = tick, .what = LDB_LOST_UNCOMMITTED };

	if (!p->waiting)
		return;
	chains_finish(p->waiting);
	lost.count = chains_take_late(p->waiting);
	if (lost.count)
		writer_add_lost(p->w, &lost);
	chains_free(p->waiting);
	p->waiting = NULL;
}

uint64_t pack_waiting_count(const struct pack *p, uint32_t tid, bool is_exited)
{
	return func_counts_of(is_exited ? &p->waiting_exited : &p->waiting_counts, tid);
}
