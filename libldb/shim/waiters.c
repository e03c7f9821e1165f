// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Implements waiters.h.  Zeros are not written to words that are 0 already, because in a fork child
 * each write to a page would copy it.
 */
#include "waiters.h"

_Atomic uint32_t waiters_table[1 << WAITERS_BITS];
_Atomic uint64_t wakers_table[1 << WAITERS_BITS];

void waiters_forget(void)
{
	for (unsigned n = 0; n < 1 << WAITERS_BITS; n++)
		if (order_any_load(&waiters_table[n]))
			order_any_store(&waiters_table[n], 0);
}

void wakers_forget(void)
{
	for (unsigned n = 0; n < 1 << WAITERS_BITS; n++)
		if (order_any_load(&wakers_table[n]))
			order_any_store(&wakers_table[n], 0);
}
