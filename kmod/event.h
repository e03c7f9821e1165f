/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that several probes use: the tid of a task in a session, and accesses to user memory
 * without page faults.
 */
#ifndef LDB_EVENT_H
#define LDB_EVENT_H

#include <linux/uaccess.h>
#include "clock.h"
#include "ldb_internal.h"
#include "ring.h"

/* A tid, with flags for the event.  Both are passed in registers. */
struct ldb_who {
	u32	tid, flags;
};

/* process.c */
struct ldb_who ldb_name_only_other(struct ldb_session_cpu *sc, struct task_struct *p, u64 now);
struct ldb_who ldb_name_other(struct ldb_session_cpu *sc, struct task_struct *p, u64 now);
void ldb_introduce_thread(struct ldb_thread *t, u64 now);
void ldb_write_task(struct ldb_session_cpu *sc, u32 tid, u32 tgid, u32 flags, const char *name,
		    u64 now);

/*
 * Returns the tid of p.  t is the observed thread of p, or NULL.  If session s observes p, the
 * flags are `bit`; otherwise see ldb_name_only_other().
 */
static __always_inline struct ldb_who ldb_name(struct ldb_session_cpu *sc, struct ldb_session *s,
					       struct task_struct *p, const struct ldb_thread *t,
					       u32 bit, u64 now)
{
	if (likely(t && t->s == s))
		return (struct ldb_who){ t->tid, bit };
	return ldb_name_only_other(sc, p, now);
}

/*
 * ldb_nofault_begin() and _end() enclose accesses to user memory that must not fault pages in.  If
 * the kernel counts preemption, the probes cannot fault pages in anyway, because they run with
 * preemption off; but access_ok() of some debug kernels requires these calls in interrupts.
 */
#define LDB_MUST_DISABLE_FAULTS	\
	(!IS_ENABLED(CONFIG_PREEMPT_COUNT) || IS_ENABLED(CONFIG_DEBUG_ATOMIC_SLEEP))

static __always_inline void ldb_nofault_begin(void)
{
	if (LDB_MUST_DISABLE_FAULTS)
		pagefault_disable();
}

static __always_inline void ldb_nofault_end(void)
{
	if (LDB_MUST_DISABLE_FAULTS)
		pagefault_enable();
}

static __always_inline struct ldb_session_cpu *ldb_this_cpu(const struct ldb_session *s)
{
	return this_cpu_ptr(s->cpu);
}

#endif /* LDB_EVENT_H */
