/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and stores of the module whose order matters, by name, each with its partner.
 *
 * What the program and the recorder see of it, has its order in the two headers of those
 * protocols: ring.h (partner: order_slot_read() in tools/record/order.h) and stamp.h (partner:
 * order_kernel_seq() in libldb/order.h).  compat.h asks the scheduler who is on a CPU.  All
 * else is here.  The kernel's barriers hold on any CPU; on x86 only the full ones (smp_mb())
 * are instructions.
 */
#ifndef LDB_ORDER_H
#define LDB_ORDER_H

#include <linux/atomic.h>
#include <linux/compiler.h>

/*
 * A thread gets its page while it may be switched on another CPU.  The probe of the switch
 * writes seq and then reads page; who gives it the page writes page and then reads seq.  Full
 * on both sides: so either the probe finds the page and stamps it, or its write is observed.
 * Where a record is written in between, its atomic is that barrier (ldb_reserve()).
 */

/* The probe's side.  Partner: ldb_order_page_then_seq() */
static __always_inline void ldb_order_seq_then_page(void)
{
	smp_mb();	/* pairs with ldb_order_page_then_seq() */
}

/* The other side.  Partner: ldb_order_seq_then_page() */
static __always_inline void ldb_order_page_then_seq(void)
{
	smp_mb();	/* pairs with ldb_order_seq_then_page() */
}

/* What is in the page is there before it is found.  Partner: stamp_out(), stamp_in() */
#define ldb_order_page_publish(to, page)	smp_store_release(to, page)

/*
 * A file's session is found without the file's lock, by who does not sleep: all of it is
 * there.  Partner: each other.
 */
#define ldb_order_session_publish(to, s)	smp_store_release(to, s)
#define ldb_order_session(from)			smp_load_acquire(from)

/*
 * The generation of the table of watched threads: who reads a value of it finds what was put
 * there before it got that value.  Partner: each other.
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
 * After ldb_order_gen_bump(): a thread whose last switch did not find itself in the table has
 * its state of a dead one before that switch.  Partner: the scheduler, after it sets __state.
 */
static inline void ldb_order_gen_then_state(void)
{
	smp_mb__after_atomic();	/* pairs with the scheduler's */
}

/*
 * The threads are in the table before the group is asked whether it has exited.
 * Partner: ldb_probe_exit()
 */
static inline void ldb_order_threads_then_live(void)
{
	smp_mb();	/* pairs with the atomic that counts the living, before the probe */
}

/*
 * Whether a thread is asleep: it is in the table, then it is on no run queue, then on no CPU.
 * Partner: the scheduler, which wakes under the run queue's lock, and clears on_rq before
 * on_cpu.
 */
static inline void ldb_order_table_then_on_rq(void)
{
	smp_mb();	/* pairs with the scheduler's, between on_rq and the probe */
}

static inline void ldb_order_on_rq_then_on_cpu(void)
{
	smp_rmb();	/* on_rq is cleared before on_cpu */
}

/* There is something to read, before it is asked who waits for that.  Partner: ldb_poll() */
static inline void ldb_order_ready_then_waiters(void)
{
	smp_mb__after_atomic();	/* pairs with the atomic after poll_wait() */
}

/* Against an interrupt on the same CPU: the compiler alone must not move things. */
static __always_inline void ldb_order_nested(void)
{
	barrier();
}

#endif /* LDB_ORDER_H */
