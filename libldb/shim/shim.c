// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The interposed functions of pthread and C11 threads.
 *
 * - Without a recorder, a wrapper is a load, a branch and a jump to the real function.
 * - A free lock is taken by its try function, or, if it is a normal mutex and mutex.c permits it,
 *   here.  The only cost is an entry in the thread's own list; no clock is read except at level
 *   hold.  If the try function returns "busy", another thread holds the lock; EOWNERDEAD means that
 *   this thread now holds it; any other value is the result of the wrapper.
 * - For a lock that is busy the real function is called, between two time stamps.
 *
 * What the program can observe is unchanged: return value, errno, cancellation.  A thread that
 * is cancelled in a wait leaves through the cleanup functions, so this file must be compiled
 * with -fexceptions.
 *
 * A wrapper may run in a signal handler, in the middle of another one: then it only calls the
 * real function (hook_enter() in held.h).
 */
#define _GNU_SOURCE
#include <errno.h>
#include "glibc.h"
#include "held.h"
#include "mutex.h"
#include "next.h"
#include "wait.h"
#include "waiters.h"

#ifndef __EXCEPTIONS
#error "compile the shim with -fexceptions, or cancellation skips its cleanup"
#endif

#define ALWAYS_INLINE	inline __attribute__((always_inline))
/* Puts functions next to each other, aligned so that they use as few cache lines as possible. */
#define HOT_TEXT	__attribute__((section(".text.hot"), aligned(64)))
#define CLEANUP(fn)	__attribute__((cleanup(fn)))
/* The address at which the program called the wrapper; also right in an inline function. */
#define SITE		((uintptr_t)__builtin_return_address(0))
/*
 * SITE, corrected if the return address is a stub of flows/; in fast paths it is corrected later.
 */
#define SLOW_SITE	flow_site(SITE)

/*
 * For a thread that never called a wrapper, or has exited, held_epoch is 0, which no recording has.
 */
static TLS_IE struct held_list held_list;

/*
 * Makes the shim acquire normal mutexes for the thread itself, unless it is the only thread,
 * because then libc is faster: it needs no atomic operation.
 */
static void quick_begin(struct held_list *l, uint32_t tid)
{
	if (!__libc_single_threaded && mutex_is_known(tid))
		l->tid = tid;
}

/* Forgets locks and waits of another recording, or from before a fork or a pause. */
__attribute__((noinline, cold)) void held_forget(struct held_list *l, uint32_t tid)
{
	own_forget();
	quick_begin(l, tid);
	for (uint32_t n = 0; n < HELD_MAX; n++)
		l->held[n] = (struct held_lock){ 0 };
	l->nr_held = 0;
	l->held_epoch = session_page.a.lock_epoch;
}

/*
 * A wrapper consists of parts: the part that the program calls, which needs no stack frame and
 * handles the usual case; and others, for less usual cases.  Each part calls the next one by a tail
 * call, so that the return address is still the caller's.
 *
 * The work of a part is in inline functions.  Their first argument describes the wrapped
 * function: it is a constant, which the compiler eliminates.
 */
#define PART(part, name, params)	static __attribute__((noinline)) int part##_##name params
#define SLOW_PART(name, params)		PART(slow, name, params)

/* Where the result of a part comes from. */
enum way {
	DONE,		/* the lock is taken or released: the result is 0 */
	REAL,		/* the real function */
	NEXT_PART,
	SLOW,		/* the last part, which handles all cases */
	FAILED,		/* as SLOW, after removing the lock from the thread's list */
};

#define GO(way, name, args, next_part, failed_part)			\
	do {								\
		switch (way) {						\
		case DONE:						\
			return 0;					\
		case REAL:						\
			return next(name) args;				\
		case NEXT_PART:						\
			return (next_part) args;			\
		case FAILED:						\
			return (failed_part) args;			\
		default:						\
			return slow_##name args;			\
		}							\
	} while (0)

