/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Manages the list of locks that a thread holds, the newest last, and writes the records of holds.
 * In free entries begin and wait_begin are 0.
 *
 * Only the thread itself accesses its list, except in shim_flush().  A signal handler may interrupt
 * such an access:
 *
 * - in a slow path: in_hook is set, and the handler's wrappers leave the list
 *   alone;
 * - in a fast path: the handler finds a valid list, and releases the locks that it takes.
 *   The only change that can remain is that it emptied the list for a new recording.  So the
 *   fast paths increment and decrement the count instead of storing a value.  An invalid
 *   entry may remain (without a lock, or with another one), and is ignored.
 */
#ifndef SHIM_HELD_H
#define SHIM_HELD_H

#include "arch/cpu.h"
#include "glibc.h"
#include "internal.h"
#include "next.h"

/* Fast paths use no more entries than this, so that signal handlers need not move entries. */
#define HELD_FAST	(HELD_MAX - 4)

#pragma GCC visibility push(hidden)

/* shim.c: forgets locks and waits of another recording, or from before a fork or a pause. */
void held_forget(struct held_list *l, uint32_t tid);
/* Makes room in a full list; returns the index of the free entry at its end. */
uint32_t held_make_room(struct thread *t);
void held_remove(struct thread *t, struct held_lock *h);
/* Writes a record about h->lock: owner, gen and site are the entry's. */
void lock_event_write(const struct thread *t, uint32_t type, const struct held_lock *h,
		      uint64_t begin, uint64_t end, uint32_t flags);
/* Writes the wait that the entry defers, if there is one. */
void held_write_wait(struct thread *t, struct held_lock *h);

/* A lock that is being released. */
struct release {
	struct thread *t;
	struct held_lock h;
	uint64_t end;
	uint32_t epoch;
	bool write;		/* the hold must be recorded */
};

void release_begin(struct release *r, struct thread *t, struct held_lock *h,
		   const volatile void *lock, uint32_t kind, uintptr_t site,
		   bool waiters);
/*
 * Calls release_begin() and returns true if there may be something to record; else only removes the
 * entry and returns false.  Called in a hook, which it leaves.
 */
bool release_start(struct release *r, struct thread *t, const volatile void *lock,
		   uint32_t kind, uintptr_t site);
void release_end(struct release *r);

#pragma GCC visibility pop

/*
 * in_hook is set while the shim works on the thread's own data, and never while the real function
 * runs.  While it is set, wrappers that are called by a signal handler, or by the runtime itself,
 * only call the real function.  Its value is the stack pointer, so that a longjmp() of a handler
 * out of the hook can be distinguished from one within the handler: see unwind.c.
 */
static inline void hook_enter(struct thread *t)
{
	t->list->in_hook = (uint32_t)cpu_stack_pointer() | 1;
	order_signal();
}

static inline void hook_leave(struct thread *t)
{
	order_signal();
	t->list->in_hook = 0;
}

/* Returns NULL if only the real function must be called.  Otherwise the thread is in a hook. */
static inline struct thread *shim_enter(void)
{
	struct thread *t = thread_self();

	if (unlikely(!t && thread_on_unknown && session_on()))
		t = thread_on_unknown();
	if (unlikely(!t || t->list->in_hook || session_mutex_level() == LDB_MUTEX_OFF))
		return NULL;
	hook_enter(t);
	if (unlikely(t->list->held_epoch != session_page.a.lock_epoch || t->list->nr_held > HELD_MAX))
		held_forget(t->list, t->tid);
	return t;
}

/* Does what session_clock() does, without a function call if the clock is the TSC. */
static inline uint64_t held_clock(void)
{
	if (likely(session_page.a.clock_id != LDB_CLOCK_MONO))
		return cpu_tsc();
	return session_clock();
}

static inline uint32_t held_kind(const struct held_lock *h)
{
	return h->site_kind >> 56;
}

static inline uint64_t held_site_kind(uintptr_t site, uint32_t kind)
{
	return site | (uint64_t)kind << 56;
}

static inline struct held_lock *held_find(struct thread *t, const volatile void *lock)
{
	struct held_list *l = t->list;

	for (uint32_t n = l->nr_held; n-- > 0;)
		if (l->held[n].lock == (uintptr_t)lock)
			return &l->held[n];
	return NULL;
}

