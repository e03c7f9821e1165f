// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Nests the invocations of a thread, or of several.
 *
 * Invocations are sorted by thread and generation, which is the order in which they were entered: a
 * parent comes before its children, and a sibling before the next one.  Calls nest, but their
 * estimated times need not, so these are clipped: a child to its parent, and two siblings that
 * overlap meet in the middle.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/order.h"
#include "base/search.h"
#include "facts/estimate.h"
#include "tracks-private.h"

/*
 * At most this many frames are examined that may have begun before a time although their estimated
 * start is later.
 */
#define LATE_MAX 64
#define AFTER_MAX 4	/* the search ends after this many frames that certainly began later */
#define NEAR_MAX 16	/* callers, and frames before a moment, that are examined */

int frames_add(struct frames *fs, const struct ldb_row_func *row)
{
	struct estimate e = estimate_func(row);

	if (!array_room(&fs->at, &fs->room, fs->nr, sizeof(*fs->at)))
		return -ENOMEM;
	fs->has_resumed |= !!(row->flags & LDB_FUNC_F_RESUMED);
	fs->at[fs->nr++] = (struct frame){
		.tid = row->tid, .nr_thread = model_thread_number(fs->m, row->tid, row->start_max),
		.depth = row->depth, .is_truncated = e.is_truncated, .is_open = row->flags & LDB_FUNC_F_OPEN,
		.is_resumed = row->flags & LDB_FUNC_F_RESUMED,
		.pc = row->pc, .ret = row->ret, .gen = row->gen, .parent_gen = row->parent_gen,
		.start = e.start, .end = e.end, .full_start = e.start, .full_end = e.end,
		.start_min = e.start_min, .start_max = e.start_max, .begun = e.start,
		.end_min = e.end_min, .end_max = e.end_max,
		.row_start = row->start_unc != LDB_UNC_UNKNOWN ?
			     (int64_t)((uint64_t)row->start_max - row->start_unc) : row->start_max,
		.row_end = row->end_max,
		.resolution = e.resolution, .length = e.end - e.start,
		.length_resolution = e.resolution,
	};
	return 0;
}

/*
 * The low bits of gen are the number of one of the thread's blocks (struct ldb_thread, of which
 * each instrumented module may have its own); each block is sorted separately.
 */
static int frame_compare(const void *pa, const void *pb)
{
	const struct frame *a = pa, *b = pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->nr_thread != b->nr_thread)
		return a->nr_thread < b->nr_thread ? -1 : 1;
	if ((uint16_t)a->gen != (uint16_t)b->gen)
		return (uint16_t)a->gen < (uint16_t)b->gen ? -1 : 1;
	return a->gen < b->gen ? -1 : a->gen > b->gen;
}

/*
 * Returns how many frames come before `want` (bound 0), or before and including `want` and all its
 * parts (bound 1).
 */
static size_t frames_below(const struct frames *fs, const struct frame *want, int bound)
{
	return search(fs->nr, i, frame_compare(&fs->at[i], want) < bound);
}

static size_t frames_before(const struct frames *fs, const struct frame *want)
{
	return frames_below(fs, want, 0);
}

static size_t frames_up_to(const struct frames *fs, const struct frame *want)
{
	return frames_below(fs, want, 1);
}

/*
 * `last` is index + 1 of the last part of a frame.  Returns index + 1 of the frame's first part
 * that did not end before f or, if all did, `last`.
 */
static size_t part_around(const struct frames *fs, size_t last, const struct frame *f)
{
	return search_range(frames_before(fs, &fs->at[last - 1]), last - 1, i,
			    fs->at[i].end_max < f->end_max) + 1;
}

/* Returns index + 1 of the frame with exactly this generation, which called f; 0: there is none. */
static size_t frame_number(const struct frames *fs, const struct frame *f, uint64_t gen)
{
	struct frame want = { .tid = f->tid, .nr_thread = f->nr_thread, .gen = gen };
	size_t nr = gen ? frames_up_to(fs, &want) : 0;

	if (!nr || frame_compare(&fs->at[nr - 1], &want))
		return 0;
	return fs->at[nr - 1].is_resumed ? part_around(fs, nr, f) : nr;
}

static void clip(struct frame *f, int64_t start, int64_t end)
{
	if (f->is_emitted)
		return;
	if (f->start < start)
		f->start = start;
	if (f->end > end)
		f->end = end;
	if (f->start > end)
		f->start = end;
	if (f->end < f->start)
		f->end = f->start;
}

/*
 * Clips two siblings that overlap.  If they are in different blocks, it is not known which one was
 * entered first, and they are not clipped.
 */
