// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The probes of page_fault_user and page_fault_kernel record page faults of observed threads at
 * addresses of the program.
 *
 * They run in the exception, in the context of the thread, before the kernel handles the fault; so
 * the record does not say how the fault was resolved.
 */
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include "event.h"
#include "probes.h"

#if LDB_HAVE_PAGE_FAULTS

static noinline void emit_fault(struct ldb_thread *t, u64 addr, u64 pc, u32 flags)
{
	struct ldb_session_cpu *sc = ldb_this_cpu(t->s);
	u64 now = ldb_clock_now(t->s->clock);
	u64 idx = ldb_reserve(sc, 2);

	t->fault_pc = pc;
	t->fault_addr = addr;
	ldb_put(sc, idx, now, t->tid, LDB_EV_FAULT, flags, addr, 0);
	ldb_put(sc, idx + 1, pc, 0, LDB_EV_CONT + 1, 0, 0, 0);
	if (ldb_written(sc, 2))
		ldb_ring_quarter(sc);
}

void ldb_probe_fault_user(void *unused, unsigned long addr, struct pt_regs *regs,
			  unsigned long error)
{
	struct ldb_thread *t = ldb_observed_current();

	if (likely(!t) || !ldb_wants(t->s, LDB_GROUP_FAULT))
		return;
	emit_fault(t, addr, instruction_pointer(regs), ldb_cpu_fault_flags(error));
}

/*
 * Returns true if the kernel will handle the fault.  While page faults are disabled, the access
 * fails instead; accesses of this module's probes may cause such faults.  The tracepoint itself may
 * disable preemption once.
 */
static __always_inline bool is_resolved(void)
{
	return !pagefault_disabled() && preempt_count() <= PREEMPT_DISABLE_OFFSET;
}

/*
 * Records only faults on addresses of the program; the record does not contain the address of the
 * kernel's instruction.
 */
void ldb_probe_fault_kernel(void *unused, unsigned long addr, struct pt_regs *regs,
			    unsigned long error)
{
	struct ldb_thread *t = ldb_observed_current();

	if (likely(!t) || !ldb_wants(t->s, LDB_GROUP_FAULT) || !is_resolved() ||
	    !access_ok((void __user *)addr, 1))
		return;
	emit_fault(t, addr, instruction_pointer(task_pt_regs(current)),
	      ldb_cpu_fault_flags(error) | LDB_FAULT_F_KERNEL);
}

#endif /* LDB_HAVE_PAGE_FAULTS */
