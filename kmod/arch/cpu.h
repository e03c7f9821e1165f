/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is what the module needs of a CPU, where the kernel has no interface that is the same on
 * all of them.  Nothing outside of arch/ asks which CPU it is (tests/lint/arch.t).
 *
 *	ldb_cpu_stamp()			the counter that programs can read, too, in order with
 *					the loads around it
 *	ldb_cpu_stamp_is_trusted()	the kernel itself relies on it: LDB_CLOCK_TSC is available
 *	ldb_cpu_stamp_hz()
 *	ldb_cpu_thread_pointer()	of current, from which its thread-local memory is found; 0: not
 *					known
 *	ldb_cpu_fault_flags(error)	LDB_FAULT_F_* of what a page fault's event says
 *	LDB_CPU_PAGE_FAULT_EVENTS	header of those events, in kernels that have them for
 *					this CPU alone
 *	LDB_CPU_TIMER_EVENTS		header of the local timer's events, if it has such
 */
#ifndef LDB_ARCH_CPU_H
#define LDB_ARCH_CPU_H

#include <linux/ldb.h>

#ifdef CONFIG_X86
#include "x86.h"
#else
#include "generic.h"
#endif

#endif /* LDB_ARCH_CPU_H */
