// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This automaton checks locks: request, wait, own, release.
 *
 * Three kinds of rows say that a thread has an exclusive lock: at the end of a wait that did not
 * fail, from start to end of a hold whose start was stamped, and at the end of another hold.
 * None of these may lie in another thread's hold; readers may overlap.  Within a thread, waits do
 * not cross each other, no wait is for an exclusive lock that the thread has, and the generations
 * at their starts do not decrease.  The holder that a wait names existed at that time.
 *
 * Legal exceptions:
 * - Waits may be nested: in a signal handler that came while the thread waited.
 * - A wait that failed may be for a lock that the thread has: with a timeout, for instance.
 * - A hold is longer than its row says: its end is stamped before the lock is released, and its
 *   begin when it was taken.  But the CPU may read its time stamp counter while the lock's
 *   instruction still waits for a cache line of another CPU: so a start, and the end of a wait, may
 *   be early by the duration of that (80 ns were measured, and half a microsecond is allowed:
 *   stamp_err).  CLOCK_MONOTONIC is read in order.
 * - The holder is read before the start is stamped: a thread that loses its CPU in between may
 *   name a holder that has ended meanwhile.  And a thread may end without releasing a lock: so a
 *   dead holder is wrong only if another thread was observed to have the lock since.
 * - The holder may be of another process, if the lock is shared with that process, which no row
 *   says.  Then it is not a thread of this program at any time.
 *
 * Rows of waits come when the lock is released, so the file is not in order of time: all rows
 * are sorted, CHUNK of them at a time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "map.h"

#define CHUNK		(2U << 20)
#define KINDS		(LDB_LOCK_OWN + 1)

#define GOT_MAX		4

struct lock_state {
	int64_t exclusive_end, shared_end;	/* latest end so far */
	uint32_t exclusive_tid, shared_tid;
	/* ends of the last waits, at which the lock was acquired */
	struct {
		int64_t at;
		uint32_t tid;
		bool exclusive;
	} got[GOT_MAX];
	unsigned nr_got;
};

struct suspect {			/* a wait that names a holder that had ended */
	const struct ldb_row_lock *wait;
	int64_t died;
};

struct locks {
	struct oracle *o;
	struct ldb_row_lock *rows;
	size_t nr;
	struct suspect *suspects;
	size_t nr_suspects;
	uint64_t nr_waits, nr_failed, nr_holds, nr_stamped, nr_owners, nr_strangers, nr_locks, nr_compared;
	uint64_t of_kind[KINDS];
};

static void bad(struct locks *k, const char *rule, const struct ldb_row_lock *l, const char *with,
		int64_t other)
{
	oracle_violation(k->o, ORACLE_LOCKS, rule, "%s flags %x tid %u lock %" PRIx64 " owner %u %" PRId64
			 " .. %" PRId64 " gen %" PRIx64 ": %s %" PRId64,
			 l->op == LDB_LOCK_OP_WAIT ? "wait" : "hold", l->flags, l->tid, l->lock, l->owner,
			 l->begin, l->end, l->gen, with, other);
}

static bool is_wait(const struct ldb_row_lock *l)
{
	return l->op == LDB_LOCK_OP_WAIT;
}

static bool is_stamped(const struct ldb_row_lock *l)
{
	return l->flags & LDB_LOCK_F_BEGIN_EXACT;
}

static bool has_failed(const struct ldb_row_lock *l)
{
	return l->flags & LDB_LOCK_F_FAILED;
}

static bool is_exclusive(const struct ldb_row_lock *l)
{
	unsigned kind = LDB_LOCK_KIND(l->flags);

	return kind == LDB_LOCK_MUTEX || kind == LDB_LOCK_RWLOCK_WR || kind == LDB_LOCK_SPIN ||
	       kind == LDB_LOCK_OWN;
}

static bool is_shared(const struct ldb_row_lock *l)
{
	return LDB_LOCK_KIND(l->flags) == LDB_LOCK_RWLOCK_RD;
}

