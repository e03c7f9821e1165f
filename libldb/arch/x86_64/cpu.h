/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the CPU gives: time stamps, the thread pointer, the CPU's number. */
#ifndef LDB_ARCH_CPU_H
#define LDB_ARCH_CPU_H

#include <stdint.h>
#include <sys/rseq.h>
#include "sys.h"

static inline uint64_t cpu_tsc(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
}

/* No load before it can come after it, none after it before. */
static inline uint64_t cpu_tsc_fenced(void)
{
	uint32_t lo, hi;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence"
			 : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

/* No load after it can come before it.  What is before it may still be on its way. */
static inline uint64_t cpu_tsc_before(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc\n\tlfence" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

/* Asks for a line to read from.  Never faults. */
static inline void cpu_prefetch(uintptr_t addr)
{
	__asm__ volatile("prefetcht0 (%0)" : : "r"(addr));
}

static inline void cpu_load_fence(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

static inline void cpu_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

/* Asks for a line to write to; whoever locks something next need not wait for it. */
static inline void cpu_prefetch_write(const void *p)
{
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
}

static inline uintptr_t cpu_thread_pointer(void)
{
	uintptr_t tp;

	__asm__("mov{q} {%%fs:0, %0|%0, QWORD PTR fs:0}" : "=r"(tp));
	return tp;
}

/* The word at an offset from the thread pointer. */
static inline uint64_t cpu_thread_word(intptr_t offset)
{
	return *(const volatile uint64_t __seg_fs *)offset;
}

static inline uintptr_t cpu_stack_pointer(void)
{
	uintptr_t sp;

	__asm__ volatile("mov{q} {%%rsp, %0|%0, rsp}" : "=r"(sp));
	return sp;
}

/* CPU number of a program thread: rseq where glibc registered it. */
static inline uint32_t cpu_number(void)
{
	uint32_t cpu;

	if (__rseq_size) {
		const struct rseq *rs = (const struct rseq *)
			(cpu_thread_pointer() + __rseq_offset);

		cpu = *(const volatile uint32_t *)&rs->cpu_id;
		if ((int32_t)cpu >= 0)
			return cpu;
	}
	if (sys(SYS_getcpu, &cpu, 0, 0))
		cpu = 0;
	return cpu;
}

/* glibc stores rsp in a jmp_buf mangled with a per-process secret. */
static inline uintptr_t cpu_jmpbuf_sp(const void *env)
{
	uintptr_t sp = ((const uintptr_t *)env)[6];

	__asm__("ror{q} {$17, %0|%0, 17}\n\txor{q} {%%fs:0x30, %0|%0, QWORD PTR fs:0x30}"
		: "+r"(sp) : : "cc");
	return sp;
}

#endif /* LDB_ARCH_CPU_H */
