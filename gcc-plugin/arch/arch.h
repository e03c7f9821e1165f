/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares the functions that the plugin needs for each CPU architecture.  Instructions, registers
 * and the dialects of the assembler are only in this directory (tests/lint/arch.t).  One of its
 * files is compiled, <cpu>.c.  A new architecture needs a file with these functions.
 *
 * The instructions have to follow the order of stores in ldb/abi.h.  x86 makes stores visible in
 * program order.  A CPU that does not do this needs the release stores and the barrier that abi.h
 * describes.
 */
#ifndef LDB_PLUGIN_ARCH_H
#define LDB_PLUGIN_ARCH_H

#include <stdio.h>
#include "instrument.h"

/* Returns why code for this target cannot be instrumented; NULL: it can. */
const char *arch_unsupported(void);

/*
 * Returns true if control certainly goes from each instruction of an asm to the next one.  Returns
 * false for texts with labels, directives, macros, comments or alternatives of dialects, and for
 * instructions that wait, jump, repeat or enter the kernel.  Fences and reading a clock are
 * excluded, too: a function's record must be linked before the function reads the clock.
 */
bool arch_is_straight_text(const char *text);

/*
 * These build the statements.  `ret` is the return address; `keep`: the link leaves prev in
 * r->prev, for the unlinks.  An unlink stores prev into top; a relink stores the record's address.
 */
gasm *arch_link(const struct record *r, tree ret, bool keep);
gasm *arch_link_far(const struct record *r, tree ret);
gasm *arch_unlink(const struct record *r);
gasm *arch_relink(const struct record *r);
/*
 * Returns true if arch_link_far() can call LINK_FUNCTION: the registers that it uses are free, and
 * a call instruction reaches it.
 */
bool arch_can_link_far(void);
/* Runs after register allocation and corrects the far links of a function without calls. */
void arch_mend_far(void);

/* These write the lines that begin and end the body of each function that emit.c adds. */
void arch_emit_begin(FILE *f);
void arch_emit_end(FILE *f);
/* These write the bodies of __ldb_thread_addr and LINK_FUNCTION. */
void arch_emit_accessor(FILE *f);
void arch_emit_link(FILE *f);
/*
 * Writes the body of `hook`, which jumps to `target` with its own address as argument; if the weak
 * reference to `target` is 0, it only returns.
 */
void arch_emit_hook(FILE *f, const char *hook, const char *target);

#endif /* LDB_PLUGIN_ARCH_H */