/* Checks the conditions that concern a single row. */
static void check_row(struct locks *k, const struct ldb_row_lock *l)
{
	unsigned kind = LDB_LOCK_KIND(l->flags);
	bool hold = !is_wait(l);

	if ((hold && l->op != LDB_LOCK_OP_HOLD) || !kind || kind >= KINDS || !l->lock || !l->tid ||
	    l->flags & ~(uint32_t)(0xff | LDB_LOCK_F_FAILED | LDB_LOCK_F_BEGIN_EXACT))
		bad(k, "row", l, "op", l->op);
	else
		k->of_kind[kind]++;
	if (hold && (has_failed(l) || l->owner || (!is_exclusive(l) && !is_shared(l))))
		bad(k, "hold", l, "", 0);
	if (!hold && is_stamped(l))
		bad(k, "wait", l, "", 0);
	if (l->begin > l->end || (hold && !is_stamped(l) && l->begin != l->end))
		bad(k, "ends before it begins", l, "", 0);
	if (l->begin < 0 || l->end > k->o->end)
		bad(k, "outside of the recording", l, "end", k->o->end);
	/* Shorter waits are not written; one tick is for the rounding on both sides. */
	if ((is_stamped(l) || !hold) && l->end - l->begin + 1 < k->o->lock_threshold)
		bad(k, "below the threshold", l, "ticks", k->o->lock_threshold);
	if (oracle_alive(k->o, ORACLE_LOCKS, hold ? "hold" : "wait", l->tid, l->begin))
		oracle_alive(k->o, ORACLE_LOCKS, hold ? "release" : "end of a wait", l->tid, l->end);
	k->nr_holds += hold;
	k->nr_waits += !hold;
	k->nr_stamped += is_stamped(l);
	k->nr_failed += has_failed(l);
}

/* Holders */

static void suspect(struct locks *k, const struct ldb_row_lock *l, int64_t died)
{
	if (k->nr_suspects % 256 == 0) {
		k->suspects = realloc(k->suspects, (k->nr_suspects + 256) * sizeof(*k->suspects));
		if (!k->suspects)
			oracle_out_of_memory();
	}
	k->suspects[k->nr_suspects++] = (struct suspect){ l, died };
}

static void check_join(struct locks *k, const struct ldb_row_lock *l)
{
	const struct instance *joined = oracle_instance(k->o, l->owner, l->end);

	if (!joined)
		oracle_alive(k->o, ORACLE_LOCKS, "joined", l->owner, l->end);
	else if (!has_failed(l) && joined->exited && l->end < joined->end)
		bad(k, "joined before it ended", l, "ended at", joined->end);
	else if (!has_failed(l) && !joined->exited && !joined->unobserved && !k->o->is_cut &&
		 !oracle_excused(k->o))
		bad(k, "joined and did not end", l, "seen until", joined->end);
}

static void check_owner(struct locks *k, const struct ldb_row_lock *l)
{
	const struct instance *owner;

	if (!is_wait(l) || !l->owner)
		return;
	k->nr_owners++;
	if (LDB_LOCK_KIND(l->flags) == LDB_LOCK_JOIN) {
		check_join(k, l);
		return;
	}
	if (!is_exclusive(l) && !is_shared(l) && has_failed(l))
		bad(k, "failed, and was ended by somebody", l, "", 0);
	if (l->owner == l->tid && !has_failed(l))
		bad(k, "waits for itself", l, "", 0);
	owner = oracle_instance(k->o, l->owner, l->end);
	if (!owner)
		k->nr_strangers++;
	else if (owner->start > l->end)
		bad(k, "holder not born", l, "born", owner->start);
	else if (owner->exited && owner->end < l->begin && (is_exclusive(l) || is_shared(l)))
		suspect(k, l, owner->end);
}

/*
 * Reports waits for a holder that was dead, if another thread had the lock between the holder's
 * death and the wait: then the lock was free.
 */
static void check_suspects(struct locks *k)
{
	for (size_t s = 0; s < k->nr_suspects && s < 1000; s++) {
		const struct suspect *x = &k->suspects[s];

		for (size_t i = 0; i < k->nr; i++) {
			const struct ldb_row_lock *l = &k->rows[i];

			if (l->lock == x->wait->lock && !has_failed(l) && l->end > x->died &&
			    l->end < x->wait->begin && (is_exclusive(l) || is_shared(l))) {
				bad(k, "holder was dead", x->wait, "since", x->died);
				break;
			}
		}
	}
	free(k->suspects);
	k->suspects = NULL;
	k->nr_suspects = 0;
}

