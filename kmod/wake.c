// SPDX-License-Identifier: GPL-2.0-or-later
/* The probes of sched_waking, sched_wakeup, sched_wakeup_new and sched_migrate_task. */
#include "event.h"
#include "probes.h"
#include "wait.h"

static __always_inline u32 context_flags(void)
{
	unsigned int count = preempt_count();

	if (unlikely(count & (HARDIRQ_MASK | SOFTIRQ_OFFSET))) {
		if (count & HARDIRQ_MASK)
			return LDB_SCHED_F_HARDIRQ;
		return LDB_SCHED_F_SOFTIRQ;
	}
	return 0;
}

/* Records the wake-up in session s, to which the waker or the woken thread belongs. */
static void waking_to(struct ldb_session *s, struct ldb_thread *waker, struct task_struct *p,
		      struct ldb_thread *t)
{
	struct ldb_session_cpu *sc = ldb_this_cpu(s);
	struct ldb_who who, woken;
	u64 now;

	if (!ldb_wants(s, LDB_GROUP_SCHED))
		return;
	now = ldb_clock_now(s->clock);
	who = ldb_name(sc, s, current, waker, LDB_SCHED_F_TID, now);
	woken = ldb_name(sc, s, p, t, LDB_SCHED_F_OTHER, now);
	ldb_emit(sc, now, who.tid, LDB_EV_WAKING, context_flags() | who.flags | woken.flags, 0,
		 woken.tid);
}

static noinline void waking_slow(struct ldb_thread *waker, struct task_struct *p,
				 struct ldb_thread *t)
{
	if (t)
		waking_to(t->s, waker, p, t);
	if (waker && (!t || waker->s != t->s))
		waking_to(waker->s, waker, p, t);
}

/*
 * Runs on the waker's CPU, before p becomes runnable.  The usual case, in which both threads belong
 * to one session, is handled inline, so that few registers must be saved.
 */
void ldb_probe_waking(void *unused, struct task_struct *p)
{
	struct ldb_thread *waker = ldb_observed_current();
	struct ldb_thread *t = ldb_observed(p);
	struct ldb_session_cpu *sc;
	struct ldb_session *s;

	if (likely(!waker && !t))
		return;
	if (unlikely(!waker || !t || waker->s != t->s || !t->s->fast)) {
		waking_slow(waker, p, t);
		return;
	}
	s = t->s;
	sc = ldb_this_cpu(s);
	ldb_emit(sc, ldb_clock_tsc(), waker->tid, LDB_EV_WAKING,
		 LDB_SCHED_F_TID | LDB_SCHED_F_OTHER | context_flags(), 0, t->tid);
}

/*
 * Returns the observed thread that runs on CPU c, or NULL; c is this CPU, or its run queue's lock
 * is held.
 */
static __always_inline struct ldb_thread *runs_on(const struct ldb_cpu *c, struct task_struct *curr)
{
	return likely(READ_ONCE(c->gen) == ldb_gen()) ? READ_ONCE(c->thread) : ldb_observed(curr);
}

static noinline void wakeup_slow(struct ldb_thread *t, struct task_struct *p, struct ldb_cpu *c,
				 u32 flags)
{
	struct ldb_session *s = t->s;
	struct ldb_session_cpu *sc = ldb_this_cpu(s);
	struct ldb_who other = {};
	struct task_struct *curr;
	u64 now;

	if (!ldb_wants(s, LDB_GROUP_SCHED))
		return;
	now = ldb_clock_now(s->clock);
	/* The task in curr cannot be freed before this probe ends: it has not been switched yet. */
	curr = READ_ONCE(c->curr);
	if (curr)
		other = ldb_name(sc, s, curr, runs_on(c, curr), LDB_SCHED_F_OTHER, now);
	ldb_emit(sc, now, t->tid, LDB_EV_WAKEUP, flags | LDB_SCHED_F_TID | other.flags, task_cpu(p),
		 other.tid);
}

/*
 * Records that p has become runnable.  The lock of its CPU's run queue is held, except if p was
 * woken before it left its CPU; p then does not have to wait, and is not counted.
 */
static __always_inline void wakeup(struct task_struct *p, u32 flags)
{
	struct ldb_thread *t = ldb_observed(p), *other;
	struct ldb_session *s;
	unsigned int cpu;
	struct ldb_cpu *c;

	if (likely(!t))
		return;
	s = t->s;
	cpu = task_cpu(p);
	c = per_cpu_ptr(&ldb_cpu, cpu);
	if (likely(READ_ONCE(t->wait) == LDB_WAIT_NOT && !ldb_on_cpu(p)))
		ldb_wait_begin(t, c, per_cpu_ptr(s->cpu, cpu));
	other = likely(READ_ONCE(c->gen) == ldb_gen()) ? READ_ONCE(c->thread) : NULL;
	if (unlikely(!other || other->s != s || !s->fast)) {
		wakeup_slow(t, p, c, flags);
		return;
	}
	ldb_emit(ldb_this_cpu(s), ldb_clock_tsc(), t->tid, LDB_EV_WAKEUP,
		 flags | LDB_SCHED_F_TID | LDB_SCHED_F_OTHER, cpu, other->tid);
}

void ldb_probe_wakeup(void *unused, struct task_struct *p)
{
	wakeup(p, 0);
}

void ldb_probe_wakeup_new(void *unused, struct task_struct *p)
{
	wakeup(p, LDB_SCHED_F_NEW);
}

/* In this probe task_cpu(p) is still the CPU that p leaves. */
void ldb_probe_migrate(void *unused, struct task_struct *p, int dest_cpu)
{
	struct ldb_thread *t = ldb_observed(p);

	if (likely(!t))
		return;
	if (t->wait != LDB_WAIT_NOT)
		ldb_wait_move(t, task_cpu(p), dest_cpu);
	if (ldb_wants(t->s, LDB_GROUP_SCHED))
		ldb_emit(ldb_this_cpu(t->s), ldb_clock_now(t->s->clock), t->tid, LDB_EV_MIGRATE,
			 LDB_SCHED_F_TID, task_cpu(p), dest_cpu);
}