static void part_siblings(struct frame *before, struct frame *f)
{
	int64_t middle;

	if (before->end <= f->start || f->is_emitted || (uint16_t)before->gen != (uint16_t)f->gen)
		return;
	middle = before->is_emitted ? before->end : f->start + (before->end - f->start) / 2;
	if (middle < before->start)
		middle = before->start;
	before->end = middle;
	f->start = middle;
	if (f->end < middle)
		f->end = middle;
}

/*
 * Returns index + 1 of the parent of frame i, or 0: mostly it is the frame before i, or one of the
 * callers of that; otherwise it is searched for.
 */
static size_t parent_number(const struct frames *fs, size_t i)
{
	const struct frame *f = &fs->at[i];

	for (size_t nr = i, n = 0; nr && n < NEAR_MAX; nr = fs->at[nr - 1].parent, n++) {
		const struct frame *at = &fs->at[nr - 1];

		if (at->gen == f->parent_gen && at->tid == f->tid && at->nr_thread == f->nr_thread &&
		    frame_compare(at, at + 1) && !at->is_resumed)
			return nr;
	}
	return frame_number(fs, f, f->parent_gen);
}

/* Together, these keys sort in the order of frame_compare(); parts are sorted by their ends. */
ORDER_KEY(frame_tid, struct frame, tid)
ORDER_KEY(frame_thread, struct frame, nr_thread)

static int64_t frame_block(const void *frame)
{
	return (uint16_t)((const struct frame *)frame)->gen;
}

static int64_t frame_gen(const void *frame)
{
	return order_unsigned(((const struct frame *)frame)->gen);
}

ORDER_KEY(frame_end, struct frame, end_max)

static bool is_same_block(const struct frame *a, const struct frame *b)
{
	return a->tid == b->tid && a->nr_thread == b->nr_thread && (uint16_t)a->gen == (uint16_t)b->gen;
}

int frames_sort(struct frames *fs)
{
	static const order_key keys[] = { frame_tid, frame_thread, frame_block, frame_gen, frame_end };
	size_t room = fs->room;
	int ret;

	if (!buffer_room(&fs->spare, &fs->room_spare, fs->room * sizeof(*fs->spare)))
		return -ENOMEM;
	ret = order_sort_to(&fs->at, &fs->spare, fs->nr, sizeof(*fs->at), keys, fs->has_resumed ? 5 : 4);
	if (ret < 0)
		return ret;
	if (ret) {
		fs->room = fs->room_spare / sizeof(*fs->at);
		fs->room_spare = room * sizeof(*fs->at);
	}
	for (size_t i = 0; i < fs->nr; i++) {
		struct frame *f = &fs->at[i];
		size_t nr = f->parent_gen && f->parent_gen != f->gen ? parent_number(fs, i) : 0;

		/*
		 * A parent in another block may be sorted after its child, and a damaged trace may
		 * have any order.
		 */
		if (nr <= i)
			f->parent = nr;
		if (i && is_same_block(f - 1, f))
			f->begun = max(f->begun, f[-1].begun);
	}
	return 0;
}

/* Sets the estimates from the bounds, as estimate_func() does. */
static void estimate_again(struct frame *f)
{
	f->start = estimate_middle(f->start_min, f->start_max);
	f->end = estimate_middle(f->end_min, f->end_max);
	f->resolution = estimate_resolution(f->start_max - f->start_min, f->end_max - f->end_min);
	if (f->end < f->start)
		f->end = f->start;
	f->full_start = f->start;
	f->full_end = f->end;
}

static void bound_start(struct frame *f, int64_t lo, int64_t hi)
{
	f->start_min = lo;
	f->start_max = hi;
	estimate_again(f);
}

static void bound_end(struct frame *f, int64_t lo, int64_t hi)
{
	f->end_min = lo;
	f->end_max = hi;
	estimate_again(f);
}

static struct frame *parent_of(const struct frames *fs, const struct frame *f)
{
	return f->parent ? &fs->at[f->parent - 1] : NULL;
}

void frames_began_by(struct frames *fs, const struct frame *found, int64_t tick)
{
	struct frame *f = found ? &fs->at[found - fs->at] : NULL;

	while (f && f->start_max > tick && f->start_min <= tick && !f->is_truncated) {
		bound_start(f, f->start_min, tick);
		f = parent_of(fs, f);
	}
}

void frames_lasted_to(struct frames *fs, const struct frame *found, int64_t tick)
{
	struct frame *f = found ? &fs->at[found - fs->at] : NULL;

	while (f && f->end_min < tick && f->end_max >= tick && !f->is_truncated) {
		bound_end(f, tick, f->end_max);
		f = parent_of(fs, f);
	}
}

