// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads observation gaps; see gaps.h. */
#include "gaps.h"
#include "rows.h"
#include "ticks.h"

struct sink {
	int (*gap)(void *arg, const struct thread_interval *gap);
	void *arg;
};

static int on_row(void *arg, const void *at)
{
	const struct ldb_row_gap *row = at;
	const struct sink *sink = arg;

	return sink->gap(sink->arg, &(struct thread_interval){
		ticks_sane(row->begin), ticks_sane(row->end), row->tid });
}

int gaps_each(struct reader *r, const struct reader_filter *filter,
	      int (*gap)(void *arg, const struct thread_interval *gap), void *arg)
{
	struct sink sink = { gap, arg };

	return rows_each(r, LDB_BLK_GAP, filter, on_row, &sink);
}

static bool covers(const struct intervals *g, uint32_t tid, int64_t tick, int64_t *until)
{
	const struct thread_interval *at = g->at + intervals_first(g, tid, tick);
	bool is_in;
	int64_t end;

	if (at == g->at + g->nr || at->tid != tid)
		return false;
	is_in = at->start <= tick;
	end = is_in ? at->end : at->start;
	if (end < *until)
		*until = end;
	return is_in;
}

bool gaps_cover(const struct intervals *g, uint32_t tid, int64_t tick, int64_t *until)
{
	bool all = covers(g, 0, tick, until);

	return (tid && covers(g, tid, tick, until)) || all;
}