/* Describes a function that does not block, and whose only argument is the lock. */
struct lock_call {
	uint32_t kind;			/* enum ldb_lock_kind; 0: as the lock was taken */
	int (*real)(void *lock);
};

/* The one, two or three arguments of a function that takes a lock. */
struct acquire_args {
	void *lock;
	clockid_t clock;
	const struct timespec *until;
};

/* Describes a function that takes a lock, and may wait for it. */
struct acquire {
	uint32_t kind;			/* enum ldb_lock_kind */
	int busy;			/* the result of try() if another thread holds the lock */
	int (*try)(void *lock);		/* never blocks */
	/* If it returns false the call is refused before the lock is read. */
	bool (*valid)(struct acquire_args a);
	int (*real)(struct acquire_args a);
};

static ALWAYS_INLINE int acquire_slow(const struct acquire *f, const struct acquire_args a)
{
	struct thread *t = f->valid(a) ? shim_enter() : NULL;
	int rc;

	if (unlikely(!t))
		return f->real(a);
	if (f->kind == LDB_LOCK_MUTEX && glibc_mutex_untriable(a.lock))
		rc = glibc_mutex_taken(a.lock, t->tid) ? f->busy : f->real(a);
	else
		rc = f->try(a.lock);
	if (rc == 0 || rc == EOWNERDEAD)
		held_acquired(t, a.lock, f->kind, SLOW_SITE);
	if (rc != f->busy) {
		hook_leave(t);
	} else {
		CLEANUP(wait_lock_cancelled) struct wait w;

		wait_lock_begin(&w, t, a.lock, f->kind, SLOW_SITE);
		hook_leave(t);
		rc = f->real(a);
		wait_lock_end(&w, rc);
	}
	return rc;
}

/* Written to need few stores and saved registers: see held_push_fast(). */
static ALWAYS_INLINE enum way acquire_at_level(const struct acquire *f, uint32_t level,
					       const struct acquire_args a)
{
	struct held_list CPU_THREAD_SPACE *l = held_of_self();

	if (unlikely(!fast_enter(l, level) || !f->valid(a)))
		return NEXT_PART;
	if (f->kind == LDB_LOCK_MUTEX && unlikely(!glibc_mutex_is_simple(a.lock))) {
		if (glibc_mutex_untriable(a.lock) || !l->tid)
			return SLOW;
		if (glibc_mutex_reentered(a.lock, l->tid))
			return REAL;
	}
	held_push_fast(l, a.lock, f->kind, SITE);
	if (unlikely(f->try(a.lock)))
		return FAILED;
	if (level == LDB_MUTEX_HOLD)
		held_stamp_fast(l, a.lock);
	return DONE;
}

static ALWAYS_INLINE enum way acquire_usual(const struct acquire *f, const struct acquire_args a)
{
	struct held_list CPU_THREAD_SPACE *l = held_of_self();
	uint32_t tid = l->tid;

	if (f->kind != LDB_LOCK_MUTEX)
		return acquire_at_level(f, LDB_MUTEX_WAIT, a);
	/* the lock gets no entry: its hold is inferred if a thread waits for it later */
	if (unlikely(!tid && glibc_mutex_alone(a.lock) &&
		     session_page.a.mutex_level == LDB_MUTEX_WAIT))
		return REAL;
	if (unlikely(!glibc_mutex_is_usual(a.lock) || !tid || !fast_enter(l, LDB_MUTEX_WAIT) ||
		     !f->valid(a)))
		return NEXT_PART;
	held_push_fast(l, a.lock, f->kind, SITE);
	return likely(glibc_mutex_acquire(a.lock, tid)) ? DONE : FAILED;
}

static ALWAYS_INLINE int try_slow(const struct lock_call *f, void *lock)
{
	struct thread *t = shim_enter();
	int rc;

	if (unlikely(!t))
		return f->real(lock);
	rc = f->real(lock);
	if (rc == 0 || rc == EOWNERDEAD)
		held_acquired(t, lock, f->kind, SLOW_SITE);
	hook_leave(t);
	return rc;
}

