/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds which functions of other modules the code of a function calls.  The calls are found in the
 * code, so they were not necessarily executed.
 */
#ifndef SYMBOL_ELFCALLS_H
#define SYMBOL_ELFCALLS_H

#include <stdint.h>
#include <libelf.h>

/*
 * Calls fn with the linker's name of each called function, in the order of the code.  A function
 * that is called in several places is reported several times.  addr is an address of the ELF file.
 */
void elfcalls_each(Elf *elf, uint64_t addr, uint64_t size,
		   void (*fn)(void *arg, const char *name), void *arg);

/*
 * Returns the name of the function of another module that the call before a return address calls.
 * NULL: not known; then *to is the called address if it is in this module, else 0.
 */
const char *elfcalls_callee(Elf *elf, uint64_t ret, uint64_t *to);

#endif
