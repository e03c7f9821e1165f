/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts CPUs on which the program runs at a steady rate, so that the BPF program of the local
 * timer reads chains there (bpf/chain.h): the kernel's own tick comes once in some milliseconds.
 * A CPU on which the program has not been running for a while is left alone.
 *
 * The rate is what the budget allows at the price of an interrupt, which is measured: one in a
 * virtual machine costs many times what it does elsewhere.  The budget is one with that of
 * the scanner's polls and of the readings at switches: samples have what those leave.
 */
#ifndef RECORD_SAMPLER_H
#define RECORD_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

struct sampler;

/*
 * budget_ppm: of the time of those who are interrupted.  least_ns: more often is not wanted.  NULL: out
 * of memory.
 */
struct sampler *sampler_alloc(uint32_t budget_ppm, uint64_t least_ns, unsigned nr_cpus);
void sampler_free(struct sampler *s);

uint64_t sampler_interrupt_ns(const struct sampler *s);

/* Is that CPU to be interrupted?  None is at the beginning. */
void sampler_choose(struct sampler *s, unsigned cpu, bool wanted);

/* Until sampler_follow() is called again. */
void sampler_stop(struct sampler *s);

/*
 * Does the program run on that CPU, or when did it come or leave last (any clock)?  To be called
 * now and then.
 */
void sampler_follow(struct sampler *s, unsigned cpu, bool runs, uint64_t switched_at, int64_t now_ns);

/*
 * How often samples of that price come, if others take so much of the budget: within what is left,
 * but at least a part is for samples.
 */
uint64_t sampler_period_ns(uint32_t budget_ppm, uint64_t others_ppm, uint64_t price_ns);

/*
 * Of cpu_ns of the program's time others than the samples have cost so much of the budget, and the
 * readings of a sample take so long.  Returns the time between two.  To be called now and then.
 */
uint64_t sampler_hold(struct sampler *s, uint64_t cpu_ns, uint64_t others_ns, uint64_t reading_ns);

#endif
