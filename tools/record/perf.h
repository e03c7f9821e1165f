/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records kernel events without the module: perf_event_open(), decoded with libtraceevent.  The
 * rows are those that the module's events become; which events concern the watched thread group
 * is decided in perf-rows.c, by the rules in linux/ldb.h.
 *
 * What the kernel permits decides how much can be recorded, best first:
 *
 *	PERF_TRACEPOINTS	everything but gen, pc and the addr of SWITCH; a thread
 *				that could not sleep because of a signal leaves in the
 *				state in which it would have slept, as older kernels report it
 *	PERF_SWITCHES_ALL	switches of the whole machine: SWITCH and OP_OCCUPANT
 *				with both threads, FORK, EXEC, EXIT, TASK
 *	PERF_SWITCHES_OWN	no privilege: SWITCH where the other thread is
 *				hidden, FORK, EXEC, EXIT, TASK
 *
 * All of them record page faults and the system calls in which a thread sleeps, those in the kernel
 * only where the kernel permits it; PERF_TRACEPOINTS also records interrupts of the program's
 * threads.
 *
 * In the last two a thread that left is RUNNING (it was runnable) or SLEEPING (whatever it waits
 * for), and EXEC's other is not known.
 *
 * Tids are as the program sees them.  If it does not see a thread, or if that is not known, the
 * tid is 0, with LDB_SCHED_F_HIDDEN.
 */
#ifndef RECORD_PERF_H
#define RECORD_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ldb/trace-format.h>
#include "record/kernel-source.h"

enum perf_mode {
	PERF_TRACEPOINTS	= 1,
	PERF_SWITCHES_ALL	= 2,
	PERF_SWITCHES_OWN	= 3,
};

struct perf_options {
	pid_t pid;		/* thread group to watch, in the recorder's pid namespace */
	unsigned clock_id;	/* enum ldb_clock: rows are stamped in it */
	uint64_t t0;		/* clock value that is tick 0 */
	int64_t offset_ns;	/* clock_offset() of the program */
	size_t ring_bytes;	/* of all CPUs together; 0: 8 MiB for each, 128 MiB at most */
	/* System calls in which a thread sleeps; all others, too: see perf_open(). */
	bool has_calls, has_all_calls;
	uint64_t call_min_ns;	/* shorter ones, of all, are only counted */
	enum perf_mode best;	/* 0, or do not try a better one (for tests) */
};

/*
 * Takes rows of the kinds SCHED, TASK, LOST (LDB_LOST_KERNEL; ring: CPU), FAULT, IRQ, SYSCALL
 * and DISK, by their number LDB_BLK_*.  They and their names are only valid during the call.
 */
struct perf_sink {
	void (*row)(void *arg, unsigned kind, const void *row);
	void *arg;
};

/*
 * Events count from here on.  If it returns NULL, why is one line: what is missing and what
 * would help.  What a thread sleeps in is on its kernel stack when it leaves its CPU: that costs
 * others nothing.  has_all_calls works only with PERF_TRACEPOINTS, and it makes each system call of
 * every process on the machine slower (Documentation/overhead.md).
 *
 * A poll empties the rings and delivers the rows in order of time, as soon as no earlier one can
 * come: those of the last 20 ms have to wait.
 */
struct kernel_source *perf_open(const struct perf_options *o, const struct perf_sink *sink,
				char *why, size_t why_size);

enum perf_mode perf_mode(const struct kernel_source *perf);
uint64_t perf_lost(const struct kernel_source *perf);	/* events the kernel could not deliver */

#endif
