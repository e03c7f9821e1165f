// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds pauses of a recording by time; see pauses.h. */
#include "base/search.h"
#include "pauses.h"

const struct thread_interval *pauses_after(const struct model *m, int64_t tick)
{
	size_t n = intervals_first(&m->pauses, 0, tick);

	return n < m->pauses.nr ? &m->pauses.at[n] : NULL;
}

const struct thread_interval *pauses_within(const struct model *m, int64_t start, int64_t end)
{
	size_t n = search_by(m->pauses.at, m->pauses.nr, p, p->end < start);

	return n < m->pauses.nr && m->pauses.at[n].start <= end ? &m->pauses.at[n] : NULL;
}

const struct thread_interval *pauses_between(const struct model *m, int64_t start, int64_t end)
{
	const struct thread_interval *pause = pauses_after(m, start);

	return pause && pause->start < end ? pause : NULL;
}

int64_t pauses_cut(const struct model *m, int64_t tick)
{
	size_t n = search_by(m->pauses.at, m->pauses.nr, p, p->start <= tick);

	if (!n)
		return INT64_MIN;
	return m->pauses.at[n - 1].end <= tick ? m->pauses.at[n - 1].end : m->pauses.at[n - 1].start;
}
