/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contains the runtime's loads and stores whose order matters.  A "partner" in a comment is the
 * code, of another thread or of a signal handler, that depends on the order.
 *
 * Five kinds of code share memory without a lock: the program's threads (what the plugin emits, the
 * registry, the shim), the scanners, the control thread, the recorder (another process:
 * tools/record/session/order.h) and the kernel module (kmod/order.h, ring.h, stamp.h).  The loads
 * from the chain of frame records are in scan/safe-load.h.
 *
 * On x86 a CPU makes loads in program order, and stores in program order; but a store may wait in
 * the store buffer while later loads are made, until a locked instruction.  So an acquire or a
 * release costs nothing there and only prevents the compiler from moving accesses; a store that
 * must become visible before a later load needs a locked instruction.  Comments call this a full
 * barrier, or "full".  Functions in terms of C11 are right on any CPU.  A comment "x86:" marks
 * functions that depend on x86, and says what another CPU would need: these are the emitted code,
 * the loads of the chain, and a few loads and stores in each wrapper.
 *
 * Shared data that is not accessed through this file is protected by a lock, used by one thread
 * alone, or a flag off the hot paths that is read and written with C11's strongest order
 * (atomic_load(), atomic_store(), ...).  tests/lint/order.t rejects other accesses.
 */
#ifndef LDB_ORDER_H
#define LDB_ORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <linux/ldb.h>
#include <ldb/abi.h>

struct thread;

/*
 * Any order is sufficient for these, because no other data depends on the value: hints (which
 * thread waits for a lock or holds it), counters, pointers to functions, which are searched again
 * if the store is not visible yet, and words that another function of this file has ordered.
 */
#define order_any_load(p)		atomic_load_explicit(p, memory_order_relaxed)
#define order_any_store(p, v)		atomic_store_explicit(p, v, memory_order_relaxed)
#define order_any_add(p, v)		atomic_fetch_add_explicit(p, v, memory_order_relaxed)
#define order_any_sub(p, v)		atomic_fetch_sub_explicit(p, v, memory_order_relaxed)
/*
 * These do the same for words that are not declared _Atomic, for example in shared headers; but
 * order_any_add() returns the old value, and order_any_add_word() the new one.
 */
