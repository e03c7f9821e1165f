// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Manages the locks that a thread holds.  A hold is recorded after the unlock, outside of the
 * critical section, and so is the wait that came before it; only the program's own locks (own.c)
 * are recorded just before their release.
 */
#include "held.h"
#include "waiters.h"

void lock_event_write(const struct thread *t, uint32_t type, const struct held_lock *h,
		      uint64_t begin, uint64_t end, uint32_t flags)
{
	union {
		struct ldb_lock_rec lock;
		struct ldb_rec slot[2];
	} r = { .lock = {
		.end = end,
		.tid = t->tid,
		.type = type,
		.flags = flags,
		.lock = h->lock,
		.owner = h->owner,
		.begin = begin,
		.nr_later = h->nr_later,
		.cont1 = LDB_EV_CONT + 1,
		.site_hi = h->site_kind >> 32,
		.gen = h->gen,
		.site_lo = h->site_kind,
	} };

	ring_write(r.slot, 2);
}

void held_write_wait(struct thread *t, struct held_lock *h)
{
	uint64_t begin = h->wait_begin;

	if (!begin)
		return;
	h->wait_begin = 0;
	lock_event_write(t, LDB_EV_LOCK_WAIT, h, begin, h->begin, held_kind(h));
}

void held_remove(struct thread *t, struct held_lock *h)
{
	struct held_list *l = t->list;
	struct held_lock *last = &l->held[l->nr_held - 1];

	for (; h < last; h++)
		h[0] = h[1];
	last->wait_begin = 0;	/* shim_flush() must not read it twice */
	last->begin = 0;
	l->nr_held--;
}

/*
 * Drops the oldest entry.  The unlock of its lock is then treated as if the lock had been taken
 * before the recording began.
 */
uint32_t held_make_room(struct thread *t)
{
	held_write_wait(t, &t->list->held[0]);
	held_remove(t, &t->list->held[0]);
	return HELD_MAX - 1;
}

static uint32_t rwlock_kind(const volatile void *lock, uint32_t tid)
{
	return glibc_rwlock_writer((const void *)lock) == tid ? LDB_LOCK_RWLOCK_WR :
								 LDB_LOCK_RWLOCK_RD;
}

/*
 * Called before the unlock, because the lock's memory must not be read afterwards.  h is NULL if
 * the list has no entry for the lock, for example because it was taken before the recording or by
 * another thread; then the start of the hold is not known.
 */
void release_begin(struct release *r, struct thread *t, struct held_lock *h,
		   const volatile void *lock, uint32_t kind, uintptr_t site,
		   bool waiters)
{
	/* If another thread has taken the mutex since then, the entry is stale. */
	bool known = h && (held_kind(h) != LDB_LOCK_MUTEX ||
			   glibc_mutex_owner((const void *)lock) == t->tid);

	r->t = t;
	r->epoch = session_page.a.lock_epoch;
	if (h) {
		r->h = *h;
		held_remove(t, h);
	}
	if (!known) {
		if (h)
			held_write_wait(t, &r->h);
		r->h = (struct held_lock){
			.lock = (uintptr_t)lock,
			.site_kind = held_site_kind(site, kind ? kind : rwlock_kind(lock, t->tid)),
		};
	}
	/* A reader that holds the lock twice releases it with the last unlock. */
	while ((h = held_find(t, lock)) && held_kind(&r->h) != LDB_LOCK_RWLOCK_RD)
		held_remove(t, h);	/* stale: another thread unlocked it */
	r->write = !h;
	r->end = session_clock();
	if (r->h.begin)
		r->write &= r->end - r->h.begin >= session_page.a.lock_threshold;
	else
		r->write &= waiters;
}

bool release_start(struct release *r, struct thread *t, const volatile void *lock,
		   uint32_t kind, uintptr_t site)
{
	struct held_lock *h = held_find(t, lock);
	bool waiters = waiters_seen(lock), has_something = waiters || (h && h->begin);

	if (has_something)
		release_begin(r, t, h, lock, kind, site, waiters);
	else if (h)
		held_remove(t, h);
	hook_leave(t);
	return has_something;
}

void release_end(struct release *r)
{
	uint32_t flags = held_kind(&r->h);

	if (!session_wants_locks() || session_page.a.lock_epoch != r->epoch)
		return;
	hook_enter(r->t);
	held_write_wait(r->t, &r->h);
	if (r->write) {
		if (r->h.begin)
			flags |= LDB_LOCK_F_BEGIN_EXACT;
		r->h.owner = 0;
		r->h.nr_later = 0;
		lock_event_write(r->t, LDB_EV_LOCK_HOLD, &r->h, r->h.begin, r->end, flags);
	}
	hook_leave(r->t);
}
