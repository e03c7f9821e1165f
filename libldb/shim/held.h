/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The locks a thread holds, newest last, and the records of holding them.
 *
 * Only the thread itself touches its list.  A signal handler may come in the
 * middle of that:
 *
 * - in a slow path: in_hook is set, and the handler's wrappers leave the list
 *   alone;
 * - in a fast path: the handler finds a valid list and gives back what it takes.
 *   The only change it can leave behind is that the list was emptied for a new
 *   recording, so the fast paths change the count relatively, and after that
 *   use it once, within bounds.
 */
#ifndef SHIM_HELD_H
#define SHIM_HELD_H

#include "arch/x86_64/cpu.h"
#include "glibc.h"
#include "internal.h"

/* Fast paths stop here: room for a handler's locks without moving entries. */
#define HELD_FAST	(HELD_MAX - 4)

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

/*
 * in_hook is set wherever the shim works on the thread's own data, and never
 * while the real function runs: a signal handler that comes in between, and the
 * runtime itself, then pass straight through the wrappers.  It holds the stack
 * pointer, so that a handler that jumps out of the hook can be told from one
 * that jumps within itself: see unwind.c.
 */
static inline void hook_enter(struct thread *t)
{
	t->in_hook = (uint32_t)cpu_stack_pointer() | 1;
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void hook_leave(struct thread *t)
{
	atomic_signal_fence(memory_order_seq_cst);
	t->in_hook = 0;
}

static inline struct held_lock *held_find(struct thread *t, const volatile void *lock)
{
	for (uint32_t n = t->nr_held; n-- > 0;)
		if (t->held[n].lock == (uintptr_t)lock)
			return &t->held[n];
	return NULL;
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
	h->lock = (uintptr_t)lock;
	h->begin = 0;
	h->gen = thread_gen();
	h->wait_begin = 0;
	h->site = site;
	h->kind = kind;
	return h;
}

/*
 * Before the lock is tried: a load or store after an atomic operation waits for
 * it, one before it costs next to nothing.  Who does not get the lock takes the
 * entry back.
 */
static inline void held_push_fast(struct thread *t, const volatile void *lock,
				  uint32_t kind, uintptr_t site)
{
	struct held_lock *h;
	uint32_t n;

	t->nr_held++;
	atomic_signal_fence(memory_order_seq_cst);	/* reserved, now fill */
	n = t->nr_held - 1;
	if (unlikely(n >= HELD_MAX))
		return;
	h = &t->held[n];
	h->lock = (uintptr_t)lock;
	h->begin = 0;
	h->site = site;
	h->kind = kind;
	h->gen = thread_gen();
}

static inline void held_unpush_fast(struct thread *t)
{
	atomic_signal_fence(memory_order_seq_cst);
	t->nr_held--;
}

/* The newest entry, if it is this lock's and there is nothing to be timed. */
static inline bool held_pop_fast(struct thread *t, const volatile void *lock)
{
	uint32_t n = t->nr_held - 1;

	if (unlikely(n >= HELD_MAX || t->held[n].lock != (uintptr_t)lock || t->held[n].begin))
		return false;
	atomic_signal_fence(memory_order_seq_cst);	/* relative, not n */
	t->nr_held--;
	return true;
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
