/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For any other architecture; cpu.h includes this file and describes the functions. */
#ifndef LDB_ARCH_GENERIC_H
#define LDB_ARCH_GENERIC_H

static __always_inline u64 ldb_cpu_stamp(void)
{
	return 0;	/* called only if the parameter force_tsc is set */
}

static inline bool ldb_cpu_stamp_is_trusted(void)
{
	return false;
}

static inline u64 ldb_cpu_stamp_hz(void)
{
	return 0;
}

static __always_inline u64 ldb_cpu_thread_pointer(void)
{
	return 0;	/* not known: no chain is read */
}

/* The meaning of the error code depends on the architecture. */
static __always_inline u32 ldb_cpu_fault_flags(unsigned long error)
{
	return 0;
}

#endif /* LDB_ARCH_GENERIC_H */
