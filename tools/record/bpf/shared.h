/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interface between the recorder and the BPF programs, besides the rings of linux/ldb.h. */
#ifndef RECORD_BPF_SHARED_H
#define RECORD_BPF_SHARED_H

#include <linux/types.h>
#include <linux/ldb.h>

#define BPF_CPUS_MAX	4096	/* a power of two */

#define BPF_BLOCKS_MAX	8
#define BPF_CHAINS_MAX	16384	/* a power of two */

/*
 * On CPUs without samples, other timers still interrupt the program, perhaps very often.  After one
 * that read a chain, none does so again for this time.  The module uses the same limit.
 */
#define READINGS_TICK_NS	4000000

/* These are set before the programs are loaded; they are constants for the kernel's compiler. */
struct bpf_config {
	__u64 ring_mask;	/* records of a ring - 1 */
	/*
	 * This is the distance from a CPU's run queue to its preempt_count, or to the structure
	 * that contains it, all of which are variables of each CPU; 0: not known.  The programs do
	 * not refer to the symbol, because many kernels do not disclose addresses of data.
	 */
	__s64 preempt_count_offset;
	__u64 irq_min_ns;	/* shorter interrupts are only counted */
	__u32 target;		/* thread group, in the recorder's pid namespace */
	__u32 has_prev_state;	/* sched_switch has the state: from 5.18 on */
	__u32 has_frames;	/* chains are read, see chain.h */
	__u32 has_calls;	/* system calls in which a thread sleeps are recorded */
	__u32 read_share;	/* readings at switches may take one part in so many of a thread's time */
	__u64 call_min_ns;	/* shorter system calls are only counted, unless it slept in them */
	__u8 calls[LDB_CALLS_MAX];	/* by number: see ldb_calls.how */
};

/* State of the programs for each CPU; the recorder reads on which ones the target runs. */
struct bpf_cpu {
	/* Counts watched threads that wait for this CPU: changed with its run queue's lock held. */
	__s64 nr_waiting;
	__s64 nr_arrived;	/* those that migrated here while they waited */
	__u32 current;		/* pid of the watched thread that came last; 0: it left again */
	__u32 has_switched;	/* there was a switch between a watched thread and another task */
	__u32 is_idle, pad;	/* idle since switched_at, as far as known */
	__u64 idle_ns;		/* between watched threads */
	__u64 switched_at;	/* the last of those */
	__u64 clock_behind;	/* then: our clock - the run queue's */
	/* Time spent on reading chains at switches and in samples. */
	__u64 switch_ns, sample_ns, nr_samples;
};

/* Both read and write these while the programs run. */
struct bpf_state {
	__s32 watched_tgid;	/* in the first pid namespace; -1: none */
	__s32 found_tgid;	/* the one to be watched; -1: not found */
	__u32 shown_tgid;	/* as the program sees it */
	__u32 ns_level;		/* of the program's pid namespace */
	__u32 is_adding;	/* the iterator's second turn, see process.h */
	__u64 ns_address;
	__u64 nr_unwritten;	/* events that found no ring */
	__u32 has_ended;	/* the last thread has exited, and its event was emitted */
	__u32 nr_blocks;
	__s64 block_offset[BPF_BLOCKS_MAX]; /* of a thread's blocks, from its thread pointer */
	/* 1: no event said that a thread came there, see came_unseen() */
	__u8 is_deaf[BPF_CPUS_MAX];
	__u8 is_sampled[BPF_CPUS_MAX];	/* set by the recorder: the CPU has samples */
	/*
	 * Set by the recorder: chains may be read while a ring's head is below this; at switches
	 * also in the next quarter of the ring.  So if the recorder gets no CPU, readings are
	 * missing, and not events.
	 */
	__u64 read_until[BPF_CPUS_MAX];
};

#endif
