// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Manages stacks that are not a thread's own: coroutines, sigaltstack().
 *
 * The scanner (raw thread) and signal handlers search the entries without a lock: an entry is valid
 * if lo is neither FREE nor BUSY, and hi is written before lo.  A thread that removes an entry
 * waits until no scanner reads stacks before it makes the entry free, so no entry changes its
 * meaning while a scanner uses it.
 */
#include <errno.h>
#include "runtime/runtime.h"
#include "request.h"

#define STACKS_MAX	1024
#define STACKS_FEW	16	/* entries in static memory; the others are mapped when needed */
#define FREE		0UL
#define BUSY		1UL	/* being filled or removed */

struct stack {
	_Atomic uintptr_t lo;
	_Atomic uintptr_t hi;
};

static struct stack few[STACKS_FEW];
static struct stack *_Atomic others;	/* written before nr_used exceeds STACKS_FEW */
static _Atomic unsigned nr_used;	/* no entry with this or a higher index is in use */

static struct stack *entry(unsigned n)
{
	if (n < STACKS_FEW)
		return &few[n];
	return order_any_load(&others) + (n - STACKS_FEW);
}

static bool map_others(void)
{
	struct stack *none = NULL, *mapped;

	if (atomic_load(&others))
		return true;
	mapped = raw_map((STACKS_MAX - STACKS_FEW) * sizeof(*mapped));
	/* If two threads map memory at the same time, that of the second is never used. */
	if (mapped)
		atomic_compare_exchange_strong(&others, &none, mapped);
	return mapped;
}

static void raise_nr_used(unsigned nr)
{
	unsigned old = order_any_load(&nr_used);

	while (old < nr && !atomic_compare_exchange_weak(&nr_used, &old, nr))
		;
}

int stack_register(void *lo, void *hi)
{
	if ((uintptr_t)lo <= BUSY || lo >= hi)
		return -EINVAL;
	for (unsigned n = 0; n < STACKS_MAX; n++) {
		struct stack *s;

		if (n == STACKS_FEW && !map_others())
			break;
		s = entry(n);
		if (!order_range_claim(&s->lo, FREE, BUSY))
			continue;
		raise_nr_used(n + 1);
		order_range_open(&s->lo, &s->hi, (uintptr_t)lo, (uintptr_t)hi);
		return 0;
	}
	return -ENOMEM;
}

void stack_unregister(void *lo)
{
	unsigned nr = order_list_count(&nr_used);
	int saved = errno;

	if ((uintptr_t)lo <= BUSY)
		return;
	for (unsigned n = 0; n < nr; n++) {
		struct stack *s = entry(n);

		if (!order_range_claim(&s->lo, (uintptr_t)lo, BUSY))
			continue;
		scan_quiesce();
		order_range_free(&s->lo, FREE);
		break;
	}
	errno = saved;
}

bool stack_unregister_within(uintptr_t from, uintptr_t to)
{
	unsigned nr = order_list_count(&nr_used);
	bool any = false;

	for (unsigned n = 0; n < nr; n++) {
		const struct stack *s = entry(n);
		uintptr_t lo = order_range_lo(&s->lo);
		uintptr_t hi = order_range_hi(&s->hi);

		if (lo <= BUSY || lo >= to || hi <= from)
			continue;
		stack_unregister((void *)lo);
		any = true;
	}
	return any;
}

bool stack_foreign(uintptr_t addr, uintptr_t *lo, uintptr_t *hi)
{
	unsigned nr = order_list_count(&nr_used);

	for (unsigned n = 0; n < nr; n++) {
		const struct stack *s = entry(n);
		uintptr_t l = order_range_lo(&s->lo);
		uintptr_t h;

		if (l <= BUSY || addr < l)
			continue;
		h = order_range_hi(&s->hi);
		if (!order_range_is_still(&s->lo, l) || addr >= h)
			continue;
		*lo = l;
		*hi = h;
		return true;
	}
	return false;
}
