/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In a damaged trace, a time may be any number.  These functions limit times to 2^60 ticks, or 2^60
 * ns (36 years), before and after the start of the recording, so that sums and differences of a few
 * of them cannot overflow.
 */
#ifndef FACTS_TICKS_H
#define FACTS_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include "trace/reader.h"

#define TICKS_MAX	((int64_t)1 << 60)

static inline int64_t ticks_sane(int64_t tick)
{
	return tick > TICKS_MAX ? TICKS_MAX : tick < -TICKS_MAX ? -TICKS_MAX : tick;
}

/* Limits a duration to the range of ticks_sane(). */
static inline uint64_t ticks_sane_length(uint64_t ticks)
{
	return ticks > (uint64_t)TICKS_MAX ? (uint64_t)TICKS_MAX : ticks;
}

/* Returns the result of reader_ns(), limited by ticks_sane(). */
static inline int64_t ticks_time_ns(const struct reader *r, int64_t tick)
{
	return ticks_sane(reader_ns(r, tick));
}

/* Caches the last conversion: most times are converted twice, as an end and as the next start. */
struct ticks_last {
	int64_t tick, ns;
	bool is_known;
};

static inline int64_t ticks_last_ns(struct ticks_last *last, const struct reader *r, int64_t tick)
{
	if (!last->is_known || tick != last->tick)
		*last = (struct ticks_last){ tick, ticks_time_ns(r, tick), true };
	return last->ns;
}

/* Adds ticks to *sum, which stays in the range of ticks_sane(). */
static inline void ticks_add(int64_t *sum, int64_t ticks)
{
	*sum = ticks_sane(*sum + ticks);
}

/*
 * Converts a duration from ticks to ns by the clock's rate; the result is rounded and lies in 0 ...
 * TICKS_MAX.
 */
static inline int64_t ticks_ns_at(double ns_per_tick, double ticks)
{
	double ns = ticks > 0 ? ticks * ns_per_tick + 0.5 : 0;

	return ns < (double)TICKS_MAX ? (int64_t)ns : TICKS_MAX;
}

static inline int64_t ticks_ns(const struct reader *r, double ticks)
{
	return ticks_ns_at(reader_ticks_to_ns(r, 1), ticks);
}

#endif
