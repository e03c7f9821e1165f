/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waiting: the table that tells an unlock that somebody waits, and the records
 * of waits.
 */
#ifndef SHIM_WAIT_H
#define SHIM_WAIT_H

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
 * Relaxed: a waiter that comes between this look and the unlock waits for no
 * longer than that, and its record names the holder all the same.
 */
static inline bool waiters_seen(const volatile void *lock)
{
	return atomic_load_explicit(waiters_of(lock), memory_order_relaxed);
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
	return atomic_load_explicit(waker_slot(object), memory_order_relaxed) >> WAKER_TID_BITS ==
	       waker_word(object, 0) >> WAKER_TID_BITS;
}

/* By who waits, with its own tid if it wakes the others, too; then by who ends waits. */
static inline void waker_set(const volatile void *object, uint32_t tid)
{
	atomic_store_explicit(waker_slot(object), waker_word(object, tid), memory_order_relaxed);
}

/* Nobody is awaited, and nobody has ended a wait. */
void wakers_forget(void);

/* A wait in progress.  Lives on the stack of the wrapper, or in own.c. */
struct wait {
	struct thread *t;	/* NULL when it is over */
	uintptr_t lock;
	uint64_t begin;
	uint64_t gen;
	uintptr_t site;
	uint32_t kind;
	uint32_t owner;
	uint32_t epoch;
};

void wait_begin(struct wait *w, struct thread *t, uintptr_t object, uint32_t kind,
		uint32_t owner, uintptr_t site);
/* err: 0 or an error number; a failed wait is recorded as such. */
void wait_end(struct wait *w, int err);
/* As wait_end(), when the thread is cancelled in the wait. */
void wait_cancelled(struct wait *w);

/* The same for a lock: with its counter, and with the held list at the end. */
void wait_lock_begin(struct wait *w, struct thread *t, const volatile void *lock,
		     uint32_t kind, uintptr_t site);
void wait_lock_end(struct wait *w, int rc);
void wait_lock_cancelled(struct wait *w);

/* The same for a condition: the mutex is given up and taken again. */
struct wait_cond {
	struct wait w;
	const void *mutex;
};
void wait_cond_begin(struct wait_cond *c, struct thread *t, const void *cond,
		     const void *mutex, uintptr_t site);
void wait_cond_end(struct wait_cond *c, int err);
void wait_cond_cancelled(struct wait_cond *c);

/* own.c: the calling thread waits for none of the program's own locks any more. */
void own_forget(void);
/* There is no other thread that could. */
void own_fork_child(void);

/* join.c: tid of the registered thread with this pthread_t, or 0. */
uint32_t join_tid_of(uintptr_t pthread);

/* Writes a record about h->lock: owner, gen and site are the entry's. */
void lock_event_write(const struct thread *t, uint32_t type, const struct held_lock *h,
		      uint64_t begin, uint64_t end, uint32_t flags);

#pragma GCC visibility pop
#endif /* SHIM_WAIT_H */
