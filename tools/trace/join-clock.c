// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds how to convert the ticks of each part to those of the result, which has the clock of the
 * first part.
 *
 * Two parts have the same clock if they were recorded on one machine that was not booted in
 * between: then their ticks differ by a constant, which follows from both headers.  Otherwise the
 * times of day are compared, and then messages and requests between the parts (join-links.c).
 */
#include <math.h>
#include <string.h>
#include <linux/ldb.h>
#include "base/minmax.h"
#include "trace/join-private.h"
#include "trace/reader-private.h"

/*
 * Traces without META "boot" that have the same host name are taken to be of one machine if the
 * times of day that they have for the same tick differ by less than this.  The clock may have been
 * set in between.
 */
#define SAME_HOST_NS	1e9L
/* A time namespace adds an offset to CLOCK_MONOTONIC, which is taken to be greater than this. */
#define SAME_MONO_NS	2e5L
/* the error of the difference, if the time of day was read twice on one machine */
#define TWICE_READ_NS	2000

/*
 * A linear function from ticks to the time of day; it is computed from the first and the last CLOCK
 * row.
 */
struct day {
	struct clock_span read;
	long double ns_per_tick;
};

static struct day day_of(const struct join_part *p)
{
	const struct ldb_file_header *h = reader_header(p->r);
	struct day d;
	long double slope;

	if (clock_span_read(p->r, &d.read) || !d.read.any)
		d.read.first = d.read.last = (struct ldb_row_clock){ .real_ns = h->realtime_ns };
	d.ns_per_tick = reader_ticks_to_ns(p->r, 1);
	if (d.read.last.tick <= d.read.first.tick)
		return d;
	slope = ((long double)d.read.last.real_ns - d.read.first.real_ns) /
		((long double)d.read.last.tick - d.read.first.tick);
	/*
	 * If the slopes differ by a thousandth or more, the clock was set meanwhile: adjustments by
	 * NTP change the slope by less.
	 */
	if (fabsl(slope / d.ns_per_tick - 1) < 0.001L)
		d.ns_per_tick = slope;
	return d;
}

static long double day_ns(const struct day *d, long double tick)
{
	return d->read.first.real_ns + (tick - d->read.first.tick) * d->ns_per_tick;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b && *a && !strcmp(a, b);
}

static bool is_same_clock(const struct join_part *a, const struct day *of_a,
			  const struct join_part *b, const struct day *of_b)
{
	const struct ldb_file_header *ha = reader_header(a->r), *hb = reader_header(b->r);
	const char *boot_a = reader_meta(a->r, "boot"), *boot_b = reader_meta(b->r, "boot");
	long double shift = (long double)hb->t0 - ha->t0;
	long double differ = fabsl(day_ns(of_a, shift) - day_ns(of_b, 0));

	if (ha->clock_id != hb->clock_id || fabsl((long double)ha->clock_hz / hb->clock_hz - 1) > 0.001L)
		return false;
	if (ha->clock_id == LDB_CLOCK_MONO && differ > SAME_MONO_NS)
		return false;
	if (boot_a && boot_b)
		return is_same_text(boot_a, boot_b);
	return is_same_text(reader_meta(a->r, "host"), reader_meta(b->r, "host")) &&
	       differ < SAME_HOST_NS;
}

static void set_clock(const struct join_part *first, const struct day *of_first,
		      struct join_part *p)
{
	struct day day = day_of(p);

	p->is_same_clock = p == first || is_same_clock(first, of_first, p, &day);
	p->ratio = 1;
	if (p->is_same_clock) {
		p->shift = reader_header(p->r)->t0 - reader_header(first->r)->t0;
		return;
	}
	p->ratio = day.ns_per_tick / of_first->ns_per_tick;
	p->shift = llroundl((day_ns(&day, 0) - of_first->read.first.real_ns) / of_first->ns_per_tick +
			    of_first->read.first.tick);
	p->clock_err = is_same_text(reader_meta(first->r, "boot"), reader_meta(p->r, "boot")) ?
		       (uint64_t)llroundl(TWICE_READ_NS / of_first->ns_per_tick) : UINT64_MAX;
}

static bool is_one_clock(const struct join *j)
{
	for (size_t i = 0; i < j->nr; i++)
		if (!j->parts[i].is_same_clock)
			return false;
	return true;
}

int join_clocks(struct join *j)
{
	struct day day = day_of(&j->parts[0]);
	int64_t first = INT64_MAX;
	int rc;

	for (size_t i = 0; i < j->nr; i++)
		set_clock(&j->parts[0], &day, &j->parts[i]);
	rc = is_one_clock(j) ? 0 : join_links(j);
	for (size_t i = 0; i < j->nr; i++)
		first = min(first, j->parts[i].shift);
	j->header = *reader_header(j->parts[0].r);
	/* The joined recording begins when the first of its parts begins. */
	if (first) {
		j->header.t0 += first;
		j->header.realtime_ns = llroundl(day_ns(&day, first));
	}
	for (size_t i = 0; i < j->nr; i++) {
		struct join_part *p = &j->parts[i];

		p->shift -= first;
		p->to = join_tick(p, reader_end_tick(p->r));
	}
	return rc;
}

int64_t join_tick(const struct join_part *p, int64_t tick)
{
	long double at;

	if (tick == INT64_MIN || tick == INT64_MAX)
		return tick;
	if (p->is_same_clock)
		return (int64_t)((uint64_t)tick + (uint64_t)p->shift);
	at = tick * p->ratio + p->shift;
	return at >= 0x1p63L ? INT64_MAX : at <= -0x1p63L ? INT64_MIN : llroundl(at);
}

uint64_t join_ticks(const struct join_part *p, uint64_t ticks)
{
	long double result;

	if (ticks == UINT64_MAX || p->is_same_clock)
		return ticks;
	result = ticks * p->ratio;
	return result >= 0x1p64L ? UINT64_MAX : (uint64_t)roundl(result);
}

bool join_has_clock(const struct join *j, const struct join_part *p)
{
	struct day a = day_of(&j->parts[0]), b = day_of(p);
	long double tick = (long double)b.read.first.tick + p->shift - j->parts[0].shift;
	long double raw = a.read.first.raw_ns + (tick - a.read.first.tick) * a.ns_per_tick;

	/*
	 * In another time namespace, the monotonic clocks in the CLOCK rows have another offset
	 * than in those of the first part.
	 */
	return p == &j->parts[0] || (p->is_same_clock && b.read.any && fabsl(raw - b.read.first.raw_ns) < SAME_MONO_NS);
}
