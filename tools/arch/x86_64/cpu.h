/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements arch/cpu.h for x86-64; only arch/cpu.h includes this file. */
#ifndef ARCH_X86_64_CPU_H
#define ARCH_X86_64_CPU_H

#include <emmintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CPU_TOP_BITS_BYTES	16

static inline __attribute__((always_inline)) uint64_t cpu_top_bits(const uint8_t *p)
{
	return (uint32_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)p));
}

#define CPU_PEXT_TARGET	__attribute__((target("bmi,bmi2,popcnt")))

/* Some CPUs have the PEXT instruction, but take hundreds of cycles for it. */
static inline bool cpu_has_fast_pext(void)
{
	return __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("znver1") &&
	       !__builtin_cpu_is("znver2") && !__builtin_cpu_is("bdver4");
}

/*
 * The instruction is written as asm, so that this function is inlined into functions with and
 * without the target attribute.
 */
static inline __attribute__((always_inline)) uint64_t cpu_pext(uint64_t x, uint64_t mask)
{
	uint64_t out;

	__asm__("pextq %2, %1, %0" : "=r"(out) : "r"(x), "r"(mask));
	return out;
}

static inline bool cpu_has_crc32c(void)
{
	return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2")))
static inline uint32_t cpu_crc32c(uint32_t crc, const uint8_t *p, size_t size)
{
	uint64_t c = crc, word;

	for (; size >= 8; p += 8, size -= 8) {
		memcpy(&word, p, 8);
		c = __builtin_ia32_crc32di(c, word);
	}
	while (size--)
		c = __builtin_ia32_crc32qi(c, *p++);
	return c;
}

static inline uint64_t cpu_stamp(void)
{
	uint32_t lo, hi, aux;

	__asm__ volatile("rdtscp; lfence" : "=a"(lo), "=d"(hi), "=c"(aux) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

static inline bool cpu_stamp_is_steady(bool has(const char *flag))
{
	return has("constant_tsc") && has("rdtscp") &&
	       (has("nonstop_tsc") || has("tsc_known_freq") || has("tsc_reliable"));
}

#define CPU_CLOCKSOURCE	"tsc"
#define CPU_PERF_PC	(1ULL << 8)	/* PERF_REG_X86_IP */

/* di, si, dx, r10, r8: asm/perf_regs.h */
#define CPU_CALL_PREFIX	"__x64_sys_"
#define CPU_CALL_REGS	(1ULL << 5 | 1ULL << 4 | 1ULL << 3 | 1ULL << 18 | 1ULL << 16)
#define CPU_CALL_ORDER	{ 2, 1, 0, 4, 3 }
#define CPU_FAULT_ENTRY	"asm_exc_page_fault"

#endif
