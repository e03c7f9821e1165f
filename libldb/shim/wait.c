// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes the records of waits.
 *
 * A recording can end, and another begin, while a thread waits: after the wait
 * the session's clock and rings may be used only if lock_epoch is unchanged.
 */
#include <errno.h>
#include "held.h"
#include "wait.h"
#include "waiters.h"

static void wait_write(struct thread *t, const struct wait *w, uint64_t end, uint32_t flags)
{
	struct held_lock h = {
		.lock = w->lock, .gen = w->gen, .site_kind = w->site, .owner = w->owner,
		.nr_later = w->nr_later,
	};

	if (end - w->begin >= session_page.a.lock_threshold)
		lock_event_write(t, LDB_EV_LOCK_WAIT, &h, w->begin, end, w->kind | flags);
}

/* Returns the tid in the object's slot; 0: none. */
static uint32_t waker_of(const volatile void *object)
{
	uint64_t word = order_any_load(waker_slot(object));
	uint32_t tid = word & ((1U << WAKER_TID_BITS) - 1);

	return word == waker_word(object, tid) ? tid : 0;
}

static bool has_waker(uint32_t kind)
{
	return kind == LDB_LOCK_COND || kind == LDB_LOCK_SEM || kind == LDB_LOCK_BARRIER;
}

void wait_begin(struct wait *w, struct thread *t, uintptr_t object, uint32_t kind,
		uint32_t owner, uintptr_t site)
{
	w->lock = object;
	w->kind = kind;
	w->owner = owner;
	w->site = site;
	w->epoch = session_page.a.lock_epoch;
	w->gen = thread_innermost(t, &w->nr_later);
	/* The last thread that reaches a barrier wakes the others. */
	if (has_waker(kind))
		waker_set((const void *)object, kind == LDB_LOCK_BARRIER ? t->tid : 0);
	/*
	 * The stores of the function of this generation are visible before this time, so the
	 * scanner does not observe the function's start later than the start of the wait.
	 */
	w->begin = session_clock_after_stores();
	w->t = t;
}

/* Ends the wait.  If the same recording still runs, enters a hook and returns the thread. */
static struct thread *wait_over(struct wait *w)
{
	struct thread *t = w->t;

	w->t = NULL;
	if (!session_wants_locks() || session_page.a.lock_epoch != w->epoch)
		return NULL;
	hook_enter(t);
	return t;
}

static void name_waker(struct wait *w, const struct thread *t, int err)
{
	if (!err && has_waker(w->kind)) {
		w->owner = waker_of((const void *)w->lock);
		if (w->owner == t->tid)
			w->owner = 0;
	}
}

/* Returns true if the call was refused, so that it did not wait. */
static bool wait_refused(int err)
{
	return err == EDEADLK || err == EINVAL || err == EPERM || err == ESRCH;
}

void wait_end(struct wait *w, int err)
{
	struct thread *t = wait_over(w);

	if (!t)
		return;
	name_waker(w, t, err);
	if (!wait_refused(err))
		wait_write(t, w, session_clock(), err ? LDB_LOCK_F_FAILED : 0);
	hook_leave(t);
}

void wait_cancelled(struct wait *w)
{
	if (w->t)
		wait_end(w, ECANCELED);
}

static uint32_t owner_of(const volatile void *lock, uint32_t kind)
{
	switch (kind) {
	case LDB_LOCK_MUTEX:
		return glibc_mutex_owner((const void *)lock);
	case LDB_LOCK_RWLOCK_RD:
	case LDB_LOCK_RWLOCK_WR:
		return glibc_rwlock_writer((const void *)lock);
	case LDB_LOCK_OWN:
		return waker_of(lock);
	}
	return 0;
}

void wait_lock_begin(struct wait *w, struct thread *t, const volatile void *lock,
		     uint32_t kind, uintptr_t site)
{
	uint32_t owner = owner_of(lock, kind);

	order_any_add(waiters_of(lock), 1);
	wait_begin(w, t, (uintptr_t)lock, kind, owner, site);
	/* A thread that takes a lock stores itself as owner a moment later: read it again. */
	if (!owner)
		w->owner = owner_of(lock, kind);
}

void wait_lock_end(struct wait *w, int rc)
{
	struct thread *t = wait_over(w);
	const volatile void *lock = (const volatile void *)w->lock;
	struct held_lock *h;
	uint64_t end;

	order_any_sub(waiters_of(lock), 1);
	if (!t)
		return;
	end = session_clock();
	if (rc == 0 || rc == EOWNERDEAD) {
		h = held_push(t, lock, w->kind, w->site);
		h->owner = w->owner;
		/* A signal handler may have called functions meanwhile. */
		h->nr_later = h->gen == w->gen ? w->nr_later : 0;
		h->begin = end;
		order_signal();		/* shim_flush() takes the entry for complete if wait_begin is set */
		if (end - w->begin >= session_page.a.lock_threshold)
			h->wait_begin = w->begin;
	} else if (!wait_refused(rc)) {
		wait_write(t, w, end, LDB_LOCK_F_FAILED);
	}
	hook_leave(t);
}

void wait_lock_cancelled(struct wait *w)
{
	if (w->t)
		wait_lock_end(w, ECANCELED);
}

void wait_cond_begin(struct wait_cond *c, struct thread *t, const void *cond,
		     const void *mutex, uintptr_t site)
{
	/*
	 * If the thread does not hold the mutex, the wait fails; if it holds it more than once, the
	 * wait does not release it.
	 */
	bool owned = glibc_mutex_owner(mutex) == t->tid && !glibc_mutex_nested(mutex);
	struct held_lock *h = owned ? held_find(t, mutex) : NULL;
	bool waiters = owned && waiters_seen(mutex);

	c->mutex = owned ? mutex : NULL;
	if (h || waiters) {
		struct release r;

		release_begin(&r, t, h, mutex, LDB_LOCK_MUTEX, site, waiters);
		release_end(&r);	/* leaves the hook */
		hook_enter(t);
	}
	wait_begin(&c->w, t, (uintptr_t)cond, LDB_LOCK_COND, 0, site);
}

void wait_cond_end(struct wait_cond *c, int err)
{
	struct wait *w = &c->w;
	struct thread *t = wait_over(w);
	struct held_lock *h;
	uint64_t end;

	if (!t)
		return;
	end = session_clock();
	if (c->mutex && glibc_mutex_owner(c->mutex) == t->tid) {
		h = held_push(t, c->mutex, LDB_LOCK_MUTEX, w->site);
		h->begin = end;
	}
	name_waker(w, t, err);
	if (!wait_refused(err))
		wait_write(t, w, end, err && err != EOWNERDEAD ? LDB_LOCK_F_FAILED : 0);
	hook_leave(t);
}

void wait_cond_cancelled(struct wait_cond *c)
{
	if (c->w.t)
		wait_cond_end(c, ECANCELED);
}
