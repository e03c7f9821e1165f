/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handles existing threads, and the creation, exec, exit and renaming of threads. */
#ifndef RECORD_BPF_PROCESS_H
#define RECORD_BPF_PROCESS_H

#include "chain.h"

/*
 * Returns true if p is in the target process.  config.target is the process's number in the
 * recorder's pid namespace, which is that of the task that reads the iterator.
 */
static __always_inline bool is_target(struct task_struct *p)
{
	u32 level = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid, level);

	return number_at(tgid_of(p), level, 0) == config.target;
}

static __always_inline void find_target(struct task_struct *p)
{
	struct pid *pid = pid_of(p);
	struct upid *own;

	if (!pid || !is_target(p))
		return;
	bpf_core_read(&state.ns_level, sizeof(state.ns_level), &pid->level);
	own = (struct upid *)((char *)pid + bpf_core_field_offset(struct pid, numbers) +
			      (u64)state.ns_level * bpf_core_type_size(struct upid));
	bpf_core_read(&state.ns_address, sizeof(state.ns_address), &own->ns);
	state.shown_tgid = shown_tgid_of(p);
	state.found_tgid = p->tgid;
}

static __always_inline void add_member(struct task_struct *p)
{
	struct member *m = member_of(p);

	/*
	 * The thread is on no CPU now.  If it is found on one later without an event, the event was
	 * missed.
	 */
	if (m && !p->on_cpu)
		m->has_switched = 1;
	emit_task_name(p, m, now_ns());
}

/*
 * The recorder reads the iterator twice: before the other programs are attached, to find the thread
 * group to record, and afterwards, to find the threads that exist already.
 */
SEC("iter/task")
int ldb_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;

	if (!p)
		return 0;
	if (!state.is_adding)
		find_target(p);
	else if (is_observed(p))
		add_member(p);
	return 0;
}

/* Runs in the parent, before the child can run. */
SEC("tp_btf/sched_process_fork")
int ldb_process_fork(u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	struct member *m = NULL, *by;
	u64 now;
	int observed = observed_tgid();
	bool is_thread = child->tgid == observed;
	u32 tgid = 0;
	who_t who;

	if (parent->tgid != observed)
		return 0;
	is_here(parent);
	now = now_ns();
	if (is_thread) {
		m = member_of(child);
		chain_forget(child->pid);
	}
	if (m) {
		m->has_switched = 1;
		m->sleeps = m->is_woken = m->cpu = 0;
	}
	by = member_of(parent);
	who = name_of(child, is_thread, m, LDB_SCHED_F_OTHER, now);
	if (WHO_TID(who))
		tgid = shown_tgid_of(child);
	emit(now, member_tid(parent, by), LDB_EV_FORK, LDB_SCHED_F_TID | WHO_FLAGS(who), tgid,
	     WHO_TID(who));
	if (is_thread)
		emit_task_name(child, m, now);
	return 0;
}

/*
 * Called after exec: all other threads have ended, and the thread that called exec has taken the
 * tid of the first thread.
 */
SEC("tp_btf/sched_process_exec")
int ldb_process_exec(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	u32 old = ctx[1], before = old;
	struct member *m, *was = &members[old & (MEMBERS_MAX - 1)];
	struct bpf_cpu *c = cpu_of(bpf_get_smp_processor_id());
	u64 now;

	if (!is_observed(p))
		return 0;
	if (c->current == old)
		c->current = p->pid;
	is_here(p);
	now = now_ns();
	if (state.ns_level)
		before = was->pid == old ? was->tid : 0;
	/* The blocks belong to the previous program. */
	state.nr_blocks = 0;
	if (old != (u32)p->pid && was->pid == old)
		forget_member(was);
	m = member_of(p);
	if (m)
		m->sleeps = m->is_woken = m->cpu = 0;
	emit(now, member_tid(p, m), LDB_EV_EXEC, LDB_SCHED_F_TID, 0, before);
	emit_task_name(p, m, now);
	return 0;
}

/*
 * Returns true if p is the last thread of the process that exits.  If the last two threads exit at
 * the same time, the counter may be 0 for both; this function returns true for only one of them.
 */
static __always_inline bool is_last(struct task_struct *p)
{
	return !p->signal->live.counter && !__sync_fetch_and_or(&state.has_ended, 1);
}

SEC("tp_btf/sched_process_exit")
int ldb_process_exit(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct member *m;

	if (!is_observed(p))
		return 0;
	is_here(p);
	m = member_of(p);
	emit(now_ns(), member_tid(p, m), LDB_EV_EXIT, LDB_SCHED_F_TID, is_last(p), 0);
	return 0;
}

SEC("tp_btf/task_rename")
int ldb_task_rename(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	union { char text[16]; u64 words[2]; } name = {};
	struct member *m;

	if (!is_observed(p))
		return 0;
	m = member_of(p);
	bpf_probe_read_kernel_str(name.text, sizeof(name.text), (const void *)ctx[1]);
	write_task(now_ns(), member_tid(p, m), state.shown_tgid, LDB_SCHED_F_TID, name.words);
	return 0;
}

#endif
