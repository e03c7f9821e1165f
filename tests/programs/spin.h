/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes for a given time, in a function of its own, because tests look for its name. */
#ifndef TESTS_SPIN_H
#define TESTS_SPIN_H

#include <stdint.h>
#include <time.h>

static volatile uint64_t sum;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) void spin_us(unsigned us)
{
	uint64_t end = now_ns() + us * 1000ull;

	while (now_ns() < end)
		sum++;
}

#endif