static ALWAYS_INLINE int try_usual(const struct lock_call *f, void *lock)
{
	struct held_list CPU_THREAD_SPACE *l = held_of_self();
	int rc;

	held_push_fast(l, lock, f->kind, SITE);
	rc = f->real(lock);
	if ((rc && rc != EOWNERDEAD) ||
	    (f->kind == LDB_LOCK_MUTEX && unlikely(glibc_mutex_nested(lock))))
		held_unpush_fast(l);
	return rc;
}

static ALWAYS_INLINE int release_slow(const struct lock_call *f, void *lock)
{
	bool inner = f->kind == LDB_LOCK_MUTEX && glibc_mutex_nested(lock);
	struct thread *t = inner ? NULL : shim_enter();
	struct release r;
	int rc;

	if (!t)
		return f->real(lock);
	if (!release_start(&r, t, lock, f->kind, SLOW_SITE))
		return f->real(lock);
	rc = f->real(lock);
	if (rc == 0)
		release_end(&r);
	return rc;
}

static ALWAYS_INLINE enum way release_any(const struct lock_call *f, void *lock)
{
	struct held_list CPU_THREAD_SPACE *l = held_of_self();

	if (f->kind == LDB_LOCK_MUTEX && unlikely(glibc_mutex_nested(lock)))
		return REAL;
	if (unlikely(l->in_hook || l->held_epoch != session_page.a.lock_epoch || waiters_seen(lock)))
		return SLOW;
	if (unlikely(!held_pop_fast(l, lock) && l->nr_held))
		return SLOW;
	return REAL;
}

static ALWAYS_INLINE enum way release_usual(const struct lock_call *f, void *lock)
{
	struct held_list CPU_THREAD_SPACE *l = held_of_self();

	if (f->kind != LDB_LOCK_MUTEX)
		return release_any(f, lock);
	if (unlikely(!l->tid && !l->nr_held && glibc_mutex_alone(lock)))
		return REAL;
	if (unlikely(!glibc_mutex_unwanted(lock) || !l->tid || l->in_hook ||
		     l->held_epoch != session_page.a.lock_epoch || !held_pop_quick(l, lock)))
		return NEXT_PART;
	return likely(glibc_mutex_release(lock)) ? DONE : REAL;
}

#define LOCK_CALL(name, kind_)						\
	static ALWAYS_INLINE int real_##name(void *lock)		\
	{								\
		return next(name)(lock);				\
	}								\
	static const struct lock_call call_of_##name = { .kind = kind_, .real = real_##name };

