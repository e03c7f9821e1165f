/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates when an invocation of a function began and ended.  The scanner samples stacks, so it
 * knows only bounds.
 *
 * The true start lies in [start_max - start_unc, start_max], the true end in [end_max - end_unc,
 * end_max].  The estimate is the middle of each, or the later bound of a start or end that was not
 * observed; the resolution is the greatest error of the duration: half the sum of both widths.
 */
#ifndef FACTS_ESTIMATE_H
#define FACTS_ESTIMATE_H

#include <stdbool.h>
#include <linux/ldb.h>
#include <ldb/trace-format.h>
#include "ticks.h"

struct estimate {
	int64_t start, end;	/* ticks; end >= start */
	int64_t start_min, start_max; /* bounds of the true start */
	int64_t end_min, end_max; /* bounds of the true end */
	uint64_t resolution;	/* ticks */
	bool is_truncated;	/* start or end was not observed: the duration is a lower bound */
};

/*
 * Returns the middle of the bounds of a start or an end; of two middle ticks, the later one.  All
 * code must use this function: otherwise a start or end whose bounds are the same could have two
 * different estimates.
 */
static inline int64_t estimate_middle(int64_t min, int64_t max)
{
	return max - (max - min) / 2;
}

/* Returns half the sum of both widths. */
static inline uint64_t estimate_resolution(uint64_t start_unc, uint64_t end_unc)
{
	return start_unc / 2 + end_unc / 2 + (start_unc & end_unc & 1);
}

/*
 * Returns the estimate for a FUNC row.  If the start has no lower bound, the start of the recording
 * is used; if the end has none, the latest possible start of the invocation.
 */
static inline struct estimate estimate_func(const struct ldb_row_func *f)
{
	int64_t start_max = ticks_sane(f->start_max), end_max = ticks_sane(f->end_max);
	uint64_t start_unc = ticks_sane_length(f->start_unc);
	uint64_t end_unc = ticks_sane_length(f->end_unc);
	struct estimate e;

	if (f->start_unc == LDB_UNC_UNKNOWN)
		start_unc = start_max > 0 ? start_max : 0;
	if (f->end_unc == LDB_UNC_UNKNOWN)
		end_unc = end_max > start_max ? end_max - start_max : 0;
	e.start_max = start_max;
	e.start_min = start_max - (int64_t)start_unc;
	e.end_max = end_max;
	e.end_min = end_max - (int64_t)end_unc;
	e.is_truncated = f->flags & (LDB_FUNC_F_OPEN | LDB_FUNC_F_FROM_START);
	e.start = f->flags & LDB_FUNC_F_FROM_START ? start_max : estimate_middle(e.start_min, start_max);
	e.end = f->flags & LDB_FUNC_F_OPEN ? end_max : estimate_middle(e.end_min, end_max);
	if (e.end < e.start)
		e.end = e.start;
	e.resolution = estimate_resolution(start_unc, end_unc);
	return e;
}

/*
 * Returns the generation of the innermost frame at the time of a LOCK or REQ row whose nr_later is
 * not 0; 0: there was no frame.
 */
static inline uint64_t innermost_of(uint64_t gen, uint64_t nr_later)
{
	return gen - ((nr_later - 1) << 16);
}

#endif
