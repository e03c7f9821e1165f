// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds, for each wait for a lock, the hold that begins at its end, the thread that released the
 * lock before, and the time from that release to the end of the wait.
 *
 * Threads that requested the lock later may have taken it before the waiter, because the waiter
 * took long to wake up after a release.  Then a replay must not give the lock to the waiter right
 * after that release.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "replay-private.h"

#define PASSES_MAX	100	/* counted acquisitions by other threads in one wait */

/*
 * Of items that begin at the same time, the longest comes first; of those, the order of enum
 * item_kind has items first for which other threads may wait.
 */
COMPARE(item_compare, struct item, UP(actor) UP(start) DOWN(end) UP(kind) UP(object))

/* Finds the hold that begins when the wait ends. */
static void pair(struct replay *r, size_t nr)
{
	struct item *w = &r->items[nr];

	for (size_t i = nr + 1; i < r->nr_items; i++) {
		struct item *h = &r->items[i];

		if (h->actor != w->actor || h->start > w->end)
			return;
		if (h->kind != ITEM_HOLD || h->object != w->object || h->start != w->end ||
		    h->flags & ITEM_F_PAIRED)
			continue;
		h->flags |= ITEM_F_PAIRED;
		w->flags |= ITEM_F_PAIRED;
		return;
	}
}

struct turn {			/* the lock was taken, or released */
	uint32_t lock, actor;
	int64_t tick;
	bool is_taken;		/* a thread that did not wait took the lock; else it was released */
};

/* Of a release and an acquisition at the same time, the release is first. */
COMPARE(turn_compare, struct turn, UP(lock) UP(tick) UP(is_taken))

static struct turn *list_turns(struct replay *r, size_t *nr)
{
	struct turn *at;
	size_t room = 1;

	*nr = 0;
	for (size_t i = 0; i < r->nr_items; i++)
		room += r->items[i].kind == ITEM_HOLD ? 2 : r->items[i].kind == ITEM_WAIT;
	at = calloc(room, sizeof(*at));
	if (!at)
		r->ret = -ENOMEM;
	for (size_t i = 0; i < r->nr_items && at; i++) {
		const struct item *it = &r->items[i];

		/* A hold that was too short to be recorded is assumed to end when it began. */
		if (it->kind != ITEM_HOLD && (it->kind != ITEM_WAIT || it->flags & ITEM_F_PAIRED))
			continue;
		at[(*nr)++] = (struct turn){ it->object, it->actor, it->end, false };
		if (it->kind == ITEM_HOLD && !(it->flags & ITEM_F_PAIRED))
			at[(*nr)++] = (struct turn){ it->object, it->actor, it->start, true };
	}
	if (*nr)
		qsort(at, *nr, sizeof(*at), turn_compare);
	return at;
}

/*
 * Returns the index of the first turn of the lock after that time; if it has none, that of a later
 * lock, or nr.
 */
static size_t first_turn(const struct turn *at, size_t nr, uint32_t lock, int64_t tick)
{
	return search(nr, i, at[i].lock < lock || (at[i].lock == lock && at[i].tick <= tick));
}

/* Finds the last release during the wait by another thread; returns false if there is none. */
static bool find_release(const struct turn *at, size_t nr, struct item *w)
{
	size_t lo = first_turn(at, nr, w->object, w->end);

	while (lo-- > 0 && at[lo].lock == w->object && at[lo].tick > w->start) {
		if (at[lo].is_taken || at[lo].actor == w->actor)
			continue;
		w->mid = at[lo].tick;
		return true;
	}
	return false;
}

static void find_passes(const struct turn *at, size_t nr, struct item *w)
{
	int64_t released = INT64_MIN;
	size_t lo = first_turn(at, nr, w->object, w->start);

	for (; lo < nr && at[lo].lock == w->object && at[lo].tick < w->end &&
	       w->nr_passes < PASSES_MAX; lo++) {
		int64_t after;

		if (!at[lo].is_taken) {
			released = at[lo].tick;
			continue;
		}
		if (released == INT64_MIN || at[lo].actor == w->actor)
			continue;
		after = at[lo].tick - released + 1;
		w->nr_passes++;
		if (after > w->pass_ns && after < UINT32_MAX)
			w->pass_ns = after;
	}
}

