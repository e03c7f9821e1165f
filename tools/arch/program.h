/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Describes the machine of a recorded program, which may differ from the one on which the recording
 * is read.  Today all programs are for x86-64.
 *
 *	PROGRAM_MACHINE		e_machine of the program's ELF files
 *	PROGRAM_MACHINE_NAME	the machine's name in messages
 *	PROGRAM_SIZE_*		sizes of glibc's objects, in bytes
 *	program_call(), program_plt_entry()	decode calls
 *	PROGRAM_PARAMETER*	where a function finds its parameters
 *	PROGRAM_REGISTERS, PROGRAM_NOP	what the notes of USDT probes refer to
 *	program_ends_call()	true if the bytes before an address end with a call
 */
#ifndef ARCH_PROGRAM_H
#define ARCH_PROGRAM_H

#include "arch/x86_64/program.h"

#endif
