// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stacks that are not a thread's own: coroutines, sigaltstack().
 *
 * The scanner (raw thread) and signal handlers look an address up without a
 * lock: an entry counts if lo is neither FREE nor BUSY, and hi is written
 * before lo.  Who takes an entry away waits for the scanner before it gives the
 * memory back, so no entry changes its meaning under the scanner's eyes.
 */
#include <errno.h>
#include "runtime/runtime.h"
#include "request.h"

#define STACKS_MAX	1024
#define STACKS_FEW	16	/* of a program with more the others are mapped */
#define FREE		0UL
#define BUSY		1UL	/* being filled or taken away */

struct stack {
	_Atomic uintptr_t lo;
	_Atomic uintptr_t hi;
};

static struct stack few[STACKS_FEW];
static struct stack *_Atomic others;	/* written before nr_used says so */
static _Atomic unsigned nr_used;	/* no entry in use at or after it */

static struct stack *entry(unsigned n)
{
	if (n < STACKS_FEW)
		return &few[n];
	return atomic_load_explicit(&others, memory_order_relaxed) + (n - STACKS_FEW);
}

static bool map_others(void)
{
	struct stack *none = NULL, *mapped;

	if (atomic_load(&others))
		return true;
	mapped = raw_map((STACKS_MAX - STACKS_FEW) * sizeof(*mapped));
	/* Of two at the same time the later one's is never touched. */
	if (mapped)
		atomic_compare_exchange_strong(&others, &none, mapped);
	return mapped;
}

static void raise_nr_used(unsigned nr)
{
	unsigned old = atomic_load_explicit(&nr_used, memory_order_relaxed);

	while (old < nr && !atomic_compare_exchange_weak(&nr_used, &old, nr))
		;
}

int stack_register(void *lo, void *hi)
{
	if ((uintptr_t)lo <= BUSY || lo >= hi)
		return -EINVAL;
	for (unsigned n = 0; n < STACKS_MAX; n++) {
		uintptr_t expect = FREE;
		struct stack *s;

		if (n == STACKS_FEW && !map_others())
			break;
		s = entry(n);
		if (atomic_load_explicit(&s->lo, memory_order_relaxed) != FREE ||
		    !atomic_compare_exchange_strong(&s->lo, &expect, BUSY))
			continue;
		raise_nr_used(n + 1);
		atomic_store_explicit(&s->hi, (uintptr_t)hi, memory_order_relaxed);
		/* pairs with the acquire in stack_foreign() */
		atomic_store_explicit(&s->lo, (uintptr_t)lo, memory_order_release);
		return 0;
	}
	return -ENOMEM;
}

void stack_unregister(void *lo)
{
	unsigned nr = atomic_load(&nr_used);
	int saved = errno;

	if ((uintptr_t)lo <= BUSY)
		return;
	for (unsigned n = 0; n < nr; n++) {
		uintptr_t expect = (uintptr_t)lo;
		struct stack *s = entry(n);

		if (atomic_load_explicit(&s->lo, memory_order_relaxed) != expect ||
		    !atomic_compare_exchange_strong(&s->lo, &expect, BUSY))
			continue;
		scan_quiesce();
		atomic_store_explicit(&s->lo, FREE, memory_order_release);
		break;
	}
	errno = saved;
}

bool stack_taken(uintptr_t from, uintptr_t to)
{
	unsigned nr = atomic_load(&nr_used);
	bool any = false;

	for (unsigned n = 0; n < nr; n++) {
		const struct stack *s = entry(n);
		uintptr_t lo = atomic_load_explicit(&s->lo, memory_order_acquire);
		uintptr_t hi = atomic_load_explicit(&s->hi, memory_order_relaxed);

		if (lo <= BUSY || lo >= to || hi <= from)
			continue;
		stack_unregister((void *)lo);
		any = true;
	}
	return any;
}

bool stack_foreign(uintptr_t addr, uintptr_t *lo, uintptr_t *hi)
{
	unsigned nr = atomic_load_explicit(&nr_used, memory_order_acquire);

	for (unsigned n = 0; n < nr; n++) {
		const struct stack *s = entry(n);
		uintptr_t l = atomic_load_explicit(&s->lo, memory_order_acquire);
		uintptr_t h;

		if (l <= BUSY || addr < l)
			continue;
		h = atomic_load_explicit(&s->hi, memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		if (addr >= h || atomic_load_explicit(&s->lo, memory_order_relaxed) != l)
			continue;
		*lo = l;
		*hi = h;
		return true;
	}
	return false;
}
