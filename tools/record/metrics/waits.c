// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the waits for a CPU in SCHED rows.  A wait counts if its start and its end were observed,
 * and also the switch or the creation with which the thread's time off the CPU began.  The
 * distributions of ldb-report --sched, which are made from facts/sched.c, count the same waits.
 */
#include <linux/ldb.h>
#include "record/metrics/private.h"

/*
 * As in facts/sched.c: the time stamp of a wake-up may be this much earlier than that of the switch
 * out before it.
 */
#define RACE_NS		20000

static void forget(struct waiter *w)
{
	w->phase = WAITER_UNKNOWN;
	w->out = w->since = w->early = w->waking = INT64_MIN;
}

/* Returns the state of a thread, or NULL.  must_add: adds the thread if it is not known yet. */
static struct waiter *get(struct metrics *m, uint32_t tid, bool must_add)
{
	struct waiter *w = slots_find(&m->waiting, tid);

	if (!w && must_add) {
		w = slots_add(&m->waiting, tid);
		if (w)
			forget(w);
		else
			m->kinds[METRICS_CPU].nr_dropped++;
	}
	return w;
}

/*
 * Returns true if the thread is one of the program's.  This is checked repeatedly: a thread that
 * has just begun may not be known yet, and one that has ended may not be known any more.
 */
static bool is_of_program(const struct metrics *m, struct waiter *w)
{
	w->is_of_program = w->is_of_program || !m->is_of_program ||
			   m->is_of_program(m->thread_arg, w->slot.key);
	return w->is_of_program;
}

static void goes(struct metrics *m, const struct ldb_row_sched *r)
{
	unsigned state = LDB_SCHED_STATE(r->flags);
	struct waiter *w = get(m, r->tid, r->flags & LDB_SCHED_F_TID);

	if (!w)
		return;
	if (state == LDB_STATE_DEAD) {
		slots_remove(&m->waiting, &w->slot);
		return;
	}
	/* A wake-up that is older than RACE_NS was meant for a sleep that did not take place. */
	if (w->early != INT64_MIN && metrics_ns(m, r->tick - w->early) > RACE_NS)
		w->early = w->waking = INT64_MIN;
	is_of_program(m, w);
	w->phase = WAITER_OFF;
	w->out = r->tick;
	w->since = state == LDB_STATE_RUNNING || r->flags & LDB_SCHED_F_PREEMPT ? r->tick : INT64_MIN;
}

static void comes(struct metrics *m, const struct ldb_row_sched *r)
{
	struct waiter *w = get(m, r->other, r->flags & LDB_SCHED_F_OTHER);

	if (!w)
		return;
	if (w->phase == WAITER_OFF && w->since == INT64_MIN) {
		if (w->early != INT64_MIN && w->early <= w->out)
			w->since = w->out;
		else if (w->waking != INT64_MIN)
			w->since = w->waking > w->out ? w->waking : w->out;
	}
	if (w->phase == WAITER_OFF && w->since != INT64_MIN && is_of_program(m, w))
		metrics_add_wait(m, w->since, r->tick);
	forget(w);
	w->phase = WAITER_ON;
}

static void wakes(struct metrics *m, const struct ldb_row_sched *r)
{
	bool is_new = r->flags & LDB_SCHED_F_NEW;
	struct waiter *w = get(m, r->tid, is_new);

	if (!w)
		return;
	if (is_new) {
		forget(w);
		w->is_of_program = false;
		w->phase = WAITER_OFF;
		w->out = w->since = r->tick;
	} else if (w->phase == WAITER_ON) {
		w->early = r->tick;
	} else if (w->phase == WAITER_OFF && w->since == INT64_MIN) {
		w->since = r->tick;
		w->waking = INT64_MIN;
	}
}

void metrics_sched(struct metrics *m, const struct ldb_row_sched *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct ldb_row_sched *r = &rows[i];
		struct waiter *w;

		switch (r->op) {
		case LDB_SCHED_OP_SWITCH:
		case LDB_SCHED_OP_RUNNING:
			goes(m, r);
			if (r->other != r->tid)
				comes(m, r);
			break;
		case LDB_SCHED_OP_WAKING:
			w = get(m, r->other, r->flags & LDB_SCHED_F_OTHER);
			if (w)
				w->waking = r->tick;
			break;
		case LDB_SCHED_OP_WAKEUP:
			wakes(m, r);
			break;
		}
	}
}
