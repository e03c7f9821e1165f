/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface between the recorder and the BPF programs, in addition to the rings of linux/ldb.h.
 */
#ifndef RECORD_BPF_SHARED_H
#define RECORD_BPF_SHARED_H

#include <linux/types.h>
#include <linux/ldb.h>

#define BPF_CPUS_MAX	4096	/* a power of two */

#define BPF_BLOCKS_MAX	8
#define BPF_CHAINS_MAX	16384	/* a power of two */

/*
 * On CPUs that sampler.h does not interrupt, other timers still interrupt the program, perhaps very
 * often.  After an interrupt in which a thread's chain was read, no other interrupt reads the chain
 * of this thread for this time.  device-chains.c sets the same limit for the kernel module.
 */
#define READINGS_TICK_NS	4000000

/* Set before the programs are loaded; the kernel treats these as constants. */
struct bpf_config {
	__u64 ring_mask;	/* number of slots of a ring - 1 */
	/*
	 * The distance from a CPU's run queue to its preempt_count, or to the structure that
	 * contains it; both are per-CPU variables.  0: not known.  The programs do not refer to
	 * these variables by symbols, because many kernels do not disclose addresses of data.
	 */
	__s64 preempt_count_offset;
	__u64 irq_min_ns;	/* shorter interrupts are only counted */
	__u32 target;		/* thread group, in the recorder's pid namespace */
	/* an argument of sched_switch is the state of the task that leaves: since Linux 5.18 */
	__u32 has_prev_state;
	__u32 has_frames;	/* chains of frames are read, see chain.h */
	__u32 has_calls;	/* system calls in which a thread sleeps are recorded */
	__u32 read_share;	/* readings at switches may take 1/read_share of a thread's time */
	/* shorter calls are only counted; sleeps in them are recorded nevertheless */
	__u64 call_min_ns;
	__u8 calls[LDB_CALLS_MAX];	/* by number of the system call: see ldb_calls.how */
};

/* State of the programs for each CPU.  The recorder reads from it on which CPUs the target runs. */
struct bpf_cpu {
	/*
	 * Number of recorded threads that wait for this CPU, without nr_arrived; changed with its
	 * run queue locked.
	 */
	__s64 nr_waiting;
	__s64 nr_arrived;	/* those that wait here, and migrated here while they waited */
	__u32 current;		/* pid of the recorded thread on this CPU; 0: none */
	__u32 has_switched;	/* there was a switch between a recorded thread and another task */
	__u32 is_idle, pad;	/* idle since switched_at, as far as is known */
	/* total idle time between runs of recorded threads; other programs may have run, too */
	__u64 idle_ns;
	__u64 switched_at;	/* time of the last switch from or to a recorded thread */
	__u64 clock_behind;	/* at that time: clock of events minus the run queue's clock */
	/*
	 * Time spent on reading chains at switches, and in interrupts of the timer; number of the
	 * latter readings.
	 */
	__u64 switch_ns, sample_ns, nr_samples;
};

/* The recorder and the programs both read and write this while the programs run. */
struct bpf_state {
	/* thread group to record, by its number in the first pid namespace; -1: none */
	__s32 observed_tgid;
	__s32 found_tgid;	/* the thread group that the iterator has found; -1: none */
	__u32 shown_tgid;	/* its number as the program itself sees it */
	__u32 ns_level;		/* level of the program's pid namespace */
	__u32 is_adding;	/* the iterator is read for the second time, see process.h */
	__u64 ns_address;	/* address of this namespace in the kernel */
	/* events that were not written: the CPU has no ring, or flights[] of disk.h is full */
	__u64 nr_unwritten;
	__u32 has_ended;	/* the last thread has exited, and its event was emitted */
	__u32 nr_blocks;
	/* offsets of a thread's blocks from its thread pointer */
	__s64 block_offset[BPF_BLOCKS_MAX];
	/* 1: on this CPU, events of a thread were missing, see check_woken() and came_unseen() */
	__u8 is_deaf[BPF_CPUS_MAX];
	__u8 is_sampled[BPF_CPUS_MAX];	/* set by the recorder: sampler.h interrupts the CPU */
	/*
	 * Set by the recorder: chains may be read while the head of this CPU's ring is below this
	 * position; at switches also in the quarter of the ring after it.  So if the recorder gets
	 * no CPU, chains are missing before switches are lost.
	 */
	__u64 read_until[BPF_CPUS_MAX];
};

#endif
