/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts CPUs on which the program runs at a steady rate, so that the BPF program of the local
 * timer reads chains there (bpf/chain.h): the kernel's own tick comes once in some milliseconds.
 * A CPU on which the program has not been running for a while is left alone.
 *
 * The rate is what the budget allows at the price of an interrupt, which is measured: one in a
 * virtual machine costs many times what it does elsewhere.  The scanner's polls, the readings at
 * switches and samples share one budget: samples use the rest.
 */
#ifndef RECORD_SAMPLER_H
#define RECORD_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

struct kernel_costs;
struct kernel_source;
struct sampler;

/* What reading frames has cost since the last time. */
struct sampler_spent {
	uint64_t switches_ns;	/* readings at switches */
	uint64_t samples_ns, nr_samples;
	uint64_t entry_ns;	/* entry and exit of the kernel, for each sample */
};

/*
 * budget_ppm: of the time of the interrupted threads.  least_ns: least interval.  NULL: out of
 * memory.
 */
struct sampler *sampler_alloc(uint32_t budget_ppm, uint64_t least_ns, unsigned nr_cpus);
void sampler_free(struct sampler *s);

/*
 * Decides whether a CPU is interrupted, and returns whether it is; initially none is.  It is left out
 * only after some decisions against it in a row: a scanner without a CPU sometimes gets one for a
 * moment, and would then be alone.
 */
bool sampler_choose(struct sampler *s, unsigned cpu, bool wanted);

/*
 * Begins to interrupt all CPUs, and not only when the program was found there: where it leaves no CPU
 * free the recorder may not run for some tenths of a second after this.
 */
void sampler_begin(struct sampler *s, int64_t now_ns);

/* Stops the interrupts of all CPUs until they are chosen again. */
void sampler_stop(struct sampler *s);

/*
 * Says whether the program runs on a CPU, or when it came or left last (in any clock).  To be
 * called now and then.
 */
void sampler_follow(struct sampler *s, unsigned cpu, bool runs, uint64_t switched_at, int64_t now_ns);

/*
 * Returns the interval of samples of that cost if others use so much of the budget: samples use the
 * rest, or at least a part of the budget.
 */
uint64_t sampler_period_ns(uint32_t budget_ppm, uint64_t others_ppm, uint64_t price_ns);

/*
 * Adapts the interval to what the program's CPU time, polls, and readings of frames allow, and
 * stores it in the source.  Must be called from time to time.
 */
void sampler_hold(struct sampler *s, struct kernel_source *source, const struct kernel_costs *costs,
		  const struct sampler_spent *spent);

#endif
