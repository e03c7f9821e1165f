/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implements arch/cpu.h, which alone includes this file, for x86-64. */
#ifndef LDB_ARCH_X86_64_CPU_H
#define LDB_ARCH_X86_64_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_VDSO_CLOCK_GETTIME	"__vdso_clock_gettime"
#define CPU_ELF_MACHINE		EM_X86_64
#define CPU_LOADER		"/lib64/ld-linux-x86-64.so.2"	/* glibc's */

static inline uint64_t cpu_tsc(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
}

static inline uint64_t cpu_tsc_fenced(void)
{
	uint32_t lo, hi;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence"
			 : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

static inline uint64_t cpu_tsc_before(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc\n\tlfence" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

static inline uint64_t cpu_tsc_after_stores(void)
{
	uint32_t lo, hi;

	__asm__ volatile("mfence\n\tlfence\n\trdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

static inline void cpu_prefetch(uintptr_t addr)
{
	__asm__ volatile("prefetcht0 (%0)" : : "r"(addr));
}

static inline void cpu_load_fence(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

/* Nothing is needed, because x86 makes loads in program order. */
static inline void cpu_order_loads(void)
{
}

static inline void cpu_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

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

/* A pointer into this space is an offset from the thread pointer: one instruction loads from it. */
#define CPU_THREAD_SPACE		__seg_fs
#define CPU_THREAD_AT(type, offset)	((type CPU_THREAD_SPACE *)(offset))

static inline uintptr_t cpu_stack_pointer(void)
{
	uintptr_t sp;

	__asm__ volatile("mov{q} {%%rsp, %0|%0, rsp}" : "=r"(sp));
	return sp;
}

/* glibc stores rsp in a jmp_buf mangled with a per-process secret. */
static inline uintptr_t cpu_jmpbuf_sp(const void *env)
{
	uintptr_t sp = ((const uintptr_t *)env)[6];

	__asm__("ror{q} {$17, %0|%0, 17}\n\txor{q} {%%fs:0x30, %0|%0, QWORD PTR fs:0x30}"
		: "+r"(sp) : : "cc");
	return sp;
}

/*
 * glibc's thread pointer is its pthread_t; except in the first thread, it is at the upper end of
 * the thread's stack.
 */
static inline uintptr_t cpu_pthread_of(uintptr_t tp)
{
	return tp;
}

/* The offset of the tid in glibc's struct pthread. */
#define CPU_PTHREAD_TID_OFFSET	720

/* Stores the thread pointer in the word at %fs:0, from where cpu_thread_pointer() reads it. */
static inline void cpu_thread_block_init(void *tp)
{
	*(void **)tp = tp;
}

/*
 * Returns true if the CPU checks return addresses by a shadow stack.  If not, rdssp leaves `at` 0.
 */
static inline bool cpu_has_shadow_stack(void)
{
	uint64_t at = 0;

	__asm__ volatile("rdssp{q} %0" : "+r"(at));
	return at;
}

/* Each addition is one instruction, so that a signal handler of the thread cannot interrupt it. */
static inline void cpu_add_64(uint64_t *to, uint64_t n)
{
	__asm__("add{q} {%1, %0|%0, %1}" : "+m"(*to) : "er"(n) : "cc");
}

static inline void cpu_add_32(uint32_t *to, uint32_t n)
{
	__asm__("add{l} {%1, %0|%0, %1}" : "+m"(*to) : "ir"(n) : "cc");
}

static inline void cpu_copy(void *to, const void *from, size_t size)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static inline void cpu_fill(void *to, int byte, size_t size)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(byte) : "memory");
}

#endif /* LDB_ARCH_X86_64_CPU_H */