/* Checks by lock, in the order of the ends */

static int by_end(const void *a, const void *b)
{
	const struct ldb_row_lock *x = a, *y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* A thread that got the lock in the middle of this hold did not wait for its end. */
static void check_got(struct locks *k, const struct lock_state *s, const struct ldb_row_lock *l,
		      int64_t since)
{
	for (unsigned i = 0; i < s->nr_got && i < GOT_MAX; i++) {
		if (s->got[i].tid == l->tid || (!s->got[i].exclusive && !is_exclusive(l)))
			continue;
		k->nr_compared++;
		if (s->got[i].at > since && s->got[i].at + k->o->stamp_err < l->end)
			bad(k, "got while held", l, "another did at", s->got[i].at);
	}
}

/*
 * Notes who had the lock, and reports a hold during which another thread had it.  A thread
 * certainly owns the lock from the time at which its start cannot be too early any more.
 */
static void owns(struct locks *k, struct lock_state *s, const struct ldb_row_lock *l)
{
	int64_t since = l->begin + k->o->stamp_err;

	if (is_wait(l)) {
		unsigned i = s->nr_got++ % GOT_MAX;

		s->got[i].at = l->end;
		s->got[i].tid = l->tid;
		s->got[i].exclusive = is_exclusive(l);
		return;
	}
	if (since > l->end)
		since = l->end;
	check_got(k, s, l, since);
	k->nr_compared++;
	if (s->exclusive_tid && s->exclusive_end > since)
		bad(k, "held by two", l, s->exclusive_tid == l->tid ? "itself until" : "another until",
		    s->exclusive_end);
	if (is_exclusive(l) && s->shared_tid && s->shared_end > since)
		bad(k, "held by a reader", l, "until", s->shared_end);
	if (is_shared(l) && l->end >= s->shared_end) {
		s->shared_end = l->end;
		s->shared_tid = l->tid;
	} else if (is_exclusive(l) && l->end >= s->exclusive_end) {
		s->exclusive_end = l->end;
		s->exclusive_tid = l->tid;
	}
}

static void check_by_lock(struct locks *k)
{
	struct map locks = MAP_OF(struct lock_state);

	qsort(k->rows, k->nr, sizeof(*k->rows), by_end);
	for (size_t i = 0; i < k->nr; i++) {
		const struct ldb_row_lock *l = &k->rows[i];

		if (!has_failed(l) && (is_exclusive(l) || is_shared(l)))
			owns(k, map_get(&locks, l->lock), l);
	}
	k->nr_locks += locks.nr;
	map_exit(&locks);
}

/* Checks by thread, in the order of the begins */

static int by_thread(const void *a, const void *b)
{
	const struct ldb_row_lock *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

#define NESTED_MAX	64	/* greatest number of nested waits, and of holds at a time */

struct thread_state {
	uint32_t tid;
	const struct ldb_row_lock *waits[NESTED_MAX], *holds[NESTED_MAX];
	unsigned nr_waits, nr_holds;
	uint64_t gen;
	int64_t began;
};

static void keep_since(const struct ldb_row_lock **rows, unsigned *nr, int64_t begin)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < *nr; i++)
		if (rows[i]->end > begin)
			rows[kept++] = rows[i];
	*nr = kept;
}

static void check_wait(struct locks *k, const struct thread_state *t, const struct ldb_row_lock *l)
{
	for (unsigned i = 0; i < t->nr_waits; i++)
		if (t->waits[i]->end < l->end)
			bad(k, "two waits cross", l, "the other until", t->waits[i]->end);
	for (unsigned i = 0; i < t->nr_holds && !has_failed(l); i++)
		if (t->holds[i]->lock == l->lock && is_exclusive(t->holds[i]))
			bad(k, "waits for what it has", l, "held until", t->holds[i]->end);
}

