/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records kernel events without the kernel module, by BPF programs (bpf/) at the kernel's
 * tracepoints.  They write the records of linux/ldb.h, except FUTEX_*, into rings that only the
 * recorder maps.  These become the session's kernel rings.
 *
 * BPF needs CAP_BPF and CAP_PERFMON, type information of the kernel (BTF), and Linux 5.14.
 */
#ifndef RECORD_KERNEL_EBPF_H
#define RECORD_KERNEL_EBPF_H

#include "record/kernel/source.h"
#include "record/session/session.h"

struct ebpf_options {
	pid_t pid;		/* thread group to record, in the recorder's pid namespace */
	unsigned clock_id;	/* enum ldb_clock, of the session */
	uint64_t t0;		/* any value of this clock near the times of the events */
	int64_t offset_ns;	/* clock_offset() of the program */
	uint64_t ring_bytes;	/* greatest size of the rings of all CPUs together */
	/* read chains of frames at switches, and in interrupts of the timer */
	bool has_frames;
	bool has_samples;	/* if has_frames: take samples even while the scanner runs */
	/* share of the program's CPU time for readings and the scanner's polls */
	uint32_t budget_ppm;
	/* record system calls in which a thread sleeps, and requests to block devices */
	bool has_calls;
	bool has_all_calls;	/* record all system calls that take at least call_min_ns */
	uint64_t call_min_ns;
	bool verbose;		/* print warnings of libbpf: why the kernel rejects a program */
};

/*
 * Starts to record events.  Returns NULL on failure; then `why` says in one line what is missing
 * and what would help.
 */
struct kernel_source *ebpf_open(struct session *s, const struct ebpf_options *o, char *why,
				size_t size);

#endif