#define TRY(name, params, args, kind)					\
	LOCK_CALL(name, kind)						\
	SLOW_PART(name, params)						\
	{								\
		return try_slow(&call_of_##name, (void *)lock);		\
	}								\
	EXPORT HOT_TEXT int name params					\
	{								\
		if (likely(!session_wants_locks()))			\
			return next(name) args;				\
		if (unlikely(!fast_enter(held_of_self(), LDB_MUTEX_WAIT))) \
			return slow_##name args;			\
		return try_usual(&call_of_##name, (void *)lock);	\
	}

#define RELEASE(name, params, args, kind)				\
	LOCK_CALL(name, kind)						\
	SLOW_PART(name, params)						\
	{								\
		return release_slow(&call_of_##name, (void *)lock);	\
	}								\
	PART(other, name, params)					\
	{								\
		GO(release_any(&call_of_##name, (void *)lock), name, args, \
		   slow_##name, slow_##name);				\
	}								\
	EXPORT HOT_TEXT int name params					\
	{								\
		if (likely(!session_wants_locks()))			\
			return next(name) args;				\
		GO(release_usual(&call_of_##name, (void *)lock), name, args, \
		   other_##name, slow_##name);				\
	}

#include "list.h"	/* ACQUIRE functions call TRY functions */

#define ARGS_1(lock_)			{ .lock = (void *)(lock_) }
#define ARGS_2(lock_, until_)		{ .lock = (void *)(lock_), .until = (until_) }
#define ARGS_3(lock_, clock_, until_)	\
	{ .lock = (void *)(lock_), .clock = (clock_), .until = (until_) }
#define ARGS_N(_1, _2, _3, n, ...)	ARGS_##n
#define PACK_ARGS(...)	((struct acquire_args)ARGS_N(__VA_ARGS__, 3, 2, 1)(__VA_ARGS__))
#define UNPACK_ARGS(a)							\
	void *lock __attribute__((unused)) = a.lock;			\
	clockid_t clock __attribute__((unused)) = a.clock;		\
	const struct timespec *until __attribute__((unused)) = a.until

/* args and condition are from list.h, and name the arguments. */
#define ACQUIRE_CALL(name, args, kind_, try_, busy_, condition)		\
	static ALWAYS_INLINE int real_##name(const struct acquire_args a) \
	{								\
		UNPACK_ARGS(a);						\
		return next(name) args;					\
	}								\
	static ALWAYS_INLINE bool valid_##name(const struct acquire_args a) \
	{								\
		UNPACK_ARGS(a);						\
		return condition;					\
	}								\
	static const struct acquire call_of_##name = {			\
		.kind = kind_, .busy = busy_, .try = real_##try_,	\
		.valid = valid_##name, .real = real_##name,		\
	};

#define ACQUIRE(name, params, args, kind, try, busy, valid)		\
	ACQUIRE_CALL(name, args, kind, try, busy, valid)		\
	SLOW_PART(name, params)						\
	{								\
		return acquire_slow(&call_of_##name, PACK_ARGS args);	\
	}								\
	static __attribute__((noinline, cold)) int failed_##name params	\
	{								\
		held_unpush_fast(held_of_self());			\
		return slow_##name args;				\
	}								\
	PART(hold, name, params)					\
	{								\
		GO(acquire_at_level(&call_of_##name, LDB_MUTEX_HOLD, PACK_ARGS args), \
		   name, args, slow_##name, failed_##name);		\
	}								\
	PART(other, name, params)					\
	{								\
		GO(acquire_at_level(&call_of_##name, LDB_MUTEX_WAIT, PACK_ARGS args), \
		   name, args, hold_##name, failed_##name);		\
	}								\
	EXPORT HOT_TEXT int name params					\
	{								\
		if (likely(!session_wants_locks()))			\
			return next(name) args;				\
		GO(acquire_usual(&call_of_##name, PACK_ARGS args), name, args, \
		   kind == LDB_LOCK_MUTEX ? other_##name : hold_##name, failed_##name); \
	}

/* Makes the wrapper of a function that only waits, which has no fast path during a recording. */
#define WRAPPER(name, params, args)					\
	static int slow_##name params;					\
	EXPORT int name params						\
	{								\
		if (likely(!session_wants_locks()))			\
			return next(name) args;				\
		return slow_##name args;				\
	}								\
	SLOW_PART(name, params)

static ALWAYS_INLINE bool cond_begin(struct wait_cond *c, const void *cond, const void *mutex,
				     bool valid)
{
	struct thread *t = valid ? shim_enter() : NULL;

	c->w.t = NULL;
	if (unlikely(!t))
		return false;
	wait_cond_begin(c, t, cond, mutex, SLOW_SITE);
	hook_leave(t);
	return true;
}

#define COND(name, params, args, valid)					\
	WRAPPER(name, params, args)					\
	{								\
		CLEANUP(wait_cond_cancelled) struct wait_cond c;	\
		int rc;							\
									\
		if (!cond_begin(&c, cond, mutex, valid))		\
			return next(name) args;				\
		rc = next(name) args;					\
		wait_cond_end(&c, rc);					\
		return rc;						\
	}

/* Describes a function that waits for something that has no holder. */
struct object_call {
	uint32_t kind;				/* enum ldb_lock_kind */
	/* returns the thread that will end the wait; NULL: it is never known */
	uint32_t (*owner)(uintptr_t object);
};

static ALWAYS_INLINE bool object_begin(const struct object_call *f, struct wait *w,
				       uintptr_t object)
{
	struct thread *t = shim_enter();

	w->t = NULL;
	if (unlikely(!t))
		return false;
	wait_begin(w, t, object, f->kind, f->owner ? f->owner(object) : 0, SLOW_SITE);
	hook_leave(t);
	return true;
}

/* PTHREAD_BARRIER_SERIAL_THREAD is less than 0, but it is not an error. */
static ALWAYS_INLINE int object_end(struct wait *w, int rc)
{
	wait_end(w, rc > 0 ? rc : 0);
	return rc;
}

#define WAIT(name, params, args, kind_, object, owner_)			\
	static const struct object_call call_of_##name = { .kind = kind_, .owner = owner_ }; \
	WRAPPER(name, params, args)					\
	{								\
		CLEANUP(wait_cancelled) struct wait w;			\
									\
		if (!object_begin(&call_of_##name, &w, (uintptr_t)object)) \
			return next(name) args;				\
		return object_end(&w, next(name) args);			\
	}

static ALWAYS_INLINE enum way sem_try(sem_t *sem, bool valid, bool cancels)
{
	struct thread *t = valid ? shim_enter() : NULL;
	int saved;

	if (unlikely(!t))
		return REAL;
	hook_leave(t);
	if (cancels)
		pthread_testcancel();
	saved = errno;
	if (sem_trywait(sem) == 0)
		return DONE;
	errno = saved;
	return NEXT_PART;
}

static ALWAYS_INLINE int sem_end(struct wait *w, int rc)
{
	int saved = errno;

	wait_end(w, rc ? saved : 0);
	errno = saved;
	return rc;
}

#define SEM(name, params, args, valid, cancels)				\
	PART(wait, name, params)					\
	{								\
		CLEANUP(wait_cancelled) struct wait w;			\
									\
		wait_begin(&w, thread_self(), (uintptr_t)sem, LDB_LOCK_SEM, 0, SLOW_SITE); \
		return sem_end(&w, next(name) args);			\
	}								\
	WRAPPER(name, params, args)					\
	{								\
		GO(sem_try(sem, valid, cancels), name, args, wait_##name, slow_##name); \
	}

/*
 * Called before the real function, because the object may have been destroyed after it.  It is
 * async-signal-safe, as sem_post() is.
 */
static ALWAYS_INLINE void wake(const volatile void *object)
{
	if (unlikely(session_wants_locks()) && waker_is_awaited(object) && thread_self())
		waker_set(object, thread_self()->tid);
}

#define WAKE(name, params, args, object)				\
	EXPORT int name params						\
	{								\
		wake(object);						\
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

	if (session_wants_locks() && l->held_epoch == session_page.a.lock_epoch)
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
	waiters_forget();
	own_fork_child();
	wakers_forget();
}

/*
 * The thread may still be in a wrapper that it entered before the recording
 * ended or was paused.  An entry that changes while it is copied is not written
 * here: its thread writes it, or it is lost.
 */
void shim_flush(struct thread *t)
{
	const struct held_list *l = t->list;
	uint32_t nr = order_held_count(&l->nr_held);

	if (l->held_epoch != session_page.a.lock_epoch)
		return;
	for (uint32_t n = 0; n < nr && n < HELD_MAX; n++) {
		const volatile struct held_lock *p = &l->held[n];
		struct held_lock h = *p;

		if (h.wait_begin && h.wait_begin == p->wait_begin && h.lock == p->lock)
			held_write_wait(t, &h);
	}
}
