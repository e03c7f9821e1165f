/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completes lock events with facts that the trace does not contain directly:
 *
 *  - the start of a hold, if it was not recorded.  The thread took the lock after the frame
 *    hold.gen was entered and before the next frame was; an exclusive lock is taken after the
 *    previous hold of it ended; and a wait that names the holder began after that thread had taken
 *    the lock.  begin is the middle of the remaining interval, resolution half its width.
 *  - the place in the user's source, if the call is in a function of a system header
 *    (std::mutex::lock at -O0): the innermost call site on the stack outside of system headers.
 *
 * Use: add LOCK rows, prepare, feed FUNC rows, resolve.
 */
#ifndef FACTS_LOCKSET_H
#define FACTS_LOCKSET_H

#include <linux/ldb.h>
#include "base/hash.h"
#include "model.h"

/*
 * A futex that belongs to no lock that the runtime has recorded.  This kind does not occur in
 * <linux/ldb.h>.
 */
#define LOCK_KIND_FUTEX		0xff

struct lock_event {
	uint32_t op;		/* LDB_LOCK_OP_* */
	uint32_t flags;		/* enum ldb_lock_kind | LDB_LOCK_F_* */
	uint32_t tid, owner;
	/* WAIT for something without a holder: the thread that ended the wait; 0: not known */
	uint32_t waker;
	uint64_t lock, gen, site;
	int64_t begin, end;	/* ticks */
	uint64_t resolution;	/* ticks: by how much the duration may be wrong */
	const struct symbol *where; /* NULL: no site */
	uint32_t nr_later;	/* WAIT: as in struct ldb_row_lock */
};

struct lockset {
	struct model *m;
	struct lock_event *events;
	size_t nr, room;
	struct lockset_query *queries;
	size_t nr_queries;
	struct lockset_near *near;
	struct lockset_climb *climbs;
	size_t nr_climbs;
	struct hash awaited;		/* by frame: the first event that waits for its row */
};

/*
 * Returns true if this kind of lock can have a holder.  Waits for conditions, semaphores, barriers
 * and joins are ended by another thread that need not hold anything.
 */
static inline bool lock_kind_is_held(unsigned kind)
{
	return kind != LDB_LOCK_COND && kind != LDB_LOCK_SEM && kind != LDB_LOCK_BARRIER &&
	       kind != LDB_LOCK_JOIN;
}

void lockset_init(struct lockset *s, struct model *m);
void lockset_free(struct lockset *s);

/*
 * Adds a row.  Returns 0 or -ENOMEM, as do lockset_add_wait() and lockset_prepare().  Rows with an
 * unknown operation are ignored.
 */
int lockset_add(struct lockset *s, const struct ldb_row_lock *row);

/*
 * Adds a wait that is known only from kernel events.  The caller sets tid, owner, lock, gen, begin,
 * end, and the kind in flags.
 */
int lockset_add_wait(struct lockset *s, const struct lock_event *wait);

/* Must be called after the last event is added.  Until lockset_resolve(), events do not move. */
int lockset_prepare(struct lockset *s);

/* Returns true if FUNC rows are needed to complete any of the events. */
bool lockset_wants_funcs(const struct lockset *s);
void lockset_feed(struct lockset *s, const struct ldb_row_func *row);

/* Completes the events.  Afterwards they are sorted by lock and end. */
void lockset_resolve(struct lockset *s);

/* "mutex", "rwlock_rd", ... */
const char *lock_kind_name(unsigned kind);
/* "lock", "condition", "semaphore", "barrier", "join": the word for a sentence */
const char *lock_kind_noun(unsigned kind);
bool lock_kind_is_exclusive(unsigned kind);

/* Returns the size of the object in bytes, in which its futex words lie. */
unsigned lock_kind_size(unsigned kind);

#endif
