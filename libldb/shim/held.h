/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The locks a thread holds, newest last, and the records of holding them.
 *
 * Only the thread itself touches its list, but a signal handler may do so in
 * the middle of anything.  What a handler takes it gives back before it
 * returns, so it is enough that a slot is reserved before it is filled: the
 * handler's entries come after it and are gone again.
 */
#ifndef SHIM_HELD_H
#define SHIM_HELD_H

#include "glibc.h"
#include "internal.h"

#pragma GCC visibility push(hidden)

/* Returns the free slot at the end of a full list. */
uint32_t held_make_room(struct thread *t);
void held_remove(struct thread *t, struct held_lock *h);
/* Writes the wait that the entry keeps back, if there is one. */
void held_write_wait(struct thread *t, struct held_lock *h);

/* A lock on its way out. */
struct release {
	struct thread *t;
	struct held_lock h;
	uint64_t end;
	uint32_t epoch;
	bool write;		/* the hold is worth a record */
};

void release_begin(struct release *r, struct thread *t, struct held_lock *h,
		   const volatile void *lock, uint32_t kind, uintptr_t site,
		   bool waiters);
void release_end(struct release *r);

#pragma GCC visibility pop

static inline struct held_lock *held_find(struct thread *t, const volatile void *lock)
{
	for (uint32_t n = t->nr_held; n-- > 0;)
		if (t->held[n].lock == (uintptr_t)lock)
			return &t->held[n];
	return NULL;
}

/* An entry that keeps no wait back. */
static inline void held_drop(struct thread *t, struct held_lock *h)
{
	if (likely(h == &t->held[t->nr_held - 1]))
		t->nr_held--;
	else
		held_remove(t, h);
}

static inline struct held_lock *held_push(struct thread *t, const volatile void *lock,
					  uint32_t kind, uintptr_t site)
{
	uint32_t n = t->nr_held;
	struct held_lock *h;

	if (unlikely(n >= HELD_MAX))
		n = held_make_room(t);
	h = &t->held[n];
	t->nr_held = n + 1;
	atomic_signal_fence(memory_order_seq_cst);	/* reserved, now fill */
	h->lock = (uintptr_t)lock;
	h->begin = 0;
	h->gen = thread_gen();
	h->wait_begin = 0;
	h->site = site;
	h->kind = kind;
	return h;
}

/* The lock was got without waiting.  Of a recursive mutex the outermost counts. */
static inline void held_acquired(struct thread *t, const volatile void *lock,
				 uint32_t kind, uintptr_t site)
{
	struct held_lock *h;

	if (kind == LDB_LOCK_MUTEX && unlikely(glibc_mutex_nested((const void *)lock)))
		return;
	h = held_push(t, lock, kind, site);
	if (unlikely(session_page.a.mutex_level >= LDB_MUTEX_HOLD))
		h->begin = session_clock();
}

#endif /* SHIM_HELD_H */
