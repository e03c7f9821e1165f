/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares a source of kernel events: BPF programs (ebpf.c) or perf (perf.c).  A source adds rings
 * with its events to the session, or it delivers the events as rows.  The kernel module needs no
 * source for its events, because they are in the rings of the session; but if the module reads the
 * frames of threads, device-chains.c is its source.
 *
 * Only one thread at a time may use a source.
 */
#ifndef RECORD_KERNEL_SOURCE_H
#define RECORD_KERNEL_SOURCE_H

#include <linux/ldb.h>
#include "record/kernel/clock.h"
#include "record/session/cpulist.h"

/*
 * With this interval of samples, nearly each invocation of at least half a millisecond is in a
 * sample.
 */
#define READINGS_ENOUGH_NS	400000
/*
 * Unless the user asks for samples at all times, they are taken only on CPUs that are idle for less
 * than 1/8 of the time.  On a CPU with more idle time, requests typically queue behind each other,
 * so that the time of a sample delays slow requests by several times as much.
 */
#define READINGS_IDLE_PART	8

/*
 * Returns the budget for reading frames: nine tenths of the whole budget.  The rest is for a cost
 * that is not measured: reading frames evicts some of the program's code and data from the caches.
 */
static inline uint32_t readings_budget_ppm(uint32_t budget_ppm)
{
	return budget_ppm - budget_ppm / 10;
}

/*
 * Returns n such that reading frames at switches may take 1/n of a thread's time, which is half of
 * the budget.
 */
static inline uint32_t readings_share(uint32_t budget_ppm)
{
	return 2 * 1000000ULL / (budget_ppm ?: 1);
}

struct kernel_costs {		/* since the last call of hold_budget() */
	uint64_t wall_ns;
	uint64_t cpu_ns;	/* the program's CPU time */
	uint64_t polls_ns;	/* the part of that time that the scanner's polls have cost */
	bool is_scanner_away;	/* the scanner was hardly running */
};

struct kernel_source {
	const struct kernel_source_ops {
		/*
		 * Called before the session's rings are read.  Returns how full the source's own
		 * rings are, in 1/1000; 0 also if it has none.
		 */
		unsigned (*poll)(struct kernel_source *s);
		/*
		 * Stops or restarts the events; while they are stopped, they cost the program
		 * nothing.  After a restart the state of threads and CPUs is unknown, as at the
		 * beginning.  Returns 0 or -errno.  NULL: the source cannot be paused.
		 */
		int (*pause)(struct kernel_source *s, bool pause);
		/* Ends the events, and delivers those that were not delivered yet. */
		void (*finish)(struct kernel_source *s);
		/*
		 * Stops recording interrupts, or only the frequent ones; returns the name of what
		 * is omitted.
		 */
		const char *(*leave_out_irqs)(struct kernel_source *s);
		/*
		 * Sets the offsets of a thread's blocks from its thread pointer, which are needed
		 * to read frames.  NULL: the source reads no frames.
		 */
		void (*set_blocks)(struct kernel_source *s, const int64_t *offsets, unsigned nr);
		/*
		 * Sets the costs since the last call.  Reading frames may use the rest of the
		 * budget.  NULL: the source reads no frames.
		 */
		void (*hold_budget)(struct kernel_source *s, const struct kernel_costs *costs);
		void (*close)(struct kernel_source *s);
		/* cost of recording an interrupt: see Documentation/overhead.md */
		uint64_t irq_ns;
	} *ops;
	/* converts the source's stamps; NULL: they are in the session's clock */
	struct kernel_clock *clock;
	uint32_t events;		/* LDB_GROUP_* that are recorded */
	/*
	 * Current interval between samples of running threads, and the measured cost of an
	 * interrupt.
	 */
	uint64_t sample_ns, interrupt_ns;
	uint64_t nr_lost;		/* after finish(): events for which there is no LOST row */
	/*
	 * CPULIST_MAX entries, by CPU; final after finish().  1: the kernel did not deliver the
	 * events of some tasks on this CPU.
	 */
	const uint8_t *is_deaf;
	/* one line: why no better source is used, or what this one cannot record; "": nothing */
	char why_not_better[512];
};

#endif
