/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records page faults of recorded threads, and the interrupts that interrupted them. */
#ifndef RECORD_BPF_INTERRUPTIONS_H
#define RECORD_BPF_INTERRUPTIONS_H

#include "arch/cpu.h"
#include "chain.h"

#define NEST_MAX	8	/* twice the greatest nesting in practice */
#define SEEN_IRQS_MAX	256

static __always_inline void fault(struct task_struct *p, u64 addr, u64 pc, u64 error, u32 flags)
{
	struct member *m;

	is_here(p);
	m = member_of(p);
	if (m) {
		m->fault_pc = pc;
		m->fault_addr = addr;
	}
	flags |= (error & FAULT_WRITE ? LDB_FAULT_F_WRITE : 0) |
		 (error & FAULT_INSTR ? LDB_FAULT_F_EXEC : 0) |
		 (error & FAULT_PRESENT ? LDB_FAULT_F_PRESENT : 0);
	emit2(now_ns(), member_tid(p, m), LDB_EV_FAULT, flags, addr, 0, pc, 0);
}

SEC("tp_btf/page_fault_user")
int ldb_fault_user(u64 *ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)ctx[1];

	if (is_observed(p))
		fault(p, ctx[0], REGS_PC(regs), ctx[2], 0);
	return 0;
}

/*
 * Only faults in the program's memory are recorded.  While page faults or preemption are disabled,
 * the kernel does not resolve a fault, and the access fails: such faults are not recorded.  The
 * tracepoint itself may add 1 to preempt_count.
 */
SEC("tp_btf/page_fault_kernel")
int ldb_fault_kernel(u64 *ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct pt_regs *regs;
	u64 pc = 0;

	if (!is_observed(p) || ctx[0] > USER_MAX || p->pagefault_disabled ||
	    preempt_count(p) > PREEMPT_OFFSET)
		return 0;
	regs = (void *)bpf_task_pt_regs(p);
	bpf_core_read(&pc, sizeof(pc), &REGS_PC(regs));
	fault(p, ctx[0], pc, ctx[2], LDB_FAULT_F_KERNEL);
	return 0;
}

struct inside {
	u64 begin;
	u32 pid, kind, nr, pad;
};

struct nest {
	u32 depth, pad;
	/* ns that the hypervisor had taken by the last tick; 0: not known */
	u64 stolen_before;
	struct inside at[NEST_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct nest);
} nests SEC(".maps");

u64 seen_irqs[SEEN_IRQS_MAX];

static __always_inline struct nest *this_nest(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&nests, &zero);
}

/*
 * Pushes an entry.  The depth is increased before the entry is written, so an interrupt that comes
 * in between pushes and pops its own entry above this one.
 */
static __always_inline void enter(u32 kind, u32 nr)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct nest *n;
	u32 depth;

	if (!is_observed(p))
		return;
	is_here(p);
	n = this_nest();
	if (!n)
		return;
	depth = n->depth;
	/* A full stack means that ends of interrupts were missed, so its entries are obsolete. */
	if (depth >= NEST_MAX)
		depth = 0;
	*(volatile u32 *)&n->depth = depth + 1;
	n->at[depth & (NEST_MAX - 1)] = (struct inside){
		.begin = now_ns(), .pid = p->pid, .kind = kind, .nr = nr,
	};
}

/* Returns when the interrupt began; 0: its beginning was not observed. */
static __always_inline u64 pop(u32 pid, u32 kind, u32 nr)
{
	struct nest *n = this_nest();
	u32 depth;

	if (!n)
		return 0;
	depth = n->depth;
	for (int i = 0; i < NEST_MAX && depth; i++) {
		const struct inside *in = &n->at[--depth & (NEST_MAX - 1)];
		u64 begin = in->begin;

		if (in->pid != pid || in->kind != kind || in->nr != nr)
			continue;
		*(volatile u32 *)&n->depth = depth;
		return begin;
	}
	return 0;
}

