/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds which tasks the recording watches, and which of them wait for a CPU. */
#ifndef RECORD_BPF_WHO_H
#define RECORD_BPF_WHO_H

#include "emit.h"

#define SEEN_MAX	4096	/* powers of two */
#define MEMBERS_MAX	65536

/*
 * The state of a watched thread, from its first event to its last switch, in the slot of its pid.
 * Two threads rarely share a slot; the second then has none, and no other task is recorded while it
 * waits for a CPU.  A map of the kernel's would need a lookup at each event, and task storage needs
 * an allocation, which may wake a task while the run queue is locked.
 */
struct member {
	u32 pid;		/* in the first namespace; 0: free, MEMBER_BUSY: being set */
	u32 tid;		/* as the program sees it; 0: not known */
	u32 waits;		/* for this CPU, + 1; 0: for none */
	u32 cpu;		/* its last CPU, + 1; 0: not known */
	u32 nr_short;		/* interrupts that were only counted */
	u8 has_arrived;		/* it is counted in nr_arrived, see struct bpf_cpu */
	u8 has_switched;	/* an event reported that it left a CPU, or was created */
	u8 sleeps;		/* it left to sleep, and was not woken */
	u8 is_woken;		/* there was a waking event, which may come before it has left */
	u64 called_at;		/* the start of the system call it is in; 0: none, or not known */
	u32 nr_short_calls;	/* that were only counted */
	u32 pad;
	u64 fault_pc, fault_addr; /* of its last page fault */
	u64 stolen_before;	/* ns of that CPU, + 1, when it began to wait; 0: not known */
} members[MEMBERS_MAX];

#define MEMBER_BUSY	0xffffffffU
#define CLOCKS_APART_NS	500

struct bpf_cpu cpus[BPF_CPUS_MAX] SEC(".data.cpus");

u64 seen[SEEN_MAX];		/* names that were emitted, by tid */

static __always_inline struct bpf_cpu *cpu_of(u32 cpu)
{
	return &cpus[cpu & (BPF_CPUS_MAX - 1)];
}

/* Reads it once, so that the results for two tasks belong to one time. */
static __always_inline int watched_tgid(void)
{
	return *(volatile int *)&state.watched_tgid;
}

static __always_inline bool is_watched(const struct task_struct *p)
{
	return p->tgid == state.watched_tgid;
}

/*
 * Returns the number of pid at this level of namespaces, if it is in ns there or ns is 0; 0: it
 * is not.  It is read through a helper, here and where it is seldom done: following a pointer
 * directly costs the kernel, which checks each path through a program, milliseconds at each load
 * of the program.
 */
static __always_inline u32 number_at(struct pid *pid, u32 level, u64 ns)
{
	struct upid_read { u32 nr; u64 ns; } upid = {};
	u32 own = 0;

	bpf_core_read(&own, sizeof(own), &pid->level);
	if (own < level)
		return 0;
	bpf_probe_read_kernel(&upid, sizeof(upid), (char *)pid + bpf_core_field_offset(struct pid, numbers) +
			      (u64)level * sizeof(upid));
	return !ns || upid.ns == ns ? upid.nr : 0;
}

static __always_inline struct pid *pid_of(struct task_struct *p)
{
	struct pid *pid = NULL;

	bpf_core_read(&pid, sizeof(pid), &p->thread_pid);
	return pid;
}

static __always_inline struct pid *tgid_of(struct task_struct *p)
{
	return BPF_CORE_READ(p, signal, pids[PIDTYPE_TGID]);
}

/* Returns the tid as the program sees it; 0: not in its namespace. */
static __always_inline u32 shown_tid(struct task_struct *p)
{
	return state.ns_level ? number_at(pid_of(p), state.ns_level, state.ns_address) : p->pid;
}

static __always_inline u32 shown_tgid_of(struct task_struct *p)
{
	return state.ns_level ? number_at(tgid_of(p), state.ns_level, state.ns_address) : p->tgid;
}

