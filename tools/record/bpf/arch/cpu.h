/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contains the parts of the BPF programs that depend on the CPU, for x86-64. */
#ifndef RECORD_BPF_ARCH_H
#define RECORD_BPF_ARCH_H

#include "../kernel.h"

/* Bits of a page fault's error code, which say why the fault occurred. */
#define FAULT_PRESENT	0x01
#define FAULT_WRITE	0x02
#define FAULT_INSTR	0x10
#define USER_MAX	0x00007fffffffffffULL

#define REGS_PC(regs)	((regs)->ip)

/* Registers that were saved at the start of a system call; at its end, ax has the result. */
#define REGS_CALL(regs)		((regs)->orig_ax)
#define REGS_RESULT(regs)	((regs)->ax)
#define REGS_ARG0(regs)		((regs)->di)
#define REGS_ARG1(regs)		((regs)->si)
#define REGS_ARG2(regs)		((regs)->dx)
#define REGS_ARG3(regs)		((regs)->r10)
#define REGS_ARG4(regs)		((regs)->r8)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_struct {
	unsigned long fsbase;
};

struct task_struct___thread {
	struct thread_struct thread;
};

#pragma clang attribute pop

/*
 * Returns the thread pointer that p had when it last left a CPU.  glibc sets it once, at the start
 * of a thread.
 */
static __always_inline u64 thread_pointer(struct task_struct *p)
{
	return BPF_CORE_READ((struct task_struct___thread *)p, thread.fsbase);
}

#endif
