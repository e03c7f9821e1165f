// SPDX-License-Identifier: GPL-2.0-or-later
/* The probes of sched_process_fork, _exec, _exit and task_rename, and the names of tasks. */
#include "event.h"
#include "probes.h"
#include "stamp.h"

static u32 tgid_of(const struct ldb_session *s, struct task_struct *p)
{
	return task_tgid_nr_ns(p, s->ns ?: &init_pid_ns);
}

static void forked(struct task_struct *child)
{
	struct ldb_thread *t = ldb_observed_current(), *c;
	struct ldb_session_cpu *sc;
	struct ldb_who who;
	u32 tgid = 0;
	u64 now;

	if (likely(!t))
		return;
	sc = ldb_this_cpu(t->s);
	if (child->signal == t->s->signal && ldb_thread_add(t->s, child, LDB_SEQ_NEW))
		pr_warn_ratelimited("ldb: no memory: thread %d is not observed\n", child->pid);
	c = ldb_observed(child);
	now = ldb_clock_now(t->s->clock);
	who = ldb_name(sc, t->s, child, c, LDB_SCHED_F_OTHER, now);
	if (who.tid)
		tgid = tgid_of(t->s, child);
	if (ldb_wants(t->s, LDB_GROUP_PROCESS))
		ldb_emit(sc, now, t->tid, LDB_EV_FORK, LDB_SCHED_F_TID | who.flags, tgid, who.tid);
	if (c)
		ldb_introduce_thread(c, now);
}

/* This runs in the parent, before the child can run. */
void ldb_probe_fork(void *unused, struct task_struct *parent, struct task_struct *child)
{
	preempt_disable_notrace();
	forked(child);
	preempt_enable_notrace();
}

/* Ends a session whose program has exited or called exec(); the recorder may continue to read. */
static void session_died(struct ldb_session *s)
{
	WRITE_ONCE(s->dead, true);
	irq_work_queue(&s->wake);
}

/*
 * Records an exec(), which has ended all other threads.  The new program must not use the session's
 * memory, and the states of the old threads are not valid for it, so a joined session ends.
 */
static void execs(struct task_struct *p)
{
	struct ldb_thread *t = ldb_observed_current();
	struct ldb_session *s;
	u32 before;
	u64 now;

	if (likely(!t))
		return;
	s = t->s;
	before = t->tid;
	t->tid = ldb_tid_of(s, p);
	now = ldb_clock_now(s->clock);
	if (ldb_wants(s, LDB_GROUP_PROCESS))
		ldb_emit(ldb_this_cpu(s), now, t->tid, LDB_EV_EXEC, LDB_SCHED_F_TID, 0, before);
	ldb_introduce_thread(t, now);
	if (s->mm) {
		ldb_threads_remove_all(s);
		ldb_stamp_cpu(ldb_this_cpu(s), 0, 0);
		session_died(s);
	}
}

void ldb_probe_exec(void *unused, struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm)
{
	preempt_disable_notrace();
	execs(p);
	preempt_enable_notrace();
}

static bool group_is_dead(struct task_struct *p, struct ldb_session *s)
{
	/*
	 * If the last two threads exit at the same time, both may find no live thread; only one of
	 * the two calls returns true.
	 */
	return !atomic_read(&p->signal->live) && !test_and_set_bit(0, &s->ended);
}

/*
 * Records the exit of p.  This runs in p, in do_exit(), before p leaves the CPU for the last time.
 */
static void exiting(struct task_struct *p)
{
	struct ldb_thread *t = ldb_observed(p);
	struct ldb_session *s;
	bool last;

	if (likely(!t))
		return;
	s = t->s;
	ldb_thread_detach_self(t);
	last = group_is_dead(p, s);
	if (ldb_wants(s, LDB_GROUP_PROCESS))
		ldb_emit(ldb_this_cpu(s), ldb_clock_now(s->clock), t->tid, LDB_EV_EXIT,
			 LDB_SCHED_F_TID, last, 0);
	if (last)
		session_died(s);
}

#if LDB_EXIT_HAS_GROUP_DEAD
void ldb_probe_exit(void *unused, struct task_struct *p, bool group_dead)
#else
void ldb_probe_exit(void *unused, struct task_struct *p)
#endif
{
	preempt_disable_notrace();
	exiting(p);
	preempt_enable_notrace();
}

