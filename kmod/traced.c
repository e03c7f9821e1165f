// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A function that ftrace can trace, for futex.c to find out whether it does so now:
 * kernel.ftrace_enabled can be 0, and nothing says that to a module.
 */
#include "ldb_internal.h"

noinline void ldb_traced(void)
{
	asm volatile("");	/* so that the call is made */
}
