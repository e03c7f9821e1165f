/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of glibc's internals on which the shim depends, and operations on normal mutexes that
 * the shim performs instead of glibc.  The words of locks that are read here have been at the same
 * place, with the same meaning, since glibc 2.25; their offsets are part of the ABI of statically
 * initialised objects.  Most are read without the lock and may be stale: a wrong owner only makes a
 * hint useless.
 */
#ifndef SHIM_GLIBC_H
#define SHIM_GLIBC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/single_threaded.h>
#include <threads.h>
#include <time.h>
#include "arch/cpu.h"
#include "internal.h"

#define GLIBC_MUTEX_ROBUST	0x10	/* __kind: PTHREAD_MUTEX_ROBUST_NORMAL_NP */
#define GLIBC_MUTEX_PI		0x20	/* __kind: PTHREAD_MUTEX_PRIO_INHERIT_NP */
#define GLIBC_MUTEX_SHARED	0x80	/* __kind: PTHREAD_MUTEX_PSHARED_BIT */
#define GLIBC_MUTEX_NO_ELISION	0x200	/* __kind: PTHREAD_MUTEX_NO_ELISION_NP */
#define GLIBC_TID_MASK		0x3fffffff	/* FUTEX_TID_MASK */

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "a mtx_t is a pthread_mutex_t");

/*
 * Returns the tid of a thread that can be joined; 0 if it has ended, or if the tid is not known.
 * The kernel writes the tid to a word of the struct to which the pthread_t points.  The word is
 * used only if the calling thread's own tid is at the same place of its struct.
 */
static inline uint32_t glibc_tid_of(uintptr_t pthread, uintptr_t self, uint32_t self_tid)
{
	if (order_any_load_word((uint32_t *)(self + CPU_PTHREAD_TID_OFFSET)) != self_tid)
		return 0;
	return order_any_load_word((uint32_t *)(pthread + CPU_PTHREAD_TID_OFFSET));
}

/* Returns the tid of the owner; 0 if there is none, or if the mutex does not contain it. */
static inline uint32_t glibc_mutex_owner(const void *mutex)
{
	const pthread_mutex_t *m = mutex;

	/* Robust and priority inheritance mutexes have the tid in the lock word itself. */
	if (order_any_load_word(&m->__data.__kind) &
	    (GLIBC_MUTEX_ROBUST | GLIBC_MUTEX_PI))
		return order_any_load_word(&m->__data.__lock) & GLIBC_TID_MASK;
	return order_any_load_word(&m->__data.__owner);
}

/*
 * Returns true if the owner, who alone may call this, has acquired a recursive mutex more than
 * once.  The count stays 0 or 1 in all other types of mutexes.
 */
static inline bool glibc_mutex_nested(const void *mutex)
{
	const pthread_mutex_t *m = mutex;

	return order_any_load_word(&m->__data.__count) > 1;
}

/*
 * glibc's trylock of a robust mutex that is not recoverable returns ENOTRECOVERABLE, but leaves the
 * lock word taken (in 2.36), and the next lock blocks for ever.  So trylock is not used on a robust
 * mutex; its lock word says whether it is locked.
 */
static inline bool glibc_mutex_untriable(const void *mutex)
{
	const pthread_mutex_t *m = mutex;

	return order_any_load_word(&m->__data.__kind) & GLIBC_MUTEX_ROBUST;
}

/* Returns true if no other thread exists that could hold the mutex. */
static inline bool glibc_mutex_alone(const void *mutex)
{
	const pthread_mutex_t *m = mutex;

	return __libc_single_threaded &&
	       !(order_any_load_word(&m->__data.__kind) &
		 (GLIBC_MUTEX_ROBUST | GLIBC_MUTEX_SHARED));
}

/*
 * Returns true for a normal mutex, as PTHREAD_MUTEX_INITIALIZER makes it (with or without lock
 * elision).
 */
static inline bool glibc_mutex_is_usual(const void *mutex)
{
	const pthread_mutex_t *m = mutex;

	return !(order_any_load_word(&m->__data.__kind) & ~GLIBC_MUTEX_NO_ELISION);
}

/*
 * Returns true for a locked normal mutex for which no thread sleeps.  A thread that is about to
 * sleep first sets the lock word to 2, and the word keeps this value when the thread has acquired
 * the mutex.
 */
static inline bool glibc_mutex_unwanted(const void *mutex)
{
	const pthread_mutex_t *m = mutex;

	return glibc_mutex_is_usual(mutex) &&
	       order_any_load_word(&m->__data.__lock) == 1;
}

/*
 * glibc_mutex_acquire() and glibc_mutex_release() do what glibc does with a normal mutex that is
 * not contended.  They are used only if mutex.c has found that glibc really does the same.  A call
 * of glibc's function, through a pointer and, for trylock, a table, needs several cache lines and
 * two branches that the CPU often mispredicts.
 */
static inline bool glibc_mutex_acquire(void *mutex, uint32_t self_tid)
{
	pthread_mutex_t *m = mutex;

	if (!order_mutex_take(&m->__data.__lock))
		return false;
	m->__data.__nusers++;
	order_any_store_word(&m->__data.__owner, self_tid);
	return true;
}

/*
 * Returns false, with the mutex still held, if a thread waits for it.  If it returns true, the
 * mutex must not be accessed any more, because another thread may have destroyed it.
 */
static inline bool glibc_mutex_release(void *mutex)
{
	pthread_mutex_t *m = mutex;
	int owner = m->__data.__owner;

	m->__data.__nusers--;
	order_any_store_word(&m->__data.__owner, 0);
	if (likely(order_mutex_give(&m->__data.__lock)))
		return true;
	m->__data.__nusers++;
	order_any_store_word(&m->__data.__owner, owner);
	return false;
}

/* Returns true if the mutex is neither robust nor recursive nor adaptive. */
static inline bool glibc_mutex_is_simple(const void *mutex)
{
	const pthread_mutex_t *m = mutex;

	return !(order_any_load_word(&m->__data.__kind) &
		 (GLIBC_MUTEX_ROBUST | PTHREAD_MUTEX_RECURSIVE_NP));
}

/* Returns true if the mutex is recursive and the thread has locked it already. */
static inline bool glibc_mutex_reentered(const void *mutex, uint32_t self_tid)
{
	const pthread_mutex_t *m = mutex;

	return (order_any_load_word(&m->__data.__kind) & 3) ==
		PTHREAD_MUTEX_RECURSIVE_NP && glibc_mutex_owner(mutex) == self_tid;
}

static inline bool glibc_mutex_taken(const void *mutex, uint32_t self_tid)
{
	uint32_t owner = glibc_mutex_owner(mutex);

	return owner && owner != self_tid;
}

static inline uint32_t glibc_rwlock_writer(const void *rwlock)
{
	const pthread_rwlock_t *l = rwlock;

	return order_any_load_word(&l->__data.__cur_writer);
}

/*
 * Some functions return EINVAL for an invalid timeout before they read the lock.
 * For these the timeout is checked first, because a successful try would hide the
 * error.
 */
static inline bool glibc_clock_valid(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static inline bool glibc_time_valid(const struct timespec *ts)
{
	return ts && ts->tv_nsec >= 0 && ts->tv_nsec < 1000000000;
}

#endif /* SHIM_GLIBC_H */
