/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Describes a recorded program, on whatever machine its recording is read: today all of them are
 * for x86-64.
 *
 *	PROGRAM_MACHINE		of its ELF files, and PROGRAM_MACHINE_NAME
 *	PROGRAM_SIZE_*		of glibc's objects, in bytes
 *	program_call(), program_plt_entry()	the encoding of its calls
 *	PROGRAM_PARAMETER*	where a function finds its parameters
 *	program_ends_call()	do the PROGRAM_CALL_MAX bytes before an address end in a call?
 */
#ifndef ARCH_PROGRAM_H
#define ARCH_PROGRAM_H

#include "arch/x86_64/program.h"

#endif
