// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stores the blocks of the last seconds in memory.
 *
 * Each row is in one block, and each block belongs to one period of the recorder
 * (record_live.period_ns), so consecutive windows neither share an event nor miss one.  Of rows
 * that are repeated in each period (modules, threads), only the last copy is retained.  Requests
 * are retained longer than the window, because a request that ends now may have started long ago.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <ldb/trace-format.h>
#include "base/array.h"
#include "base/write.h"
#include "top/top.h"

#define EXTRA_NS	5000000000LL	/* events are retained this much longer than the window */
#define EXTRA_REQ_NS	60000000000LL	/* requests are retained this much longer */
/* limit of the number of META blocks, because there may be many warnings */
#define METAS_MAX	64

struct block {
	atomic_uint refs;
	unsigned kind;		/* 0: the block is the file's header */
	unsigned period;
	bool is_state;		/* its rows are repeated in each period */
	size_t size;
	char data[];
};

struct mark {			/* the end of a period */
	unsigned period;
	struct record_status status;
};

struct history {
	int64_t window_ns;
	uint64_t max_bytes, bytes;
	struct block **blocks;
	size_t nr, room, nr_metas;
	bool has_clock, is_anew;
	unsigned period;	/* number of the current period, from 1 */
	/*
	 * the last period whose events were dropped, and the last one whose requests were dropped
	 */
	unsigned old_period, old_req_period;
	unsigned cut_period;	/* last period that was dropped because of max_bytes; 0: none */
	struct mark *marks;
	size_t nr_marks, room_marks;
};

struct snapshot {
	struct snapshot_info info;
	unsigned first_period;	/* first period of the window */
	size_t nr;
	struct block *blocks[];
};

struct history *history_alloc(uint64_t window_ns, uint64_t max_bytes)
{
	struct history *h = calloc(1, sizeof(*h));

	if (h) {
		h->window_ns = window_ns;
		h->max_bytes = max_bytes;
		h->period = 1;
	}
	return h;
}

static void block_put(struct block *b)
{
	if (atomic_fetch_sub(&b->refs, 1) == 1)
		free(b);
}

void history_free(struct history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->nr; i++)
		block_put(h->blocks[i]);
	free(h->blocks);
	free(h->marks);
	free(h);
}

static bool is_event(const struct block *b)
{
	return b->kind && b->kind != LDB_BLK_META && b->kind != LDB_BLK_CLOCK && !b->is_state;
}

int history_block(struct history *h, const void *data, size_t size)
{
	const struct ldb_block_header *header = data;
	struct block *b = malloc(sizeof(*b) + size);

	if (!b || !array_room(&h->blocks, &h->room, h->nr, sizeof(*h->blocks))) {
		free(b);
		return -ENOMEM;
	}
	*b = (struct block){ .refs = 1, .period = h->period, .is_state = h->is_anew, .size = size };
	if (h->nr)
		b->kind = header->kind;
	memcpy(b->data, data, size);
	h->blocks[h->nr++] = b;
	h->bytes += size;
	return 0;
}

/* Removes the blocks for which keep() returns false; the order of the others remains. */
static void remove_blocks(struct history *h, bool (*keep)(struct history *h, const struct block *b))
{
	size_t nr = 0;

	for (size_t i = 0; i < h->nr; i++) {
		struct block *b = h->blocks[i];

		if (keep(h, b)) {
			h->blocks[nr++] = b;
			continue;
		}
		h->bytes -= b->size;
		block_put(b);
	}
	h->nr = nr;
}

static bool is_no_state(struct history *h, const struct block *b)
{
	return !b->is_state;
}

void history_anew(struct history *h)
{
	remove_blocks(h, is_no_state);
	h->is_anew = true;
}

static const struct mark *last_mark(const struct history *h)
{
	return &h->marks[h->nr_marks - 1];
}

/* Returns the last period that had ended at time ns; 0: none. */
static unsigned period_at(const struct history *h, int64_t ns)
{
	for (size_t i = h->nr_marks; i--;)
		if (h->marks[i].status.now_ns <= ns)
			return h->marks[i].period;
	return 0;
}

/* The clock's first row is retained, so that the rate is that of the whole recording. */
static bool is_wanted(struct history *h, const struct block *b)
{
	if (!b->kind || b->is_state)
		return true;
	if (b->kind == LDB_BLK_META)
		return h->nr_metas++ < METAS_MAX;
	if (b->kind == LDB_BLK_CLOCK && !h->has_clock)
		return h->has_clock = true;
	if (b->kind == LDB_BLK_REQ || b->kind == LDB_BLK_REQNAME || b->kind == LDB_BLK_NOTE)
		return b->period > h->old_req_period;
	return b->period > h->old_period;
}

static void forget_old(struct history *h)
{
	int64_t now = last_mark(h)->status.now_ns;

	h->old_period = period_at(h, now - h->window_ns - EXTRA_NS);
	h->old_req_period = period_at(h, now - h->window_ns - EXTRA_REQ_NS);
	h->nr_metas = 0;
	h->has_clock = false;
	remove_blocks(h, is_wanted);
}

static bool is_not_cut(struct history *h, const struct block *b)
{
	return !is_event(b) || b->period > h->cut_period;
}

