/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names the loads and stores whose order matters, each with its partner: the code on the other
 * side, and what would go wrong.
 *
 * Five parties share memory without a lock: the program's threads (what the plugin emits, the
 * registry, the shim), the scanners, the control thread, the recorder (another process:
 * tools/record/order.h) and the kernel module (kmod/order.h, ring.h, stamp.h).  The chain of
 * records has its loads in scan/safe-load.h.
 *
 * On x86 loads are made in program order, and so are stores; only a store may still be in the
 * store buffer when a later load is made, until a locked instruction.  So an acquire or a
 * release costs nothing there and only prevents the compiler from moving accesses; a store that
 * must become visible before a later load needs a locked instruction, which is called "full"
 * here.  Functions in terms of C11 are right on any CPU.  A comment "x86:" marks those that
 * depend on x86, and says what another CPU would need: these are the emitted code and the loads
 * of the chain, and a few loads and stores in each wrapper.
 *
 * Shared data that is not accessed through this file is protected by a lock, used by one thread
 * alone, or a flag off the hot paths that is read and written with C11's strongest order
 * (atomic_load(), atomic_store(), ...).  tests/lint/order.t finds any other.
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
 * Any order is sufficient, because the value does not depend on others: hints (which thread waits
 * or holds), pointers to functions that are searched again if the store is not visible yet,
 * counters.
 */
