/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is what the tools get from the CPU that they run on.  A CPU without a folder has the
 * portable forms, which are slower; nothing outside of arch/ asks which CPU it is
 * (tests/lint/arch.t).
 *
 *	CPU_TOP_BITS_BYTES, cpu_top_bits(p)  the top bits of CPU_TOP_BITS_BYTES bytes at p, as a mask
 *	cpu_has_fast_pext(), cpu_pext()	the bits of x that mask selects, packed together; the
 *				second only where the first is true, in functions with CPU_PEXT_TARGET
 *	cpu_has_crc32c(), cpu_crc32c()	CRC32C, not inverted
 *	cpu_stamp()		a clock as cheap as a load, neither earlier than the instructions
 *				before it nor later than those after it
 *	cpu_stamp_is_steady()	the flags of the CPU say that it runs at the same rate everywhere
 *	CPU_CLOCKSOURCE		the kernel's name of that clock
 *	CPU_CALL_PREFIX		of the kernel's functions that are system calls
 *	CPU_CALL_REGS		registers of the first five arguments of one, as perf numbers them; 0: not known
 *	CPU_CALL_ORDER		which of these, in perf's order, is which argument
 *	CPU_FAULT_ENTRY		the kernel's function where page faults come in
 *	CPU_PERF_PC		the program counter, as perf's mask of registers; 0: perf is not asked
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#ifdef __x86_64__
#include "arch/x86_64/cpu.h"
#else
#include "arch/generic/cpu.h"
#endif

#endif
