/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares what the tools need of the CPU on which they run.  A CPU without a directory uses the
 * definitions of generic/: callers then have to do without PEXT, CRC32C, the CPU's clock, and the
 * names of the kernel's functions and registers.  Nothing outside of directories named arch/ asks
 * which CPU it is (tests/lint/arch.t).
 *
 *	CPU_TOP_BITS_BYTES, cpu_top_bits(p)  the top bit of each of CPU_TOP_BITS_BYTES bytes at p,
 *				as a mask
 *	cpu_has_fast_pext(), cpu_pext()	extracts the bits of x that mask selects, packed together;
 *				cpu_pext() may be called only if cpu_has_fast_pext() is true, and in
 *				functions with CPU_PEXT_TARGET
 *	cpu_has_crc32c(), cpu_crc32c()	CRC32C, without the inversions at its start and end
 *	cpu_stamp()		reads the CPU's clock, after the instructions before it and before
 *				those after it; may be called only if
 *				cpu_stamp_is_steady() is true
 *	cpu_stamp_is_steady()	true if the CPU has such a clock, and its rate is constant,
 *				according to the CPU's flags
 *	CPU_CLOCKSOURCE		the kernel's name of that clock
 *	CPU_CALL_PREFIX		prefix of the kernel's functions that implement system calls
 *	CPU_CALL_REGS		registers of a system call's first five arguments, as a mask for
 *				perf; 0: not known
 *	CPU_CALL_ORDER		for each register, in perf's order, the number of the argument,
 *				counted from 0
 *	CPU_FAULT_ENTRY		the kernel's function that a page fault enters first
 *	CPU_PERF_PC		the program counter, as a mask for perf; 0: not known
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#ifdef __x86_64__
#include "arch/x86_64/cpu.h"
#else
#include "arch/generic/cpu.h"
#endif

#endif
