/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ldb_thread.seq says whether a thread is on a CPU; ldb_page.k_seq is a copy of it.
 *
 * It is odd while the thread is on a CPU.  Each switch in sets bit 0, and each switch out adds one;
 * only the probe of the switch does this.  If it is not known whether a thread is running when a
 * session is bound, seq begins with UNKNOWN, and may be replaced when the state is known.  But a
 * switch in may be in progress then, after which seq must not be replaced.  So UNKNOWN is the one
 * value without KNOWN that is odd, and each switch in sets KNOWN too.
 *
 *	UNKNOWN	the thread may be running or not.  A switch in sets KNOWN, a switch
 *		out makes it 2.
 *	NEW	the thread was never on a CPU
 *	RUNNING	it has been on a CPU since before it was observed
 *	ASLEEP	it has been asleep since before it was observed: a value that counting
 *		does not reach, so that no two times off the CPU have the same value
 *
 * tests/unit/kmod-seq.c tries all orders of these steps.
 */
#ifndef LDB_SEQ_H
#define LDB_SEQ_H

#define LDB_SEQ_KNOWN		0x40000000U
#define LDB_SEQ_UNKNOWN		1U
#define LDB_SEQ_NEW		(LDB_SEQ_KNOWN | 2)
#define LDB_SEQ_RUNNING		(LDB_SEQ_KNOWN | 3)
#define LDB_SEQ_ASLEEP		(LDB_SEQ_KNOWN | 0x80000000U)

static __always_inline u32 ldb_seq_in(u32 seq)
{
	return seq | LDB_SEQ_KNOWN | 1;
}

static __always_inline u32 ldb_seq_out(u32 seq)
{
	return seq + 1;
}

#endif /* LDB_SEQ_H */
