/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds which functions of other modules the code of a function calls.  That is read from the
 * code: it may call them, and need not have done so.
 */
#ifndef SYMBOL_ELFCALLS_H
#define SYMBOL_ELFCALLS_H

#include <stdint.h>
#include <libelf.h>

/*
 * Calls fn with the linker's name of each, in order of the code; one that is called in several
 * places comes several times.  addr is the ELF file's own.
 */
void elfcalls_each(Elf *elf, uint64_t addr, uint64_t size,
		   void (*fn)(void *arg, const char *name), void *arg);

/*
 * The call before a return address: returns the name of the function of another module that it
 * calls.  NULL: it is not known; if it calls something in this module, *to is where that is, else 0.
 */
const char *elfcalls_callee(Elf *elf, uint64_t ret, uint64_t *to);

#endif