/* If the events need more than max_bytes, a shorter time is retained. */
static void limit_bytes(struct history *h)
{
	while (h->bytes > h->max_bytes) {
		unsigned oldest = h->period;

		for (size_t i = 0; i < h->nr; i++)
			if (is_event(h->blocks[i]) && h->blocks[i]->period < oldest)
				oldest = h->blocks[i]->period;
		if (oldest == h->period)
			return;
		h->cut_period = oldest;
		remove_blocks(h, is_not_cut);
	}
}

static void forget_marks(struct history *h)
{
	int64_t old = last_mark(h)->status.now_ns - h->window_ns - EXTRA_REQ_NS;
	size_t nr = 0;

	while (nr + 1 < h->nr_marks && h->marks[nr + 1].status.now_ns < old)
		nr++;
	memmove(h->marks, h->marks + nr, (h->nr_marks - nr) * sizeof(*h->marks));
	h->nr_marks -= nr;
}

void history_period(struct history *h, const struct record_status *status)
{
	h->is_anew = false;
	if (!array_room(&h->marks, &h->room_marks, h->nr_marks, sizeof(*h->marks)))
		return;
	h->marks[h->nr_marks++] = (struct mark){ h->period++, *status };
	forget_old(h);
	forget_marks(h);
	limit_bytes(h);
}

/* Snapshots */

static const struct mark *find_mark(const struct history *h, unsigned period)
{
	for (size_t i = h->nr_marks; i--;)
		if (h->marks[i].period == period)
			return &h->marks[i];
	return NULL;
}

static void fill_info(const struct history *h, struct snapshot *s, unsigned before)
{
	const struct record_status *end = &last_mark(h)->status;
	const struct mark *begin = before ? find_mark(h, before) : NULL;
	struct snapshot_info *i = &s->info;

	i->status = *end;
	i->to = end->tick;
	i->window_ns = end->now_ns - end->begin_ns;
	i->made = end->made;
	i->seen = end->seen;
	i->nr_events = end->nr_events;
	i->nr_lost = end->nr_lost;
	if (!begin)
		return;
	i->from = begin->status.tick;
	i->window_ns = end->now_ns - begin->status.now_ns;
	i->made -= begin->status.made;
	i->seen -= begin->status.seen;
	i->nr_events -= begin->status.nr_events;
	i->nr_lost -= begin->status.nr_lost;
}

struct snapshot *history_snapshot(const struct history *h, const struct snapshot *before)
{
	struct snapshot *s = malloc(sizeof(*s) + h->nr * sizeof(*s->blocks));
	int64_t from;
	unsigned last;

	if (!s || !h->nr_marks) {
		free(s);
		return NULL;
	}
	*s = (struct snapshot){ .nr = h->nr };
	memcpy(s->blocks, h->blocks, h->nr * sizeof(*s->blocks));
	for (size_t i = 0; i < s->nr; i++)
		atomic_fetch_add(&s->blocks[i]->refs, 1);
	/*
	 * The window begins where a period ended, so it may begin up to about half a period earlier
	 * or later.
	 */
	from = last_mark(h)->status.now_ns - h->window_ns;
	last = period_at(h, from + (h->nr_marks > 1 ? (last_mark(h)->status.now_ns -
				    h->marks[h->nr_marks - 2].status.now_ns) / 2 : 0));
	if (before && before->first_period <= last)
		last = before->first_period - 1;
	if (last < h->cut_period) {
		s->info.is_cut = true;
		last = h->cut_period;
	}
	s->first_period = last + 1;
	fill_info(h, s, last);
	return s;
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr; i++)
		block_put(s->blocks[i]);
	free(s);
}

const struct snapshot_info *snapshot_info(const struct snapshot *s)
{
	return &s->info;
}

static bool belongs(const struct snapshot *s, const struct block *b, bool is_wide)
{
	if (is_wide || !is_event(b))
		return true;
	/* Rows of ended modules and threads are needed as long as other rows refer to them. */
	return b->period >= s->first_period || b->kind == LDB_BLK_MODULE ||
	       b->kind == LDB_BLK_THREAD;
}

static bool is_in(const struct block *b, const struct snapshot_range *ranges, size_t nr)
{
	struct ldb_block_header h;

	if (!is_event(b) || b->kind == LDB_BLK_MODULE || b->kind == LDB_BLK_THREAD)
		return true;
	memcpy(&h, b->data, sizeof(h));
	for (size_t i = 0; i < nr; i++)
		if (h.t_min > h.t_max || (h.t_min <= ranges[i].to && h.t_max >= ranges[i].from))
			return true;
	return false;
}

/*
 * If ranges is NULL, takes the blocks of the window, or all of them if is_wide; otherwise those
 * with events in one of the ranges.
 */
static int make_file(const struct snapshot *s, bool is_wide, const struct snapshot_range *ranges, size_t nr)
{
	int fd = memfd_create("ldb-top", MFD_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < s->nr && !rc; i++)
		if (ranges ? is_in(s->blocks[i], ranges, nr) : belongs(s, s->blocks[i], is_wide))
			rc = write_all(fd, s->blocks[i]->data, s->blocks[i]->size, NULL);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int snapshot_file(const struct snapshot *s, bool is_wide)
{
	return make_file(s, is_wide, NULL, 0);
}

int snapshot_file_of(const struct snapshot *s, const struct snapshot_range *ranges, size_t nr)
{
	return make_file(s, true, ranges, nr);
}
