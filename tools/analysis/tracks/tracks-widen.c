// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Widens a range of time until it is certain for each function of the wanted threads on which side
 * of the range's borders it began and ended.  The rows within the range do not suffice to estimate
 * a function for which that is uncertain.
 *
 * If the scanner had few chances to run, functions with overlapping bounds form long chains, and
 * each function of a chain moves a border.  So the rows around the range are read once, and the
 * chain is followed in memory; more is read only if the chain leaves what was read.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "facts/estimate.h"
#include "tracks-private.h"

#define LINKS_MAX	64
#define AROUND_NS	200000		/* is read before and after the range at first */

struct bounds {
	int64_t start_min, start_max, end_min, end_max;
};

struct wide {
	int64_t from, to;		/* the range, which only grows */
	bool (*wants)(void *arg, uint32_t tid, int64_t start, int64_t end);
	void *arg;
	struct bounds *funcs;
	size_t nr_funcs, room_funcs;
};

/*
 * Returns true if the function may be on either side of a border, now or when the range is wider.
 */
static bool may_cross(const struct wide *w, const struct estimate *e)
{
	return min(e->start_min, e->end_min) < w->from || max(e->start_max, e->end_max) > w->to;
}

static int add_bounds(void *arg, const struct reader_rows *rows)
{
	struct wide *w = arg;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		struct estimate e = estimate_func(&rows->func[i]);

		if (!e.is_truncated && may_cross(w, &e) && w->wants(w->arg, rows->func[i].tid, e.start_min, e.end_max))
			ret = array_push(w->funcs, w->nr_funcs, w->room_funcs,
					 { e.start_min, e.start_max, e.end_min, e.end_max });
	}
	return ret;
}

/* Follows one link of the chain at each border.  Returns true if there was one. */
static bool follow(const struct wide *w, int64_t *from, int64_t *to)
{
	int64_t lo = *from, hi = *to;
	bool moves;

	for (const struct bounds *b = w->funcs; b < w->funcs + w->nr_funcs; b++) {
		if (b->start_min > *to || b->end_max < *from)
			continue;
		/* Moves a border so that the possible starts, or ends, are on one side of it. */
		if (b->start_max >= *from)
			lo = min(lo, b->start_min);
		if (b->end_max >= *from)
			lo = min(lo, b->end_min);
		if (b->end_min <= *to)
			hi = max(hi, b->end_max);
		if (b->start_min <= *to)
			hi = max(hi, b->start_max);
	}
	moves = lo != *from || hi != *to;
	*from = lo;
	*to = hi;
	return moves;
}

int tracks_widen(struct model *m, bool (*wants)(void *arg, uint32_t tid, int64_t start, int64_t end),
		 void *arg, int64_t *from, int64_t *to)
{
	int64_t around = 1 + AROUND_NS / reader_ticks_to_ns(m->reader, 1);
	struct wide w = { .wants = wants, .arg = arg };
	unsigned links = 0;
	bool is_inside;
	int ret;

	do {
		struct reader_filter filter = READER_FILTER_ALL;

		filter.t_min = *from - around;
		filter.t_max = *to + around;
		w.nr_funcs = 0;
		w.from = *from;
		w.to = *to;
		ret = reader_each(m->reader, LDB_BLK_FUNC, &filter, add_bounds, &w);
		do
			is_inside = *from >= filter.t_min && *to <= filter.t_max;
		while (!ret && is_inside && links++ < LINKS_MAX && follow(&w, from, to));
		around *= 4;
	} while (!ret && !is_inside);
	free(w.funcs);
	return ret;
}
