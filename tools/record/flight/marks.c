// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores marks, and subtracts their counters; see marks.h. */
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "record/flight/marks.h"

void flight_marks_init(struct flight_marks *m)
{
	memset(m, 0, sizeof(*m));
	m->nr = 1;
}

static void drop_first(struct flight_marks *m, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(m->at[i].threads);
	memmove(m->at, m->at + nr, (m->nr - nr) * sizeof(*m->at));
	m->nr -= nr;
}

void flight_marks_exit(struct flight_marks *m)
{
	drop_first(m, m->nr);
}

struct flight_mark *flight_marks_add(struct flight_marks *m)
{
	if (m->nr == sizeof(m->at) / sizeof(*m->at))
		drop_first(m, 1);
	m->at[m->nr] = (struct flight_mark){ 0 };
	return &m->at[m->nr++];
}

const struct flight_mark *flight_marks_from(const struct flight_marks *m, uint64_t first)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->at[i].number >= first)
			return &m->at[i];
	return NULL;
}

void flight_marks_drop(struct flight_marks *m, const struct flight_mark *before)
{
	if (before && before > m->at)
		drop_first(m, before - m->at);
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void flight_mark_subtract_thread(const struct flight_mark *m, struct ldb_row_thread *row)
{
	const struct ldb_row_thread *b = NULL;

	for (size_t i = 0; i < m->nr_threads && !b; i++)
		if (m->threads[i].tid == row->tid && m->threads[i].start == row->start)
			b = &m->threads[i];
	if (!b)
		return;
	/*
	 * Calls that were observed since the mark may have been made before it, so there may be
	 * more of them than calls made since.
	 */
	row->seen = minus(row->seen, b->seen);
	row->made = max(minus(row->made, b->made), row->seen);
	row->scans = minus(row->scans, b->scans);
	row->invalid = minus(row->invalid, b->invalid);
	row->foreign = minus(row->foreign, b->foreign);
	row->too_deep = minus(row->too_deep, b->too_deep);
	row->disorder = minus(row->disorder, b->disorder);
	row->gap = minus(row->gap, b->gap);
	row->below_threshold = minus(row->below_threshold, b->below_threshold);
	row->cost = minus(row->cost, b->cost);
}

void flight_mark_subtract_scan(const struct flight_mark *m, struct ldb_row_scan *row)
{
	const struct ldb_row_scan *b = row->scanner < LDB_MAX_SCANNERS ? &m->scans[row->scanner] : NULL;

	if (!b)
		return;
	row->rounds = minus(row->rounds, b->rounds);
	row->looks = minus(row->looks, b->looks);
	row->changes = minus(row->changes, b->changes);
	row->scans = minus(row->scans, b->scans);
	row->invalid = minus(row->invalid, b->invalid);
	row->frames = minus(row->frames, b->frames);
	row->gaps = minus(row->gaps, b->gaps);
	row->gap = minus(row->gap, b->gap);
	row->busy = minus(row->busy, b->busy);
	row->paused = minus(row->paused, b->paused);
	row->moving = minus(row->moving, b->moving);
	row->cost = minus(row->cost, b->cost);
	row->handed = minus(row->handed, b->handed);
}
