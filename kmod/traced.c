// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * futex.c calls this function to find out whether ftrace traces calls now, because modules are not
 * notified when kernel.ftrace_enabled becomes 0.
 */
#include "ldb_internal.h"

noinline void ldb_traced(void)
{
	asm volatile("");	/* prevents the compiler from removing the call */
}