static noinline struct member *new_member(struct task_struct *p)
{
	struct member *m = &members[p->pid & (MEMBERS_MAX - 1)];

	if (__sync_val_compare_and_swap(&m->pid, 0, MEMBER_BUSY))
		return NULL;
	m->tid = shown_tid(p);
	m->waits = m->cpu = m->nr_short = 0;
	m->has_switched = m->sleeps = m->is_woken = 0;
	m->called_at = m->nr_short_calls = m->fault_pc = m->stolen_before = 0;
	*(volatile u32 *)&m->pid = p->pid;
	return m;
}

/* Returns the state of p; NULL if it is not observed, or another one has its slot. */
static __always_inline struct member *member_of(struct task_struct *p)
{
	u32 pid = p->pid;
	struct member *m = &members[pid & (MEMBERS_MAX - 1)];

	return m->pid == pid ? m : new_member(p);
}

/* Called at the last event of a thread. */
static __always_inline void forget_member(struct member *m)
{
	*(volatile u32 *)&m->pid = 0;
}

/* Returns the tid of a watched thread, as the program sees it, also after its exit. */
static __always_inline u32 member_tid(struct task_struct *p, const struct member *m)
{
	if (!state.ns_level)
		return p->pid;
	return m && m->tid ? m->tid : shown_tid(p);
}

static __always_inline void write_task(u64 now, u32 tid, u32 tgid, u32 flags, const u64 name[2])
{
	emit2(now, tid, LDB_EV_TASK, flags, name[0], tgid, 0, name[1]);
}

/* The lower half is a tid, and the upper half the flags that this task adds to an event. */
typedef u64 who_t;

#define WHO_TID(who)	((u32)(who))
#define WHO_FLAGS(who)	((u32)((who) >> 32))

/* Names a task of another program; writes the name, unless that was done recently. */
static noinline who_t other_task(struct task_struct *p, u64 now)
{
	u64 name[2], is;
	u32 tid, at;

	/* The idle task. */
	if (!p->pid)
		return 0;
	tid = shown_tid(p);
	if (!tid)
		return (u64)LDB_SCHED_F_HIDDEN << 32;
	bpf_probe_read_kernel(name, sizeof(name), p->comm);
	is = (name[0] ^ name[1] * 0x9e3779b97f4a7c15ULL ^ tid * 0xff51afd7ed558ccdULL) | 1;
	at = tid & (SEEN_MAX - 1);
	if (seen[at] != is) {
		seen[at] = is;
		write_task(now, tid, shown_tgid_of(p), 0, name);
	}
	return tid;
}

/*
 * m belongs to p, or is NULL.  bit is among the flags if p is watched, which is read once in a
 * program: the recording may end in the middle of it.
 */
static __always_inline who_t name_of(struct task_struct *p, bool watched, const struct member *m,
				     u32 bit, u64 now)
{
	if (!watched)
		return other_task(p, now);
	return (u64)bit << 32 | member_tid(p, m);
}

static __always_inline void emit_task_name(struct task_struct *p, const struct member *m, u64 now)
{
	u64 name[2];

	bpf_probe_read_kernel(name, sizeof(name), p->comm);
	write_task(now, member_tid(p, m), state.shown_tgid, LDB_SCHED_F_TID, name);
}

/*
 * Waiting threads are counted for each CPU, so that a switch between two other tasks is
 * recorded while one waits there, and costs next to nothing else.  A thread's own entry is
 * only changed with the lock of its run queue held, which is the one of the CPU it waits for.
 */
static __always_inline void wait_end(struct member *m)
{
	struct bpf_cpu *c;

	if (!m || !m->waits)
		return;
	c = cpu_of(m->waits - 1);
	if (m->has_arrived)
		__sync_fetch_and_add(&c->nr_arrived, -1);
	else
		c->nr_waiting--;
	m->waits = 0;
}

/* Returns how much the hypervisor has taken from a CPU, in ns + 1, as of now; 0: not known. */
static __always_inline u64 stolen_from(struct rq *rq)
{
	return rq && bpf_core_field_exists(rq->prev_steal_time_rq) ? rq->prev_steal_time_rq + 1 : 0;
}

