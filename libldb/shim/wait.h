/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declares waits and their records. */
#ifndef SHIM_WAIT_H
#define SHIM_WAIT_H

#include "internal.h"

#pragma GCC visibility push(hidden)

/* A wait in progress, on the stack of the wrapper or in own.c. */
struct wait {
	struct thread *t;	/* NULL when it is over */
	uintptr_t lock;
	uint64_t begin;
	uint64_t gen;
	uintptr_t site;
	uint32_t kind;
	uint32_t owner;
	uint32_t epoch;
	uint32_t nr_later;	/* nr_later of thread_innermost() when the wait began */
};

void wait_begin(struct wait *w, struct thread *t, uintptr_t object, uint32_t kind,
		uint32_t owner, uintptr_t site);
/*
 * err is 0 or an error number; a failed wait is recorded as such, a refused call is not recorded.
 */
void wait_end(struct wait *w, int err);
/* Replaces wait_end() when the thread is cancelled in the wait. */
void wait_cancelled(struct wait *w);

/*
 * The same for a lock: its waiters are counted; wait_lock_end() adds a lock that was taken to the
 * list.
 */
void wait_lock_begin(struct wait *w, struct thread *t, const volatile void *lock,
		     uint32_t kind, uintptr_t site);
void wait_lock_end(struct wait *w, int rc);
void wait_lock_cancelled(struct wait *w);

/* A wait for a condition, which releases the mutex and acquires it again. */
struct wait_cond {
	struct wait w;
	const void *mutex;
};
void wait_cond_begin(struct wait_cond *c, struct thread *t, const void *cond,
		     const void *mutex, uintptr_t site);
void wait_cond_end(struct wait_cond *c, int err);
void wait_cond_cancelled(struct wait_cond *c);

/* own.c: forgets the waits of the calling thread for locks that the program implements. */
void own_forget(void);
/* Called in a fork child, where no other thread exists. */
void own_fork_child(void);

/* join.c: returns the tid of the thread with this pthread_t; 0: it has ended, or is not known. */
uint32_t join_tid_of(uintptr_t pthread);

#pragma GCC visibility pop
#endif /* SHIM_WAIT_H */
