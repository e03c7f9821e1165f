// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the functions of a thread, window by window.
 *
 * A window has the next invocations by start, some more that are only needed for estimates, and
 * earlier invocations that have not ended, which are their callers.  Once an invocation is emitted,
 * its times are fixed.  So two overlapping siblings meet in the middle, as in a timeline, unless
 * the second one is in a later window; then the end of the first does not change.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/order.h"
#include "tracks-private.h"

#define MARGIN_FRAMES	4096

static int64_t item_start(const struct spill *s)
{
	return s->head.minor;
}

int tracks_read_frames(struct tracks *k)
{
	size_t nr = 0;
	int ret = 0;

	k->first_start = INT64_MAX;
	k->border = INT64_MAX;
	/* Frames retained from the last window are counted if they were not emitted. */
	for (size_t i = 0; i < k->frames.nr; i++)
		nr += !k->frames.at[i].is_emitted;
	k->is_full = nr >= TRACKS_WINDOW + MARGIN_FRAMES;
	while (spill_is_at(&k->funcs, k->major) && nr < TRACKS_WINDOW + MARGIN_FRAMES && !ret) {
		if (nr == TRACKS_WINDOW)
			k->border = item_start(&k->funcs);
		ret = frames_add(&k->frames, k->funcs.head.data);
		nr++;
		if (ret)
			break;
		k->first_start = min(k->first_start, k->frames.at[k->frames.nr - 1].start_min);
		ret = spill_next(&k->funcs);
	}
	k->is_last = !spill_is_at(&k->funcs, k->major);
	if (k->is_last)
		k->border = INT64_MAX;
	else if (k->border == INT64_MAX)
		k->border = item_start(&k->funcs);
	return ret;
}

/* Retains the frames that the next window needs. */

void tracks_retain_frames(struct tracks *k)
{
	struct frames *fs = &k->frames;
	size_t nr = 0;

	for (size_t i = 0; i < fs->nr; i++) {
		struct frame f = fs->at[i];

		if (f.is_emitted && f.end < k->border && f.end_max < k->border)
			continue;
		f.parent = 0;
		f.last_child = 0;
		if (!f.is_emitted) {
			f.start = f.full_start;
			f.end = f.full_end;
		}
		fs->at[nr++] = f;
	}
	fs->nr = nr;
}

/* Nesting */

/* Returns true if f, which overlaps top, was called by top, directly or indirectly. */
static bool is_inside(const struct segment *top, const struct frame *f)
{
	/*
	 * The frames are in different blocks.  If f ends after top, and is not deeper, it began
	 * after top.
	 */
	if ((uint16_t)top->gen != (uint16_t)f->gen)
		return f->depth > top->depth || f->end <= top->end;
	if (top->gen >= f->gen)
		return !f->is_resumed;
	if ((uint16_t)f->parent_gen != (uint16_t)f->gen)
		return f->depth > top->depth;
	/*
	 * If the caller of f was entered after top, that caller was called by top, or after top's
	 * end.
	 */
	return f->parent_gen == top->gen || (f->parent_gen > top->gen && f->depth > top->depth + 1);
}

/* Moves [*start, *end) into, or after, each open segment; returns true if it was moved. */
static bool fit_into_open(struct tracks *k, const struct frame *f, int64_t *start, int64_t *end)
{
	bool is_moved = *start < k->last_start;

	if (is_moved)
		*start = k->last_start;
	while (k->nr_open) {
		const struct segment *top = &k->open[k->nr_open - 1];
		bool inside = is_inside(top, f);

		if (inside && (top->end > *start ||
			       (top->end == *start && f->depth > top->depth))) {
			is_moved |= *end > top->end;
			*end = *end > top->end ? top->end : *end;
			break;
		}
		if (!inside && top->end > *start) {
			is_moved = true;
			*start = top->end;
		}
		k->nr_open--;
	}
	if (*end < *start)
		*end = *start;
	k->last_start = *start;
	return is_moved;
}

static int push_open(struct tracks *k, const struct segment *s)
{
	return array_push(k->open, k->nr_open, k->room_open, *s);
}

static struct segment *new_function(struct tracks *k)
{
	if (!array_room(&k->functions, &k->room_functions, k->nr_functions, sizeof(*k->functions)))
		return NULL;
	return &k->functions[k->nr_functions++];
}

static int add_function(struct tracks *k, struct frame *f)
{
	int64_t start = f->start, end = f->end;
	struct segment *s = new_function(k);

	if (!s)
		return -ENOMEM;
	k->result->nr_shifted += fit_into_open(k, f, &start, &end);
	segment_of_frame(k, s, f, start, end);
	f->is_emitted = true;
	f->start = start;
	f->end = end;
	return push_open(k, s);
}

static bool is_due(const struct tracks *k, const struct frame *f)
{
	return !f->is_emitted && (k->is_last || k->is_full || f->start < k->border);
}

ORDER_KEY(frame_start, struct frame, start)

/*
 * Adds segments of functions.  Frames of different blocks are ordered by time, those of one block
 * by the order in which they were entered.
 */
int tracks_add_functions(struct tracks *k)
{
	static const order_key key = frame_start;
	struct frames *fs = &k->frames;
	uint32_t *order = order_of(fs->at, fs->nr, sizeof(*fs->at), &key, 1);
	int ret = order ? 0 : -ENOMEM;

	for (size_t i = 0; i < fs->nr && !ret; i++)
		if (is_due(k, &fs->at[order[i]]))
			ret = add_function(k, &fs->at[order[i]]);
	free(order);
	return ret;
}
