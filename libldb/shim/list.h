/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists, once, every function that shim/ interposes.  Before the file is included, define the
 * classes that are needed as macros; the others are empty.  The file is included several times, so
 * it has no include guard.
 *
 *	ACQUIRE(name, params, args, kind, try, busy, valid)
 *		takes the lock, its first argument, and may block.  try() never blocks
 *		and returns busy when the lock is taken.  valid: false if the
 *		function refuses its arguments before it reads the lock.
 *	TRY(name, params, args, kind)		takes the lock or fails at once
 *	RELEASE(name, params, args, kind)	kind 0: the kind with which the lock was taken
 *	COND(name, params, args, valid)		releases mutex while it waits for cond
 *	SEM(name, params, args, valid, cancels)	returns -1 and sets errno if it fails;
 *		cancels: it is a cancellation point even if it does not block (in
 *		glibc, sem_clockwait is not)
 *	WAIT(name, params, args, kind, object, owner)
 *		waits for something without a holder.  owner() returns the thread for
 *		which the caller waits; may be NULL
 *	WAKE(name, params, args, object)	ends the waits of others for object
 *	JUMP(name, params, args)		leaves frames of the stack, does not return
 *	UNWIND(name, params, args)		like JUMP, for exceptions; unwind.c
 *
 * In glibc C11's functions do not call the pthread functions by name, so they have rows of their
 * own.  sem_trywait, which cannot block, holds nothing and wakes no thread, is not interposed.
 */
#ifndef ACQUIRE
#define ACQUIRE(...)
#endif
#ifndef TRY
#define TRY(...)
#endif
#ifndef RELEASE
#define RELEASE(...)
#endif
#ifndef COND
#define COND(...)
#endif
#ifndef SEM
#define SEM(...)
#endif
#ifndef WAIT
#define WAIT(...)
#endif
#ifndef WAKE
#define WAKE(...)
#endif
#ifndef JUMP
#define JUMP(...)
#endif
#ifndef UNWIND
#define UNWIND(...)
#endif

ACQUIRE(pthread_mutex_lock, (pthread_mutex_t *lock), (lock),
	LDB_LOCK_MUTEX, pthread_mutex_trylock, EBUSY, true)
ACQUIRE(pthread_mutex_timedlock,
	(pthread_mutex_t *lock, const struct timespec *until), (lock, until),
	LDB_LOCK_MUTEX, pthread_mutex_trylock, EBUSY, true)
ACQUIRE(pthread_mutex_clocklock,
	(pthread_mutex_t *lock, clockid_t clock, const struct timespec *until),
	(lock, clock, until),
	LDB_LOCK_MUTEX, pthread_mutex_trylock, EBUSY, glibc_clock_valid(clock))
TRY(pthread_mutex_trylock, (pthread_mutex_t *lock), (lock), LDB_LOCK_MUTEX)
RELEASE(pthread_mutex_unlock, (pthread_mutex_t *lock), (lock), LDB_LOCK_MUTEX)

ACQUIRE(pthread_rwlock_rdlock, (pthread_rwlock_t *lock), (lock),
	LDB_LOCK_RWLOCK_RD, pthread_rwlock_tryrdlock, EBUSY, true)
ACQUIRE(pthread_rwlock_timedrdlock,
	(pthread_rwlock_t *lock, const struct timespec *until), (lock, until),
	LDB_LOCK_RWLOCK_RD, pthread_rwlock_tryrdlock, EBUSY, glibc_time_valid(until))
ACQUIRE(pthread_rwlock_clockrdlock,
	(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until),
	(lock, clock, until),
	LDB_LOCK_RWLOCK_RD, pthread_rwlock_tryrdlock, EBUSY,
	glibc_clock_valid(clock) && glibc_time_valid(until))
ACQUIRE(pthread_rwlock_wrlock, (pthread_rwlock_t *lock), (lock),
	LDB_LOCK_RWLOCK_WR, pthread_rwlock_trywrlock, EBUSY, true)
ACQUIRE(pthread_rwlock_timedwrlock,
	(pthread_rwlock_t *lock, const struct timespec *until), (lock, until),
	LDB_LOCK_RWLOCK_WR, pthread_rwlock_trywrlock, EBUSY, glibc_time_valid(until))
ACQUIRE(pthread_rwlock_clockwrlock,
	(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until),
	(lock, clock, until),
	LDB_LOCK_RWLOCK_WR, pthread_rwlock_trywrlock, EBUSY,
	glibc_clock_valid(clock) && glibc_time_valid(until))
