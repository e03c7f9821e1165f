/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * These functions are what the plugin needs for a CPU.  One file of this folder is compiled,
 * <cpu>.c; nothing outside of it knows instructions, registers or the assembler's dialects
 * (tests/lint/arch.t).  A new CPU needs a file with these functions.
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
 * Is each instruction of an asm known to continue with the next one?  Labels, directives,
 * macros, comments and alternatives of dialects are not understood, and neither is anything that
 * waits, jumps, repeats or enters the kernel.  Fences and clocks are excluded, too: a function's
 * record must be linked before it takes a stamp of its own.
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
/* Can LINK_FUNCTION be called as arch_link_far() does: registers, distance? */
bool arch_can_link_far(void);
/* Runs after register allocation and corrects the far links of a function without calls. */
void arch_mend_far(void);

/* A function in the assembler's text is put between these two. */
void arch_emit_begin(FILE *f);
void arch_emit_end(FILE *f);
/* These write the bodies of __ldb_thread_addr and LINK_FUNCTION... */
void arch_emit_accessor(FILE *f);
void arch_emit_link(FILE *f);
/* ...and a jump to target, whose weak reference may be 0, with the address of hook. */
void arch_emit_hook(FILE *f, const char *hook, const char *target);

#endif /* LDB_PLUGIN_ARCH_H */
