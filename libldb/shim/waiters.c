// SPDX-License-Identifier: LGPL-2.1-or-later
/* Implements waiters.h.  A page that contains only zeros is not written: it may be a child's. */
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
