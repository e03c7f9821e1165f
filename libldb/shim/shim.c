// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The interposed functions of pthread and C11 threads.
 *
 * - Nobody records: a load, a branch, a jump to the real function.
 * - A lock that is free is taken by its try function, or, a usual mutex, right here:
 *   no clock but at level hold, only an entry in the thread's own list.  Only "busy"
 *   means that somebody else has it; EOWNERDEAD means that we have it, and anything else
 *   is the answer.
 * - A lock that is busy is waited for by the real function between two stamps.
 *
 * What the program can see stays as it is: return value, errno, cancellation.
 * A thread that is cancelled in a wait leaves through the cleanup functions, so
 * this file must be compiled with -fexceptions.
 *
 * A wrapper may run in a signal handler, in the middle of another one: then it
 * passes straight through (hook_enter() in held.h).
 */
#define _GNU_SOURCE
#include <errno.h>
#include "glibc.h"
#include "held.h"
#include "mutex.h"
#include "next.h"
#include "wait.h"

#ifndef __EXCEPTIONS
#error "compile the shim with -fexceptions, or cancellation skips its cleanup"
#endif

/* Next to each other, and no more lines of the cache than their size says. */
#define HOT_TEXT	__attribute__((section(".text.hot"), aligned(64)))
#define CLEANUP(fn)	__attribute__((cleanup(fn)))
#define SITE		((uintptr_t)__builtin_return_address(0))

/* Of a thread that was never here, or has gone, the epoch is none that is ever recorded. */
static TLS_IE struct held_list held_list;

/*
 * From now on the thread takes usual mutexes itself, unless it is the only one: then
 * libc needs no atomic operation.
 */
static void quick_begin(struct held_list *l, uint32_t tid)
{
	if (!__libc_single_threaded && mutex_is_known(tid))
		l->tid = tid;
}

/* What is on the list is from another recording, or from before a fork. */
__attribute__((noinline, cold)) void held_forget(struct held_list *l, uint32_t tid)
{
	own_forget();
	quick_begin(l, tid);
	for (uint32_t n = 0; n < HELD_MAX; n++)
		l->held[n] = (struct held_lock){ 0 };
	l->nr_held = 0;
	l->held_epoch = session_page.a.epoch;
}

/*
 * Each function comes in parts: what the program calls, which needs no stack
 * frame; with FAST_WRAPPER, in the same function a short way for the usual case,
 * and others for what is less usual; and the whole of it.  Each reaches the next
 * by a jump, so that the return address is still the caller's.
 */
#define WRAPPER(name, params, args)					\
	static int slow_##name params;					\
	EXPORT int name params						\
	{								\
		if (likely(!session_wants_locks()))			\
			return next(name) args;				\
		return slow_##name args;				\
	}								\
	static __attribute__((noinline)) int slow_##name params

#define FAST_WRAPPER(name, params, args)				\
	static int fast_##name params;					\
	static int slow_##name params;					\
	EXPORT HOT_TEXT int name params					\
	{								\
		if (likely(!session_wants_locks()))			\
			return next(name) args;				\
		return fast_##name args;				\
	}								\
	static __attribute__((noinline)) int slow_##name params

#define FAST(name, params)						\
	static inline __attribute__((always_inline)) int fast_##name params

#define ACQUIRE(name, params, args, kind, try, busy, valid)		\
	FAST_WRAPPER(name, params, args)				\
	{								\
		struct thread *t = (valid) ? shim_enter() : NULL;	\
		int rc;							\
									\
		if (unlikely(!t))					\
			return next(name) args;				\
		if (kind == LDB_LOCK_MUTEX &&				\
		    glibc_mutex_untriable((const void *)lock))		\
			rc = glibc_mutex_taken((const void *)lock, t->tid) ? \
				busy : next(name) args;			\
		else							\
			rc = next(try)(lock);				\
		if (rc == 0 || rc == EOWNERDEAD)			\
			held_acquired(t, lock, kind, SITE);		\
		if (rc != busy) {					\
			hook_leave(t);					\
		} else {						\
			CLEANUP(wait_lock_cancelled) struct wait w;	\
									\
			wait_lock_begin(&w, t, lock, kind, SITE);	\
			hook_leave(t);					\
			rc = next(name) args;				\
			wait_lock_end(&w, rc);				\
		}							\
		return rc;						\
	}								\
	static __attribute__((noinline, cold)) int failed_##name params	\
	{								\
		held_unpush_fast(held_of_self());			\
		return slow_##name args;				\
	}								\
	QUICK(__attribute__((noinline)), hold, slow, LDB_MUTEX_HOLD, name, params, args, kind, try, valid) \
	QUICK(inline __attribute__((always_inline)), wait, hold, LDB_MUTEX_WAIT, name, params, args, kind, try, valid) \
	static __attribute__((noinline)) int other_##name params	\
	{								\
		return wait_##name args;				\
	}								\
	FAST(name, params)						\
	{								\
		struct held_list __seg_fs *l = held_of_self();		\
		uint32_t tid = l->tid;					\
									\
		if (kind != LDB_LOCK_MUTEX)				\
			return wait_##name args;			\
		/* not on the list: who waits for it later infers the hold */ \
		if (unlikely(!tid && glibc_mutex_alone((const void *)lock) && \
			     session_page.a.mutex_level == LDB_MUTEX_WAIT)) \
			return next(name) args;				\
		if (unlikely(!glibc_mutex_is_usual((const void *)lock) || !tid || \
			     !fast_enter(l, LDB_MUTEX_WAIT) || !(valid)))	\
			return other_##name args;			\
		held_push_fast(l, lock, kind, SITE);			\
		if (unlikely(!glibc_mutex_take((void *)lock, tid)))	\
			return failed_##name args;			\
		return 0;						\
	}

