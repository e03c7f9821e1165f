// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who waited for a lock, and saw others take it that came later: after a release it
 * took longer to wake up than they took to come.  A replay that lets it have the lock
 * right after that release would go another way than the recording.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "replay-private.h"

#define PASSES_MAX	100	/* of one wait */

struct turn {			/* the lock changes hands */
	uint32_t lock, actor;
	int64_t tick;
	bool is_taken;		/* by somebody who did not wait; else it is given back */
};

/* At the same time it is given back first. */
static int turn_compare(const void *pa, const void *pb)
{
	const struct turn *a = pa, *b = pb;

	if (a->lock != b->lock)
		return a->lock < b->lock ? -1 : 1;
	if (a->tick != b->tick)
		return a->tick < b->tick ? -1 : 1;
	return a->is_taken - b->is_taken;
}

static struct turn *list_turns(const struct replay *r, size_t *nr)
{
	struct turn *at;
	size_t room = 1;

	*nr = 0;
	for (size_t i = 0; i < r->nr_items; i++)
		room += r->items[i].kind == ITEM_HOLD ? 2 : r->items[i].kind == ITEM_WAIT;
	at = calloc(room, sizeof(*at));
	for (size_t i = 0; i < r->nr_items && at; i++) {
		const struct item *it = &r->items[i];

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

static void find(const struct turn *at, size_t nr, struct item *w)
{
	int64_t released = INT64_MIN;
	size_t lo = search(nr, i,
			   at[i].lock < w->object ||
			   (at[i].lock == w->object && at[i].tick <= w->start));

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

int replay_find_passes(struct replay *r)
{
	size_t nr;
	struct turn *turns = list_turns(r, &nr);

	if (!turns)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_items; i++)
		if (r->items[i].kind == ITEM_WAIT && !(r->items[i].flags & ITEM_F_BLIND))
			find(turns, nr, &r->items[i]);
	free(turns);
	return 0;
}

COMPARE(pass_compare, struct replay_pass, UP(serial))

void replay_sort_passes(struct replay *r)
{
	if (r->nr_passes)
		qsort(r->passes, r->nr_passes, sizeof(*r->passes), pass_compare);
}

const struct replay_pass *replay_pass_of(const struct replay *r, int64_t serial)
{
	size_t lo = search(r->nr_passes, i, r->passes[i].serial < serial);

	return lo < r->nr_passes && r->passes[lo].serial == serial ? &r->passes[lo] : NULL;
}