static inline struct held_lock *held_push(struct thread *t, const volatile void *lock,
					  uint32_t kind, uintptr_t site)
{
	struct held_list *l = t->list;
	uint32_t n = l->nr_held;
	struct held_lock *h;

	if (unlikely(n >= HELD_MAX))
		n = held_make_room(t);
	h = &l->held[n];
	l->nr_held = n + 1;
	h->lock = (uintptr_t)lock;
	h->begin = 0;
	h->gen = thread_gen();
	h->wait_begin = 0;
	h->site_kind = held_site_kind(site, kind);
	return h;
}

/*
 * Returns the calling thread's list, for the fast paths.  The list is at a known offset from the
 * thread pointer, so no pointer to it has to be loaded.
 */
static inline struct held_list CPU_THREAD_SPACE *held_of_self(void)
{
	return CPU_THREAD_AT(struct held_list, next_table.held_off);
}

/*
 * Returns true if the fast path of an acquisition for this enum ldb_mutex_level may be used.  If
 * not, the slow path handles the case.
 */
static inline bool fast_enter(const struct held_list CPU_THREAD_SPACE *l, uint32_t level)
{
	return likely(!l->in_hook && l->nr_held < HELD_FAST &&
		      l->held_epoch == session_page.a.level_epoch[level]);
}

/*
 * Adds an entry before the lock is tried, because loads and stores after an atomic operation wait
 * for it.  The atomic operation in turn waits for the stores before it, so there should be few:
 * begin and wait_begin are 0 already.  A thread that does not get the lock removes the entry.
 */
static inline void held_push_fast(struct held_list CPU_THREAD_SPACE *l, const volatile void *lock,
				  uint32_t kind, uintptr_t site)
{
	uint32_t n = l->nr_held;
	struct held_lock CPU_THREAD_SPACE *h;

	order_signal();
	l->nr_held++;	/* a store of n + 1 would be wrong: see the head of this file */
	order_signal();	/* the entry is reserved before it is filled */
	h = &l->held[n];	/* n < HELD_FAST: a signal handler can only have emptied the list */
	h->lock = (uintptr_t)lock;
	h->site_kind = held_site_kind(site, kind);
	h->gen = cpu_thread_word(next_table.gen_off) & ~(LDB_GEN_ONE - 1);
}

/* Stores when the lock was acquired, unless a signal handler has emptied the list meanwhile. */
static inline void held_stamp_fast(struct held_list CPU_THREAD_SPACE *l, const volatile void *lock)
{
	uint32_t n = l->nr_held - 1;

	if (n < HELD_MAX && l->held[n].lock == (uintptr_t)lock)
		l->held[n].begin = held_clock();
}

static inline void held_unpush_fast(struct held_list CPU_THREAD_SPACE *l)
{
	order_signal();
	l->nr_held--;
}

/* Removes the newest entry if it belongs to this lock and has no time stamp. */
static inline bool held_pop_quick(struct held_list CPU_THREAD_SPACE *l, const volatile void *lock)
{
	uint32_t n = l->nr_held - 1;

	if (unlikely(n >= HELD_MAX || l->held[n].lock != (uintptr_t)lock || l->held[n].begin))
		return false;
	order_signal();	/* the count is decremented, not stored: see the head of this file */
	l->nr_held--;
	return true;
}

/* Removes the newest entry if it belongs to this lock and nothing has to be recorded. */
static inline bool held_pop_fast(struct held_list CPU_THREAD_SPACE *l, const volatile void *lock)
{
	uint32_t n = l->nr_held - 1;
	struct held_lock CPU_THREAD_SPACE *h;

	if (unlikely(n >= HELD_MAX || l->held[n].lock != (uintptr_t)lock))
		return false;
	h = &l->held[n];
	if (unlikely(h->begin)) {
		if (h->wait_begin || held_clock() - h->begin >= session_page.a.lock_threshold)
			return false;
		h->begin = 0;
	}
	order_signal();	/* the count is decremented, not stored: see the head of this file */
	l->nr_held--;
	return true;
}

/*
 * Adds an entry for a lock that was acquired without waiting.  A recursive mutex gets an entry only
 * at its outermost acquisition.
 */
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
