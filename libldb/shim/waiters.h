/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two tables that are indexed by a hash of an object's address.  One shows an unlock whether a
 * thread waits for the lock; the other shows a thread that has waited for an object without a
 * holder which thread woke it.
 */
#ifndef SHIM_WAITERS_H
#define SHIM_WAITERS_H

#include "internal.h"

/*
 * Counts threads that wait for a lock, by the hash of the lock's address.  If two locks share a
 * counter, an unlock may take a time stamp unnecessarily.  The table has 4 KiB, so that it stays in
 * the first-level cache of a program with many locks.
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
 * Any order is sufficient: a thread that begins to wait between this load and the unlock waits only
 * until the unlock, and the record of its wait names the holder as well.
 */
static inline bool waiters_seen(const volatile void *lock)
{
	return order_any_load(waiters_of(lock));
}

/*
 * This table is for objects without a holder.  A thread that waits stores the object in its slot; a
 * thread that ends waits (by a signal, a post) adds its tid if the object is there.  Object and tid
 * are in one word, so they always belong together; if two objects share a slot, a waker may be
 * lost, but is never wrong.
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
 * Stores an object and a thread.  A thread that begins to wait stores 0, or its own tid if it may
 * wake the others (barriers); later a thread that ends waits stores its tid.
 */
static inline void waker_set(const volatile void *object, uint32_t tid)
{
	order_any_store(waker_slot(object), waker_word(object, tid));
}

/* Clears the counters in a fork child, where no thread waits for a lock. */
void waiters_forget(void);
/* Clears the table of wakers. */
void wakers_forget(void);

#pragma GCC visibility pop
#endif /* SHIM_WAITERS_H */
