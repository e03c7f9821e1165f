/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes records: the kernel's side of the protocol in linux/ldb.h.
 *
 * The program may be able to write the whole ring.  The kernel reads only head, and applies its own
 * mask to that value.
 */
#ifndef LDB_RING_H
#define LDB_RING_H

#include <linux/atomic.h>
#include "ldb_internal.h"

/* process.c */
void ldb_ring_quarter(struct ldb_session_cpu *sc);

/*
 * Reserves n slots and returns the index of the first one.  The operation is atomic even where only
 * the kernel writes, because the probe of switches needs its full barrier: see
 * ldb_order_seq_then_page().
 */
static __always_inline u64 ldb_reserve(struct ldb_session_cpu *sc, u32 n)
{
	return atomic64_fetch_add(n, (atomic64_t *)&ldb_ring(sc)->head);
}

/*
 * Called after n slots were written.  Returns true if a quarter of the ring has been written since
 * the last call of ldb_ring_quarter(), which must then be called.  The slots are counted separately,
 * because the program can change head.
 */
static __always_inline bool ldb_written(struct ldb_session_cpu *sc, int n)
{
	return unlikely(local_add_negative(-n, &sc->left));
}

static __always_inline void ldb_put(struct ldb_session_cpu *sc, u64 idx, u64 tsc, u32 tid, u32 type,
				    u32 flags, u64 arg, u32 arg2)
{
	struct ldb_rec *slot = sc->slots + (idx & sc->mask);
	u64 word = (u64)flags << 48 | (u64)type << 32 | tid;

	WRITE_ONCE(slot->tsc, tsc);
	WRITE_ONCE(*(u64 *)&slot->tid, word);
	WRITE_ONCE(slot->arg, arg);
	WRITE_ONCE(slot->arg2, arg2);
	/* The rest was written before.  Partner: order_slot_read() of tools/record/session/ */
	smp_store_release(&slot->commit, (u32)(idx + 1) ^ ldb_words_hash(tsc, word, arg, arg2));
}

/* Writes a record of one slot. */
static __always_inline void ldb_emit(struct ldb_session_cpu *sc, u64 tsc, u32 tid, u32 type,
				     u32 flags, u64 arg, u32 arg2)
{
	ldb_put(sc, ldb_reserve(sc, 1), tsc, tid, type, flags, arg, arg2);
	if (ldb_written(sc, 1))
		ldb_ring_quarter(sc);
}

#endif /* LDB_RING_H */
