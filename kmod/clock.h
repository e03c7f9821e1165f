/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LDB_CLOCK_H
#define LDB_CLOCK_H

#include <linux/ktime.h>
#include "arch/cpu.h"

/*
 * Uses ktime_get() and not its NMI-safe variant, which may step back.  ktime_get() waits for the
 * end of an update of the clock, as the vDSO does, so that stamps of the kernel and of programs are
 * in order.  The kernel wakes nobody inside such an update (that is why its notifiers there defer
 * to irq_work), and no probe runs in an NMI.
 */
static __always_inline u64 ldb_clock_now(u32 clock)
{
	if (likely(clock == LDB_CLOCK_TSC))
		return ldb_cpu_stamp();
	return ktime_get_ns();
}

/* Does the same as ldb_clock_now(), where the clock is known to be the TSC. */
static __always_inline u64 ldb_clock_tsc(void)
{
	return ldb_cpu_stamp();
}

#endif /* LDB_CLOCK_H */
