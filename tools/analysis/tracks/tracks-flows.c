// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes segments of calls of libraries' functions.  These calls nest with each other and with
 * functions; their times are exact, and so bound the times of the functions that made them.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "facts/estimate.h"
#include "facts/flows.h"
#include "facts/rows.h"
#include "tracks-private.h"

static int add_flow(void *arg, const struct flow_call *c)
{
	struct tracks *k = arg;

	if (!tracks_wants(k, c->tid, c->start, c->end))
		return 0;
	return spill_add(&k->flows, model_thread_order(k->m, c->tid, c->start), c->start, c, sizeof(*c));
}

int tracks_sort_flows(struct tracks *k)
{
	struct reader_filter filter = ROWS_WITHIN(k->o->from, k->o->to);
	const struct flows *f = flows_of(k->m);

	return f ? flow_calls_each(f, &filter, add_flow, k) : -ENOMEM;
}

int tracks_read_flows(struct tracks *k, int64_t before)
{
	int ret = 0;

	while (!ret && spill_is_at(&k->flows, k->major) && k->flows.head.minor < before &&
	       !(k->nr_flow_at && tracks_is_enough(k, k->nr_flow_at, k->flow_at[0].start, &k->flows))) {
		struct flow_call c;

		memcpy(&c, k->flows.head.data, sizeof(c));
		ret = array_push(k->flow_at, k->nr_flow_at, k->room_flow_at, c);
		if (!ret)
			ret = spill_next(&k->flows);
	}
	return ret;
}

/*
 * Bounds functions by library calls: callbacks into the program have returned when the library call
 * ends.
 */
void tracks_tighten_by_flows(struct tracks *k)
{
	for (size_t i = 0; i < k->nr_flow_at; i++) {
		const struct flow_call *c = &k->flow_at[i];
		uint64_t innermost;

		if (!c->gen)
			continue;
		if (!c->nr_later) {
			frames_began_by(&k->frames, frames_at(&k->frames, c->tid, c->gen, c->start), c->start);
			continue;
		}
		innermost = innermost_of(c->gen, c->nr_later);
		frames_seen(&k->frames, &(struct moment){ c->tid, c->gen, innermost, c->start, c->start });
		if (!c->is_open && !c->was_left)
			frames_seen(&k->frames, &(struct moment){ c->tid, 0, innermost, c->end, c->end });
	}
}

int tracks_add_flows(struct tracks *k)
{
	size_t nr = 0;

	for (; nr < k->nr_flow_at && (k->is_last || k->flow_at[nr].start < k->border); nr++)
		if (!segment_of_flow(k, &k->flow_at[nr]))
			return -ENOMEM;
	if (nr)
		memmove(k->flow_at, k->flow_at + nr, (k->nr_flow_at - nr) * sizeof(*k->flow_at));
	k->nr_flow_at -= nr;
	return 0;
}
