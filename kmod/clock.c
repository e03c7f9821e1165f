// SPDX-License-Identifier: GPL-2.0-or-later
/* Provides the clocks of sessions: the TSC where the kernel itself relies on it. */
#include "ldb_internal.h"
#include "clock.h"

static bool tsc_trusted(void)
{
	return ldb_force_tsc || ldb_cpu_stamp_is_trusted();
}

/*
 * Returns `wanted`, or 0 if this clock is not available.  If `wanted` is 0, returns the best clock.
 */
u32 ldb_clock_choose(u32 wanted)
{
	if (wanted == LDB_CLOCK_TSC && !tsc_trusted())
		return 0;
	if (wanted)
		return wanted;
	return tsc_trusted() ? LDB_CLOCK_TSC : LDB_CLOCK_MONO;
}

u64 ldb_clock_hz(u32 clock)
{
	return clock == LDB_CLOCK_TSC ? ldb_cpu_stamp_hz() : NSEC_PER_SEC;
}

/* Uses the best of several measurements, because hypervisor or firmware may interrupt some. */
void ldb_clock_measure(u32 clock, struct ldb_clock_sample *best)
{
	struct ldb_clock_sample now;
	unsigned long flags;
	int i;

	best->err = U64_MAX;
	for (i = 0; i < 5; i++) {
		u64 begin, end;

		local_irq_save(flags);
		begin = ldb_clock_now(clock);
		now.raw_ns = ktime_get_raw_ns();
		now.mono_ns = ktime_get_ns();
		now.real_ns = ktime_get_real_ns();
		end = ldb_clock_now(clock);
		local_irq_restore(flags);
		now.clock = begin + (end - begin) / 2;
		now.err = end - begin;
		if (now.err < best->err)
			*best = now;
	}
}
