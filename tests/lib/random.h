/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes random numbers for tests, which are the same for the same seed (xorshift64*).  The seed
 * must not be 0.
 */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252ULL;

static inline uint64_t rnd(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dULL;
}

#endif
