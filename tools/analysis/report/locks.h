/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums waits and holds of facts/lock-events.h: by lock, by lock and call site, by lock and
 * holder.
 */
#ifndef REPORT_LOCKS_H
#define REPORT_LOCKS_H

#include "base/dist.h"
#include "facts/lockset.h"
#include "facts/model.h"

struct locks_options {
	int64_t from, to;	/* ticks: events that overlap this range are counted */
	const char *thread;	/* the waiting or holding thread: tid or glob; NULL: all */
};
#define LOCKS_OPTIONS_ALL { .from = INT64_MIN, .to = INT64_MAX }

/* These are durations of waits, or of holds. */
struct lock_times {
	DIST_TIMES_AS(times);
	uint64_t failed;		/* waits that ended without the lock */
	int64_t resolution_ns, resolution_max_ns;
};

struct lock_site {
	unsigned op, kind;		/* LDB_LOCK_OP_*, enum ldb_lock_kind */
	const struct symbol *where;	/* NULL: not known */
	struct lock_times times;
};

struct lock_owner {
	uint32_t tid;
	const struct thread *thread;	/* NULL: not in the trace */
	/* recorded holds; waits that began while the thread held it */
	uint64_t holds, waits;
	int64_t hold_ns, wait_ns;	/* sums over these holds, and over these waits */
	/* sleeps that the thread ended by waking the lock's futex */
	uint64_t wakes;
};

struct lock_entry {
	uint64_t lock;
	unsigned kind;			/* of rwlocks: the kind that occurred first */
	const struct symbol *symbol;	/* the variable; !known: on the heap or a stack */
	struct lock_times waits, holds;
	struct lock_site *sites;	/* sites of waits, then of holds; most total time first */
	size_t nr_sites;
	struct lock_owner *owners;	/* the one for which others waited longest first */
	size_t nr_owners;
};

struct locks {
	struct lock_entry *entries;	/* longest total wait first */
	size_t nr;
	uint64_t nr_waits, nr_holds;
	uint64_t nr_not_kept;		/* sleeps on futexes that were left out, see futexes.h */
};

/* Returns 0 or -ENOMEM. */
int locks_build(struct model *m, const struct locks_options *options, struct locks *locks);
void locks_free(struct locks *locks);

/* Sorts by "total", "max", "p99", "p50", "mean" or "count" of the waits; -EINVAL: another key. */
int locks_sort(struct locks *locks, const char *key);

#endif
