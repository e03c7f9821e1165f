// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements bins of time and buckets of latencies; see report-private.h. */
#include "base/search.h"
#include "facts/ticks.h"
#include "page/report-private.h"

void bins_init(struct bins *b, const struct model *m, int64_t from, int64_t to)
{
	const struct reader *r = m->reader;
	int64_t lo = ticks_time_ns(r, ticks_sane(from)), hi = ticks_time_ns(r, ticks_sane(to));

	if (lo < 0)
		lo = 0;
	if (hi > m->duration_ns)
		hi = m->duration_ns;
	if (hi < lo)
		hi = lo;
	hi++;
	b->nr = hi - lo < REPORT_BINS ? hi - lo : REPORT_BINS;
	for (unsigned i = 0; i <= b->nr; i++)
		b->edge[i] = lo + (int64_t)((__int128)(hi - lo) * i / b->nr);
	for (unsigned i = 0; i < b->nr; i++) {
		b->from[i] = reader_tick(r, b->edge[i]);
		b->to[i] = reader_tick(r, b->edge[i + 1] - 1);
	}
}

unsigned bins_first(const struct bins *b, int64_t tick)
{
	unsigned lo = search(b->nr, i, b->to[i] < tick);

	return lo < b->nr ? lo : REPORT_BINS;
}

unsigned bins_last(const struct bins *b, int64_t tick)
{
	return search(b->nr, i, b->from[i] <= tick);
}

unsigned bins_at(const struct bins *b, int64_t ns)
{
	return search(b->nr - 1, i, b->edge[i + 1] <= ns);
}

unsigned bins_bucket(uint64_t value, unsigned bits)
{
	unsigned octave = value >> bits ? 63 - __builtin_clzll(value) - bits + 1 : 0;
	unsigned sub = value >> (octave ? octave - 1 : 0) & ((1U << bits) - 1);

	return octave << bits | sub;
}