TRY(pthread_rwlock_tryrdlock, (pthread_rwlock_t *lock), (lock), LDB_LOCK_RWLOCK_RD)
TRY(pthread_rwlock_trywrlock, (pthread_rwlock_t *lock), (lock), LDB_LOCK_RWLOCK_WR)
RELEASE(pthread_rwlock_unlock, (pthread_rwlock_t *lock), (lock), 0)

ACQUIRE(pthread_spin_lock, (pthread_spinlock_t *lock), (lock),
	LDB_LOCK_SPIN, pthread_spin_trylock, EBUSY, true)
TRY(pthread_spin_trylock, (pthread_spinlock_t *lock), (lock), LDB_LOCK_SPIN)
RELEASE(pthread_spin_unlock, (pthread_spinlock_t *lock), (lock), LDB_LOCK_SPIN)

ACQUIRE(mtx_lock, (mtx_t *lock), (lock),
	LDB_LOCK_MUTEX, mtx_trylock, thrd_busy, true)
ACQUIRE(mtx_timedlock, (mtx_t *lock, const struct timespec *until), (lock, until),
	LDB_LOCK_MUTEX, mtx_trylock, thrd_busy, true)
TRY(mtx_trylock, (mtx_t *lock), (lock), LDB_LOCK_MUTEX)
RELEASE(mtx_unlock, (mtx_t *lock), (lock), LDB_LOCK_MUTEX)

COND(pthread_cond_wait, (pthread_cond_t *cond, pthread_mutex_t *mutex),
     (cond, mutex), true)
COND(pthread_cond_timedwait,
     (pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until),
     (cond, mutex, until), glibc_time_valid(until))
COND(pthread_cond_clockwait,
     (pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
      const struct timespec *until),
     (cond, mutex, clock, until), glibc_clock_valid(clock) && glibc_time_valid(until))
COND(cnd_wait, (cnd_t *cond, mtx_t *mutex), (cond, mutex), true)
COND(cnd_timedwait, (cnd_t *cond, mtx_t *mutex, const struct timespec *until),
     (cond, mutex, until), glibc_time_valid(until))

SEM(sem_wait, (sem_t *sem), (sem), true, true)
SEM(sem_timedwait, (sem_t *sem, const struct timespec *until), (sem, until),
    glibc_time_valid(until), true)
SEM(sem_clockwait, (sem_t *sem, clockid_t clock, const struct timespec *until),
    (sem, clock, until), glibc_clock_valid(clock) && glibc_time_valid(until), false)

WAIT(pthread_barrier_wait, (pthread_barrier_t *barrier), (barrier),
     LDB_LOCK_BARRIER, barrier, NULL)
WAIT(pthread_join, (pthread_t thread, void **ret), (thread, ret),
     LDB_LOCK_JOIN, thread, join_tid_of)
WAIT(pthread_timedjoin_np,
     (pthread_t thread, void **ret, const struct timespec *until), (thread, ret, until),
     LDB_LOCK_JOIN, thread, join_tid_of)
WAIT(pthread_clockjoin_np,
     (pthread_t thread, void **ret, clockid_t clock, const struct timespec *until),
     (thread, ret, clock, until), LDB_LOCK_JOIN, thread, join_tid_of)
WAIT(thrd_join, (thrd_t thread, int *ret), (thread, ret),
     LDB_LOCK_JOIN, thread, join_tid_of)

WAKE(pthread_cond_signal, (pthread_cond_t *cond), (cond), cond)
WAKE(pthread_cond_broadcast, (pthread_cond_t *cond), (cond), cond)
WAKE(cnd_signal, (cnd_t *cond), (cond), cond)
WAKE(cnd_broadcast, (cnd_t *cond), (cond), cond)
WAKE(sem_post, (sem_t *sem), (sem), sem)

JUMP(longjmp, (struct __jmp_buf_tag env[1], int val), (env, val))
JUMP(_longjmp, (struct __jmp_buf_tag env[1], int val), (env, val))
JUMP(siglongjmp, (struct __jmp_buf_tag env[1], int val), (env, val))
JUMP(__longjmp_chk, (struct __jmp_buf_tag env[1], int val), (env, val))
UNWIND(_Unwind_SetIP, (struct _Unwind_Context *context, uintptr_t ip), (context, ip))

#undef ACQUIRE
#undef TRY
#undef RELEASE
#undef COND
#undef SEM
#undef WAIT
#undef WAKE
#undef JUMP
#undef UNWIND
