/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BPF programs for sched_switch, sched_waking, sched_wakeup, sched_wakeup_new and
 * sched_migrate_task.
 */
#ifndef RECORD_BPF_SCHED_H
#define RECORD_BPF_SCHED_H

#include "calls.h"
#include "chain.h"

static __always_inline u32 state_of(unsigned int state)
{
	if (state & TASK_DEADS)
		return LDB_STATE_DEAD;
	if (state & TASK_INTERRUPTIBLE)
		return LDB_STATE_SLEEPING;
	if (state & (TASK_NOLOAD | TASK_PARKED))
		return LDB_STATE_IDLE;
	if (state & TASK_STOPPED_BIT)
		return LDB_STATE_STOPPED;
	if (state & TASK_TRACED_BIT)
		return LDB_STATE_TRACED;
	return LDB_STATE_DISK;
}

/*
 * Returns the state in which a task left its CPU: LDB_STATE_RUNNING if it stays on the run queue,
 * with LDB_SCHED_F_PREEMPT if it was preempted.  The state in the event is not sufficient: a task
 * with a pending signal stays, whatever its state.
 *
 * This function is not static, so that the kernel's verifier does not check the code after a call
 * once for each possible result.
 */
noinline int flags_of(u32 preempt, u32 now, u64 of_event)
{
	if (preempt)
		return LDB_STATE_RUNNING | LDB_SCHED_F_PREEMPT;
	if (!now)
		return LDB_STATE_RUNNING;
	return state_of(config.has_prev_state ? of_event : now);
}

static __always_inline void leaves(struct member *m, u32 flags, u32 cpu, struct rq *rq)
{
	m->has_switched = 1;
	m->sleeps = LDB_SCHED_STATE(flags) != LDB_STATE_RUNNING;
	m->cpu = cpu + 1;
	if (LDB_SCHED_STATE(flags) == LDB_STATE_RUNNING)
		wait_begin(m, cpu, rq);
}

/*
 * Returns how many ns the hypervisor took from this CPU while m waited for it.  The run queue
 * counts stolen time whenever its clock is updated, at each wake-up and switch.
 */
static __always_inline u64 stolen_while_waiting(const struct member *m, u32 cpu, struct rq *rq)
{
	u64 now = stolen_from(rq), before = m->waits == cpu + 1 ? m->stolen_before : 0;

	if (!before || now <= before)
		return 0;
	return now - before < 0xffffffff ? now - before : 0xffffffff;
}

static __always_inline bool is_sleep(u32 flags)
{
	u32 state = LDB_SCHED_STATE(flags);

	return state == LDB_STATE_SLEEPING || state == LDB_STATE_DISK;
}

/* Records a switch between two tasks, at least one of which is recorded. */
static __always_inline void switched(struct task_struct *prev, struct task_struct *next, bool out,
				     bool in, u32 flags)
{
	u32 nr = bpf_get_smp_processor_id();
	struct member *left, *came;
	struct bpf_cpu *cpu = cpu_of(nr);
	struct rq *rq = task_rq(prev);
	who_t from, to;
	u64 now, stolen = 0;

	if (out)
		is_on(prev, nr);
	left = out ? member_of(prev) : NULL;
	came = in ? member_of(next) : NULL;
	now = now_ns();
	if (left)
		leaves(left, flags, nr, rq);
	if (came) {
		check_woken(came, nr);
		stolen = stolen_while_waiting(came, nr, rq);
	}
	if (in && !prev->pid && cpu->is_idle)
		cpu->idle_ns += now - cpu->switched_at;
	cpu->is_idle = out && !next->pid;
	cpu->current = in ? next->pid : 0;
	cpu->has_switched = 1;
	cpu->switched_at = now;
	cpu->clock_behind = rq ? now - rq->clock : 0;
	wait_end(came);
	from = name_of(prev, out, left, LDB_SCHED_F_TID, now);
	to = name_of(next, in, came, LDB_SCHED_F_OTHER, now);
	/*
	 * has_frames is a constant when the program is loaded, so the kernel neither checks nor
	 * compiles code that it excludes.
	 */
	if (!config.has_frames || !out ||
	    !emit_with_frames(prev, WHO_TID(from), now, flags | WHO_FLAGS(from) | WHO_FLAGS(to),
			      WHO_TID(to)))
		emit_on(nr, now, WHO_TID(from), LDB_EV_SWITCH, flags | WHO_FLAGS(from) | WHO_FLAGS(to),
			stolen, WHO_TID(to));
	if (out && is_sleep(flags))
		sleeps_in_call(prev, left, now);
	if (left && LDB_SCHED_STATE(flags) == LDB_STATE_DEAD)
		forget_member(left);
}

