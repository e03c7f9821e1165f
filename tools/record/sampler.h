/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts CPUs on which the program runs at a steady rate, so that the BPF program of the local
 * timer reads chains there (bpf/chain.h): the kernel's own tick comes once in some milliseconds.
 * A CPU on which the program has not been running for a while is left alone.
 */
#ifndef RECORD_SAMPLER_H
#define RECORD_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

struct sampler;

/* NULL: out of memory. */
struct sampler *sampler_alloc(uint64_t period_ns, unsigned nr_cpus);
void sampler_free(struct sampler *s);

/*
 * Does the program run on that CPU, or when did it come or leave last (any clock)?  To be called
 * now and then.
 */
void sampler_follow(struct sampler *s, unsigned cpu, bool runs, uint64_t switched_at, int64_t now_ns);

#endif