static void renamed(struct task_struct *p, const char *comm)
{
	struct ldb_thread *t = ldb_observed(p);
	char name[TASK_COMM_LEN] = {};

	if (likely(!t))
		return;
	strscpy(name, comm, sizeof(name));
	ldb_write_task(ldb_this_cpu(t->s), t->tid, tgid_of(t->s, p), LDB_SCHED_F_TID, name,
		       ldb_clock_now(t->s->clock));
}

void ldb_probe_rename(void *unused, struct task_struct *p, const char *comm)
{
	preempt_disable_notrace();
	renamed(p, comm);
	preempt_enable_notrace();
}

/* Wakes the reader; called each time a quarter of a ring has been written. */
void ldb_ring_quarter(struct ldb_session_cpu *sc)
{
	local_add(ldb_quarter(sc), &sc->left);
	local_inc(&sc->quarters);
	set_bit(0, &sc->s->ready);
	ldb_order_ready_then_waiters();
	if (waitqueue_active(&sc->s->wait))
		irq_work_queue(&sc->s->wake);
}

/*
 * Writes the name of a task.  `name` has TASK_COMM_LEN bytes, which another thread may be changing.
 * Called with preemption off.
 */
void ldb_write_task(struct ldb_session_cpu *sc, u32 tid, u32 tgid, u32 flags, const char *name,
		    u64 now)
{
	u64 idx, part[2];

	BUILD_BUG_ON(sizeof(part) != TASK_COMM_LEN);
	if (!ldb_wants(sc->s, LDB_GROUP_SCHED))
		return;
	data_race(memcpy(part, name, sizeof(part)));	/* the name may be changing */
	idx = ldb_reserve(sc, 2);
	ldb_put(sc, idx, now, tid, LDB_EV_TASK, flags, part[0], tgid);
	ldb_put(sc, idx + 1, 0, 0, LDB_EV_CONT + 1, 0, part[1], 0);
	if (ldb_written(sc, 2))
		ldb_ring_quarter(sc);
}

void ldb_introduce_thread(struct ldb_thread *t, u64 now)
{
	ldb_write_task(ldb_this_cpu(t->s), t->tid, tgid_of(t->s, t->task), LDB_SCHED_F_TID,
		       t->task->comm, now);
}

/* Writes the name of a task that is not observed, unless it was written recently. */
static void write_other(struct ldb_session_cpu *sc, struct task_struct *p, u32 tid, u64 now)
{
	u64 name[2], is;
	u64 *seen;

	if (!ldb_wants(sc->s, LDB_GROUP_SCHED))
		return;
	data_race(memcpy(name, p->comm, sizeof(name)));	/* the task may rename itself */
	is = (name[0] ^ hash_64(name[1], 64) ^ hash_64(tid, 64)) | 1;
	seen = &sc->s->seen[tid & ((1 << LDB_SEEN_BITS) - 1)];
	if (likely(READ_ONCE(*seen) == is))
		return;
	WRITE_ONCE(*seen, is);
	ldb_write_task(sc, tid, tgid_of(sc->s, p), 0, p->comm, now);
}

/*
 * Returns the tid of p, a task that is not observed, and writes its name.  The tid is 0 for the
 * idle task, and for a task that is hidden from the session, which has LDB_SCHED_F_HIDDEN.
 */
struct ldb_who ldb_name_other(struct ldb_session_cpu *sc, struct task_struct *p, u64 now)
{
	struct ldb_who who = {};

	/* The idle task. */
	if (!p->pid)
		return who;
	if (sc->s->sees_others)
		who.tid = ldb_tid_of(sc->s, p);
	if (who.tid)
		write_other(sc, p, who.tid, now);
	else
		who.flags = LDB_SCHED_F_HIDDEN;
	return who;
}

/*
 * Does the same as ldb_name_other() for an event with only one task that is not observed, and counts
 * the event if this task is hidden.
 */
struct ldb_who ldb_name_only_other(struct ldb_session_cpu *sc, struct task_struct *p, u64 now)
{
	struct ldb_who who = ldb_name_other(sc, p, now);

	if (who.flags & LDB_SCHED_F_HIDDEN)
		local_inc(&sc->hidden);
	return who;
}
