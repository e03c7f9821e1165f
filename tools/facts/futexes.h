/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects all sleeps on futexes, for the report on locks.  Some are part of a wait that the shim
 * (ldb's wrappers of the pthread functions) recorded; others belong to locks that the shim does not
 * know.
 */
#ifndef FACTS_FUTEXES_H
#define FACTS_FUTEXES_H

#include "lockset.h"
#include "model.h"

#define FUTEXES_MAX	(1U << 20)	/* sleeps retained */

struct futex_wait {
	/* owner: the thread that the futex names as its owner; 0: none */
	uint32_t tid, owner;
	/* the thread that ended the sleep with FUTEX_WAKE; 0: not known */
	uint32_t waker;
	uint64_t futex, gen, pc;
	int64_t out, woken;		/* ticks */
	bool is_known;			/* part of a wait that the shim recorded */
};

struct futexes {
	/* sorted by tid and time; those of one thread do not overlap */
	struct futex_wait *at;
	size_t nr, room;
	uint64_t nr_not_kept;
};

struct sched_off;

/*
 * Collects the sleeps in [from, to].  Returns 0 or -ENOMEM.  Without kernel events there are no
 * sleeps.
 */
int futexes_read(struct model *m, int64_t from, int64_t to, struct futexes *f);

/*
 * These do what futexes_read() does, for callers that read the kernel events anyway: futexes_add()
 * adds a sleep, and returns 0 or -ENOMEM; futexes_sort() sorts all sleeps at the end.
 */
int futexes_add(struct model *m, struct futexes *f, const struct sched_off *off);
void futexes_sort(struct futexes *f);
void futexes_free(struct futexes *f);

/* Returns true if the futex lies within the object of that lock. */
bool futex_is_inside(uint64_t futex, uint64_t lock, unsigned kind);

/*
 * Returns `owner` if it is a thread of the program that existed at some time in [from, to]; else 0.
 */
uint32_t futex_owner(const struct model *m, uint32_t owner, int64_t from, int64_t to);

/*
 * Marks the sleeps that belong to this wait as known, and calls the callback for those on a futex
 * of the lock.  A wait for a condition is shortened: it ends where its thread began to wait for the
 * mutex.
 */
int futexes_match(struct futexes *f, struct lock_event *wait,
		  int (*woken)(void *arg, const struct futex_wait *w), void *arg);

#endif
