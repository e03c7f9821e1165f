/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LDB_CLOCK_H
#define LDB_CLOCK_H

#include <linux/ktime.h>
#include "arch/cpu.h"

/*
 * LDB_CLOCK_MONO is read by ktime_get_ns() and not by its NMI-safe variant, which may step back.
 * ktime_get_ns() waits for the end of an update of the clock, as the vDSO does, so that stamps of
 * the kernel and of programs are in order.  This cannot deadlock: the kernel wakes no task during
 * such an update (its notifiers defer that to irq_work), and no probe reads the clock in an NMI.
 */
static __always_inline u64 ldb_clock_now(u32 clock)
{
	if (likely(clock == LDB_CLOCK_TSC))
		return ldb_cpu_stamp();
	return ktime_get_ns();
}

/* Returns what ldb_clock_now(LDB_CLOCK_TSC) returns. */
static __always_inline u64 ldb_clock_tsc(void)
{
	return ldb_cpu_stamp();
}

#endif /* LDB_CLOCK_H */
