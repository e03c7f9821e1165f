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

struct sampler;

/*
 * budget_ppm: of the time of the interrupted threads.  least_ns: least interval.  NULL: out of
 * memory.
 */
struct sampler *sampler_alloc(uint32_t budget_ppm, uint64_t least_ns, unsigned nr_cpus);
void sampler_free(struct sampler *s);

uint64_t sampler_interrupt_ns(const struct sampler *s);

/* Selects whether a CPU is interrupted; initially none is. */
void sampler_choose(struct sampler *s, unsigned cpu, bool wanted);

/* Stops the interrupts until sampler_follow() is called again. */
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
 * Adapts the interval: of cpu_ns of the program's time, others have used others_ns, and the
 * readings of a sample take reading_ns.  Returns the interval.  To be called now and then.
 */
uint64_t sampler_hold(struct sampler *s, uint64_t cpu_ns, uint64_t others_ns, uint64_t reading_ns);

#endif
