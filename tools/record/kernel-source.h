/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is a source of kernel events: BPF programs (ebpf.c), or perf (perf.c).  Its events are in
 * rings that it adds to the session, or are delivered as rows.  The module's are in its session; its
 * readings of frames are such a source (device-chains.c).
 *
 * One thread at a time may use it.
 */
#ifndef RECORD_KERNEL_SOURCE_H
#define RECORD_KERNEL_SOURCE_H

#include <linux/ldb.h>
#include "record/cpulist.h"
#include "record/kernel-clock.h"

/* Of invocations of half a millisecond nearly all are in a sample if one comes so often. */
#define READINGS_ENOUGH_NS	400000
/*
 * Requests wait for each other where a CPU is idle one part in so many or more: there the time that
 * samples take makes the slow ones slower by several times as much.
 */
#define READINGS_IDLE_PART	8

/* Readings at switches may take half of the budget: of a thread's time one part in so many. */
static inline uint32_t readings_share(uint32_t budget_ppm)
{
	return 2 * 1000000ULL / (budget_ppm ?: 1);
}

struct kernel_costs {
	uint64_t wall_ns;
	uint64_t cpu_ns;	/* the program's CPU time */
	uint64_t polls_ns;	/* what the scanner's polls have cost of it */
	bool is_scanner_away;	/* it had hardly any CPU */
};

struct kernel_source {
	const struct kernel_source_ops {
		/*
		 * This is called before the session's rings are read.  Returns its own fill, in
		 * 1/1000.
		 */
		unsigned (*poll)(struct kernel_source *s);
		/* Ends the events; delivers those that were not delivered yet. */
		void (*finish)(struct kernel_source *s);
		/* Omits interrupts from here on, or only the frequent ones; returns which. */
		const char *(*leave_out_irqs)(struct kernel_source *s);
		/*
		 * Where a thread's blocks are, from its thread pointer, so that frames can be read.
		 * NULL: none are.
		 */
		void (*set_blocks)(struct kernel_source *s, const int64_t *offsets, unsigned nr);
		/*
		 * What the program and the scanner did since the last call: readings of frames have
		 * what is left of the budget.  NULL: none are read.
		 */
		void (*hold_budget)(struct kernel_source *s, const struct kernel_costs *costs);
		void (*close)(struct kernel_source *s);
		uint64_t irq_ns;	/* what one costs the program: Documentation/overhead.md */
	} *ops;
	struct kernel_clock *clock;	/* of its stamps; NULL: the session's */
	uint32_t events;		/* LDB_GROUP_* that are recorded */
	/* How often running threads are read, when it was decided last, and what an interrupt costs. */
	uint64_t sample_ns, interrupt_ns;
	uint64_t nr_lost;		/* after finish(): events for which there is no LOST row */
	/*
	 * This has CPULIST_MAX entries, by CPU; it is final after finish().  1: the kernel did
	 * not deliver the events of some tasks there.
	 */
	const uint8_t *is_deaf;
	char why_not_better[512];	/* one line; "": nothing is missing */
};

#endif
