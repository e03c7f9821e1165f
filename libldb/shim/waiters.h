/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two tables, indexed by a hash of an object's address.  In one, an unlock finds whether a thread
 * waits; in the other, a thread that has waited for an object without a holder finds the thread
 * that woke it.
 */
#ifndef SHIM_WAITERS_H
#define SHIM_WAITERS_H

#include "internal.h"

/*
 * Counts threads that found a lock taken, by hash of the lock's address.  Two locks may share a
 * counter: then an unlock is stamped for nothing.  4 KiB, so that it stays in the first-level
 * cache of a program with many locks.
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
 * Any order is sufficient: a waiter that comes between this load and the unlock waits only until
 * the unlock, and its record names the holder, too.
 */
static inline bool waiters_seen(const volatile void *lock)
{
	return order_any_load(waiters_of(lock));
}

/*
 * This table is for objects without a holder: a thread that waits puts the object into its slot,
 * and a thread that ends waits puts its tid there, if another one waits.  Object and tid are one
 * word, so that the two belong together; if two objects share a slot a name is lost, but never
 * wrong.
 *
 * The program's own locks do the same with the tid of the holder: see own.c.
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

/*
 * The waiting thread sets it, with its own tid if it wakes the others, too; later a thread that
 * ends waits does.
 */
static inline void waker_set(const volatile void *object, uint32_t tid)
{
	order_any_store(waker_slot(object), waker_word(object, tid));
}

/* In a fork child no thread waits for a lock. */
void waiters_forget(void);
/* No thread waits, and none has ended a wait. */
void wakers_forget(void);

#pragma GCC visibility pop
#endif /* SHIM_WAITERS_H */