/* As few stores and saved registers as can be: see held_push_fast(). */
#define QUICK(attr, path, other, level, name, params, args, kind, try, valid)	\
	static attr int path##_##name params				\
	{								\
		struct held_list __seg_fs *l = held_of_self();		\
		int rc;							\
									\
		if (unlikely(!fast_enter(l, level) || !(valid)))	\
			return other##_##name args;			\
		if (kind == LDB_LOCK_MUTEX &&				\
		    unlikely(!glibc_mutex_is_simple((const void *)lock))) { \
			if (glibc_mutex_untriable((const void *)lock) || !l->tid) \
				return slow_##name args;		\
			if (glibc_mutex_reentered((const void *)lock, l->tid)) \
				return next(name) args;			\
		}							\
		held_push_fast(l, lock, kind, SITE);			\
		rc = next(try)(lock);					\
		if (unlikely(rc))					\
			return failed_##name args;			\
		if (level == LDB_MUTEX_HOLD)				\
			held_stamp_fast(l, lock);			\
		return 0;						\
	}

#define TRY(name, params, args, kind)					\
	FAST_WRAPPER(name, params, args)				\
	{								\
		struct thread *t = shim_enter();			\
		int rc;							\
									\
		if (unlikely(!t))					\
			return next(name) args;				\
		rc = next(name) args;					\
		if (rc == 0 || rc == EOWNERDEAD)			\
			held_acquired(t, lock, kind, SITE);		\
		hook_leave(t);						\
		return rc;						\
	}								\
	FAST(name, params)						\
	{								\
		struct held_list __seg_fs *l = held_of_self();		\
		int rc;							\
									\
		if (unlikely(!fast_enter(l, LDB_MUTEX_WAIT)))		\
			return slow_##name args;			\
		held_push_fast(l, lock, kind, SITE);			\
		rc = next(name) args;					\
		if ((rc && rc != EOWNERDEAD) ||				\
		    (kind == LDB_LOCK_MUTEX &&				\
		     unlikely(glibc_mutex_nested((const void *)lock))))	\
			held_unpush_fast(l);				\
		return rc;						\
	}

#define RELEASE(name, params, args, kind)				\
	FAST_WRAPPER(name, params, args)				\
	{								\
		bool inner = kind == LDB_LOCK_MUTEX &&			\
			     glibc_mutex_nested((const void *)lock);	\
		struct thread *t = inner ? NULL : shim_enter();		\
		struct release r;					\
		int rc;							\
									\
		if (!t)							\
			return next(name) args;				\
		if (!release_start(&r, t, lock, kind, SITE))		\
			return next(name) args;				\
		rc = next(name) args;					\
		if (rc == 0)						\
			release_end(&r);				\
		return rc;						\
	}								\
	static inline __attribute__((always_inline)) int any_##name params \
	{								\
		struct held_list __seg_fs *l = held_of_self();		\
									\
		if (kind == LDB_LOCK_MUTEX &&				\
		    unlikely(glibc_mutex_nested((const void *)lock)))	\
			return next(name) args;				\
		if (unlikely(l->in_hook ||				\
			     l->held_epoch != session_page.a.epoch ||	\
			     waiters_seen(lock)))			\
			return slow_##name args;			\
		if (unlikely(!held_pop_fast(l, lock) && l->nr_held))	\
			return slow_##name args;			\
		return next(name) args;					\
	}								\
	static __attribute__((noinline)) int other_##name params	\
	{								\
		return any_##name args;					\
	}								\
	FAST(name, params)						\
	{								\
		struct held_list __seg_fs *l = held_of_self();		\
									\
		if (kind != LDB_LOCK_MUTEX)				\
			return any_##name args;				\
		if (unlikely(!l->tid && !l->nr_held &&			\
			     glibc_mutex_alone((const void *)lock)))	\
			return next(name) args;				\
		if (unlikely(!glibc_mutex_unwanted((const void *)lock) || !l->tid || \
			     l->in_hook || l->held_epoch != session_page.a.epoch || \
			     !held_pop_quick(l, lock)))			\
			return other_##name args;			\
		if (unlikely(!glibc_mutex_give((void *)lock)))		\
			return next(name) args;				\
		return 0;						\
	}