static void same_as(struct locks *k, const struct ldb_row_lock *a, const struct ldb_row_lock *b)
{
	if (a->tid == b->tid && a->begin == b->begin && a->end == b->end && a->lock == b->lock &&
	    a->op == b->op && a->begin != a->end)
		bad(k, "reported twice", a, "", 0);
}

static void check_by_thread(struct locks *k)
{
	struct thread_state t = { 0 };

	qsort(k->rows, k->nr, sizeof(*k->rows), by_thread);
	for (size_t i = 0; i < k->nr; i++) {
		const struct ldb_row_lock *l = &k->rows[i];
		const struct instance *instance;

		if (l->tid != t.tid)
			t = (struct thread_state){ .tid = l->tid };
		if (i)
			same_as(k, &k->rows[i - 1], l);
		/*
		 * If a tid is used again, it is another thread, whose generations count from 0.
		 */
		instance = oracle_instance(k->o, l->tid, l->begin);
		if (instance && instance->start > t.began)
			t.gen = 0;
		t.began = l->begin;
		keep_since(t.waits, &t.nr_waits, l->begin);
		keep_since(t.holds, &t.nr_holds, l->begin);
		/*
		 * If the start of a hold was not stamped, it is not known; but gen was recorded at
		 * the start.
		 */
		if (is_wait(l) || is_stamped(l)) {
			if (l->gen && l->gen < t.gen)
				bad(k, "generation goes back", l, "from", t.gen);
			if (l->gen)
				t.gen = l->gen;
		}
		if (is_wait(l)) {
			check_wait(k, &t, l);
			if (t.nr_waits < NESTED_MAX)
				t.waits[t.nr_waits++] = l;
		} else if (t.nr_holds < NESTED_MAX) {
			t.holds[t.nr_holds++] = l;
		}
	}
}

static void check_chunk(struct locks *k)
{
	for (size_t i = 0; i < k->nr; i++)
		check_row(k, &k->rows[i]);
	check_by_lock(k);
	check_by_thread(k);
	for (size_t i = 0; i < k->nr; i++)
		check_owner(k, &k->rows[i]);
	check_suspects(k);
	k->nr = 0;
}

void check_locks(struct oracle *o)
{
	struct cursor *c = reader_cursor(o->r, LDB_BLK_LOCK, NULL);
	struct locks k = { .o = o };
	struct reader_rows in;
	size_t room = 0;

	while (c && cursor_next(c, &in) > 0) {
		if (k.nr + in.nr > CHUNK)
			check_chunk(&k);
		if (k.nr + in.nr > room) {
			room = 2 * (k.nr + in.nr) < CHUNK ? 2 * (k.nr + in.nr) : CHUNK;
			k.rows = realloc(k.rows, room * sizeof(*k.rows));
			if (!k.rows)
				oracle_out_of_memory();
		}
		memcpy(k.rows + k.nr, in.lock, in.nr * sizeof(*k.rows));
		k.nr += in.nr;
	}
	cursor_close(c);
	check_chunk(&k);
	free(k.rows);
	oracle_counts(o, ORACLE_LOCKS, "%" PRIu64 " waits (%" PRIu64 " failed), %" PRIu64 " holds (%" PRIu64
		      " stamped), %" PRIu64 " locks, %" PRIu64 " compared, %" PRIu64 " holders (%" PRIu64
		      " of another process)", k.nr_waits, k.nr_failed, k.nr_holds, k.nr_stamped, k.nr_locks,
		      k.nr_compared, k.nr_owners, k.nr_strangers);
	oracle_counts(o, ORACLE_LOCKS, "mutex %" PRIu64 ", rwlock %" PRIu64 " + %" PRIu64 ", spin %" PRIu64
		      ", condition %" PRIu64 ", semaphore %" PRIu64 ", barrier %" PRIu64 ", join %" PRIu64
		      ", own %" PRIu64,
		      k.of_kind[1], k.of_kind[2], k.of_kind[3], k.of_kind[4], k.of_kind[5], k.of_kind[6],
		      k.of_kind[7], k.of_kind[8], k.of_kind[9]);
}
