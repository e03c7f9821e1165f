/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records kernel events without the kernel module, by perf_event_open(), and decodes them with
 * libtraceevent.  The rows are the same as those of the module's events.  rows.c decides by the
 * rules in linux/ldb.h which events concern the recorded thread group.
 *
 * How much can be recorded depends on what the kernel permits, best first:
 *
 *	PERF_TRACEPOINTS	everything but gen, pc and the addr of SWITCH; a thread
 *				that could not sleep because of a signal leaves in the
 *				state in which it would have slept, as in older kernels
 *	PERF_SWITCHES_ALL	switches of the whole machine: SWITCH and OP_RUNNING
 *				with both threads, FORK, EXEC, EXIT, TASK
 *	PERF_SWITCHES_OWN	no privilege: SWITCH where the other thread is
 *				hidden, FORK, EXEC, EXIT, TASK
 *
 * All modes record page faults and the system calls in which a thread sleeps, except
 * PERF_TRACEPOINTS if the recorder is in a pid namespace.  Page faults inside the kernel are
 * recorded only if the kernel permits that.  PERF_TRACEPOINTS also records
 * interrupts of the program's threads, and requests to block devices.
 *
 * In the last two modes, the state of a thread that left its CPU is RUNNING (it was runnable),
 * SLEEPING (whatever it waits for) or DEAD, and the `other` of an EXEC is not known.
 *
 * Tids are as the program sees them.  If a thread is not in the program's namespace, or if that is
 * not known, its tid is 0, with LDB_SCHED_F_HIDDEN.
 */
#ifndef RECORD_PERF_PERF_H
#define RECORD_PERF_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ldb/trace-format.h>
#include "record/kernel/source.h"

enum perf_mode {
	PERF_TRACEPOINTS	= 1,
	PERF_SWITCHES_ALL	= 2,
	PERF_SWITCHES_OWN	= 3,
};

struct perf_options {
	pid_t pid;		/* thread group to record, in the recorder's pid namespace */
	unsigned clock_id;	/* enum ldb_clock: rows are stamped in it */
	uint64_t t0;		/* clock value that is tick 0 */
	int64_t offset_ns;	/* clock_offset() of the program */
	/* the rings of all CPUs together; 0: 8 MiB for each, but at most 128 MiB together */
	size_t ring_bytes;
	/*
	 * has_calls: system calls in which a thread sleeps; has_all_calls: all others, too, see
	 * perf_open().
	 */
	bool has_calls, has_all_calls;
	uint64_t call_min_ns;	/* if has_all_calls: shorter system calls are only counted */
	enum perf_mode best;	/* 0: any mode; else the best mode that is tried (for tests) */
};

/*
 * Receives rows of the kinds SCHED, TASK, LOST (LDB_LOST_KERNEL; ring: CPU), FAULT, IRQ, SYSCALL
 * and DISK; kind is LDB_BLK_*.  A row and its names are valid only during the call.
 */
struct perf_sink {
	void (*row)(void *arg, unsigned kind, const void *row);
	void *arg;
};

/*
 * Starts to record events.  Returns NULL on failure; then `why` says in one line what is missing
 * and what would help.
 *
 * The system call in which a thread sleeps is found on its kernel stack when the thread leaves its
 * CPU, which costs other programs nothing.  has_all_calls works only with PERF_TRACEPOINTS, and
 * makes each system call of every process on the machine slower (Documentation/overhead.md).
 *
 * A poll empties the rings and delivers the rows in order of time, as soon as no earlier one can
 * arrive: rows of the last 20 ms are retained.
 */
struct kernel_source *perf_open(const struct perf_options *o, const struct perf_sink *sink,
				char *why, size_t why_size);

enum perf_mode perf_mode(const struct kernel_source *perf);
/* events that the kernel could not deliver, and invalid records */
uint64_t perf_lost(const struct kernel_source *perf);

#endif
