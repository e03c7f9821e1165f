// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads what block devices did, and joins it to sleeps; see disks.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "disks.h"
#include "rows.h"
#include "ticks.h"

struct sink {
	struct model *m;
	int (*work)(void *arg, const struct disk_work *w);
	void *arg;
};

static int on_row(void *arg, const void *at)
{
	const struct ldb_row_disk *row = at;
	const struct sink *sink = arg;
	int64_t start = ticks_sane(row->start), end = ticks_sane(row->end);

	return sink->work(sink->arg, &(struct disk_work){
		.tid = row->tid, .is_own = row->flags & LDB_DISK_F_OWN,
		.has_failed = row->flags & LDB_DISK_F_FAILED, .op = LDB_DISK_OP(row->flags),
		.start = start, .end = end > start ? end : start, .bytes = row->bytes,
		.device = *row->device ? model_keep_string(sink->m, row->device) : "a disk",
	});
}

int disks_each(struct model *m, const struct reader_filter *filter,
	       int (*work)(void *arg, const struct disk_work *w), void *arg)
{
	struct sink sink = { .m = m, .work = work, .arg = arg };

	return rows_each(m->reader, LDB_BLK_DISK, filter, on_row, &sink);
}

const char *disk_op_name(unsigned op)
{
	switch (op) {
	case LDB_DISK_READ:
		return "read";
	case LDB_DISK_WRITE:
		return "write";
	case LDB_DISK_FLUSH:
		return "flush";
	default:
		return "other";
	}
}

/* Joining */

/*
 * A sleep may be due to a request to a device by the sleeping thread, or by the kernel's thread
 * that woke it up.  Each sleep is therefore stored once for each of these threads.
 */
struct side {
	uint32_t tid;
	bool is_own;
	int64_t start, end;
	/* the latest end of this sleep and all earlier ones of the same thread */
	int64_t latest;
	size_t sleep;
};

/* A part of a sleep in which a device worked. */
struct hit {
	size_t sleep;
	const char *device;
	int64_t start, end;
	uint64_t bytes;
};

struct joining {
	struct side *sides;		/* sorted by thread and start */
	size_t nr_sides;
	struct hit *hits;
	size_t nr_hits, room_hits;
};

COMPARE(side_compare, struct side, UP(is_own) UP(tid) UP(start))
COMPARE(hit_compare, struct hit, UP(sleep) UP(device) UP(start) UP(end))

static int add_sides(struct joining *j, const struct disk_sleep *sleeps, size_t nr)
{
	j->sides = calloc(2 * nr + 1, sizeof(*j->sides));
	if (!j->sides)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct disk_sleep *s = &sleeps[i];

		j->sides[j->nr_sides++] = (struct side){ s->tid, true, s->start, s->end, s->end, i };
		if (s->waker)
			j->sides[j->nr_sides++] = (struct side){ s->waker, false, s->start, s->end,
								 s->end, i };
	}
	sort_by(j->sides, j->nr_sides, side_compare);
	for (size_t i = 1; i < j->nr_sides; i++) {
		struct side *s = &j->sides[i];

		if (s->is_own == s[-1].is_own && s->tid == s[-1].tid && s[-1].latest > s->latest)
			s->latest = s[-1].latest;
	}
	return 0;
}

static int on_work(void *arg, const struct disk_work *w)
{
	struct joining *j = arg;
	/*
	 * The loop goes backward from the last sleep of the thread that began before the device's
	 * work ended.
	 */
	size_t n = search(j->nr_sides, i, j->sides[i].is_own < w->is_own ||
			  (j->sides[i].is_own == w->is_own &&
			   (j->sides[i].tid < w->tid ||
			    (j->sides[i].tid == w->tid && j->sides[i].start < w->end))));

	while (n--) {
		const struct side *s = &j->sides[n];

		if (s->is_own != w->is_own || s->tid != w->tid || s->latest <= w->start)
			break;
		if (s->end > w->start &&
		    array_push(j->hits, j->nr_hits, j->room_hits,
			       { s->sleep, w->device, max(s->start, w->start), min(s->end, w->end),
				 w->bytes }))
			return -ENOMEM;
	}
	return 0;
}

/*
 * Adds up the parts of the first sleep and device in the array, and returns how many parts these
 * are.
 */
static size_t sum_hits(struct model *m, const struct hit *hits, size_t nr, struct segment_disk *sum)
{
	int64_t ticks = 0, until = INT64_MIN;
	size_t i = 0;

	*sum = (struct segment_disk){ .device = hits->device };
	for (; i < nr && hits[i].sleep == hits->sleep && hits[i].device == hits->device; i++) {
		if (hits[i].end > until)
			ticks_add(&ticks, hits[i].end - max(until, hits[i].start));
		until = max(until, hits[i].end);
		sum->bytes += hits[i].bytes;
		sum->nr++;
	}
	sum->ns = ticks_ns(m->reader, ticks);
	return i;
}

int disks_join(struct model *m, const struct disk_sleep *sleeps, size_t nr)
{
	struct reader_filter filter = READER_FILTER_ALL;
	struct joining j = { .sides = NULL };
	int ret;

	if (!nr || !m->has_disks)
		return 0;
	filter.t_min = INT64_MAX;
	filter.t_max = INT64_MIN;
	for (size_t i = 0; i < nr; i++) {
		filter.t_min = min(filter.t_min, sleeps[i].start);
		filter.t_max = max(filter.t_max, sleeps[i].end);
	}
	ret = add_sides(&j, sleeps, nr);
	if (!ret)
		ret = disks_each(m, &filter, on_work, &j);
	if (!ret)
		sort_by(j.hits, j.nr_hits, hit_compare);
	for (size_t i = 0; !ret && i < j.nr_hits;) {
		struct segment_disk *to = sleeps[j.hits[i].sleep].to, sum;

		i += sum_hits(m, &j.hits[i], j.nr_hits - i, &sum);
		if (!to->device || sum.ns > to->ns)
			*to = sum;
	}
	free(j.sides);
	free(j.hits);
	return ret;
}