#define COND(name, params, args, valid)					\
	WRAPPER(name, params, args)					\
	{								\
		struct thread *t = (valid) ? shim_enter() : NULL;	\
									\
		if (unlikely(!t))					\
			return next(name) args;				\
		{							\
			CLEANUP(wait_cond_cancelled) struct wait_cond c; \
			int rc;						\
									\
			wait_cond_begin(&c, t, cond, mutex, SITE);	\
			hook_leave(t);					\
			rc = next(name) args;				\
			wait_cond_end(&c, rc);				\
			return rc;					\
		}							\
	}

#define SEM(name, params, args, valid, cancels)				\
	WRAPPER(name, params, args)					\
	{								\
		struct thread *t = (valid) ? shim_enter() : NULL;	\
		int saved;						\
									\
		if (unlikely(!t))					\
			return next(name) args;				\
		hook_leave(t);						\
		if (cancels)						\
			pthread_testcancel();				\
		saved = errno;						\
		if (sem_trywait(sem) == 0)				\
			return 0;					\
		errno = saved;						\
		{							\
			CLEANUP(wait_cancelled) struct wait w;		\
			int rc;						\
									\
			wait_begin(&w, t, (uintptr_t)sem, LDB_LOCK_SEM, \
				   0, SITE);				\
			rc = next(name) args;				\
			saved = errno;					\
			wait_end(&w, rc ? saved : 0);			\
			errno = saved;					\
			return rc;					\
		}							\
	}

/* PTHREAD_BARRIER_SERIAL_THREAD is no error, and less than 0. */
#define WAIT(name, params, args, kind, object, owner)			\
	WRAPPER(name, params, args)					\
	{								\
		struct thread *t = shim_enter();			\
									\
		if (unlikely(!t))					\
			return next(name) args;				\
		{							\
			CLEANUP(wait_cancelled) struct wait w;		\
			int rc;						\
									\
			wait_begin(&w, t, (uintptr_t)object, kind,	\
				   owner, SITE);			\
			hook_leave(t);					\
			rc = next(name) args;				\
			wait_end(&w, rc > 0 ? rc : 0);			\
			return rc;					\
		}							\
	}

/* Async-signal-safe, as sem_post() is.  What is woken may be gone afterwards. */
#define WAKE(name, params, args, object)				\
	EXPORT int name params						\
	{								\
		if (unlikely(session_wants_locks()) &&			\
		    waker_is_awaited(object) && thread_self())		\
			waker_set(object, thread_self()->tid);		\
		return next(name) args;					\
	}

#include "list.h"

void shim_init(void)
{
	next_init();
}

void shim_locate(intptr_t gen_off)
{
	next_table.gen_off = gen_off;
	next_table.held_off = (uintptr_t)&held_list - cpu_thread_pointer();
}

intptr_t shim_gen_off(void)
{
	return next_table.gen_off;
}

void shim_not_alone(void)
{
	struct thread *t = thread_self();

	if (t)
		quick_begin(t->list, t->tid);
}

void shim_thread_enter(struct thread *t)
{
	held_list.in_hook = 0;
	held_list.tid = 0;
	held_list.nr_held = 0;
	held_list.held_epoch = 0;
	t->list = &held_list;
}

void shim_thread_exit(struct thread *t)
{
	struct held_list *l = t->list;

	if (session_on() && l->held_epoch == session_page.a.epoch)
		for (uint32_t n = 0; n < l->nr_held; n++)
			held_write_wait(t, &l->held[n]);
	l->nr_held = 0;
	l->held_epoch = 0;
	own_forget();
}

void shim_begin(void)
{
	wakers_forget();
}

void shim_fork_child(void)
{
	held_list.tid = 0;
	held_list.nr_held = 0;
	held_list.held_epoch = 0;
	for (unsigned n = 0; n < 1 << WAITERS_BITS; n++)
		if (atomic_load_explicit(&waiters_table[n], memory_order_relaxed))
			atomic_store_explicit(&waiters_table[n], 0, memory_order_relaxed);
	own_fork_child();
	wakers_forget();
}

/*
 * The thread may still be in a wrapper that it entered before the recording
 * ended.  An entry that changes while it is copied is about to be written by
 * its owner or is lost.
 */
void shim_flush(struct thread *t)
{
	const struct held_list *l = t->list;
	uint32_t nr = __atomic_load_n(&l->nr_held, __ATOMIC_ACQUIRE);

	for (uint32_t n = 0; n < nr && n < HELD_MAX; n++) {
		const volatile struct held_lock *p = &l->held[n];
		struct held_lock h = *p;

		if (h.wait_begin && h.wait_begin == p->wait_begin && h.lock == p->lock)
			held_write_wait(t, &h);
	}
}
