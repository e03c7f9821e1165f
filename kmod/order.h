/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Contains the loads and stores of the module whose order matters.  Each comment names the partner,
 * the code that depends on the order, which mostly runs on another CPU.
 *
 * The stores that the program or the recorder reads are in two other headers: ring.h (partner:
 * order_slot_read() in tools/record/session/order.h) and stamp.h (partner: order_kernel_seq() in
 * libldb/order.h).  compat.h reads the scheduler's on_cpu, and disk.c orders its table of bios by
 * atomic exchanges.  Everything else is here.  The kernel's barriers hold on any CPU; on x86 only the
 * full ones (smp_mb()) are instructions.
 */
#ifndef LDB_ORDER_H
#define LDB_ORDER_H

#include <linux/atomic.h>
#include <linux/compiler.h>

/*
 * A thread may be switched on another CPU while it is registered and gets its page.  The probe of
 * the switch writes seq and then reads page; the registration writes page and then reads seq.  The
 * barriers are full on both sides: so either the probe finds the page and stamps it, or the
 * registration reads seq as the probe wrote it.  If a record is written in between, the atomic
 * operation of ldb_reserve() is the barrier.
 */

/* On the probe's side.  Partner: ldb_order_page_then_seq() */
static __always_inline void ldb_order_seq_then_page(void)
{
	smp_mb();	/* pairs with ldb_order_page_then_seq() */
}

/* On the side of the registration.  Partner: ldb_order_seq_then_page() */
static __always_inline void ldb_order_page_then_seq(void)
{
	smp_mb();	/* pairs with ldb_order_seq_then_page() */
}

/* The page's contents are visible before the page is found.  Partner: stamp_out(), stamp_in() */
#define ldb_order_page_publish(to, page)	smp_store_release(to, page)

/*
 * Some code reads a file's session without the file's lock; the session is complete before it is
 * published.  The two macros are each other's partner.
 */
#define ldb_order_session_publish(to, s)	smp_store_release(to, s)
#define ldb_order_session(from)			smp_load_acquire(from)

/*
 * The generation of the table of observed threads: a reader that loads a value finds all entries
 * that were made before the generation got that value.  The two functions are each other's partner.
 */
static __always_inline int ldb_order_gen(const atomic_t *gen)
{
	return atomic_read_acquire(gen);
}

static inline void ldb_order_gen_bump(atomic_t *gen)
{
	smp_mb__before_atomic();	/* pairs with ldb_order_gen() */
	atomic_inc(gen);
}

/*
 * Called after ldb_order_gen_bump(), before a thread's state is read: if the thread's last switch did
 * not find it in the table, the state is read as dead.  Partner: the scheduler, after it sets __state.
 */
static inline void ldb_order_gen_then_state(void)
{
	smp_mb__after_atomic();	/* pairs with the scheduler's barrier */
}

/*
 * The threads are in the table before it is checked whether the group has exited.  Partner:
 * ldb_probe_exit()
 */
static inline void ldb_order_threads_then_live(void)
{
	smp_mb();	/* pairs with the atomic that counts live threads, before the probe */
}

/*
 * For the test whether a thread is asleep: it is put into the table, then on_rq is read, then on_cpu.
 * Partner: the scheduler, which wakes threads under the run queue's lock, and clears on_rq before
 * on_cpu.
 */
static inline void ldb_order_table_then_on_rq(void)
{
	smp_mb();	/* pairs with the scheduler's barrier between on_rq and the probe */
}

static inline void ldb_order_on_rq_then_on_cpu(void)
{
	smp_rmb();	/* on_rq is cleared before on_cpu */
}

/* The offsets of blocks are stored before their number.  The two are each other's partner. */
static inline void ldb_order_blocks_publish(u32 *nr_blocks, u32 nr)
{
	smp_store_release(nr_blocks, nr);
}

static __always_inline u32 ldb_order_blocks(const u32 *nr_blocks)
{
	return smp_load_acquire(nr_blocks);
}

/* Data is made readable before the check whether a reader waits for it.  Partner: ldb_poll() */
static inline void ldb_order_ready_then_waiters(void)
{
	smp_mb__after_atomic();	/* pairs with the atomic after poll_wait() */
}

/*
 * Orders accesses for an interrupt on the same CPU, for which only the compiler could reorder them.
 * Partner: push() and pop() in that interrupt.
 */
static __always_inline void ldb_order_nested(void)
{
	barrier();
}

#endif /* LDB_ORDER_H */
