// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records locks that the program implements and reports: ldb_lock_wait(3).
 *
 * Only the address of such a lock is known, and its memory is never read.  So the holder of a
 * contended lock is stored in the table of wakers (waiters.h).  A thread that waits puts the lock's
 * address into a slot; from then on a thread that acquires the lock stores its tid there, and
 * removes it at the release, until another lock needs the slot.  A lock for which no thread has
 * ever waited causes no write to shared memory.  The first wait finds no holder, but the holder
 * finds the waiter, and records its hold.
 *
 * Wrong calls of the program lead to wrong records, and to nothing else.  The functions are
 * async-signal-safe and do not change errno.
 */
#include <errno.h>
#include "held.h"
#include "wait.h"
#include "waiters.h"

/* Waits may be nested: in the slow path of another lock, and in signal handlers. */
#define OWN_WAITS_MAX	4

struct own_waits {		/* the newest last; only the thread itself accesses it */
	uint32_t nr;
	struct wait at[OWN_WAITS_MAX];
};
static TLS_IE struct own_waits own_waits;

static struct wait *own_find(const volatile void *lock)
{
	for (uint32_t n = own_waits.nr; n-- > 0;)
		if (own_waits.at[n].lock == (uintptr_t)lock)
			return &own_waits.at[n];
	return NULL;
}

static void own_drop(const struct wait *w)
{
	order_any_sub(waiters_of((const void *)w->lock), 1);
}

void own_forget(void)
{
	while (own_waits.nr)
		own_drop(&own_waits.at[--own_waits.nr]);
}

void own_fork_child(void)
{
	own_waits.nr = 0;	/* the counters are 0 already */
}

/*
 * Returns a new entry.  If there are too many, the oldest is dropped, because the program has
 * probably not reported the end of that wait.
 */
static struct wait *own_room(void)
{
	struct own_waits *l = &own_waits;

	if (l->nr == OWN_WAITS_MAX) {
		own_drop(&l->at[0]);
		for (uint32_t n = 1; n < l->nr; n++)
			l->at[n - 1] = l->at[n];
		l->nr--;
	}
	return &l->at[l->nr];
}

/*
 * Ends the thread's wait for this lock, and drops all waits that began after it.  Returns false if
 * the thread did not wait for the lock.
 */
static bool own_remove_wait(const volatile void *lock, struct wait *taken)
{
	struct wait *w = own_find(lock);

	if (!w)
		return false;
	while (&own_waits.at[own_waits.nr - 1] != w)
		own_drop(&own_waits.at[--own_waits.nr]);
	*taken = *w;
	own_waits.nr--;
	return true;
}

void own_wait(const volatile void *lock, const void *site)
{
	struct thread *t = session_wants_locks() ? shim_enter() : NULL;
	struct wait *w;

	if (!t)
		return;
	if (!own_find(lock)) {
		w = own_room();
		wait_lock_begin(w, t, lock, LDB_LOCK_OWN, (uintptr_t)site);
		own_waits.nr++;
		if (w->owner == t->tid)		/* an earlier release was not reported */
			w->owner = 0;
		if (!waker_is_awaited(lock))
			waker_set(lock, 0);
	}
	hook_leave(t);
}

static __attribute__((noinline)) void slow_acquired(const volatile void *lock, uintptr_t site)
{
	struct thread *t = shim_enter();
	struct wait w;

	if (!t)
		return;
	if (waker_is_awaited(lock))
		waker_set(lock, t->tid);
	if (own_remove_wait(lock, &w)) {
		hook_leave(t);
		wait_lock_end(&w, 0);
	} else {
		held_acquired(t, lock, LDB_LOCK_OWN, site);
		hook_leave(t);
	}
}

/* Returns true if a thread may be waiting for the lock, or has waited for it. */
static inline bool own_is_wanted(const volatile void *lock)
{
	return unlikely(waiters_seen(lock) || waker_is_awaited(lock));
}

static __attribute__((noinline)) void stamped_acquired(const volatile void *lock, uintptr_t site)
{
	struct held_list CPU_THREAD_SPACE *l = held_of_self();

	if (own_is_wanted(lock) || !fast_enter(l, LDB_MUTEX_HOLD)) {
		slow_acquired(lock, site);
	} else {
		held_push_fast(l, lock, LDB_LOCK_OWN, site);
		held_stamp_fast(l, lock);
	}
}

/* The calls in this function are tail calls, so the usual case needs no stack frame. */
void own_acquired(const volatile void *lock, const void *site)
{
	struct held_list CPU_THREAD_SPACE *l;

	if (likely(!session_wants_locks()))
		return;
	l = held_of_self();
	if (own_is_wanted(lock) || !fast_enter(l, LDB_MUTEX_WAIT))
		stamped_acquired(lock, (uintptr_t)site);
	else
		held_push_fast(l, lock, LDB_LOCK_OWN, (uintptr_t)site);
}

static __attribute__((noinline)) void slow_released(const volatile void *lock, uintptr_t site)
{
	struct thread *t = shim_enter();
	struct release r;
	struct wait w;

	if (!t)
		return;
	/*
	 * If the slot has another thread's tid, the program has released the lock already, and the
	 * other thread holds it.
	 */
	if (order_any_load(waker_slot(lock)) == waker_word(lock, t->tid))
		waker_set(lock, 0);
	if (own_remove_wait(lock, &w)) {
		hook_leave(t);
		wait_lock_end(&w, ETIMEDOUT);
	} else if (release_start(&r, t, lock, LDB_LOCK_OWN, site)) {
		release_end(&r);
	}
}

/* Returns true if the newest entry may be removed without reading the others. */
static inline bool own_is_plain(const struct held_list CPU_THREAD_SPACE *l, const volatile void *lock)
{
	return likely(!l->in_hook && l->held_epoch == session_page.a.lock_epoch) && !own_is_wanted(lock);
}

static __attribute__((noinline)) void stamped_released(const volatile void *lock, uintptr_t site)
{
	struct held_list CPU_THREAD_SPACE *l = held_of_self();

	if (!own_is_plain(l, lock) || !held_pop_fast(l, lock))
		slow_released(lock, site);
}

void own_released(const volatile void *lock, const void *site)
{
	struct held_list CPU_THREAD_SPACE *l;

	if (likely(!session_wants_locks()))
		return;
	l = held_of_self();
	if (!own_is_plain(l, lock) || !held_pop_quick(l, lock))
		stamped_released(lock, (uintptr_t)site);
}
