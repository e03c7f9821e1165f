// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for locks: which hold begins with them, who let go of the lock before they
 * ended, and how long it took from there to the end of the wait.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "facts/ticks.h"
#include "replay-private.h"

/* At the same time: what ends comes first, what somebody may wait for next. */
COMPARE(item_compare, struct item, UP(actor) UP(start) DOWN(end) UP(kind) UP(object))

/* The hold that begins when the wait ends. */
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

struct release {
	uint32_t lock, actor;
	int64_t tick;
};

COMPARE(release_compare, struct release, UP(lock) UP(tick))

static struct release *list_releases(const struct replay *r, size_t *nr)
{
	struct release *at = calloc(r->nr_items + 1, sizeof(*at));

	*nr = 0;
	for (size_t i = 0; i < r->nr_items && at; i++) {
		const struct item *it = &r->items[i];

		/* A hold that was too short to be recorded ended when it began. */
		if (it->kind == ITEM_HOLD ||
		    (it->kind == ITEM_WAIT && !(it->flags & ITEM_F_PAIRED)))
			at[(*nr)++] = (struct release){ it->object, it->actor, it->end };
	}
	if (*nr)
		qsort(at, *nr, sizeof(*at), release_compare);
	return at;
}

/* The last one in the wait, of another thread; false: none. */
static bool find_release(const struct release *at, size_t nr, struct item *w)
{
	size_t lo = search(nr, i,
			   at[i].lock < w->object ||
			   (at[i].lock == w->object && at[i].tick <= w->end));

	while (lo-- > 0 && at[lo].lock == w->object && at[lo].tick > w->start) {
		if (at[lo].actor == w->actor)
			continue;
		w->mid = at[lo].tick;
		return true;
	}
	return false;
}

struct keyed {
	uint64_t key;
	int64_t value;
};

COMPARE(keyed_compare, struct keyed, UP(key) UP(value))

COMPARE(value_compare, struct keyed, UP(value))

/* Median delays from release to the next holder, for who did not wait in the recording. */
static int set_handovers(struct replay *r)
{
	struct keyed *at = calloc(r->nr_items + 1, sizeof(*at));
	size_t nr = 0, first = 0;

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_items; i++) {
		const struct item *it = &r->items[i];

		if (it->kind == ITEM_WAIT && !(it->flags & ITEM_F_BLIND))
			at[nr++] = (struct keyed){ it->object, it->end - it->mid };
	}
	if (nr) {
		qsort(at, nr, sizeof(*at), value_compare);
		r->handover_ns = at[nr / 2].value;
		qsort(at, nr, sizeof(*at), keyed_compare);
	}
	for (size_t i = 0; i < r->nr_locks; i++)
		r->locks[i].handover_ns = r->handover_ns;
	for (size_t i = 1; i <= nr; i++) {
		if (i < nr && at[i].key == at[first].key)
			continue;
		r->locks[at[first].key].handover_ns = at[first + (i - first) / 2].value;
		first = i;
	}
	free(at);
	return 0;
}

int replay_join_waits(struct replay *r)
{
	struct release *releases;
	size_t nr;

	if (r->nr_items)
		qsort(r->items, r->nr_items, sizeof(*r->items), item_compare);
	for (size_t i = 0; i < r->nr_items; i++)
		if (r->items[i].kind == ITEM_WAIT)
			pair(r, i);
	releases = list_releases(r, &nr);
	if (!releases)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_items; i++) {
		struct item *w = &r->items[i];

		if (w->kind != ITEM_WAIT)
			continue;
		r->w->nr_waits++;
		ticks_add(&r->w->wait_ns, w->end - w->start);
		if (find_release(releases, nr, w))
			continue;
		w->flags |= ITEM_F_BLIND;
		r->w->nr_blind_waits++;
		ticks_add(&r->w->blind_ns, w->end - w->start);
	}
	free(releases);
	nr = set_handovers(r);
	return nr ? -ENOMEM : replay_find_passes(r);
}

/* Delays of taking from a queue: median of those who were there first, and of the others. */
int replay_set_delays(struct replay *r)
{
	struct keyed *at = calloc(r->nr_parts + 1, sizeof(*at));
	size_t nr = 0, first = 0;

	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_parts; i++) {
		const struct replay_part *p = &r->parts[i];
		const struct step *s;

		if (!p->is_queue || p->pool == NONE || r->takes[i] == SIZE_MAX)
			continue;
		s = &r->steps[r->takes[i]];
		at[nr++] = (struct keyed){ 2 * (uint64_t)p->pool + !!(s->flags & STEP_F_IDLE),
					   s->base };
	}
	if (nr)
		qsort(at, nr, sizeof(*at), keyed_compare);
	for (size_t i = 1; i <= nr; i++) {
		struct replay_pool *pool;

		if (i < nr && at[i].key == at[first].key)
			continue;
		pool = &r->pools[at[first].key / 2];
		*(at[first].key & 1 ? &pool->idle_ns : &pool->busy_ns) =
			at[first + (i - first) / 2].value;
		first = i;
	}
	free(at);
	return 0;
}
