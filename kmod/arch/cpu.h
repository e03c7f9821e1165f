/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that the module needs for each CPU architecture, where the kernel has no common
 * interface.  Code that depends on the architecture is in arch/ only (tests/lint/arch.t).
 *
 *	ldb_cpu_stamp()			the counter that programs can read as well; ordered like
 *					a load
 *	ldb_cpu_stamp_is_trusted()	the kernel considers the counter reliable, so LDB_CLOCK_TSC is
 *					available
 *	ldb_cpu_stamp_hz()		the counter's rate
 *	ldb_cpu_thread_pointer()	current's thread pointer, for its thread-local memory; 0: not
 *					known
 *	ldb_cpu_fault_flags(error)	LDB_FAULT_F_* of the error code of a page fault's event
 *	LDB_CPU_PAGE_FAULT_EVENTS	header of these events, in kernels that have them for
 *					this CPU only
 *	LDB_CPU_TIMER_EVENTS		header of the local timer's events, if there are any
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
