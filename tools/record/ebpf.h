/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel events without the module, by BPF programs (bpf/) at the kernel's tracepoints.
 * They write the records of linux/ldb.h, but for SWITCH_OUT and FUTEX_*, into rings of
 * their own, which become the session's kernel rings: only the recorder maps them.
 *
 * Needs CAP_BPF and CAP_PERFMON, type information of the kernel (BTF) and Linux 5.14.
 *
 * One thread at a time.
 */
#ifndef RECORD_EBPF_H
#define RECORD_EBPF_H

#include "record/session.h"

struct ebpf;

struct ebpf_options {
	pid_t pid;		/* thread group to watch, in the recorder's pid namespace */
	unsigned clock_id;	/* enum ldb_clock, of the session */
	uint64_t t0;		/* any clock value near the events' */
	int64_t offset_ns;	/* clock_offset() of the program */
	uint64_t ring_bytes;	/* of all CPUs together, at most */
	bool verbose;		/* what the kernel has against the programs, to stderr */
};

/* Events count from here on.  NULL: why is one line, what is missing and what would help. */
struct ebpf *ebpf_open(struct session *s, const struct ebpf_options *o, char *why, size_t size);

/* Events that cannot be had here, one line; "" if there is none. */
const char *ebpf_why_not_better(const struct ebpf *e);

/* LDB_GROUP_* that are told. */
uint32_t ebpf_events(const struct ebpf *e);

/* Reads the clocks: before the rings are read. */
void ebpf_look(struct ebpf *e);

/* Brings the times of an event from the kernel's rings into the session's clock. */
void ebpf_stamp(void *ebpf, struct ldb_rec *recs);

/* Of interrupts those that are frequent are not told from here on; says which. */
const char *ebpf_leave_out_irqs(struct ebpf *e);

/* No event comes any more; what is in the rings stays there to be read. */
void ebpf_stop(struct ebpf *e);

/* After ebpf_stop(): events that could not be written. */
uint64_t ebpf_lost(const struct ebpf *e);

/*
 * After ebpf_stop(): the CPUs, by number with blanks between, on which the kernel did not
 * tell of some tasks that they left; "" if there is none.
 */
void ebpf_deaf_cpus(const struct ebpf *e, char *list, size_t size);

/* How far a time may be off, compared with stamps of the program; grows. */
uint64_t ebpf_err_ns(const struct ebpf *e);

void ebpf_close(struct ebpf *e);

#endif
