/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For x86; cpu.h includes this file and describes the functions. */
#ifndef LDB_ARCH_X86_H
#define LDB_ARCH_X86_H

#include <linux/sched.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/trap_pf.h>
#include <asm/tsc.h>

static __always_inline u64 ldb_cpu_stamp(void)
{
	return rdtsc_ordered();
}

static inline bool ldb_cpu_stamp_is_trusted(void)
{
	return !check_tsc_unstable() && boot_cpu_has(X86_FEATURE_CONSTANT_TSC) &&
	       (boot_cpu_has(X86_FEATURE_NONSTOP_TSC) || boot_cpu_has(X86_FEATURE_TSC_RELIABLE) ||
		boot_cpu_has(X86_FEATURE_TSC_KNOWN_FREQ));
}

static inline u64 ldb_cpu_stamp_hz(void)
{
	return (u64)tsc_khz * 1000;
}

static __always_inline u32 ldb_cpu_fault_flags(unsigned long error)
{
	return (error & X86_PF_WRITE ? LDB_FAULT_F_WRITE : 0) |
	       (error & X86_PF_INSTR ? LDB_FAULT_F_EXEC : 0) |
	       (error & X86_PF_PROT ? LDB_FAULT_F_PRESENT : 0);
}

/* Returns the value saved when current last left a CPU; glibc sets it only when a thread starts. */
static __always_inline u64 ldb_cpu_thread_pointer(void)
{
	return current->thread.fsbase;
}

#define LDB_CPU_PAGE_FAULT_EVENTS	<asm/trace/exceptions.h>
#define LDB_CPU_TIMER_EVENTS		<asm/trace/irq_vectors.h>

#endif /* LDB_ARCH_X86_H */
