/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that the plugin needs for each CPU.  Instructions, registers and the dialects of
 * the assembler are only in this folder (tests/lint/arch.t).  One of its files is compiled,
 * <cpu>.c.  A new CPU needs a file with these functions.
 *
 * All of them have to follow the order of stores in ldb/abi.h.  x86 makes stores visible in the
 * order in which they are written; a CPU that does not needs a release store for top when a
 * record is linked, and one before it between the generation and the record.
 */
#ifndef LDB_PLUGIN_ARCH_H
#define LDB_PLUGIN_ARCH_H

#include <stdio.h>
#include "instrument.h"

/* Returns why code for this target cannot be instrumented; NULL: it can. */
const char *arch_unsupported(void);

/*
 * Is each instruction of an asm known to continue with the next one?  False for texts with labels,
 * directives, macros, comments or alternatives of dialects, and for instructions that wait, jump,
 * repeat or enter the kernel.  Fences and reading a clock are excluded, too: a function's record
 * must be linked before the function reads the clock.
 */
bool arch_is_straight_text(const char *text);

/*
 * These build the statements.  ret is the return address; keep leaves prev in r->prev, for an
 * unlink that comes later.  An unlink stores prev into top, a relink the record.
 */
gasm *arch_link(const struct record *r, tree ret, bool keep);
gasm *arch_link_far(const struct record *r, tree ret);
gasm *arch_unlink(const struct record *r);
gasm *arch_relink(const struct record *r);
/*
 * Can LINK_FUNCTION be called as arch_link_far() does?  Its registers must be free, and it must be
 * in reach.
 */
bool arch_can_link_far(void);
/* Runs after register allocation and corrects the far links of a function without calls. */
void arch_mend_far(void);

/* These begin and end the text of a function. */
void arch_emit_begin(FILE *f);
void arch_emit_end(FILE *f);
/* These write the bodies of __ldb_thread_addr and LINK_FUNCTION... */
void arch_emit_accessor(FILE *f);
void arch_emit_link(FILE *f);
/* ...and a jump to target, whose weak reference may be 0, with the address of hook. */
void arch_emit_hook(FILE *f, const char *hook, const char *target);

#endif /* LDB_PLUGIN_ARCH_H */
