/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defines the ordered loads from, and stores to, memory that others use at the same time.  Each
 * names its partner: in the runtime (libldb/order.h), the kernel module (kmod/ring.h), the BPF
 * programs (record/bpf/) or the kernel's perf.
 *
 * The order only decides whether a correct program is read correctly.  All values must be checked
 * in any case, because the program may be killed between any two of its stores, or may be hostile.
 * The memory orders are C11's.  The loads cost nothing on x86, where loads are made in program
 * order.
 */
#ifndef RECORD_SESSION_ORDER_H
#define RECORD_SESSION_ORDER_H

#include <linux/ldb.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the position up to which slots of the ring are reserved; the last ones may not be written
 * yet.  Partner: order_ring_reserve(), ldb_reserve()
 */
static inline uint64_t order_ring_head(const struct ldb_ring_hdr *hdr)
{
	return __atomic_load_n(&hdr->head, __ATOMIC_ACQUIRE);
}

/*
 * Returns the same position, after a slot was copied: only a later head shows that the slot was
 * overwritten during the copy.  Partner: order_ring_reserve(), ldb_reserve()
 */
static inline uint64_t order_ring_head_after(const struct ldb_ring_hdr *hdr)
{
	atomic_thread_fence(memory_order_acquire);
	return order_ring_head(hdr);
}

/* order_slot_read() copies a slot as four words. */
_Static_assert(offsetof(struct ldb_rec, tid) == 8 && offsetof(struct ldb_rec, type) == 12 &&
	       offsetof(struct ldb_rec, flags) == 14 && offsetof(struct ldb_rec, arg) == 16 &&
	       offsetof(struct ldb_rec, arg2) == 24 && offsetof(struct ldb_rec, commit) == 28,
	       "the words of a slot, little-endian");

/*
 * Copies the slot of index idx.  Returns true if the copy is complete and of this index.  commit is
 * loaded first: the words that were written before commit are read after it, and words that are
 * written later do not match the hash in commit.  Partner: order_slot_commit(), ldb_put(), put()
 */
static inline bool order_slot_read(const struct ldb_rec *from, uint64_t idx, struct ldb_rec *rec)
{
	const uint64_t *slot = (const void *)from;
	uint64_t arg2_commit = __atomic_load_n(&slot[3], __ATOMIC_ACQUIRE);
	uint64_t tsc = __atomic_load_n(&slot[0], __ATOMIC_RELAXED);
	uint64_t word = __atomic_load_n(&slot[1], __ATOMIC_RELAXED);
	uint64_t arg = __atomic_load_n(&slot[2], __ATOMIC_RELAXED);
	uint64_t *copy = (uint64_t *)rec;

	copy[0] = tsc;
	copy[1] = word;
	copy[2] = arg;
	copy[3] = arg2_commit;
	return arg2_commit >> 32 == ((uint32_t)(idx + 1) ^
				     ldb_words_hash(tsc, word, arg, (uint32_t)arg2_commit));
}

/* Loads the state, before the rest of the page is loaded.  Partner: order_page_state_set() */
static inline uint32_t order_page_state(const volatile struct ldb_page *page)
{
	return __atomic_load_n(&page->state, __ATOMIC_ACQUIRE);
}

/* Partner: order_pages_used_set() */
static inline uint64_t order_pages_used(const volatile struct ldb_info *info)
{
	return __atomic_load_n(&info->pages_used, __ATOMIC_ACQUIRE);
}

/* Loads the depth, before the frames up to it are loaded.  Partner: order_stack_depth_set() */
static inline uint32_t order_stack_depth(const volatile struct ldb_stack *stack)
{
	return __atomic_load_n(&stack->depth, __ATOMIC_ACQUIRE);
}

/*
 * Must be called after the frames were copied, and before depth and frames are loaded a second
 * time.  Partner: order_stack_depth_set()
 */
static inline void order_stack_copied(void)
{
	atomic_thread_fence(memory_order_acquire);
}

/* Loads the state; the region's sums were stored before it.  Partner: order_flow_thread_set() */
static inline uint32_t order_flow_thread_state(const volatile uint32_t *state)
{
	return __atomic_load_n(state, __ATOMIC_ACQUIRE);
}

/* Stores the state after the region was emptied.  Partner: order_flow_thread() */
static inline void order_flow_thread_free(volatile uint32_t *state)
{
	__atomic_store_n(state, 0, __ATOMIC_RELEASE);
}

/*
 * Loads the number of the current table of open calls, which was written before it.  Partner:
 * order_flow_table_set()
 */
static inline uint64_t order_flow_table(const volatile uint64_t *table)
{
	return __atomic_load_n(table, __ATOMIC_ACQUIRE);
}

/* Loads the flag; the function's row was written before it.  Partner: order_flow_ready() */
static inline bool order_flow_is_ready(const volatile uint32_t *ready)
{
	return __atomic_load_n(ready, __ATOMIC_ACQUIRE);
}

/*
 * Loads the head of a perf ring; the records before it were written before it, as
 * linux/perf_event.h says.
 */
static inline uint64_t order_perf_head(const struct perf_event_mmap_page *page)
{
	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

/* Stores the tail, after which the kernel may overwrite the records that were read before. */
static inline void order_perf_tail(struct perf_event_mmap_page *page, uint64_t tail)
{
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

/* Stores the number of the blocks, after their offsets.  Partner: nr_blocks() */
static inline void order_blocks(uint32_t *nr_blocks, uint32_t nr)
{
	__atomic_store_n(nr_blocks, nr, __ATOMIC_RELEASE);
}

/*
 * Stores which thread group the BPF programs record, with a full barrier: they know it before the
 * group's threads are searched for.  Partner: observed_tgid()
 */
static inline void order_watch(int *observed_tgid, int tgid)
{
	__atomic_store_n(observed_tgid, tgid, __ATOMIC_SEQ_CST);
}

#endif
