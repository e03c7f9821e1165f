// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * futex.c calls this function to find out whether ftrace traces it now: modules are not informed
 * when kernel.ftrace_enabled becomes 0.
 */
#include "ldb_internal.h"

noinline void ldb_traced(void)
{
	asm volatile("");	/* so that the call is made */
}
