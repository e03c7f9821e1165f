/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tools get from the CPU that they run on.  One without a folder has the portable
 * forms, which are slower; nothing outside of arch/ asks which CPU it is (tests/lint/arch.t).
 *
 *	CPU_TOP_BITS_BYTES, cpu_top_bits(p)  the top bits of so many bytes at p, as a mask
 *	cpu_has_fast_pext(), cpu_pext()	the bits of x that are in mask, put together; where it
 *				has it, in functions with the attribute CPU_PEXT_TARGET
 *	cpu_has_crc32c(), cpu_crc32c()	CRC32C, not inverted
 *	cpu_stamp()		a clock as cheap as a load, neither earlier than what was before
 *				nor later than what follows
 *	cpu_stamp_is_steady()	the flags of the CPU say that it runs alike everywhere
 *	CPU_CLOCKSOURCE		what the kernel calls that clock
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#ifdef __x86_64__
#include "arch/x86_64/cpu.h"
#else
#include "arch/generic/cpu.h"
#endif

#endif
