/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Includes GCC's headers, in the order in which they compile.  All differences between versions of
 * GCC are handled here.
 */
#ifndef LDB_GCC_COMPAT_H
#define LDB_GCC_COMPAT_H

#include "gcc-plugin.h"
#include "plugin-version.h"

#if GCCPLUGIN_VERSION_MAJOR < 12
#error "the ldb plugin needs GCC 12 or newer"
#endif

#include "backend.h"
#include "target.h"
#include "tree.h"
#include "gimple.h"
#include "tree-pass.h"
#include "ssa.h"
#include "cgraph.h"
#include "diagnostic-core.h"
#include "intl.h"
#include "stringpool.h"
#include "attribs.h"
#include "fold-const.h"
#include "stor-layout.h"
#include "gimple-iterator.h"
#include "tree-cfg.h"
#include "tree-eh.h"
#include "tree-dfa.h"
#include "tree-inline.h"
#include "cfganal.h"
#include "cfghooks.h"
#include "dominance.h"
#include "graphds.h"
#include "sbitmap.h"
#include "except.h"
#include "builtins.h"
#include "calls.h"
#include "context.h"
#include "output.h"
#include "rtl.h"
#include "memmodel.h"
#include "emit-rtl.h"
#include "tm_p.h"
#include "regs.h"
#if GCCPLUGIN_VERSION_MAJOR >= 14
static inline gimple *last_stmt(basic_block bb)
{
	return last_nondebug_stmt(bb);
}
#endif

/* Declared here because dwarf2out.h includes a header that is not installed. */
extern bool dwarf2out_do_cfi_asm(void);

#endif /* LDB_GCC_COMPAT_H */
