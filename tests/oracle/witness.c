// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two sources show when a function was entered: the scanner, which polls from another CPU, and the
 * thread itself, which records with a lock the generation of the frame that it entered last.
 *
 * When a lock was stamped, an invocation with a later generation had not begun, and one with the
 * same or an earlier generation had.  This is so only for the thread's first block, to which the
 * generations in lock records refer.
 *
 * Legal exception: the stamp of a hold may be early, see locks.c, and the generation that the
 * thread had then may still have been in its CPU's store buffer when the scanner polled: bounds
 * describe what another CPU can observe.  This is so for both clocks (store_err: half a
 * microsecond, which was measured before barriers).  A wait is stamped when the thread's stores are
 * visible.
 */
#include <stdlib.h>
#include "oracle.h"

#define WITNESSES_MAX	(2U << 20)

struct witness {
	size_t instance;
	int64_t tick, late;	/* late: when another CPU can certainly observe the generation */
	uint64_t gen;
};

static int by_instance_gen(const void *a, const void *b)
{
	const struct witness *x = a, *y = b;

	if (x->instance != y->instance)
		return x->instance < y->instance ? -1 : 1;
	if (x->gen != y->gen)
		return x->gen < y->gen ? -1 : 1;
	return x->tick < y->tick ? -1 : x->tick > y->tick;
}

static void add(struct oracle *o, const struct ldb_row_lock *l)
{
	const struct instance *instance = oracle_instance(o, l->tid, l->begin);

	/* If the start of a hold was not stamped, it is not known. */
	if (!instance || !l->gen || (l->op == LDB_LOCK_OP_HOLD && !(l->flags & LDB_LOCK_F_BEGIN_EXACT)))
		return;
	if (o->nr_witnesses % 4096 == 0) {
		o->witnesses = realloc(o->witnesses, (o->nr_witnesses + 4096) * sizeof(*o->witnesses));
		if (!o->witnesses)
			oracle_out_of_memory();
	}
	o->witnesses[o->nr_witnesses++] = (struct witness){
		instance - o->instances, l->begin, l->begin + (l->op == LDB_LOCK_OP_HOLD ? o->store_err : 0), l->gen,
	};
}

void witness_read(struct oracle *o)
{
	struct cursor *c = reader_cursor(o->r, LDB_BLK_LOCK, NULL);
	struct reader_rows in;

	while (c && o->nr_witnesses < WITNESSES_MAX && cursor_next(c, &in) > 0)
		for (size_t i = 0; i < in.nr; i++)
			add(o, &in.lock[i]);
	cursor_close(c);
	if (o->nr_witnesses)
		qsort(o->witnesses, o->nr_witnesses, sizeof(*o->witnesses), by_instance_gen);
}

bool witness_find(const struct oracle *o, const struct instance *l, uint64_t gen, int64_t *before,
		  int64_t *after)
{
	size_t instance = l - o->instances, lo = 0, hi = o->nr_witnesses;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct witness *w = &o->witnesses[mid];

		if (w->instance < instance || (w->instance == instance && w->gen < gen))
			lo = mid + 1;
		else
			hi = mid;
	}
	*before = lo && o->witnesses[lo - 1].instance == instance ? o->witnesses[lo - 1].tick : INT64_MIN;
	*after = lo < o->nr_witnesses && o->witnesses[lo].instance == instance ? o->witnesses[lo].late : INT64_MAX;
	return *before != INT64_MIN || *after != INT64_MAX;
}
