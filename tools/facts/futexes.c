// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects sleeps on futexes; see futexes.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "futexes.h"
#include "sched.h"

struct builder {
	struct model *m;
	struct futexes *f;
};

uint32_t futex_owner(const struct model *m, uint32_t owner, int64_t from, int64_t to)
{
	const struct thread *t = owner ? model_thread(m, owner, from) : NULL;

	return t && t->start <= to && (!t->has_exited || t->end >= from) ? owner : 0;
}

bool futex_is_inside(uint64_t futex, uint64_t lock, unsigned kind)
{
	return futex >= lock && futex - lock < lock_kind_size(kind);
}

int futexes_add(struct model *m, struct futexes *f, const struct sched_off *off)
{
	if (!off->nr_futexes || !off->has_out)
		return 0;
	if (f->nr == FUTEXES_MAX) {
		f->nr_not_kept++;
		return 0;
	}
	return array_push(f->at, f->nr, f->room, {
		.tid = off->tid, .owner = futex_owner(m, off->owner, off->out, off->woken),
		.waker = off->is_futex_woken ? off->waker.tid : 0, .futex = off->futex,
		.gen = off->gen, .pc = off->pc, .out = off->out, .woken = off->woken,
	});
}

static int on_off(void *arg, const struct sched_off *off)
{
	struct builder *b = arg;

	return futexes_add(b->m, b->f, off);
}

COMPARE(compare, struct futex_wait, UP(tid) UP(out))

void futexes_sort(struct futexes *f)
{
	sort_by(f->at, f->nr, compare);
}

int futexes_read(struct model *m, int64_t from, int64_t to, struct futexes *f)
{
	struct builder b = { .m = m, .f = f };
	struct sched_sink sink = { .off = on_off, .arg = &b };
	struct sched_result result;
	int ret;

	*f = (struct futexes){ 0 };
	if (!m->has_sched)
		return 0;
	ret = sched_each(m, from, to, &sink, &result);
	if (!ret)
		futexes_sort(f);
	return ret;
}

void futexes_free(struct futexes *f)
{
	free(f->at);
	*f = (struct futexes){ 0 };
}

int futexes_match(struct futexes *f, struct lock_event *wait,
		  int (*woken)(void *arg, const struct futex_wait *w), void *arg)
{
	unsigned kind = LDB_LOCK_KIND(wait->flags);
	size_t lo = search_by(f->at, f->nr, w,
			      w->tid < wait->tid ||
			      (w->tid == wait->tid && w->woken <= wait->begin));
	int ret = 0;

	for (; lo < f->nr && !ret; lo++) {
		struct futex_wait *w = &f->at[lo];

		if (w->tid != wait->tid || w->out >= wait->end)
			break;
		if (futex_is_inside(w->futex, wait->lock, kind)) {
			w->is_known = true;
			ret = woken(arg, w);
		} else if (kind == LDB_LOCK_COND && w->out > wait->begin) {
			wait->end = w->out;
		} else if (kind != LDB_LOCK_COND) {
			/*
			 * A sleep on another futex during the wait is taken to be a part of the
			 * wait, too.
			 */
			w->is_known = true;
		}
	}
	return ret;
}
