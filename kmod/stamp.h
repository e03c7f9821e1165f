/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel says of a thread in its page, and of a CPU in its ring's header.
 *
 * The reader is lock-free: it reads k_seq, the rest, and k_seq again.  So an odd
 * k_seq is written before the rest of a switch in, an even one after all of a
 * switch out.
 */
#ifndef LDB_STAMP_H
#define LDB_STAMP_H

#include "ldb_internal.h"

struct ldb_frame_seen {
	u64	gen, top, pc;
};

static __always_inline void ldb_stamp_in(const struct ldb_thread *t, struct ldb_page *page, u32 cpu)
{
	WRITE_ONCE(page->k_seq, t->seq);
	smp_wmb();
	WRITE_ONCE(page->k_oncpu, 1);
	WRITE_ONCE(page->k_cpu, cpu);
	WRITE_ONCE(page->k_tsc_in, t->tsc_in);
}

/* runnable: it would rather have stayed. */
static __always_inline void ldb_stamp_out(struct ldb_thread *t, struct ldb_page *page, bool runnable,
					  const struct ldb_frame_seen *f)
{
	if (likely(t->tsc_in))
		t->runtime += t->tsc_out - t->tsc_in;
	WRITE_ONCE(page->k_oncpu, 0);
	WRITE_ONCE(page->k_tsc_out, t->tsc_out);
	if (runnable)
		WRITE_ONCE(page->k_nivcsw, ++t->nivcsw);
	else
		WRITE_ONCE(page->k_nvcsw, ++t->nvcsw);
	WRITE_ONCE(page->k_runtime, t->runtime);
	WRITE_ONCE(page->k_gen, f->gen);
	WRITE_ONCE(page->k_top, f->top);
	WRITE_ONCE(page->k_pc, f->pc);
	smp_store_release(&page->k_seq, t->seq);
}

/* At registration: all that is known, but whether it is on a CPU. */
static inline void ldb_stamp_all(const struct ldb_thread *t, struct ldb_page *page)
{
	WRITE_ONCE(page->k_seq, 0);
	WRITE_ONCE(page->k_oncpu, t->seq & 1);
	WRITE_ONCE(page->k_cpu, task_cpu(t->task));
	WRITE_ONCE(page->k_tsc_in, t->tsc_in);
	WRITE_ONCE(page->k_tsc_out, t->tsc_out);
	WRITE_ONCE(page->k_nvcsw, t->nvcsw);
	WRITE_ONCE(page->k_nivcsw, t->nivcsw);
	WRITE_ONCE(page->k_runtime, t->runtime);
	WRITE_ONCE(page->k_gen, 0);
	WRITE_ONCE(page->k_top, 0);
	WRITE_ONCE(page->k_pc, 0);
	WRITE_ONCE(page->k_tid, t->tid);
}

static inline void ldb_stamp_clear(struct ldb_page *page)
{
	WRITE_ONCE(page->k_seq, 0);
	WRITE_ONCE(page->k_oncpu, 0);
	WRITE_ONCE(page->k_tid, 0);
}

/* Who of the session runs on this CPU: slot is of its page + 1, or 0. */
static __always_inline void ldb_stamp_cpu(struct ldb_session_cpu *sc, u32 slot, u32 tid)
{
	struct ldb_ring_hdr *ring = ldb_ring(sc);

	WRITE_ONCE(ring->k_slot, slot);
	WRITE_ONCE(ring->k_tid, tid);
}

#endif /* LDB_STAMP_H */
