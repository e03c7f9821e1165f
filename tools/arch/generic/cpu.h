/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements arch/cpu.h for CPUs without a directory of their own; only arch/cpu.h includes it. */
#ifndef ARCH_GENERIC_CPU_H
#define ARCH_GENERIC_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CPU_TOP_BITS_BYTES	8

static inline uint64_t cpu_top_bits(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, 8);
	/* Gathers the bits in the highest byte. */
	return ((word & 0x8080808080808080ULL) >> 7) * 0x0102040810204080ULL >> 56;
}

#define CPU_PEXT_TARGET

static inline bool cpu_has_fast_pext(void)
{
	return false;
}

static inline uint64_t cpu_pext(uint64_t x, uint64_t mask)
{
	return 0;	/* never called */
}

static inline bool cpu_has_crc32c(void)
{
	return false;
}

static inline uint32_t cpu_crc32c(uint32_t crc, const uint8_t *p, size_t size)
{
	return crc;	/* never called */
}

static inline uint64_t cpu_stamp(void)
{
	return 0;	/* never called */
}

static inline bool cpu_stamp_is_steady(bool has(const char *flag))
{
	return false;
}

#define CPU_CLOCKSOURCE	""
#define CPU_PERF_PC	0

#define CPU_CALL_PREFIX	""
#define CPU_CALL_REGS	0
#define CPU_CALL_ORDER	{ 0 }
#define CPU_FAULT_ENTRY	""

#endif