/* rq is the run queue of the CPU, with an updated clock; NULL: not known. */
static __always_inline void wait_begin(struct member *m, u32 cpu, struct rq *rq)
{
	if (!m)
		return;
	wait_end(m);
	m->waits = cpu + 1;
	m->has_arrived = 0;
	m->stolen_before = stolen_from(rq);
	cpu_of(cpu)->nr_waiting++;
}

/* Called with the lock of the CPU that the thread leaves. */
static __always_inline void wait_move(struct member *m, u32 to)
{
	wait_end(m);
	m->waits = to + 1;
	m->has_arrived = 1;
	m->stolen_before = 0;
	__sync_fetch_and_add(&cpu_of(to)->nr_arrived, 1);
}

static __always_inline bool is_waited_for(u32 cpu)
{
	const struct bpf_cpu *c = cpu_of(cpu);

	return c->nr_waiting > 0 || c->nr_arrived > 0;
}

static __always_inline void is_deaf(u32 cpu)
{
	state.is_deaf[cpu & (BPF_CPUS_MAX - 1)] = 1;
}

/*
 * One kernel (6.18, in a virtual machine) does not call the tracepoints in certain tasks, of a
 * daemon or idle.  When one of them wakes or moves a thread, that thread comes without an event.
 */
static __always_inline void check_woken(struct member *m, u32 cpu)
{
	if (m->sleeps || (m->cpu && m->cpu != cpu + 1))
		is_deaf(cpu);
	m->sleeps = m->is_woken = 0;
	m->cpu = cpu + 1;
}

/*
 * When a thread comes to a CPU after one of them, there is no event.  The time is taken from the
 * thread's statistics, in the clock of the run queue.  Each switch shows how far this is behind the
 * clock of events; the present difference is an upper bound, because the clock of the run queue may
 * not have been updated recently.
 */
static __always_inline u64 came_at(struct task_struct *p, const struct bpf_cpu *c, u64 now)
{
	u64 clock, arrival, behind = c->clock_behind, at = now;
	u64 first = c->switched_at + CLOCKS_APART_NS;
	struct rq *rq;

	if (bpf_core_field_exists(p->sched_info.last_arrival) && knows_rq(p)) {
		rq = BPF_CORE_READ(p, se.cfs_rq, rq);
		bpf_core_read(&clock, sizeof(clock), &rq->clock);
		bpf_core_read(&arrival, sizeof(arrival), &p->sched_info.last_arrival);
		if (!behind || behind > now - clock)
			behind = now - clock;
		at = arrival + behind;
	}
	if (at > now)
		at = now;
	/*
	 * A task cannot have come before the last one left; this is due to the difference of the
	 * clocks.
	 */
	if (at < first)
		at = first < now ? first : now - (now - c->switched_at) / 2;
	return at;
}

static noinline void came_unseen(struct task_struct *p, u32 cpu)
{
	const struct member *m = member_of(p);
	struct bpf_cpu *c = cpu_of(cpu);
	u32 pid = p->pid, was = c->current;

	/* The thread itself, and a waker of another thread there, may both notice this. */
	if (was == pid || __sync_val_compare_and_swap(&c->current, was, pid) != was)
		return;
	/* The task may have been there before the recording began. */
	if (!m || (!m->has_switched && !c->has_switched))
		return;
	is_deaf(cpu);
	emit_on(cpu, came_at(p, c, now_ns()), 0, LDB_EV_SWITCH,
		LDB_SCHED_F_HIDDEN | LDB_SCHED_F_OTHER, 0, member_tid(p, m));
}

/* To be called first when a watched thread is on the CPU. */
static __always_inline void is_on(struct task_struct *p, u32 cpu)
{
	if (cpu_of(cpu)->current != (u32)p->pid)
		came_unseen(p, cpu);
}

/* Does the same for current. */
static __always_inline void is_here(struct task_struct *p)
{
	is_on(p, bpf_get_smp_processor_id());
}

#endif
