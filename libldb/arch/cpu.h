/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions that libldb needs for each CPU.  Code that depends on the CPU is in arch/ only
 * (tests/lint/arch.t).  A new CPU needs a folder with cpu.h, sys.h, door.S and clone.S; order.h
 * says which order of loads and stores it must provide.
 *
 *	cpu_tsc()		the time stamp counter, the same on all CPUs
 *	cpu_tsc_before()	no load after it can come before it; what is before it may
 *				still be on its way
 *	cpu_tsc_fenced()	no load before it can come after it, none after it before
 *	cpu_load_fence()	the same without a stamp
 *	cpu_order_loads()	volatile loads before it are made before those after it
 *	cpu_relax()		in a loop that waits
 *	cpu_prefetch()		asks for a line to read from.  Never faults
 *	cpu_prefetch_write()	asks for a line to write to; a locked instruction that comes next
 *				need not wait for it
 *	cpu_stack_pointer()
 *	cpu_copy(), cpu_fill()	memcpy() and memset() without libc
 *
 *	cpu_add_64(), cpu_add_32()  adds to memory, in one step for this thread's signal handlers
 *	cpu_has_shadow_stack()	return addresses are checked: flows/ stays out
 *	cpu_each_reference()	calls through, and other uses of, words of a table (arch/CPU/flows.h)
 *
 *	cpu_thread_pointer()
 *	CPU_THREAD_SPACE	what a pointer of CPU_THREAD_AT() is qualified with
 *	CPU_THREAD_AT(type, offset)  pointer to what lies at an offset from the thread pointer
 *	cpu_thread_block_init()	what must be there of a thread without libc
 *
 *	and where glibc depends on the CPU:
 *	cpu_jmpbuf_sp()		stack pointer in a jmp_buf
 *	cpu_pthread_of()	pthread_t of a thread pointer, and the end of a thread's stack
 *	CPU_PTHREAD_TID_OFFSET	where struct pthread has the tid
 *	CPU_VDSO_CLOCK_GETTIME	name of the kernel's function
 */
#ifndef LDB_ARCH_CPU_H
#define LDB_ARCH_CPU_H

#include <stdint.h>
#include <sys/rseq.h>
#include "arch/sys.h"

#if defined(__x86_64__)
#include "arch/x86_64/cpu.h"
#else
#error "libldb does not know this CPU: it needs an arch/<cpu>/"
#endif

/* Returns the word at an offset from the thread pointer. */
static inline uint64_t cpu_thread_word(intptr_t offset)
{
	return *CPU_THREAD_AT(const volatile uint64_t, offset);
}

/* Returns the CPU number of a program thread: rseq where glibc registered it. */
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

#endif /* LDB_ARCH_CPU_H */
