/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two tables by hash of an object's address.  In one an unlock sees whether somebody waits; in
 * the other a thread that waited for no lock finds who woke it.
 */
#ifndef SHIM_WAITERS_H
#define SHIM_WAITERS_H

#include "internal.h"

/*
 * Threads that found a lock taken, by hash of the lock's address.  Two locks
 * may share a counter: then an unlock is stamped for nothing.  4 KiB, so that
 * it stays in the first-level cache of a program with many locks.
 */
#define WAITERS_BITS	10

#pragma GCC visibility push(hidden)

extern _Atomic uint32_t waiters_table[1 << WAITERS_BITS];

static inline _Atomic uint32_t *waiters_of(const volatile void *lock)
{
	return &waiters_table[((uintptr_t)lock >> 3) * 0x9e3779b97f4a7c15ULL >>
			      (64 - WAITERS_BITS)];
}

/*
 * Any order: a waiter that comes between this load and the unlock waits for no
 * longer than that, and its record names the holder all the same.
 */
static inline bool waiters_seen(const volatile void *lock)
{
	return order_any_load(waiters_of(lock));
}

/*
 * What nobody holds: who waits for it says so in its slot, and whoever ends waits puts
 * its tid there, if somebody did.  One word for object and tid, so that the two belong
 * together; two objects in one slot lose a name, never give a wrong one.
 *
 * The program's own locks do the same with the tid of who has the lock: see own.c.
 */
extern _Atomic uint64_t wakers_table[1 << WAITERS_BITS];

#define WAKER_TID_BITS	22	/* Linux's greatest pid_max */

static inline _Atomic uint64_t *waker_slot(const volatile void *object)
{
	return &wakers_table[waiters_of(object) - waiters_table];
}

static inline uint64_t waker_word(const volatile void *object, uint32_t tid)
{
	return (uintptr_t)object << WAKER_TID_BITS | tid;
}

static inline bool waker_is_awaited(const volatile void *object)
{
	return order_any_load(waker_slot(object)) >> WAKER_TID_BITS ==
	       waker_word(object, 0) >> WAKER_TID_BITS;
}

/* By who waits, with its own tid if it wakes the others, too; then by who ends waits. */
static inline void waker_set(const volatile void *object, uint32_t tid)
{
	order_any_store(waker_slot(object), waker_word(object, tid));
}

/* In a fork child: nobody waits for a lock. */
void waiters_forget(void);
/* Nobody is awaited, and nobody has ended a wait. */
void wakers_forget(void);

#pragma GCC visibility pop
#endif /* SHIM_WAITERS_H */
