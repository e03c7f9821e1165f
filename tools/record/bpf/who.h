/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds which tasks are recorded, and which of them wait for a CPU. */
#ifndef RECORD_BPF_WHO_H
#define RECORD_BPF_WHO_H

#include "emit.h"

#define SEEN_MAX	4096	/* this and MEMBERS_MAX: powers of two */
#define MEMBERS_MAX	65536

/*
 * The state of a recorded thread, from its first event to its last switch, in slot pid %
 * MEMBERS_MAX.  Two threads rarely share a slot.  If they do, the second one has no state: for
 * example, switches of other tasks are not recorded while it waits for a CPU.  A BPF map would need
 * a lookup at each event, and task storage needs an allocation, which may wake a task while the run
 * queue is locked.
 */
struct member {
	u32 pid;		/* in the first pid namespace; 0: free, MEMBER_BUSY: being set */
	u32 tid;		/* as the program sees it; 0: not known */
	u32 waits;		/* number + 1 of the CPU for which it waits; 0: none */
	u32 cpu;		/* number + 1 of its last CPU; 0: not known */
	u32 nr_short;		/* interrupts that were only counted since its last LDB_EV_IRQ */
	u8 has_arrived;		/* it is counted in nr_arrived, see struct bpf_cpu */
	/* it was on no CPU when an event reported it, or when the iterator found it */
	u8 has_switched;
	u8 sleeps;		/* it left its CPU to sleep, and has not been woken */
	/* there was a waking event, perhaps before the thread had left its CPU */
	u8 is_woken;
	u64 called_at;		/* start of the current system call; 0: none, or not known */
	/* system calls that were only counted since the last one that has an event */
	u32 nr_short_calls;
	u32 pad;
	/* at its last page fault: address of the program's instruction, and the faulting address */
	u64 fault_pc, fault_addr;
	u64 stolen_before;	/* stolen_from() its CPU when it began to wait; 0: not known */
} members[MEMBERS_MAX];

#define MEMBER_BUSY	0xffffffffU
#define CLOCKS_APART_NS	500

struct bpf_cpu cpus[BPF_CPUS_MAX] SEC(".data.cpus");

/* hashes of the tids and names of other tasks that were emitted last, by tid % SEEN_MAX */
u64 seen[SEEN_MAX];

static __always_inline struct bpf_cpu *cpu_of(u32 cpu)
{
	return &cpus[cpu & (BPF_CPUS_MAX - 1)];
}

/* An event with two tasks reads this once, so that the results for both belong to the same time. */
static __always_inline int observed_tgid(void)
{
	return *(volatile int *)&state.observed_tgid;
}

static __always_inline bool is_observed(const struct task_struct *p)
{
	return p->tgid == state.observed_tgid;
}

/*
 * Returns the number of `pid` at this level of namespaces; 0 if it has none, or if the namespace at
 * this level is not `ns` (`ns` 0: any).  A helper reads it, as in all code that runs seldom: if a
 * program follows a pointer directly, the kernel checks each further path through the program,
 * which costs milliseconds each time that the program is loaded.
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

/* Returns the tid as the program sees it; 0: p is not in its pid namespace. */
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

/* Returns the state of p, a recorded thread; NULL if another thread has its slot. */
static __always_inline struct member *member_of(struct task_struct *p)
{
	u32 pid = p->pid;
	struct member *m = &members[pid & (MEMBERS_MAX - 1)];

	return m->pid == pid ? m : new_member(p);
}

/* Called at the last event of a thread, or when exec() gives it another pid. */
static __always_inline void forget_member(struct member *m)
{
	*(volatile u32 *)&m->pid = 0;
}

/*
 * Returns the tid of a recorded thread as the program sees it.  Works after the thread's exit, too.
 */
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

/*
 * The lower half is the tid of a task; the upper half contains the flags that this task adds to an
 * event.
 */
typedef u64 who_t;

#define WHO_TID(who)	((u32)(who))
#define WHO_FLAGS(who)	((u32)((who) >> 32))

/*
 * Returns the tid and flags of a task of another program, and emits its name, unless this was the
 * last name that was emitted for its slot.
 */
static noinline who_t other_task(struct task_struct *p, u64 now)
{
	u64 name[2], is;
	u32 tid, at;

	/* The idle task has pid 0. */
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
 * Returns the tid and flags of any task.  `m` is the state of p, or NULL.  `observed`: p is
 * recorded, and the flags contain `bit`.  The caller determines `observed` once per event, because
 * the recording may end during the event.
 */
static __always_inline who_t name_of(struct task_struct *p, bool observed, const struct member *m,
				     u32 bit, u64 now)
{
	if (!observed)
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
 * Waiting threads are counted for each CPU, so that a switch between two other tasks is recorded
 * only while a recorded thread waits there, and costs next to nothing otherwise.  The state of a
 * waiting thread is changed only while the run queue of the CPU for which it waits is locked.
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

/* Returns the total time that the hypervisor has taken from a CPU, in ns + 1; 0: not known. */
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

/* Called while the run queue of the CPU that the thread leaves is locked. */
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
 * One kernel (6.18, in a virtual machine) does not call the tracepoints in certain tasks: those of
 * one daemon, and the idle task.  When such a task wakes or moves a thread, there is no event for
 * it.  Called when m comes to a CPU: marks the CPU if such an event was missing.
 */
static __always_inline void check_woken(struct member *m, u32 cpu)
{
	if (m->sleeps || (m->cpu && m->cpu != cpu + 1))
		is_deaf(cpu);
	m->sleeps = m->is_woken = 0;
	m->cpu = cpu + 1;
}

/*
 * Estimates when p came to its CPU; used if no event has said so.  The time is from the thread's
 * statistics, in the run queue's clock.  Each switch shows how far this clock is behind the clock
 * of events; the present difference is an upper bound, because the run queue's clock may not have
 * been updated recently.
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
	 * A task cannot have come before the previous one left; an earlier time is an error of the
	 * conversion between the clocks.
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

	/*
	 * The thread itself, and the waker of another thread on this CPU, may both find out that it
	 * came; one of them reports it.
	 */
	if (was == pid || __sync_val_compare_and_swap(&c->current, was, pid) != was)
		return;
	/*
	 * If neither the thread nor the CPU has switched yet, the thread may have been running
	 * since before the recording began.
	 */
	if (!m || (!m->has_switched && !c->has_switched))
		return;
	is_deaf(cpu);
	emit_on(cpu, came_at(p, c, now_ns()), 0, LDB_EV_SWITCH,
		LDB_SCHED_F_HIDDEN | LDB_SCHED_F_OTHER, 0, member_tid(p, m));
}

/* If no event has said that p, a recorded thread, came to this CPU, notes it: see came_unseen(). */
static __always_inline void is_on(struct task_struct *p, u32 cpu)
{
	if (cpu_of(cpu)->current != (u32)p->pid)
		came_unseen(p, cpu);
}

/* Like is_on(), for the current task. */
static __always_inline void is_here(struct task_struct *p)
{
	is_on(p, bpf_get_smp_processor_id());
}

#endif
