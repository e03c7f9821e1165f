// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds pauses of a recording by time; see pauses.h. */
#include "base/search.h"
#include "pauses.h"

static const struct thread_interval *of_process(const struct model *m, uint32_t pid, size_t n)
{
	return n < m->pauses.nr && m->pauses.at[n].tid == pid ? &m->pauses.at[n] : NULL;
}

const struct thread_interval *pauses_after(const struct model *m, uint32_t pid, int64_t tick)
{
	return of_process(m, pid, intervals_first(&m->pauses, pid, tick));
}

const struct thread_interval *pauses_within(const struct model *m, uint32_t pid, int64_t start, int64_t end)
{
	size_t n = search_by(m->pauses.at, m->pauses.nr, p, p->tid < pid || (p->tid == pid && p->end < start));
	const struct thread_interval *pause = of_process(m, pid, n);

	return pause && pause->start <= end ? pause : NULL;
}

const struct thread_interval *pauses_between(const struct model *m, uint32_t pid, int64_t start, int64_t end)
{
	const struct thread_interval *pause = pauses_after(m, pid, start);

	return pause && pause->start < end ? pause : NULL;
}

int64_t pauses_cut(const struct model *m, uint32_t pid, int64_t tick)
{
	size_t n = search_by(m->pauses.at, m->pauses.nr, p, p->tid < pid || (p->tid == pid && p->start <= tick));
	const struct thread_interval *pause = n ? of_process(m, pid, n - 1) : NULL;

	if (!pause)
		return INT64_MIN;
	return pause->end <= tick ? pause->end : pause->start;
}

uint32_t pauses_process(const struct model *m, uint32_t tid, int64_t tick)
{
	const struct thread *t = m->nr_processes && m->pauses.nr ? model_thread(m, tid, tick) : NULL;

	return t ? t->pid : 0;
}
