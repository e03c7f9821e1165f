/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the observed threads that wait for each CPU, so that a switch between two tasks that are
 * not observed is recorded while such a thread waits; otherwise the switch costs one more test only.
 *
 * A CPU's counts are changed only with its run queue's lock held, so they need no atomics.  The
 * exception is a thread that is moved while it waits: then only the lock of the CPU that it leaves
 * is held, so its new CPU counts such threads in a second, atomic count.  The `waiting` counts of a
 * session that has ended are not subtracted, so that of ldb_cpu may be too high until it is next
 * summed up.
 */
#ifndef LDB_WAIT_H
#define LDB_WAIT_H

#include "ldb_internal.h"

static __always_inline void ldb_wait_begin(struct ldb_thread *t, struct ldb_cpu *c,
					   struct ldb_session_cpu *sc)
{
	WRITE_ONCE(t->wait, LDB_WAIT_COUNTED);
	sc->waiting++;
	c->waiting++;
}

/* Does the same as ldb_wait_begin() on the current CPU. */
static __always_inline void ldb_wait_begin_here(struct ldb_thread *t, struct ldb_session_cpu *sc)
{
	WRITE_ONCE(t->wait, LDB_WAIT_COUNTED);
	sc->waiting++;
	this_cpu_inc(ldb_cpu.waiting);
}

static __always_inline void ldb_wait_end_here(struct ldb_thread *t, struct ldb_session_cpu *sc)
{
	if (likely(t->wait == LDB_WAIT_COUNTED)) {
		sc->waiting--;
		this_cpu_dec(ldb_cpu.waiting);
	} else if (t->wait == LDB_WAIT_ARRIVED) {
		atomic_dec(&sc->arrived);
		atomic_dec(this_cpu_ptr(&ldb_cpu.arrived));
	}
	WRITE_ONCE(t->wait, LDB_WAIT_NOT);
}

/*
 * Moves a thread that waits to the count of another CPU.  Called with the lock of the run queue
 * that the thread leaves.
 */
static inline void ldb_wait_move(struct ldb_thread *t, int from, int to)
{
	struct ldb_session_cpu *sc = per_cpu_ptr(t->s->cpu, from);
	struct ldb_cpu *c = per_cpu_ptr(&ldb_cpu, from);

	if (t->wait == LDB_WAIT_COUNTED) {
		sc->waiting--;
		c->waiting--;
	} else {
		atomic_dec(&sc->arrived);
		atomic_dec(&c->arrived);
	}
	WRITE_ONCE(t->wait, LDB_WAIT_ARRIVED);
	atomic_inc(&per_cpu_ptr(t->s->cpu, to)->arrived);
	atomic_inc(&per_cpu_ptr(&ldb_cpu, to)->arrived);
}

/* Returns true if observed threads may be waiting for this CPU. */
static __always_inline bool ldb_waited_for(void)
{
	return this_cpu_read(ldb_cpu.waiting) | this_cpu_read(ldb_cpu.arrived.counter);
}

/* Returns true if threads of other sessions, or migrated threads, may be waiting for this CPU. */
static __always_inline bool ldb_others_wait(const struct ldb_session_cpu *sc)
{
	return unlikely(this_cpu_read(ldb_cpu.waiting) != sc->waiting) ||
	       unlikely(this_cpu_read(ldb_cpu.arrived.counter));
}

static inline bool ldb_session_waits(const struct ldb_session_cpu *sc)
{
	return !READ_ONCE(sc->s->dead) && (sc->waiting > 0 || atomic_read(&sc->arrived) > 0);
}

#endif /* LDB_WAIT_H */