#define order_any_load_word(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define order_any_store_word(p, v)	__atomic_store_n(p, v, __ATOMIC_RELAXED)
/* Stores v if the word still has the value *from. */
#define order_any_replace_word(p, from, v) \
	__atomic_compare_exchange_n(p, from, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define order_any_add_word(p, v)	__atomic_add_fetch(p, v, __ATOMIC_RELAXED)

/*
 * A compiler barrier: a signal handler of the same thread finds all earlier stores, and the CPU
 * needs no instruction for that.  Partner: the wrappers that the handler calls.
 */
static inline void order_signal(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/*
 * Unlinks all records of the calling thread's block that are newer than `left`, with one store, as
 * the emitted code does.  The memory of these records may be overwritten after this store, and
 * later stores become visible later.  Partner: safe_load_is_still()
 */
static inline void order_chain_cut(struct ldb_thread *block, struct ldb_frame *left)
{
	__atomic_store_n(&block->top, left, __ATOMIC_RELAXED);
}

/*
 * The thread's stores to its chain are visible before what follows.  Full: a store may wait in the
 * CPU for a microsecond where others use the same cache lines.  Called before the clock is read
 * when a wait begins (session_clock_after_stores()).  Partner: scan_stamp_before(), after which the
 * scanner loads the chain.
 */
static inline void order_chain_visible(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

/*
 * For lists that only grow, of thread blocks (block_off), modules and known symbols: an entry is
 * written before the count that includes it.  stack.c also loads nr_used with this, which is never
 * decremented.  The two functions are each other's partner.
 */
static inline uint32_t order_list_count(const _Atomic uint32_t *nr)
{
	return atomic_load_explicit(nr, memory_order_acquire);
}

static inline void order_list_grow(_Atomic uint32_t *nr, uint32_t to)
{
	atomic_store(nr, to);
}

/*
 * The registry of threads, live[0 .. nr_live), is changed under its lock and read without a lock.
 * An entry is written before the count that includes it, and a larger table before a count that
 * needs it.  A reader may find an entry twice, miss an entry that is being moved, or find the entry
 * of a thread that has exited: before a scanner reads a thread's memory it checks
 * order_thread_state().  These four functions are each other's partners.
 */
static inline uint32_t order_live_count(const _Atomic uint32_t *nr)
{
	return atomic_load_explicit(nr, memory_order_acquire);
}

static inline struct thread *order_live_get(struct thread *_Atomic const *entry)
{
	return atomic_load_explicit(entry, memory_order_relaxed);
}

static inline void order_live_put(struct thread *_Atomic *entry, struct thread *t)
{
	atomic_store(entry, t);
}

static inline void order_live_count_set(_Atomic uint32_t *nr, uint32_t to)
{
	atomic_store(nr, to);
}

/*
 * Hazard pointers.  A scanner stores which threads it is about to poll, and then loads whether they
 * still exist; an exiting thread stores that it exits, and then waits until no scanner polls it.
 * Each side's store must be visible before its load is made, so both need a full barrier.
 * Otherwise the scanner could read an unmapped stack.
 */

/* After one or more calls of this, order_hazards_visible() must be called. */
static inline void order_hazard_set(struct thread *_Atomic *looking, struct thread *t)
{
	atomic_store_explicit(looking, t, memory_order_relaxed);
}

/* Full: the hazards are visible before the states are read.  Partner: order_thread_state_set() */
static inline void order_hazards_visible(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

/* All reads of the thread's memory are made before this store.  Partner: order_hazard_get() */
static inline void order_hazard_clear(struct thread *_Atomic *looking)
{
	atomic_store_explicit(looking, NULL, memory_order_release);
}

/* Called by the scanner after order_hazards_visible().  Partner: order_thread_state_set() */
static inline uint32_t order_thread_state(const _Atomic uint32_t *state)
{
	return atomic_load(state);
}

/* Full: the state is visible before the hazards are read.  Partner: order_hazards_visible() */
static inline void order_thread_state_set(_Atomic uint32_t *state, uint32_t to)
{
	atomic_store(state, to);
}

/*
 * Called by the exiting thread: what it does after it has found the hazard cleared happens after
 * the poll.  Partner: order_hazard_clear()
 */
static inline struct thread *order_hazard_get(struct thread *_Atomic const *looking)
{
	return atomic_load(looking);
}

/*
 * A scanner's count of walks is odd while it reads stacks.  The scanner stores the count, and then
 * loads the bounds of stacks; a thread that removes a stack stores the stack's new bounds, and then
 * waits for a walk that may be under way.  Both need a full barrier, as for hazard pointers.
 */

/* Full: before stack_lo, or a registered stack, is read.  Partner: order_walk_count() */
static inline void order_walk_begin(_Atomic uint64_t *walks, uint64_t to)
{
	atomic_exchange(walks, to);
}

/* All reads of stacks are made before this store.  Partner: order_walk_count() */
static inline void order_walk_end(_Atomic uint64_t *walks, uint64_t to)
{
	atomic_store_explicit(walks, to, memory_order_release);
}

/* Called after order_stack_raise() or order_range_claim().  Partner: order_walk_begin() */
static inline uint64_t order_walk_count(const _Atomic uint64_t *walks)
{
	return atomic_load(walks);
}

/*
 * Called before the part of the stack below `to` is removed.  Full: the store is visible before
 * scan_quiesce() waits for walks that have read the old value.  Partner: order_walk_begin()
 */
static inline void order_stack_raise(uintptr_t *stack_lo, uintptr_t to)
{
	__atomic_store_n(stack_lo, to, __ATOMIC_SEQ_CST);
}

/*
 * Registered stacks, [lo, hi): a writer stores hi, then lo; a reader loads lo, then hi, then lo
 * again.  If lo is unchanged, the two values belong together.
 */

/*
 * Changes lo from `from` to `busy`, if it is `from`.  Full: when a stack is removed, no later walk
 * finds it; order_walk_count() follows.  Partner: order_range_lo()
 */
static inline bool order_range_claim(_Atomic uintptr_t *lo, uintptr_t from, uintptr_t busy)
{
	return atomic_load_explicit(lo, memory_order_relaxed) == from &&
	       atomic_compare_exchange_strong(lo, &from, busy);
}

/* Partner: order_range_lo() */
static inline void order_range_open(_Atomic uintptr_t *lo, _Atomic uintptr_t *hi,
				    uintptr_t from, uintptr_t to)
{
	atomic_store_explicit(hi, to, memory_order_relaxed);
	atomic_store_explicit(lo, from, memory_order_release);
}

/*
 * Called after scan_quiesce(), so no walk still uses the entry when it is claimed again.  Partner:
 * order_range_claim()
 */
static inline void order_range_free(_Atomic uintptr_t *lo, uintptr_t free)
{
	atomic_store_explicit(lo, free, memory_order_release);
}

/* Partner: order_range_open() */
static inline uintptr_t order_range_lo(const _Atomic uintptr_t *lo)
{
	return atomic_load_explicit(lo, memory_order_acquire);
}

/* Called between order_range_lo() and order_range_is_still().  Partner: order_range_open() */
static inline uintptr_t order_range_hi(const _Atomic uintptr_t *hi)
{
	return atomic_load_explicit(hi, memory_order_relaxed);
}

/* Called after order_range_hi().  Partner: order_range_claim() */
static inline bool order_range_is_still(const _Atomic uintptr_t *lo, uintptr_t from)
{
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(lo, memory_order_relaxed) == from;
}

/*
 * "on" says whether a session is on.  The session's parameters are written, and its memory is
 * mapped, before "on" is stored.  x86: the relaxed load, which each wrapper makes, is sufficient
 * for what is read after it; another CPU needs an acquire.  A thread that has loaded "on" may still
 * use the session when it is off, so the memory stays mapped, and the thread finds out from
 * the epoch that the session is over.  The two functions are each other's partner.
 */
static inline uint32_t order_session_on(const _Atomic uint32_t *on)
{
	return atomic_load_explicit(on, memory_order_relaxed);
}

static inline void order_session_set(_Atomic uint32_t *on, uint32_t to)
{
	atomic_store(on, to);
}

/*
 * For the sums of calls (ldb/flows.h), the memory is mapped, and the tables are filled, before the
 * store of base, which the stubs load.  x86: see order_session_on().  A region is emptied, or its
 * sums are complete, before its state is stored; an API's row is written before `ready`.  Partner:
 * order_flow_thread_state(), order_flow_is_ready()
 */
static inline uint64_t order_flow_base(const uint64_t *base)
{
	return __atomic_load_n(base, __ATOMIC_RELAXED);
}

static inline void order_flow_base_set(uint64_t *base, uint64_t to)
{
	__atomic_store_n(base, to, __ATOMIC_SEQ_CST);
}

/* Returns true to only one of several callers: a thread, or its signal handlers. */
static inline bool order_slot_claim(uint64_t *sp)
{
	return __atomic_exchange_n(sp, 0, __ATOMIC_RELAXED);
}

/*
 * Sets a slot's start to 0 if it is `was`; next is loaded later.  Partner: flow_return_c(), which
 * stores next and then loads the start.  x86 may make that store visible some nanoseconds
 * after that load, but not after a preemption: so a thread that is preempted after the load has
 * stored next visibly.
 */
static inline bool order_slot_close(uint64_t *start, uint64_t was)
{
	return __atomic_compare_exchange_n(start, &was, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static inline uint32_t order_flow_thread(const uint32_t *state)
{
	return __atomic_load_n(state, __ATOMIC_ACQUIRE);
}

static inline void order_flow_thread_set(uint32_t *state, uint32_t to)
{
	__atomic_store_n(state, to, __ATOMIC_RELEASE);
}

/*
 * Called between two loads of a slot's words, so that they are made in this order.  Partner:
 * slot_free(), order_slot_close(), and the stores of flows.S
 */
static inline void order_slot_copied(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* Called after the table of open calls was written.  Partner: order_flow_table() */
static inline void order_flow_table_set(uint64_t *table, uint64_t to)
{
	__atomic_store_n(table, to, __ATOMIC_RELEASE);
}

static inline void order_flow_ready(uint32_t *ready)
{
	__atomic_store_n(ready, 1, __ATOMIC_RELEASE);
}

/*
 * Reserves slots in a ring (linux/ldb.h) by one atomic addition.  Any order is sufficient, because
 * the reader does not depend on head: it accepts a slot only if its commit word matches the
 * slot's contents.  Partner: order_ring_head()
 */
static inline uint64_t order_ring_reserve(struct ldb_ring_hdr *hdr, unsigned nr)
{
	return __atomic_fetch_add(&hdr->head, nr, __ATOMIC_RELAXED);
}

/* Reserves slots in a ring with one writer.  Partner: order_ring_head() */
static inline uint64_t order_ring_reserve_own(struct ldb_ring_hdr *hdr, unsigned nr)
{
	uint64_t at = hdr->head;

	__atomic_store_n(&hdr->head, at + nr, __ATOMIC_RELEASE);
	return at;
}

/* The last store to a slot, after the rest of the slot.  Partner: order_slot_read() */
static inline void order_slot_commit(struct ldb_rec *slot, uint32_t commit)
{
	__atomic_store_n(&slot->commit, commit, __ATOMIC_RELEASE);
}

/*
 * The following are for the pages and stacks of threads (struct ldb_page, struct ldb_stack), and
 * for the number of pages in struct ldb_info; the registry and the scanner write them.
 */

/* The last store to a page when a thread starts or exits.  Partner: order_page_state() */
static inline void order_page_state_set(struct ldb_page *page, uint32_t state)
{
	__atomic_store_n(&page->state, state, __ATOMIC_RELEASE);
}

/* Partner: order_pages_used() */
static inline void order_pages_used_set(struct ldb_info *info, uint64_t nr)
{
	__atomic_store_n(&info->pages_used, nr, __ATOMIC_RELEASE);
}

/*
 * When an invocation has ended, the scanner, or the thread itself when it exits, stores, in this
 * order: ending_gen; ending_seen, which is the next count of observed invocations; the record, into
 * a ring; and the count.  After all ended invocations of a block it stores the depth, and 0 as
 * ending_gen.  So the recorder counts each invocation once even if the program is killed in
 * between: it reads these fields when the program is dead, so in any order.  Partner:
 * order_stack_depth()
 */
static inline void order_ending_gen(struct ldb_page *page, uint64_t gen)
{
	__atomic_store_n(&page->ending_gen, gen, __ATOMIC_RELEASE);
}

static inline void order_ending_seen(struct ldb_page *page, uint64_t seen)
{
	__atomic_store_n(&page->ending_seen, seen, __ATOMIC_RELEASE);
}

static inline void order_ending_counted(struct ldb_page *page, uint64_t seen)
{
	__atomic_store_n(&page->seen, seen, __ATOMIC_RELEASE);
}

/* Stored after the frames that the depth includes.  Partner: order_stack_depth() */
static inline void order_stack_depth_set(struct ldb_stack *stack, uint32_t depth)
{
	__atomic_store_n(&stack->depth, depth, __ATOMIC_RELEASE);
}

/* These read what the kernel module has written about a thread and a CPU (kmod/stamp.h). */

/* Called before the rest of the page is read.  Partner: ldb_stamp_in(), ldb_stamp_out() */
static inline uint32_t order_kernel_seq(const struct ldb_page *page)
{
	return __atomic_load_n(&page->k_seq, __ATOMIC_ACQUIRE);
}

/* Called before k_seq is read once more.  Partner: ldb_stamp_in() */
static inline uint64_t order_kernel_in(const struct ldb_page *page)
{
	return __atomic_load_n(&page->k_tsc_in, __ATOMIC_ACQUIRE);
}

/* Returns a hint which thread runs on that CPU.  Partner: ldb_stamp_cpu() */
static inline uint32_t order_kernel_slot(const struct ldb_ring_hdr *hdr)
{
	return __atomic_load_n(&hdr->k_slot, __ATOMIC_RELAXED);
}

/*
 * The scanner to which a thread's state belongs: all stores of one owner to the state are made
 * before the next owner may access it.  The two functions are each other's partner.
 */
static inline void order_owner_set(_Atomic uint32_t *scanner, uint32_t id)
{
	atomic_store_explicit(scanner, id, memory_order_release);
}

static inline bool order_owner_is(const _Atomic uint32_t *scanner, uint32_t id)
{
	return atomic_load_explicit(scanner, memory_order_acquire) == id;
}

/*
 * Called by the control thread when the recording is over or paused, to read the locks that another
 * thread holds.  That thread increments the count, fills the new entry, and stores the entry's
 * wait_begin last, which is 0 in free entries.  shim_flush() ignores an entry whose wait_begin is
 * 0, and one whose wait_begin or lock changes while it is copied.  x86: these are plain stores;
 * another CPU needs a release for wait_begin.  Partner: wait_lock_end()
 */
static inline uint32_t order_held_count(const uint32_t *nr)
{
	return __atomic_load_n(nr, __ATOMIC_ACQUIRE);
}

/*
 * These take a free normal mutex, and release it if no thread waits: its word changes from 0 to 1
 * and back.  They return false if it had another value.  Partner: glibc, which does the same in
 * other threads
 */
static inline bool order_mutex_take(int *word)
{
	int free = 0;

	return __atomic_compare_exchange_n(word, &free, 1, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* All accesses while the mutex was held are made before this store. */
static inline bool order_mutex_give(int *word)
{
	int taken = 1;

	return __atomic_compare_exchange_n(word, &taken, 0, false,
					   __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/*
 * Takes the lock of a connection's entry, or of a ring of io_uring, if it is free.  Partner:
 * order_conn_give()
 */
static inline bool order_conn_take(_Atomic uint32_t *lock, uint32_t *holder, uint32_t tid)
{
	return atomic_compare_exchange_strong_explicit(lock, holder, tid, memory_order_acquire,
						       memory_order_relaxed);
}

/*
 * Releases the lock: the next holder finds all that the previous one wrote.  Partner:
 * order_conn_take()
 */
static inline void order_conn_give(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

/*
 * The head or tail of a ring of io_uring: what was written before it, such as the entries before a
 * tail, is read after it.  The partner is in the kernel, or in the program.
 */
#define order_ring_tail(tail)		atomic_load_explicit(tail, memory_order_acquire)

/*
 * The description of a ring that the program has made is written before its state.  The two are
 * each other's partner.
 */
#define order_ring_found(state)		atomic_load_explicit(state, memory_order_acquire)
#define order_ring_set_found(state, to)	atomic_store_explicit(state, to, memory_order_release)

/* New entries are zeroed by the kernel before their address is stored.  Partner: new_entry() */
#define order_conn_chunk(chunk)		atomic_load_explicit(chunk, memory_order_acquire)

/*
 * Stores a function into an object's table; other threads may call it at once.  Partner:
 * LDB_API_CALL_OF()
 */
#define order_api_fill(member, fn)	__atomic_store_n(member, fn, __ATOMIC_RELEASE)

/* The last store to struct ldb_door, after its other members.  Partner: image_peek() */
static inline void order_door_open(uint64_t *magic, uint64_t to)
{
	__atomic_store_n(magic, to, __ATOMIC_RELEASE);
}

#endif /* LDB_ORDER_H */