/* Narrows the bounds of a frame that began after the tick, and therefore also ended after it. */
static void began_after(struct frame *f, int64_t tick)
{
	if (f->is_truncated || f->is_emitted || f->start_max < tick || f->end_max < tick)
		return;
	if (f->start_min < tick)
		bound_start(f, tick, f->start_max);
	if (f->end_min < tick)
		bound_end(f, tick, f->end_max);
}

static void ended_by(struct frame *f, int64_t tick)
{
	if (f->is_truncated || f->is_emitted || f->end_min > tick || f->start_min > tick)
		return;
	if (f->end_max > tick)
		bound_end(f, f->end_min, tick);
	if (f->start_max > tick)
		bound_start(f, f->start_min, tick);
}

/* Narrows the bounds of frame f, which was entered after the innermost frame of the moment. */
static void bound_newer(struct frame *f, const struct moment *m)
{
	if (m->last ? f->gen <= m->last : f->start_max <= m->from)
		ended_by(f, m->from);
	else if (m->last)
		began_after(f, m->from);
	else if (f->end_min > m->from)
		began_after(f, m->to);
}

/*
 * Returns index + 1 of the last frame of a block that had begun at the moment.  `first` is
 * index + 1 of the innermost frame.  The search uses `begun` because narrowed estimates of starts
 * are not in the order of the frames: what is found among these would depend on how many frames
 * were read.
 */
static size_t begun_by(const struct frames *fs, const struct moment *m, struct frame *want,
		       size_t first)
{
	want->gen = m->last ? m->last : m->innermost | ~(uint64_t)0xffff;
	if (m->last)
		return frames_up_to(fs, want);
	return search_range(first, frames_up_to(fs, want), i, fs->at[i].begun <= m->from);
}

void frames_seen(struct frames *fs, const struct moment *m)
{
	struct frame want = {
		.tid = m->tid, .nr_thread = model_thread_number(fs->m, m->tid, m->from),
		.gen = m->innermost,
	};
	size_t first = frames_up_to(fs, &want), near;

	if (first && !frame_compare(&fs->at[first - 1], &want)) {
		frames_began_by(fs, &fs->at[first - 1], m->from);
		frames_lasted_to(fs, &fs->at[first - 1], m->to);
	}
	near = begun_by(fs, m, &want, first);
	/*
	 * Frames that were entered after the innermost one, and had begun at the moment, have
	 * ended.  The first loop bounds the last of these frames and its callers, the second one
	 * the frames before it.
	 */
	for (size_t nr = near; nr > first; nr = fs->at[nr - 1].parent)
		bound_newer(&fs->at[nr - 1], m);
	for (size_t i = near; i > first && near - i < NEAR_MAX; i--)
		bound_newer(&fs->at[i - 1], m);
	want.gen |= ~(uint64_t)0xffff;
	for (size_t i = near, nr_after = 0; i < fs->nr && nr_after < AFTER_MAX; i++) {
		if (frame_compare(&fs->at[i], &want) > 0)
			break;
		nr_after += fs->at[i].start_min >= m->to;
		bound_newer(&fs->at[i], m);
	}
}

/*
 * A wait or a hold has a time stamp, and its frame and the frame's callers were entered before that
 * time: this bound is often narrower than those of the scanner's samples.
 */
void frames_tighten(struct frames *fs, const struct lockset *locks)
{
	for (size_t i = 0; i < locks->nr; i++) {
		const struct lock_event *e = &locks->events[i];

		if (e->op == LDB_LOCK_OP_HOLD && !(e->flags & LDB_LOCK_F_BEGIN_EXACT))
			continue;
		if (e->nr_later)
			frames_seen(fs, &(struct moment){
				e->tid, e->gen, innermost_of(e->gen, e->nr_later), e->begin, e->end,
			});
		else
			frames_began_by(fs, frames_at(fs, e->tid, e->gen, e->begin), e->begin);
	}
}

void frames_nest(struct frames *fs)
{
	for (size_t i = 0; i < fs->nr; i++) {
		struct frame *f = &fs->at[i], *parent;

		if (!f->parent)
			continue;
		parent = &fs->at[f->parent - 1];
		clip(f, parent->start, parent->end);
		if (f->is_resumed)
			continue;	/* parts are not in the order in which they were entered */
		if (parent->last_child)
			part_siblings(&fs->at[parent->last_child - 1], f);
		parent->last_child = i + 1;
	}
	/*
	 * Clips children again: a parent that was clipped to its sibling may now end before them.
	 */
	for (size_t i = 0; i < fs->nr; i++) {
		struct frame *f = &fs->at[i];

		if (f->parent)
			clip(f, fs->at[f->parent - 1].start, fs->at[f->parent - 1].end);
	}
}

