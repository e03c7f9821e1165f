/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts CPUs on which the program runs, at a constant rate, so that the kernel module, or the
 * BPF program of the local timer, can read chains there (bpf/chain.h); the kernel's own tick comes
 * only every few milliseconds.  A CPU on which the program has not run for a while is not
 * interrupted.
 *
 * The rate results from the budget and the measured cost of an interrupt, which is many times
 * higher in a virtual machine.  The scanner's polls, the readings at switches, and samples share
 * one budget; samples get what the others leave, but at least a fixed part of the budget.
 */
#ifndef RECORD_KERNEL_SAMPLER_H
#define RECORD_KERNEL_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

struct kernel_costs;
struct kernel_source;
struct sampler;

/* Cost of reading frames since the last call of sampler_hold(). */
struct sampler_spent {
	uint64_t switches_ns;	/* readings at switches */
	uint64_t samples_ns, nr_samples;
	uint64_t entry_ns;	/* cost of entering and leaving the kernel, for each sample */
};

/*
 * Measures the cost of an interrupt.  budget_ppm is a share of the program's CPU time; least_ns is
 * the shortest interval.  Returns NULL if out of memory.
 */
struct sampler *sampler_alloc(uint32_t budget_ppm, uint64_t least_ns, unsigned nr_cpus);
void sampler_free(struct sampler *s);

/*
 * Decides whether a CPU is interrupted, and returns the decision; at first none is.  Interrupts
 * stop only after several calls in a row with wanted = false: a starved scanner sometimes runs for
 * a moment, and would then be starved again without samples.
 */
bool sampler_choose(struct sampler *s, unsigned cpu, bool wanted);

/*
 * Begins to interrupt all CPUs, even if the program was not found there yet: a program that uses
 * all CPUs may prevent the recorder from running for some tenths of a second after this call.
 */
void sampler_begin(struct sampler *s, int64_t now_ns);

/* Stops interrupts on all CPUs until these are chosen again. */
void sampler_stop(struct sampler *s);

/*
 * Reports whether the program runs on a CPU, and its last switch there: switched_at is any number
 * that changes with each switch.  Must be called regularly.
 */
void sampler_follow(struct sampler *s, unsigned cpu, bool runs, uint64_t switched_at, int64_t now_ns);

/*
 * Returns the interval between samples of which each costs price_ns, if polls and readings at
 * switches take others_ppm of the program's CPU time.  Samples get the rest, but at least a fixed
 * part of the budget.  The interval is between 0.1 ms and 1 s.
 */
uint64_t sampler_period_ns(uint32_t budget_ppm, uint64_t others_ppm, uint64_t price_ns);

/*
 * Adapts the interval to the program's CPU time and to the costs of polls and readings, and stores
 * the interval and the cost of an interrupt in the source.  Must be called from time to time.
 */
void sampler_hold(struct sampler *s, struct kernel_source *source, const struct kernel_costs *costs,
		  const struct sampler_spent *spent);

#endif
