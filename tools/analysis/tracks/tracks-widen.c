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
#include "base/sort.h"
#include "facts/estimate.h"
#include "tracks-private.h"

#define AROUND_NS	200000		/* is read before and after the range at first */

/* The bounds of a start or an end, which are different ticks. */
struct bounds {
	int64_t min, max;
};

struct wide {
	int64_t from, to;		/* the range, which only grows */
	bool (*wants)(void *arg, uint32_t tid, int64_t start, int64_t end);
	void *arg;
	struct bounds *bounds;
	size_t nr, room;
};

/* Adds the bounds if they cross a border, or may cross it when the range is wider. */
static int add_bounds(struct wide *w, int64_t min, int64_t max)
{
	if (min == max || (min >= w->from && max <= w->to))
		return 0;
	return array_push(w->bounds, w->nr, w->room, { min, max });
}

static int add_funcs(void *arg, const struct reader_rows *rows)
{
	struct wide *w = arg;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		struct estimate e = estimate_func(&rows->func[i]);

		if (e.is_truncated || !w->wants(w->arg, rows->func[i].tid, e.start_min, e.end_max))
			continue;
		ret = add_bounds(w, e.start_min, e.start_max);
		if (!ret)
			ret = add_bounds(w, e.end_min, e.end_max);
	}
	return ret;
}

COMPARE(by_min, struct bounds, UP(min))
COMPARE(by_max, struct bounds, DOWN(max))

/*
 * Moves each border over all bounds that it is inside of.  Bounds that only touch it are on one
 * side: the scanner's poll that last found one function may be the one that first found the next.
 */
static void move_borders(struct wide *w)
{
	sort_by(w->bounds, w->nr, by_min);
	for (size_t i = 0; i < w->nr && w->bounds[i].min < w->to; i++)
		w->to = max(w->to, w->bounds[i].max);
	sort_by(w->bounds, w->nr, by_max);
	for (size_t i = 0; i < w->nr && w->bounds[i].max > w->from; i++)
		w->from = min(w->from, w->bounds[i].min);
}

/*
 * Reads the bounds of functions in the filter's range.  If it is wider than the range that the
 * caller retains, it is retained, too: the caller reads it again, and blocks would be decoded twice.
 */
static int read_bounds(struct model *m, struct wide *w, const struct reader_filter *filter,
		       bool is_wider)
{
	int ret = 0;

	w->nr = 0;
	if (is_wider && reader_retains(m->reader))
		ret = reader_retain_also(m->reader, LDB_BLK_FUNC,
					 &(struct reader_range){ filter->t_min, filter->t_max });
	return ret ? ret : reader_each(m->reader, LDB_BLK_FUNC, filter, add_funcs, w);
}

int tracks_widen(struct model *m, bool (*wants)(void *arg, uint32_t tid, int64_t start, int64_t end),
		 void *arg, int64_t *from, int64_t *to)
{
	int64_t around = 1 + AROUND_NS / reader_ticks_to_ns(m->reader, 1);
	struct wide w = { .from = *from, .to = *to, .wants = wants, .arg = arg };
	struct reader_filter filter = READER_FILTER_ALL;
	bool is_wider = false;
	int ret;

	do {
		filter.t_min = w.from - around;
		filter.t_max = w.to + around;
		ret = read_bounds(m, &w, &filter, is_wider);
		if (!ret)
			move_borders(&w);
		around *= 4;
		is_wider = true;
	} while (!ret && (w.from < filter.t_min || w.to > filter.t_max));
	*from = w.from;
	*to = w.to;
	free(w.bounds);
	return ret;
}
