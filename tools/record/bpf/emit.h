/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes into the rings of the BPF programs.  Records and protocol are those of linux/ldb.h.  The
 * stamps are the kernel's CLOCK_MONOTONIC in nanoseconds; the recorder converts them to the
 * session's clock.
 *
 * Only the BPF programs write to this memory, and only the recorder maps it.
 */
#ifndef RECORD_BPF_EMIT_H
#define RECORD_BPF_EMIT_H

#include "kernel.h"
#include <linux/ldb.h>
#include "shared.h"

/* One ring for each CPU: a struct ldb_ring_hdr and its records.  The recorder sets the sizes. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, 2 * LDB_RING_HDR_SIZE);
} rings SEC(".maps");

const volatile struct bpf_config config SEC(".rodata.config") = {};
struct bpf_state state SEC(".data.state") = { .observed_tgid = -1, .found_tgid = -1 };

static __always_inline u64 now_ns(void)
{
	return bpf_ktime_get_ns();
}

/* Returns this CPU's preempt_count, or 0 if its address is not known. */
static __always_inline u32 preempt_count(struct task_struct *current)
{
	struct rq *rq = task_rq(current);
	s64 at = config.preempt_count_offset;
	u32 count = 0;

	if (!at || !rq)
		return 0;
	if (bpf_core_field_exists(struct pcpu_hot, preempt_count))
		at += bpf_core_field_offset(struct pcpu_hot, preempt_count);
	/*
	 * Reads the number as the first field of a struct upid: the cast needs some structure that
	 * begins with an int.
	 */
	if (bpf_rdonly_cast)
		return ((struct upid *)bpf_rdonly_cast((char *)rq + at,
						       bpf_core_type_id_kernel(struct upid)))->nr;
	bpf_probe_read_kernel(&count, sizeof(count), (char *)rq + at);
	return count;
}

/* Returns the ring of a CPU; NULL: it has none. */
static __always_inline char *ring_of(u32 cpu)
{
	char *ring = bpf_map_lookup_elem(&rings, &cpu);

	if (!ring)
		__sync_fetch_and_add(&state.nr_unwritten, 1);
	return ring;
}

/*
 * Reserves n slots.  Atomic, because an interrupt, or another CPU (came_unseen()), may write to the
 * ring meanwhile, and because the recorder reads the position.
 */
static __always_inline u64 reserve(char *ring, u32 n)
{
	return __sync_fetch_and_add((u64 *)ring, n);
}

static __always_inline void put(char *ring, u64 idx, u64 stamp, u32 tid, u32 type, u32 flags,
				u64 arg, u32 arg2)
{
	u64 at = (idx & config.ring_mask) * sizeof(struct ldb_rec);
	volatile u64 *slot = (volatile u64 *)(ring + LDB_RING_HDR_SIZE + at);
	u64 word = (u64)flags << 48 | (u64)type << 32 | tid;
	u32 commit = (u32)(idx + 1) ^ ldb_words_hash(stamp, word, arg, arg2);

	slot[0] = stamp;
	slot[1] = word;
	slot[2] = arg;
	/* A single store: the recorder finds either no record or a complete one. */
	slot[3] = (u64)commit << 32 | arg2;
}

static __always_inline char *this_ring(void)
{
	return ring_of(bpf_get_smp_processor_id());
}

static __always_inline void emit_on(u32 cpu, u64 stamp, u32 tid, u32 type, u32 flags, u64 arg,
				    u32 arg2)
{
	char *ring = ring_of(cpu);

	if (ring)
		put(ring, reserve(ring, 1), stamp, tid, type, flags, arg, arg2);
}

static __always_inline void emit(u64 stamp, u32 tid, u32 type, u32 flags, u64 arg, u32 arg2)
{
	emit_on(bpf_get_smp_processor_id(), stamp, tid, type, flags, arg, arg2);
}

/* Writes two slots.  The second one contains w0 and w1 in place of its tsc and its arg. */
static __always_inline void emit2(u64 stamp, u32 tid, u32 type, u32 flags, u64 arg, u32 arg2, u64 w0,
				  u64 w1)
{
	char *ring = this_ring();
	u64 idx;

	if (!ring)
		return;
	idx = reserve(ring, 2);
	put(ring, idx, stamp, tid, type, flags, arg, arg2);
	put(ring, idx + 1, w0, 0, LDB_EV_CONT + 1, 0, w1, 0);
}

#endif
