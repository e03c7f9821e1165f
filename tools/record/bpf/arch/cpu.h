/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This is what the kernel's events need of the CPU: today x86-64 alone. */
#ifndef RECORD_BPF_ARCH_H
#define RECORD_BPF_ARCH_H

/* These bits say why a fault occurred. */
#define FAULT_PRESENT	0x01
#define FAULT_WRITE	0x02
#define FAULT_INSTR	0x10
#define USER_MAX	0x00007fffffffffffULL

#define REGS_PC(regs)	((regs)->ip)

#endif
