/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the state of a thread into its page, and of a CPU into its ring's header.
 *
 * The reader is lock-free: it reads k_seq, the rest, and k_seq again
 * (order_kernel_seq() of libldb/order.h).  So at a switch in, the odd k_seq is
 * written before the rest; at a switch out, the even k_seq is written after it.
 */
#ifndef LDB_STAMP_H
#define LDB_STAMP_H

#include "ldb_internal.h"

struct ldb_frame_seen {
	u64	gen, top, pc;
};

static __always_inline void ldb_stamp_in(const struct ldb_thread *t, struct ldb_page *page, u32 cpu,
					 u64 now)
{
	WRITE_ONCE(page->k_seq, data_race(t->seq)); /* see thread_leaves() */
	smp_wmb();	/* an odd k_seq comes first: see above */
	WRITE_ONCE(page->k_oncpu, 1);
	WRITE_ONCE(page->k_cpu, cpu);
	WRITE_ONCE(page->k_tsc_in, now);
}

/*
 * Stamps a switch out.  `runnable`: the thread stays runnable, so the switch counts as involuntary.
 * The counts are added to the values in the page, which the program may have changed; nothing
 * depends on them.
 */
static __always_inline void ldb_stamp_out(const struct ldb_thread *t, struct ldb_page *page,
					  bool runnable, u64 now, const struct ldb_frame_seen *f)
{
	data_race(page->k_runtime += now - t->tsc_in);	/* the program may change it */
	if (runnable)
		data_race(page->k_nivcsw++);	/* the program may change it */
	else
		data_race(page->k_nvcsw++);	/* the program may change it */
	WRITE_ONCE(page->k_oncpu, 0);
	WRITE_ONCE(page->k_tsc_out, now);
	WRITE_ONCE(page->k_gen, f->gen);
	WRITE_ONCE(page->k_top, f->top);
	WRITE_ONCE(page->k_pc, f->pc);
	/* An even k_seq comes last: see above. */
	smp_store_release(&page->k_seq, data_race(t->seq));	/* see thread_leaves() */
}

/* Initialises the page at registration.  k_seq is 0 until publish() in thread.c knows the state. */
static inline void ldb_stamp_all(const struct ldb_thread *t, struct ldb_page *page)
{
	WRITE_ONCE(page->k_seq, 0);
	WRITE_ONCE(page->k_oncpu, READ_ONCE(t->seq) & 1);
	WRITE_ONCE(page->k_cpu, task_cpu(t->task));
	WRITE_ONCE(page->k_tsc_in, READ_ONCE(t->tsc_in));
	WRITE_ONCE(page->k_tsc_out, READ_ONCE(t->tsc_out));
	WRITE_ONCE(page->k_nvcsw, 0);
	WRITE_ONCE(page->k_nivcsw, 0);
	WRITE_ONCE(page->k_runtime, 0);
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

/* Stamps which thread of the session runs on this CPU; 0, 0: none. */
static __always_inline void ldb_stamp_cpu(struct ldb_session_cpu *sc, u32 page_nr, u32 tid)
{
	struct ldb_ring_hdr *ring = ldb_ring(sc);

	WRITE_ONCE(ring->k_slot, page_nr);
	WRITE_ONCE(ring->k_tid, tid);
}

#endif /* LDB_STAMP_H */