const struct frame *frames_at(const struct frames *fs, uint32_t tid, uint64_t gen,
			      int64_t tick)
{
	struct frame want = {
		.tid = tid, .gen = gen, .nr_thread = model_thread_number(fs->m, tid, tick),
	};
	const struct frame *f;
	size_t nr;

	/* Searches from the last frame that was entered before, through its callers. */
	nr = gen ? frames_up_to(fs, &want) : 0;
	if (!nr)
		return NULL;
	f = &fs->at[nr - 1];
	if (f->tid != tid || f->nr_thread != want.nr_thread || (uint16_t)f->gen != (uint16_t)gen)
		return NULL;
	while (f && f->gen != gen && f->end + (int64_t)f->resolution < tick)
		f = f->parent ? &fs->at[f->parent - 1] : NULL;
	return f;
}

/* Returns how many frames from frames[i] on are of the same block of a thread. */
static size_t block_length(const struct frames *fs, size_t i)
{
	struct frame last = fs->at[i];

	last.gen |= ~(uint64_t)0xffff;
	return frames_up_to(fs, &last) - i;
}

/* Iterates over the blocks of the thread that had tid at some time. */
struct blocks {
	struct frame first;	/* no frame of the thread comes before it */
	size_t at, nr;		/* the frames of the current block */
};

static struct blocks blocks_of(const struct frames *fs, uint32_t tid, int64_t tick)
{
	struct blocks x = {
		.first.tid = tid, .first.nr_thread = model_thread_number(fs->m, tid, tick),
	};

	x.at = frames_up_to(fs, &x.first);
	return x;
}

/* Returns the frames of the next block, x->nr of them; NULL after the last. */
static const struct frame *next_block(const struct frames *fs, struct blocks *x)
{
	const struct frame *f = &fs->at[x->at += x->nr];

	if (x->at >= fs->nr || f->tid != x->first.tid || f->nr_thread != x->first.nr_thread)
		return NULL;
	x->nr = block_length(fs, x->at);
	return f;
}

/* Returns how many of nr frames start at tick or before; they are in order of their starts. */
static size_t started_by(const struct frame *frames, size_t nr, int64_t tick)
{
	return search(nr, i, frames[i].start <= tick);
}

const struct frame *frames_by_time(const struct frames *fs, uint32_t tid, int64_t tick)
{
	struct blocks x = blocks_of(fs, tid, tick);
	const struct frame *best = NULL, *block, *f;

	while ((block = next_block(fs, &x))) {
		size_t started = started_by(block, x.nr, tick);

		f = started ? &block[started - 1] : NULL;
		while (f && f->end <= tick)
			f = parent_of(fs, f);
		if (f && (!best || f->start > best->start))
			best = f;
	}
	return best;
}

/*
 * The thread was off the CPU between `from` and `to`, so no frame began or ended then.  began()
 * returns true if the frame began before `from`, lasted() if it ended after `to`.  If its bounds
 * allow both answers, the one with more time in the bounds is taken.
 */
static bool began(const struct frame *f, int64_t from, int64_t to)
{
	return from - f->start_min >= f->start_max - to;
}

static bool lasted(const struct frame *f, int64_t from, int64_t to)
{
	return f->end_max - to >= from - f->end_min;
}

/*
 * Returns the last frame of a block that had begun by `from`; some may have begun before their
 * estimated start.
 */
static const struct frame *last_begun(const struct frame *frames, size_t nr, int64_t from, int64_t to)
{
	size_t i = started_by(frames, nr, from);

	for (size_t late = 0; late < LATE_MAX && i < nr && frames[i].start_min <= from; late++)
		i++;
	while (i && !began(&frames[i - 1], from, to))
		i--;
	return i ? &frames[i - 1] : NULL;
}

const struct frame *frames_through(const struct frames *fs, uint32_t tid, int64_t from,
				   int64_t to)
{
	struct blocks x = blocks_of(fs, tid, from);
	const struct frame *best = NULL, *block, *f;

	while ((block = next_block(fs, &x))) {
		f = last_begun(block, x.nr, from, to);
		while (f && !lasted(f, from, to))
			f = parent_of(fs, f);
		if (f && (!best || f->start > best->start))
			best = f;
	}
	return best;
}