#define order_any_load(p)		atomic_load_explicit(p, memory_order_relaxed)
#define order_any_store(p, v)		atomic_store_explicit(p, v, memory_order_relaxed)
#define order_any_add(p, v)		atomic_fetch_add_explicit(p, v, memory_order_relaxed)
#define order_any_sub(p, v)		atomic_fetch_sub_explicit(p, v, memory_order_relaxed)
/* These do the same for words whose type belongs to others, or is plain because others share it. */
#define order_any_load_word(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define order_any_store_word(p, v)	__atomic_store_n(p, v, __ATOMIC_RELAXED)
/* If it is still that: nothing else is ordered by it. */
#define order_any_replace_word(p, from, v) \
	__atomic_compare_exchange_n(p, from, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define order_any_add_word(p, v)	__atomic_add_fetch(p, v, __ATOMIC_RELAXED)

/*
 * This is for a signal handler of the same thread, which runs in program order: the CPU
 * guarantees that anyway.  Partner: the wrappers that the handler calls.
 */
static inline void order_signal(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/*
 * Cuts the chain of the thread's own block, as an emitted unlink does: one store, after which
 * the memory below it may be overwritten.  The records below are unchanged until later stores,
 * which become visible later.  Partner: safe_load_is_still()
 */
static inline void order_chain_cut(struct ldb_thread *block, struct ldb_frame *left)
{
	__atomic_store_n(&block->top, left, __ATOMIC_RELAXED);
}

/*
 * These lists only grow: an entry is written before the count that includes it.  They are the
 * thread blocks (block_off) and the modules.  Partner: each other.
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
 * The registry, live[0 .. nr_live), is changed under its lock and read without.  An entry is
 * written before the count that includes it, and the table before the count that it has room
 * for.  A reader may find an entry twice, miss one that is moved, or find one that is gone:
 * before a scanner reads that thread's memory it checks order_thread_state().  Partner: each
 * other.
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
 * Hazard pointers.  A scanner stores which thread it is about to poll, and then loads whether
 * that thread still exists; an exiting thread stores that it exits, and then waits for a
 * scanner that polls it.  Each side's store must be visible before its load is made: both are
 * full.  Else the scanner would read an unmapped stack.
 */

/* This is followed by order_hazards_visible(), once for several. */
static inline void order_hazard_set(struct thread *_Atomic *looking, struct thread *t)
{
	atomic_store_explicit(looking, t, memory_order_relaxed);
}

/* Full: the hazards are visible before the states are read.  Partner: order_thread_state_set() */
static inline void order_hazards_visible(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

/* All reads of the thread are made before.  Partner: order_hazard_get() */
static inline void order_hazard_clear(struct thread *_Atomic *looking)
{
	atomic_store_explicit(looking, NULL, memory_order_release);
}

/* This is called by the scanner, with the hazard visible.  Partner: order_thread_state_set() */
static inline uint32_t order_thread_state(const _Atomic uint32_t *state)
{
	return atomic_load(state);
}

/* Full: the state is visible before the hazards are read.  Partner: order_hazards_visible() */
static inline void order_thread_state_set(_Atomic uint32_t *state, uint32_t to)
{
	atomic_store(state, to);
}

/* By the exiting thread: what follows happens after the poll.  Partner: order_hazard_clear() */
static inline struct thread *order_hazard_get(struct thread *_Atomic const *looking)
{
	return atomic_load(looking);
}

/*
 * Walks: the count is odd while a scanner reads stacks.  The scanner stores the count, and then
 * reads where stacks are; a thread that removes a stack stores that, and then waits for the walk
 * that may be under way.  Both are full, as for hazards.
 */

/* Full: before stack_lo, or a registered stack, is read.  Partner: order_walk_count() */
static inline void order_walk_begin(_Atomic uint64_t *walks, uint64_t to)
{
	atomic_exchange(walks, to);
}

/* All was read before.  Partner: order_walk_count() */
static inline void order_walk_end(_Atomic uint64_t *walks, uint64_t to)
{
	atomic_store_explicit(walks, to, memory_order_release);
}

/* This comes after order_stack_raise() or order_range_claim().  Partner: order_walk_begin() */
static inline uint64_t order_walk_count(const _Atomic uint64_t *walks)
{
	return atomic_load(walks);
}

/*
 * The stack below is about to be removed.  Full: before scan_quiesce() checks for walks, which
 * would have read the old value.  Partner: order_walk_begin()
 */
static inline void order_stack_raise(uintptr_t *stack_lo, uintptr_t to)
{
	__atomic_store_n(stack_lo, to, __ATOMIC_SEQ_CST);
}

/*
 * Registered stacks, [lo, hi): lo is written after hi, read before it, and read again: if it
 * is unchanged the two belong together.
 */

/* Full: no walk finds it any more, before order_walk_count().  Partner: order_range_lo() */
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
 * After scan_quiesce(): a new owner of the entry changes nothing under a walk.  Partner:
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

/* This is between order_range_lo() and order_range_is_still().  Partner: order_range_open() */
static inline uintptr_t order_range_hi(const _Atomic uintptr_t *hi)
{
	return atomic_load_explicit(hi, memory_order_relaxed);
}

/* hi was read before.  Partner: order_range_claim() */
static inline bool order_range_is_still(const _Atomic uintptr_t *lo, uintptr_t from)
{
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(lo, memory_order_relaxed) == from;
}

/*
 * The session: the recorder's request is written, and the memory mapped, before a thread can
 * load that it is on.  This is a relaxed load, in each wrapper; x86: what is read after it was
 * written before it.  Another CPU needs an acquire.  A thread that has loaded "on" continues a
 * while after it is off: the memory stays mapped, and the epoch shows that it is over.  Partner:
 * each other.
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
 * Sums of calls (ldb/flows.h): the memory is mapped, and the tables are filled, before a stub can
 * load the address; x86, as order_session_on().  A region is empty, or its sums are complete,
 * before its state says so; an API's row is written before it is ready.  Partner:
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

/* Of a thread and its signal handlers, only one gets the slot. */
static inline bool order_slot_claim(uint64_t *sp)
{
	return __atomic_exchange_n(sp, 0, __ATOMIC_RELAXED);
}

static inline uint32_t order_flow_thread(const uint32_t *state)
{
	return __atomic_load_n(state, __ATOMIC_ACQUIRE);
}

static inline void order_flow_thread_set(uint32_t *state, uint32_t to)
{
	__atomic_store_n(state, to, __ATOMIC_RELEASE);
}

/* A slot's words were read before.  Partner: order_slot_claim(), and the stores of flows.S */
static inline void order_slot_copied(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* The table of open calls was written before.  Partner: order_flow_table() */
static inline void order_flow_table_set(uint64_t *table, uint64_t to)
{
	__atomic_store_n(table, to, __ATOMIC_RELEASE);
}

static inline void order_flow_ready(uint32_t *ready)
{
	__atomic_store_n(ready, 1, __ATOMIC_RELEASE);
}

/*
 * Rings (linux/ldb.h): one atomic addition determines where a record goes.  Any order is
 * sufficient, because the reader does not trust head: it trusts a slot's commit word, which is
 * computed from the contents of the slot.  Partner: order_ring_head()
 */
static inline uint64_t order_ring_reserve(struct ldb_ring_hdr *hdr, unsigned nr)
{
	return __atomic_fetch_add(&hdr->head, nr, __ATOMIC_RELAXED);
}

/* This does the same in a ring with one writer.  Partner: order_ring_head() */
static inline uint64_t order_ring_reserve_own(struct ldb_ring_hdr *hdr, unsigned nr)
{
	uint64_t at = hdr->head;

	__atomic_store_n(&hdr->head, at + nr, __ATOMIC_RELEASE);
	return at;
}

/* This is the last store: the rest of the slot was written before.  Partner: order_slot_read() */
static inline void order_slot_commit(struct ldb_rec *slot, uint32_t commit)
{
	__atomic_store_n(&slot->commit, commit, __ATOMIC_RELEASE);
}

/*
 * Pages of threads are written by the registry and the scanner, as is the stack that a scanner
 * knows.
 */

/*
 * This is the last store: the page's other fields were written before.  Partner:
 * order_page_state()
 */
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
 * When an invocation has ended the scanner stores, in this order, so that the recorder of
 * a program that was killed in between counts it once: gen, the count of observed invocations as
 * it will be, the record into a ring, and that count.  When all of a block is done it stores the
 * depth, and gen is 0.  The recorder reads the fields when the program is dead, in any order.
 * Partner: order_stack_depth()
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

/* This comes after the frames that it covers.  Partner: order_stack_depth() */
static inline void order_stack_depth_set(struct ldb_stack *stack, uint32_t depth)
{
	__atomic_store_n(&stack->depth, depth, __ATOMIC_RELEASE);
}

/* These read what the kernel module says of a thread and of a CPU (kmod/stamp.h). */

/* This comes before the rest of the page is read.  Partner: ldb_stamp_in(), ldb_stamp_out() */
static inline uint32_t order_kernel_seq(const struct ldb_page *page)
{
	return __atomic_load_n(&page->k_seq, __ATOMIC_ACQUIRE);
}

/* This comes before k_seq is read once more.  Partner: ldb_stamp_in() */
static inline uint64_t order_kernel_in(const struct ldb_page *page)
{
	return __atomic_load_n(&page->k_tsc_in, __ATOMIC_ACQUIRE);
}

/* This is only a hint which thread runs on that CPU.  Partner: ldb_stamp_cpu() */
static inline uint32_t order_kernel_slot(const struct ldb_ring_hdr *hdr)
{
	return __atomic_load_n(&hdr->k_slot, __ATOMIC_RELAXED);
}

/*
 * Says which scanner a thread's state belongs to: all that the former one knew is written before
 * the next one may access it.  Partner: each other.
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
 * The locks a thread holds are read by the control thread when the recording is over: the
 * entries that are counted were written before, in the order of the program.  x86: the
 * thread writes them plainly; another CPU needs a release there.  An entry that is torn is
 * not recorded: shim_flush().  Partner: held_push()
 */
static inline uint32_t order_held_count(const uint32_t *nr)
{
	return __atomic_load_n(nr, __ATOMIC_ACQUIRE);
}

/*
 * These change the usual mutex's word from 0 to 1 and back.  Partner: glibc, which does the same
 * in other threads
 */
static inline bool order_mutex_take(int *word)
{
	int free = 0;

	return __atomic_compare_exchange_n(word, &free, 1, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Releases the mutex: everything done while it was held was done before. */
static inline bool order_mutex_give(int *word)
{
	int taken = 1;

	return __atomic_compare_exchange_n(word, &taken, 0, false,
					   __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* A connection's entry is the taker's; order_conn_give() is the partner. */
static inline bool order_conn_take(_Atomic uint32_t *lock, uint32_t *holder, uint32_t tid)
{
	return atomic_compare_exchange_strong_explicit(lock, holder, tid, memory_order_acquire,
						       memory_order_relaxed);
}

/* The next holder finds what this one wrote: order_conn_take(). */
static inline void order_conn_give(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

/*
 * The kernel's index of a ring of io_uring: what it has posted was written before.  The partner is in
 * the kernel, or in the program.
 */
#define order_ring_tail(tail)		atomic_load_explicit(tail, memory_order_acquire)

/* A ring that the program has made is described before others find it. */
#define order_ring_found(state)		atomic_load_explicit(state, memory_order_acquire)
#define order_ring_set_found(state, to)	atomic_store_explicit(state, to, memory_order_release)

/* New entries are zeroed by the kernel before their address is stored.  Partner: new_entry() */
#define order_conn_chunk(chunk)		atomic_load_explicit(chunk, memory_order_acquire)

/*
 * An object's table of functions: they can be called as soon as they are stored.  Partner:
 * LDB_API_CALL_OF()
 */
#define order_api_fill(member, fn)	__atomic_store_n(member, fn, __ATOMIC_RELEASE)

/* This is the door's last store: a recorder that reads it finds the rest.  Partner: image_peek() */
static inline void order_door_open(uint64_t *magic, uint64_t to)
{
	__atomic_store_n(magic, to, __ATOMIC_RELEASE);
}

#endif /* LDB_ORDER_H */
