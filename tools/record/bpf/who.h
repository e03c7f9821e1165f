/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who a task is to the recording, and who waits for a CPU. */
#ifndef RECORD_BPF_WHO_H
#define RECORD_BPF_WHO_H

#include "emit.h"

#define SEEN_MAX	4096	/* a power of two */

/*
 * Of each watched thread, from its birth or the beginning of the recording on.  Never made
 * where the scheduler's locks are held: that may want to wake somebody.
 */
struct member {
	u32 tid;		/* as the program sees it */
	u32 waits;		/* for this CPU, + 1; 0: for none */
	u32 has_switched;	/* it was seen to leave a CPU, or to be born */
	u32 sleeps;		/* left to sleep, and nobody has woken it */
	u32 is_woken;		/* its waking was seen: that may come before it has left */
	u32 cpu;		/* it was there last, + 1; 0: not known */
	u64 nr_short;		/* interrupts that were only counted */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct member);
} members SEC(".maps");

struct cpu {
	s64 nr_waiting;		/* watched threads, for this CPU */
	u32 current;		/* pid of the watched thread that came last; 0: it left again */
	u32 has_switched;	/* between a watched thread and another */
	u32 pad[12];
} cpus[BPF_CPUS_MAX];

u64 seen[SEEN_MAX];		/* names that were told, by tid */

static __always_inline struct cpu *cpu_of(u32 cpu)
{
	return &cpus[cpu & (BPF_CPUS_MAX - 1)];
}

static __always_inline bool is_watched(const struct task_struct *p)
{
	return p->tgid == state.watched_tgid;
}

static __always_inline struct member *member_of(struct task_struct *p)
{
	return bpf_task_storage_get(&members, p, NULL, 0);
}

/* Pid namespaces nest 32 deep at most. */
#define NS_LEVELS	32

/* struct upid, as it is everywhere. */
struct number {
	u32 nr;
	u64 ns;
};

/* What pid is called at this level of namespaces. */
static __always_inline struct number number_in(struct pid *pid, u32 level)
{
	/* In this form the verifier of 6.1 sees that it is bounded. */
	u64 at = ((u64)level * sizeof(struct number)) & ((NS_LEVELS - 1) * sizeof(struct number));
	struct number n = {};

	bpf_probe_read_kernel(&n, sizeof(n),
			      (char *)pid + bpf_core_field_offset(struct pid, numbers) + at);
	return n;
}

/* Its number in the pid namespace at this level, if that is ns or ns is 0; 0: it has none. */
static __always_inline u32 number_at(struct pid *pid, u32 level, u64 ns)
{
	struct number n;

	if (!pid)
		return 0;
	if (!level)
		return pid->numbers[0].nr;
	if (pid->level < level)
		return 0;
	n = number_in(pid, level);
	return !ns || n.ns == ns ? n.nr : 0;
}

/* As the program sees it; 0: it does not. */
static __always_inline u32 shown_tid(struct task_struct *p)
{
	return state.ns_level ? number_at(p->thread_pid, state.ns_level, state.ns_address) : p->pid;
}

static __always_inline u32 shown_tgid_of(struct task_struct *p)
{
	return state.ns_level ? number_at(p->signal->pids[PIDTYPE_TGID], state.ns_level, state.ns_address) : p->tgid;
}

static __always_inline void write_task(u64 now, u32 tid, u32 tgid, u32 flags, const u64 name[2])
{
	emit2(now, tid, LDB_EV_TASK, flags, name[0], tgid, 0, name[1]);
}

/* A tid in the lower half, what it adds to the event's flags in the upper one. */
typedef u64 who_t;

#define WHO_TID(who)	((u32)(who))
#define WHO_FLAGS(who)	((u32)((who) >> 32))

/* Who is not watched.  Writes its name, unless that was done lately. */
static noinline who_t outsider(struct task_struct *p, u64 now)
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

/* m: of p, or NULL.  bit is among the flags if p is watched. */
static __always_inline who_t name_of(struct task_struct *p, const struct member *m, u32 bit, u64 now)
{
	if (!is_watched(p))
		return outsider(p, now);
	return (u64)bit << 32 | (m ? m->tid : shown_tid(p));
}

static __always_inline void introduce(struct task_struct *p, const struct member *m, u64 now)
{
	u64 name[2];

	bpf_probe_read_kernel(name, sizeof(name), p->comm);
	write_task(now, m ? m->tid : shown_tid(p), state.shown_tgid, LDB_SCHED_F_TID, name);
}

/*
 * Waiting threads are counted for each CPU, so that a switch between two strangers is
 * recorded while one waits there, and costs next to nothing else.  A thread's own entry is
 * only changed with the lock of its run queue held.
 */
static __always_inline void count_waiting(u32 cpu, int n)
{
	__sync_fetch_and_add(&cpu_of(cpu)->nr_waiting, n);
}

static __always_inline void wait_end(struct member *m)
{
	if (!m || !m->waits)
		return;
	count_waiting(m->waits - 1, -1);
	m->waits = 0;
}

static __always_inline void wait_begin(struct member *m, u32 cpu)
{
	if (!m)
		return;
	wait_end(m);
	m->waits = cpu + 1;
	count_waiting(cpu, 1);
}

static __always_inline bool is_waited_for(u32 cpu)
{
	return cpu_of(cpu)->nr_waiting > 0;
}

static __always_inline void is_deaf(u32 cpu)
{
	state.is_deaf[cpu & (BPF_CPUS_MAX - 1)] = 1;
}

/*
 * A kernel was seen (6.18, in a virtual machine) that does not call the tracepoints that
 * certain tasks come to, of a daemon or idle.  A thread that one of them has woken, or moved,
 * comes and nobody said so.
 */
static __always_inline void check_woken(struct member *m, u32 cpu)
{
	if (m->sleeps || (m->cpu && m->cpu != cpu + 1))
		is_deaf(cpu);
	m->sleeps = m->is_woken = 0;
	m->cpu = cpu + 1;
}

/*
 * A thread that comes after one of them came unseen.  Then when it came is known from its own statistics, whose clock is the run queue's.  Called when
 * that was just updated: at a switch and after a tick.
 */
static __always_inline void check_came(struct task_struct *p, const struct member *m, u64 now)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct cpu *c = cpu_of(cpu);
	struct rq *rq = task_rq(p);
	u64 ago;

	if (c->current == (u32)p->pid)
		return;
	c->current = p->pid;
	/* It may have been there before anybody looked. */
	if (!m || (!m->has_switched && !c->has_switched) || !rq || !bpf_core_field_exists(p->sched_info.last_arrival))
		return;
	is_deaf(cpu);
	ago = rq->clock - p->sched_info.last_arrival;
	if ((s64)ago < 0 || ago > now)
		ago = 0;
	emit(now - ago, 0, LDB_EV_SWITCH, LDB_SCHED_F_HIDDEN | LDB_SCHED_F_OTHER, 0, m->tid);
}

#endif
