/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A CPU of which nothing is known; see cpu.h, which alone includes this. */
#ifndef LDB_ARCH_GENERIC_H
#define LDB_ARCH_GENERIC_H

static __always_inline u64 ldb_cpu_stamp(void)
{
	return 0;	/* nobody asks */
}

static inline bool ldb_cpu_stamp_is_trusted(void)
{
	return false;
}

static inline u64 ldb_cpu_stamp_hz(void)
{
	return 0;
}

/* What the error means is the architecture's own. */
static __always_inline u32 ldb_cpu_fault_flags(unsigned long error)
{
	return 0;
}

#endif /* LDB_ARCH_GENERIC_H */
