// SPDX-License-Identifier: GPL-2.0-or-later
/* Observation gaps; see gaps.h. */
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "gaps.h"
#include "rows.h"
#include "ticks.h"

struct sink {
	int (*gap)(void *arg, const struct gap *gap);
	void *arg;
};

static int on_row(void *arg, const void *at)
{
	const struct ldb_row_gap *row = at;
	const struct sink *sink = arg;

	return sink->gap(sink->arg, &(struct gap){
		ticks_sane(row->begin), ticks_sane(row->end), row->tid });
}

int gaps_each(struct reader *r, const struct reader_filter *filter,
	      int (*gap)(void *arg, const struct gap *gap), void *arg)
{
	struct sink sink = { gap, arg };

	return rows_each(r, LDB_BLK_GAP, filter, on_row, &sink);
}

bool gaps_add(struct gaps *g, uint32_t tid, int64_t start, int64_t end)
{
	if (start >= end)
		return true;
	return !array_push(g->at, g->nr, g->room, { start, end, tid });
}

COMPARE(gap_compare, struct gap, UP(tid) UP(start))

void gaps_sort(struct gaps *g)
{
	size_t nr = 0;

	sort_by(g->at, g->nr, gap_compare);
	for (size_t i = 0; i < g->nr; i++) {
		struct gap *last = nr ? &g->at[nr - 1] : NULL;

		if (!last || last->tid != g->at[i].tid || last->end < g->at[i].start)
			g->at[nr++] = g->at[i];
		else if (last->end < g->at[i].end)
			last->end = g->at[i].end;
	}
	g->nr = nr;
}

void gaps_free(struct gaps *g)
{
	free(g->at);
	*g = (struct gaps){ 0 };
}

/* The index of the first gap of tid that ends after tick, or of one behind it, or nr. */
static const struct gap *first_gap(const struct gaps *g, uint32_t tid, int64_t tick)
{
	size_t lo = search_by(g->at, g->nr, at,
			      at->tid < tid || (at->tid == tid && at->end <= tick));

	return g->at + lo;
}

static bool covers(const struct gaps *g, uint32_t tid, int64_t tick, int64_t *until)
{
	const struct gap *at = first_gap(g, tid, tick);
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

bool gaps_cover(const struct gaps *g, uint32_t tid, int64_t tick, int64_t *until)
{
	bool all = covers(g, 0, tick, until);

	return (tid && covers(g, tid, tick, until)) || all;
}
