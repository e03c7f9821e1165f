/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares the probes, as their tracepoints call them; ldb_internal.h declares that of switches.
 *
 * A probe must not be preempted, because of RCU and the CPU's ring.  A tracepoint need not
 * guarantee this (newer kernels use SRCU).  The probes of switches, wake-ups and migrations run
 * with interrupts off or, if a task wakes itself, with preemption off.  The probes of interrupts
 * and page faults run in their handlers, which are not preempted then.  The others, in process.c,
 * call.c and disk.c, disable preemption themselves.
 */
#ifndef LDB_PROBES_H
#define LDB_PROBES_H

#include <linux/blk_types.h>
#include "ldb_internal.h"

struct linux_binprm;
struct request;
struct request_queue;
struct irqaction;
struct pt_regs;

/* wake.c */
void ldb_probe_waking(void *unused, struct task_struct *p);
void ldb_probe_wakeup(void *unused, struct task_struct *p);
void ldb_probe_wakeup_new(void *unused, struct task_struct *p);
void ldb_probe_migrate(void *unused, struct task_struct *p, int dest_cpu);

/* process.c */
void ldb_probe_fork(void *unused, struct task_struct *parent, struct task_struct *child);
void ldb_probe_exec(void *unused, struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm);
#if LDB_EXIT_HAS_GROUP_DEAD
void ldb_probe_exit(void *unused, struct task_struct *p, bool group_dead);
#else
void ldb_probe_exit(void *unused, struct task_struct *p);
#endif
void ldb_probe_rename(void *unused, struct task_struct *p, const char *comm);

/* fault.c */
void ldb_probe_fault_user(void *unused, unsigned long addr, struct pt_regs *regs,
			  unsigned long error);
void ldb_probe_fault_kernel(void *unused, unsigned long addr, struct pt_regs *regs,
			    unsigned long error);

/* call.c */
void ldb_probe_sys_enter(void *unused, struct pt_regs *regs, long nr);
void ldb_probe_sys_exit(void *unused, struct pt_regs *regs, long result);

/* disk.c */
void ldb_probe_bio_queue(void *unused, struct bio *bio);
void ldb_probe_rq_complete(void *unused, struct request *rq, blk_status_t error,
			   unsigned int nr_bytes);
void ldb_probe_bio_complete(void *unused, struct request_queue *q, struct bio *bio);

/* irq.c */
void ldb_probe_irq_entry(void *unused, int irq, struct irqaction *action);
void ldb_probe_irq_exit(void *unused, int irq, struct irqaction *action, int ret);
void ldb_probe_softirq_entry(void *unused, unsigned int nr);
void ldb_probe_softirq_exit(void *unused, unsigned int nr);
void ldb_probe_timer_entry(void *unused, int vector);
void ldb_probe_timer_exit(void *unused, int vector);

#endif /* LDB_PROBES_H */
