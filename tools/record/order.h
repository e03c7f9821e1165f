/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the loads from memory that others are writing, where the order matters, each with its
 * partner: the runtime (libldb/order.h), the kernel module (kmod/ring.h), the BPF programs
 * (record/bpf/emit.h) and the kernel's own perf.
 *
 * Nothing read here is trusted: any value may be there, and the program may be killed, or be
 * hostile, between any two of its stores.  The order only decides whether an honest program is
 * read correctly.  All is written in terms of C11, and costs nothing on x86, whose loads are
 * made in program order.
 */
#ifndef RECORD_ORDER_H
#define RECORD_ORDER_H

#include <linux/ldb.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns up to where the ring was reserved; the slots may not be written yet.  Partner:
 * order_ring_reserve(), ldb_reserve()
 */
static inline uint64_t order_ring_head(const struct ldb_ring_hdr *hdr)
{
	return __atomic_load_n(&hdr->head, __ATOMIC_ACQUIRE);
}

/*
 * Reads the same after a slot was copied: an earlier head would not show that it was overwritten
 * meanwhile.  Partner: order_ring_reserve(), ldb_reserve()
 */
static inline uint64_t order_ring_head_after(const struct ldb_ring_hdr *hdr)
{
	atomic_thread_fence(memory_order_acquire);
	return order_ring_head(hdr);
}

/* order_slot_read() takes a slot as four words. */
_Static_assert(offsetof(struct ldb_rec, tid) == 8 && offsetof(struct ldb_rec, type) == 12 &&
	       offsetof(struct ldb_rec, flags) == 14 && offsetof(struct ldb_rec, arg) == 16 &&
	       offsetof(struct ldb_rec, arg2) == 24 && offsetof(struct ldb_rec, commit) == 28,
	       "the words of a slot, little-endian");

/*
 * Copies a slot of index idx and returns whether it is that one, whole.  commit is loaded first:
 * what was written before it is read after it, and what is written later does not match it.
 * Partner: order_slot_commit(), ldb_put(), put()
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

/* Loaded before the rest of the page.  Partner: order_page_state_set() */
static inline uint32_t order_page_state(const volatile struct ldb_page *page)
{
	return __atomic_load_n(&page->state, __ATOMIC_ACQUIRE);
}

/* Partner: order_pages_used_set() */
static inline uint64_t order_pages_used(const volatile struct ldb_info *info)
{
	return __atomic_load_n(&info->pages_used, __ATOMIC_ACQUIRE);
}

/* Loaded before the frames that it covers.  Partner: order_stack_depth_set() */
static inline uint32_t order_stack_depth(const volatile struct ldb_stack *stack)
{
	return __atomic_load_n(&stack->depth, __ATOMIC_ACQUIRE);
}

/*
 * This comes after the frames were copied: depth and frames are read once more.  Partner:
 * order_stack_depth_set()
 */
static inline void order_stack_copied(void)
{
	atomic_thread_fence(memory_order_acquire);
}

/* The region's sums were written before.  Partner: order_flow_thread_set() */
static inline uint32_t order_flow_thread_state(const volatile uint32_t *state)
{
	return __atomic_load_n(state, __ATOMIC_ACQUIRE);
}

/* The region is empty before it is used again.  Partner: order_flow_thread() */
static inline void order_flow_thread_free(volatile uint32_t *state)
{
	__atomic_store_n(state, 0, __ATOMIC_RELEASE);
}

/* The table of open calls was written before.  Partner: order_flow_table_set() */
static inline uint64_t order_flow_table(const volatile uint64_t *table)
{
	return __atomic_load_n(table, __ATOMIC_ACQUIRE);
}

/* The function's row was written before.  Partner: order_flow_ready() */
static inline bool order_flow_is_ready(const volatile uint32_t *ready)
{
	return __atomic_load_n(ready, __ATOMIC_ACQUIRE);
}

/*
 * This is perf's ring, as its header file says: the records before the head were written before
 * it.
 */
static inline uint64_t order_perf_head(const struct perf_event_mmap_page *page)
{
	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

/* Everything was read before the kernel may write there again. */
static inline void order_perf_tail(struct perf_event_mmap_page *page, uint64_t tail)
{
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

/* The BPF programs see where the blocks are before how many there are.  Partner: nr_blocks() */
static inline void order_blocks(uint32_t *nr_blocks, uint32_t nr)
{
	__atomic_store_n(nr_blocks, nr, __ATOMIC_RELEASE);
}

/*
 * Full: the BPF programs know which group to watch before its threads are searched.  Partner:
 * watched_tgid()
 */
static inline void order_watch(int *watched_tgid, int tgid)
{
	__atomic_store_n(watched_tgid, tgid, __ATOMIC_SEQ_CST);
}

#endif
