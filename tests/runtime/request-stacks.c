// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the table of stacks that are not a thread's own. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include "runtime/runtime.h"
#include "request/request.h"
#include "shim-harness.h"
#include "tap.h"

#define NR_MAX	1024
#define SIZE	0x10000UL

static void *at(unsigned n)
{
	return (void *)(0x100000000UL + n * SIZE * 2);
}

static void *end_of(unsigned n)
{
	return (char *)at(n) + SIZE;
}

static bool found(unsigned n, uintptr_t offset)
{
	uintptr_t lo = 0, hi = 0;

	return stack_foreign((uintptr_t)at(n) + offset, &lo, &hi) &&
	       lo == (uintptr_t)at(n) && hi == (uintptr_t)end_of(n);
}

static void simple(void)
{
	ok(!found(0, 0), "nothing is known at first");
	is_int(stack_register(at(0), end_of(0)), 0, "a stack is registered");
	ok(found(0, 0) && found(0, SIZE - 1), "found from its first byte to its last");
	ok(!found(0, SIZE) && !found(0, -1), "an address outside of the stack is not found");
	is_int(stack_register(end_of(1), at(1)), -EINVAL, "the wrong order of the ends is refused");
	is_int(stack_register(NULL, at(1)), -EINVAL, "a stack that begins at NULL is refused");
	is_int(stack_register(at(1), at(1)), -EINVAL, "an empty stack is refused");
	harness_nr_quiesce = 0;
	errno = 4242;
	stack_unregister(at(0));
	is_int(harness_nr_quiesce, 1, "unregistering waits for the scanner");
	is_int(errno, 4242, "errno is left alone");
	ok(!found(0, 0), "a stack that was unregistered is not found");
	stack_unregister(at(0));
	stack_unregister(NULL);
	is_int(harness_nr_quiesce, 1, "unregistering an unknown stack does not wait");
}

static void full(void)
{
	unsigned bad = 0;

	for (unsigned n = 0; n < NR_MAX; n++)
		bad += stack_register(at(n), end_of(n)) != 0;
	is_int(bad, 0, "1024 stacks can be registered");
	is_int(stack_register(at(NR_MAX), end_of(NR_MAX)), -ENOMEM, "one more stack is refused");
	for (unsigned n = 0; n < NR_MAX; n++)
		bad += !found(n, 8);
	is_int(bad, 0, "each of them is found");
	stack_unregister(at(500));
	is_int(stack_register(at(NR_MAX), end_of(NR_MAX)), 0, "a free place is used again");
	ok(!found(500, 8) && found(NR_MAX, 8), "the new stack is found, and not the old one");
	for (unsigned n = 0; n <= NR_MAX; n++)
		stack_unregister(at(n));
	for (unsigned n = 0; n <= NR_MAX; n++)
		bad += found(n, 8);
	is_int(bad, 0, "none is found after all were unregistered");
}

/* Readers must find a complete entry or none. */
static _Atomic bool stop;

static void *changer(void *p)
{
	unsigned n = (unsigned)(long)p, rounds = 0;

	while (!stop) {
		stack_register(at(n), end_of(n));
		stack_unregister(at(n));
		rounds++;
	}
	return (void *)(long)rounds;
}

static void storm(void)
{
	pthread_t t[3];
	long torn = 0, seen = 0;
	void *rounds;

	for (long n = 0; n < 3; n++)
		if (pthread_create(&t[n], NULL, changer, (void *)n))
			bail_out("pthread_create");
	for (unsigned n = 0; n < 300000; n++) {
		uintptr_t lo, hi, addr = (uintptr_t)at(n % 3) + 64;

		if (!stack_foreign(addr, &lo, &hi))
			continue;
		seen++;
		torn += lo != (uintptr_t)at(n % 3) || hi != lo + SIZE;
	}
	stop = true;
	for (int n = 0; n < 3; n++) {
		next_table.pthread_join(t[n], &rounds);
		if (!rounds)
			torn++;
	}
	ok(seen && !torn, "three threads change it: %ld readings found an entry, %ld a torn one", seen, torn);
}

int main(void)
{
	shim_init();
	simple();
	full();
	storm();
	return done();
}
