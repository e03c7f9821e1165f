// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Whom a join waits for.  Without a lock: registry entries are never freed, and
 * a thread that can still be joined keeps its pthread_t to itself.  A thread
 * that has ended has no tid to wait for.
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
	/* One that has just been created has not come to register itself. */
	return glibc_tid_of(pthread, cpu_pthread_of(cpu_thread_pointer()), thread_self()->tid);
}
