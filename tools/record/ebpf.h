/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records kernel events without the module, by BPF programs (bpf/) at the kernel's tracepoints.
 * They write the records of linux/ldb.h, except SWITCH_OUT and FUTEX_*, into separate rings,
 * which become the session's kernel rings: only the recorder maps them.
 *
 * This needs CAP_BPF and CAP_PERFMON, type information of the kernel (BTF) and Linux 5.14.
 */
#ifndef RECORD_EBPF_H
#define RECORD_EBPF_H

#include "record/kernel-source.h"
#include "record/session.h"

struct ebpf_options {
	pid_t pid;		/* thread group to watch, in the recorder's pid namespace */
	unsigned clock_id;	/* enum ldb_clock, of the session */
	uint64_t t0;		/* any clock value near the events' */
	int64_t offset_ns;	/* clock_offset() of the program */
	uint64_t ring_bytes;	/* of all CPUs together, at most */
	bool has_frames;	/* the chains of frames are read, at switches and in between: */
	bool has_samples;	/* also while the scanner runs */
	uint32_t budget_ppm;	/* what that and the scanner's polls may cost the program's threads */
	bool has_calls;		/* system calls in which a thread sleeps, and block devices */
	bool has_all_calls;	/* all system calls that take so long: */
	uint64_t call_min_ns;
	bool verbose;		/* print why the kernel rejects the programs to stderr */
};

/*
 * Starts to record events.  If it returns NULL, why is one line: what is missing and what
 * would help.
 */
struct kernel_source *ebpf_open(struct session *s, const struct ebpf_options *o, char *why,
				size_t size);

#endif
