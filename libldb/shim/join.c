// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds the thread that a join waits for.  This needs no lock, because the memory of registry
 * entries is never freed, and no other thread gets the pthread_t of a thread that can still be
 * joined.  If the thread has ended, its tid is not known, and there is nothing to wait for.
 */
#include "runtime/runtime.h"
#include "glibc.h"
#include "wait.h"

uint32_t join_tid_of(uintptr_t pthread)
{
	uint32_t nr = order_live_count(&nr_live);

	for (uint32_t n = 0; n < nr; n++) {
		const struct thread *t = order_live_get(&live[n]);

		if (t && cpu_pthread_of(t->tp) == pthread)
			return t->tid;
	}
	/* A thread that has just been created may not have registered yet. */
	return glibc_tid_of(pthread, cpu_pthread_of(cpu_thread_pointer()), thread_self()->tid);
}