/* Records a switch between two other tasks while a recorded thread waits for this CPU. */
static noinline void occupied(struct task_struct *prev, struct task_struct *next, u32 flags)
{
	u64 now = now_ns();
	who_t from, to;

	/* After the recording has ended, nothing updates the number of waiting threads. */
	if (state.observed_tgid < 0)
		return;
	from = other_task(prev, now);
	to = other_task(next, now);
	emit(now, WHO_TID(from), LDB_EV_RUNNING, flags | WHO_FLAGS(from) | WHO_FLAGS(to), 0,
	     WHO_TID(to));
}

/* Every switch on the machine executes the code up to the first return. */
SEC("tp_btf/sched_switch")
int ldb_sched_switch(u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	int tgid = observed_tgid();
	bool out = prev->tgid == tgid, in = next->tgid == tgid;
	u32 flags;

	if (!out && !in && !is_waited_for(bpf_get_smp_processor_id()))
		return 0;
	flags = flags_of(ctx[0] & 1, prev->__state, config.has_prev_state ? ctx[3] : 0);
	if (out || in)
		switched(prev, next, out, in, flags);
	else
		occupied(prev, next, flags);
	return 0;
}

static __always_inline u32 context_flags(struct task_struct *current)
{
	u32 count = preempt_count(current);

	if (count & HARDIRQ_MASK)
		return LDB_SCHED_F_HARDIRQ;
	return count & SOFTIRQ_OFFSET ? LDB_SCHED_F_SOFTIRQ : 0;
}

/* Runs on the waker's CPU, before the woken thread is put into a run queue. */
SEC("tp_btf/sched_waking")
int ldb_sched_waking(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0], *waker = bpf_get_current_task_btf();
	int tgid = observed_tgid();
	bool by = waker->tgid == tgid, of = p->tgid == tgid;
	struct member *m;
	who_t who, woken;
	u64 now;

	if (!by && !of)
		return 0;
	if (by)
		is_here(waker);
	now = now_ns();
	who = name_of(waker, by, by && state.ns_level ? member_of(waker) : NULL, LDB_SCHED_F_TID,
		      now);
	m = of ? member_of(p) : NULL;
	if (m)
		m->is_woken = 1;
	woken = name_of(p, of, m, LDB_SCHED_F_OTHER, now);
	emit(now, WHO_TID(who), LDB_EV_WAKING,
	     context_flags(waker) | WHO_FLAGS(who) | WHO_FLAGS(woken), 0, WHO_TID(woken));
	return 0;
}

/*
 * Records that p is runnable on its CPU, whose run queue is locked.  A thread that was woken before
 * it left its CPU does not wait for one.
 */
static __always_inline void woken_up(struct task_struct *p, u32 flags)
{
	struct member *m = member_of(p);
	u32 cpu = task_cpu(p);
	struct rq *rq = task_rq(p);
	struct task_struct *curr = rq ? rq->curr : NULL;
	who_t other = (u64)LDB_SCHED_F_HIDDEN << 32;
	u64 now;

	/* Records first if a recorded thread runs on that CPU although no event has said so. */
	if (curr && curr->tgid == p->tgid)
		is_on(curr, cpu);
	now = now_ns();
	if (!p->on_cpu)
		wait_begin(m, cpu, rq);
	if (m) {
		/*
		 * Without a waking event, the tracepoints were not called in the waker, see
		 * check_woken().
		 */
		if (m->sleeps && !m->is_woken)
			is_deaf(cpu);
		m->sleeps = m->is_woken = 0;
		m->cpu = cpu + 1;
	}
	if (curr)
		other = name_of(curr, curr->tgid == p->tgid, NULL, LDB_SCHED_F_OTHER, now);
	emit(now, member_tid(p, m), LDB_EV_WAKEUP,
	     flags | LDB_SCHED_F_TID | WHO_FLAGS(other), cpu, WHO_TID(other));
}

SEC("tp_btf/sched_wakeup")
int ldb_sched_wakeup(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];

	if (is_observed(p))
		woken_up(p, 0);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int ldb_sched_wakeup_new(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];

	if (is_observed(p))
		woken_up(p, LDB_SCHED_F_NEW);
	return 0;
}

/* Called while task_cpu() is still the CPU that the task leaves. */
SEC("tp_btf/sched_migrate_task")
int ldb_sched_migrate(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	u32 to = ctx[1];
	struct member *m;

	if (!is_observed(p))
		return 0;
	m = member_of(p);
	if (m && m->waits)
		wait_move(m, to);
	if (m)
		m->cpu = to + 1;
	emit(now_ns(), member_tid(p, m), LDB_EV_MIGRATE, LDB_SCHED_F_TID, task_cpu(p), to);
	return 0;
}

#endif
