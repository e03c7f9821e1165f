/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles differences between kernels, from 6.1 on.  All conditionals on the kernel's version are
 * here.
 *
 * Changes of a newer kernel in the locking of a tracepoint do not show at build time, so kernels
 * with which the tests were not run are refused, unless the user requests them.
 */
#ifndef LDB_COMPAT_H
#define LDB_COMPAT_H

#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/isolation.h>
#include <linux/version.h>
#include "arch/cpu.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "ldb needs Linux 6.1 or later"
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0) && !defined(LDB_UNTESTED_KERNEL)
#error "ldb was not tested with Linux 6.13 and later: make modules LDB_UNTESTED=1 builds it"
#endif
/*
 * When a thread is created, the probe allocates memory and takes locks, which may sleep on
 * PREEMPT_RT.
 */
#ifdef CONFIG_PREEMPT_RT
#error "ldb does not work on real-time kernels (PREEMPT_RT)"
#endif

/* From 6.3 on the flags of a mapping are no longer written directly. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
static inline void ldb_vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				    unsigned long clear)
{
	vm_flags_mod(vma, set, clear);
}
#else
static inline void ldb_vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				    unsigned long clear)
{
	vma->vm_flags |= set;
	vma->vm_flags &= ~clear;
}
#endif

/* From 6.2 on the registers at a traced function's entry have accessors. */
#if !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)
#define LDB_HAVE_FTRACE_ARGS	0
#define ldb_ftrace_arg(fregs, n)	0UL
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define LDB_HAVE_FTRACE_ARGS	1
#define ldb_ftrace_arg(fregs, n)	ftrace_regs_get_argument(fregs, n)
#else
#define LDB_HAVE_FTRACE_ARGS	1
#define ldb_ftrace_arg(fregs, n)	regs_get_kernel_argument(&(fregs)->regs, n)
#endif

/* From 6.7 on futex_requeue() has one more argument, the flags of its second address. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
#define LDB_FUTEX_REQUEUE_NR_WAKE	4
#else
#define LDB_FUTEX_REQUEUE_NR_WAKE	3
#endif

/* From 6.16 on sched_process_exit has an argument that says whether the thread group is dead. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define LDB_EXIT_HAS_GROUP_DEAD	1
#else
#define LDB_EXIT_HAS_GROUP_DEAD	0
#endif

/* For a long time only x86 had tracepoints of page faults; other architectures may have none. */
#if __has_include("trace/events/exceptions.h")
#define LDB_HAVE_PAGE_FAULTS	1
#define LDB_PAGE_FAULT_EVENTS	<trace/events/exceptions.h>
#elif defined(LDB_CPU_PAGE_FAULT_EVENTS)
#define LDB_HAVE_PAGE_FAULTS	1
#define LDB_PAGE_FAULT_EVENTS	LDB_CPU_PAGE_FAULT_EVENTS
#else
#define LDB_HAVE_PAGE_FAULTS	0
#endif

/* A kernel with block devices has their tracepoints. */
#define LDB_HAVE_DISKS	IS_ENABLED(CONFIG_BLOCK)

/* cpu_is_isolated() exists from 6.3 on; from 6.8 on it considers cpusets, too. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
static inline bool ldb_cpu_is_isolated(int cpu)
{
	return cpu_is_isolated(cpu);
}
#else
static inline bool ldb_cpu_is_isolated(int cpu)
{
	return !housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN) ||
	       !housekeeping_test_cpu(cpu, HK_TYPE_TICK);
}
#endif

/*
 * Flags of kernel threads.  Some of these threads are in the program's thread group, but they make no
 * system calls.
 */
#ifdef PF_USER_WORKER
#define LDB_PF_NO_USER		(PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)
#else
#define LDB_PF_NO_USER		(PF_KTHREAD | PF_IO_WORKER)
#endif

/* Returns true if the thread is on a CPU, or in its switch out, until finish_task(). */
static inline bool ldb_on_cpu(const struct task_struct *p)
{
#ifdef CONFIG_SMP
	/* Pairs with the release in finish_task(). */
	return smp_load_acquire(&p->on_cpu);
#else
	return p == current;
#endif
}

#endif /* LDB_COMPAT_H */
