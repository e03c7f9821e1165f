/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions that libldb needs for each CPU architecture.  Code that depends on the architecture
 * is only in arch/ and, for the public header, in ldb/arch.h (tests/lint/arch.t).  A new
 * architecture needs a directory with cpu.h, sys.h, flows.h, door.S, clone.S and flows.S; order.h
 * says in which order the CPU must make loads and stores.
 *
 *	cpu_tsc()		reads the time stamp counter, which has the same value on all CPUs
 *	cpu_tsc_before()	reads the counter; later loads are made after it, but earlier ones
 *				may not have been made yet
 *	cpu_tsc_fenced()	reads the counter; earlier loads are made before it, later ones
 *				after it
 *	cpu_tsc_after_stores()	reads the counter after earlier loads were made and earlier stores
 *				have become visible to other CPUs
 *	cpu_load_fence()	orders loads like cpu_tsc_fenced(), without reading the counter
 *	cpu_order_loads()	makes volatile loads before the call precede those after the call
 *	cpu_relax()		called in loops that wait
 *	cpu_prefetch()		fetches a cache line for reading, without faulting
 *	cpu_prefetch_write()	fetches a cache line for writing, so that a locked instruction that
 *				follows does not have to wait for it as long
 *	cpu_stack_pointer()
 *	cpu_copy(), cpu_fill()	memcpy() and memset() without libc
 *
 *	cpu_add_64(), cpu_add_32()  add to memory; a signal handler of this thread cannot
 *				interrupt the addition
 *	cpu_has_shadow_stack()	the CPU checks return addresses, so flows/ must not change them
 *	cpu_each_reference()	finds uses of a linkage table's words in code (arch/CPU/flows.h)
 *
 *	cpu_thread_pointer()
 *	CPU_THREAD_SPACE	the address space qualifier of a CPU_THREAD_AT() pointer
 *	CPU_THREAD_AT(type, offset)  a pointer to an offset from the thread pointer
 *	cpu_thread_block_init()	initialises the memory at the thread pointer of a thread that libc
 *				does not know
 *
 *	and where glibc depends on the CPU:
 *	cpu_jmpbuf_sp()		stack pointer in a jmp_buf
 *	cpu_pthread_of()	pthread_t of a thread pointer; except in the first thread, also the
 *				upper end of the thread's stack
 *	CPU_PTHREAD_TID_OFFSET	where struct pthread has the tid
 *	CPU_LOADER		path of glibc's loader; CPU_ELF_MACHINE: e_machine of programs
 *	CPU_VDSO_CLOCK_GETTIME	name of the vDSO's function
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

/*
 * Returns the number of the CPU on which the calling thread runs; 0 if it is not known.  It is read
 * from rseq if glibc has registered that for the thread.
 */
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
