// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * futex.c calls this function to find out whether ftrace traces it now:  kernel.ftrace_enabled
 * can be 0, and nothing says that to a module.
 */
#include "ldb_internal.h"

noinline void ldb_traced(void)
{
	asm volatile("");	/* so that the call is made */
}
