/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which watched threads wait for a CPU: counted for each CPU, so that a switch
 * between two strangers is recorded while one waits, and costs one test else.
 *
 * A CPU's counts are only changed with its run queue's lock held, so plainly.
 * The exception is a thread that is moved while it waits: then it is the lock of
 * the CPU that it leaves, and the new one has a second, atomic count for those.
 * The counts of a session that has ended are simply forgotten: ldb_cpu's may
 * therefore be too high, which is found out when they are looked at.
 */
#ifndef LDB_WAIT_H
#define LDB_WAIT_H

#include "ldb_internal.h"

static __always_inline void ldb_wait_begin(struct ldb_thread *t, struct ldb_cpu *c,
					   struct ldb_session_cpu *sc)
{
	t->wait = LDB_WAIT_COUNTED;
	sc->waiting++;
	c->waiting++;
}

/* It gets the CPU, or is moved away from it. */
static __always_inline void ldb_wait_end(struct ldb_thread *t, struct ldb_cpu *c,
					 struct ldb_session_cpu *sc)
{
	if (likely(t->wait == LDB_WAIT_COUNTED)) {
		sc->waiting--;
		c->waiting--;
	} else if (t->wait == LDB_WAIT_ARRIVED) {
		atomic_dec(&sc->arrived);
		atomic_dec(&c->arrived);
	}
	t->wait = LDB_WAIT_NOT;
}

static inline void ldb_wait_move(struct ldb_thread *t, int from, int to)
{
	ldb_wait_end(t, per_cpu_ptr(&ldb_cpu, from), per_cpu_ptr(t->s->cpu, from));
	t->wait = LDB_WAIT_ARRIVED;
	atomic_inc(&per_cpu_ptr(t->s->cpu, to)->arrived);
	atomic_inc(&per_cpu_ptr(&ldb_cpu, to)->arrived);
}

static __always_inline bool ldb_waited_for(struct ldb_cpu *c)
{
	return c->waiting | atomic_read(&c->arrived);
}

static inline bool ldb_session_waits(const struct ldb_session_cpu *sc)
{
	return !READ_ONCE(sc->s->dead) && (sc->waiting > 0 || atomic_read(&sc->arrived) > 0);
}

#endif /* LDB_WAIT_H */