static __always_inline void write_name(u32 irq, const char *text, u64 now)
{
	union { char text[32]; u64 words[4]; } name = {};
	u32 at = irq & (SEEN_IRQS_MAX - 1);
	char *ring;
	u64 is, idx;

	bpf_probe_read_kernel_str(name.text, 25, text);
	is = (name.words[0] ^ name.words[1] * 0x9e3779b97f4a7c15ULL ^
	      name.words[2] * 0xff51afd7ed558ccdULL ^ irq) | 1;
	if (seen_irqs[at] == is)
		return;
	seen_irqs[at] = is;
	ring = this_ring();
	if (!ring)
		return;
	idx = reserve(ring, 2);
	put(ring, idx, now, irq, LDB_EV_IRQ_NAME, 0, name.words[0], 0);
	put(ring, idx + 1, name.words[1], 0, LDB_EV_CONT + 1, 0, name.words[2], 0);
}

static __always_inline void leave(u32 kind, u32 nr, struct irqaction *action)
{
	struct task_struct *p = bpf_get_current_task_btf();
	u64 begin, now, nr_short = 0;
	struct member *m;

	if (!is_observed(p))
		return;
	begin = pop(p->pid, kind, nr);
	if (!begin)
		return;
	m = member_of(p);
	now = now_ns();
	/* Atomic, because a nested interrupt may change nr_short at any time. */
	if (m && now - begin < config.irq_min_ns && m->nr_short < 255) {
		__sync_fetch_and_add(&m->nr_short, 1);
		return;
	}
	if (m)
		nr_short = __sync_lock_test_and_set(&m->nr_short, 0);
	if (nr_short > 255)
		nr_short = 255;
	if (action)
		write_name(nr, action->name, now);
	emit(now, member_tid(p, m), LDB_EV_IRQ, kind | nr_short << 8, begin, nr);
}

/*
 * Records the time that the hypervisor has taken from this CPU since the last tick, as taken from
 * the running task.  The kernel updates its counter of stolen time in the timer's tick.  A tick
 * that was due in the stolen time comes as soon as the CPU runs again.
 */
static __always_inline void stolen(void)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct nest *n = this_nest();
	struct rq *rq = task_rq(p);
	const struct inside *in;
	u64 now, before;

	if (!n || !rq || !bpf_core_field_exists(rq->prev_steal_time))
		return;
	now = rq->prev_steal_time;
	before = n->stolen_before;
	n->stolen_before = now;
	if (!before || now <= before || !n->depth || !is_observed(p))
		return;
	in = &n->at[(n->depth - 1) & (NEST_MAX - 1)];
	now -= before;
	if (in->pid == (u32)p->pid && in->kind == LDB_IRQ_LOCAL_TIMER)
		emit(now_ns(), member_tid(p, member_of(p)), LDB_EV_IRQ, LDB_IRQ_STOLEN, in->begin,
		     now < 0xffffffff ? now : 0xffffffff);
}

/*
 * Reads the frames of the running thread at a tick of the timer.  On CPUs with samples, sampler.h
 * makes ticks frequent enough.
 */
static __always_inline void read_at_tick(void)
{
	struct task_struct *p = bpf_get_current_task_btf();

	if (config.has_frames && is_observed(p))
		read_running(p, member_tid(p, member_of(p)));
}

#define IRQ_PROBE(tracepoint, does)	\
SEC("tp_btf/" #tracepoint)		\
int ldb_##tracepoint(u64 *ctx)		\
{					\
	does;				\
	return 0;			\
}

IRQ_PROBE(irq_handler_entry, enter(LDB_IRQ_HARD, ctx[0]))
IRQ_PROBE(irq_handler_exit, leave(LDB_IRQ_HARD, ctx[0], (void *)ctx[1]))
IRQ_PROBE(softirq_entry, enter(LDB_IRQ_SOFT, ctx[0]))
IRQ_PROBE(softirq_exit, leave(LDB_IRQ_SOFT, ctx[0], NULL))
IRQ_PROBE(local_timer_entry, enter(LDB_IRQ_LOCAL_TIMER, ctx[0]))
IRQ_PROBE(local_timer_exit, stolen(); read_at_tick(); leave(LDB_IRQ_LOCAL_TIMER, ctx[0], NULL))

#endif