static void add_wait(struct whatif *w, const struct turn *turns, size_t nr, struct item *wait)
{
	int64_t ns = wait->end - wait->start;

	w->nr_waits++;
	ticks_add(&w->wait_ns, ns);
	if (find_release(turns, nr, wait)) {
		find_passes(turns, nr, wait);
		return;
	}
	wait->flags |= ITEM_F_BLIND;
	w->nr_blind_waits++;
	ticks_add(&w->blind_ns, ns);
}

/* Medians */

struct keyed_ns {
	uint64_t key;
	int64_t ns;
};

COMPARE(by_key, struct keyed_ns, UP(key) UP(ns))

COMPARE(by_ns, struct keyed_ns, UP(ns))

static struct keyed_ns *alloc_keyed(struct replay *r, size_t nr)
{
	struct keyed_ns *at = calloc(nr + 1, sizeof(*at));

	if (!at)
		r->ret = -ENOMEM;
	return at;
}

/* Computes the median of the values of each key. */
static void each_median(struct replay *r, struct keyed_ns *at, size_t nr,
			void (*set)(struct replay *r, uint64_t key, int64_t median))
{
	sort_by(at, nr, by_key);
	for (size_t i = 1, first = 0; i <= nr; i++) {
		if (i < nr && at[i].key == at[first].key)
			continue;
		set(r, at[first].key, at[first + (i - first) / 2].ns);
		first = i;
	}
}

static void set_handover(struct replay *r, uint64_t lock, int64_t median)
{
	r->locks[lock].handover_ns = median;
}

/*
 * Sets the handover time of each lock: the median time from a release to the end of a wait; locks
 * without such waits have the median of all.  It is for acquisitions that did not wait in the
 * recording.
 */
static void set_handovers(struct replay *r)
{
	struct keyed_ns *at = alloc_keyed(r, r->nr_items);
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_items && at; i++) {
		const struct item *it = &r->items[i];

		if (it->kind == ITEM_WAIT && !(it->flags & ITEM_F_BLIND))
			at[nr++] = (struct keyed_ns){ it->object, it->end - it->mid };
	}
	if (nr) {
		qsort(at, nr, sizeof(*at), by_ns);
		r->handover_ns = at[nr / 2].ns;
	}
	for (size_t i = 0; i < r->nr_locks; i++)
		r->locks[i].handover_ns = r->handover_ns;
	each_median(r, at, nr, set_handover);
	free(at);
}

void replay_join_waits(struct replay *r)
{
	struct turn *turns;
	size_t nr;

	sort_by(r->items, r->nr_items, item_compare);
	for (size_t i = 0; i < r->nr_items; i++)
		if (r->items[i].kind == ITEM_WAIT)
			pair(r, i);
	turns = list_turns(r, &nr);
	for (size_t i = 0; i < r->nr_items && turns; i++)
		if (r->items[i].kind == ITEM_WAIT)
			add_wait(r->w, turns, nr, &r->items[i]);
	free(turns);
	set_handovers(r);
}

static void set_delay(struct replay *r, uint64_t key, int64_t median)
{
	struct replay_pool *pool = &r->pools[key / 2];

	*(key & 1 ? &pool->idle_ns : &pool->busy_ns) = median;
}

/*
 * Sets delays of taking from a queue: one median if the thread waited for the item, and one if the
 * item waited.
 */
void replay_set_delays(struct replay *r)
{
	struct keyed_ns *at = alloc_keyed(r, r->nr_parts);
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_parts && at; i++) {
		const struct replay_part *p = &r->parts[i];
		const struct step *s;

		if (!p->is_queue || p->pool == NONE || r->takes[i] == SIZE_MAX)
			continue;
		s = &r->steps[r->takes[i]];
		at[nr++] = (struct keyed_ns){ 2 * (uint64_t)p->pool + !!(s->flags & STEP_F_IDLE),
					      s->base };
	}
	each_median(r, at, nr, set_delay);
	free(at);
}
