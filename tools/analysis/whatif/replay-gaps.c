// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread that pauses until a time begins again at that time, however long it worked
 * before; one that pauses for a time begins later if it worked for longer.  Nothing in
 * a recording says which it is, but the work before the pauses does: with a clock,
 * more work makes the pause as much shorter, so the slope of pauses over work is -1;
 * else it is 0.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "replay-private.h"

#define GAPS_MIN	4
#define SHORT_PART	20	/* less than this part of the long ones is no pause */

COMPARE_NUMBERS(compare, int64_t)

/* Pauses shorter than this are only the way from one thing to the next. */
static int64_t shortest(const struct replay_gap *gaps, size_t nr)
{
	int64_t *lengths = calloc(nr + 1, sizeof(*lengths)), min;

	if (!lengths)
		return 0;
	for (size_t i = 0; i < nr; i++)
		lengths[i] = gaps[i].end - gaps[i].start;
	qsort(lengths, nr, sizeof(*lengths), compare);
	min = lengths[nr - 1 - nr / 10] / SHORT_PART;
	free(lengths);
	return min;
}

struct sums {
	double n, x, y, xx, xy;
};

static void add(struct sums *s, double x, double y)
{
	s->n++;
	s->x += x;
	s->y += y;
	s->xx += x * x;
	s->xy += x * y;
}

bool replay_is_clocked(const struct replay_gap *gaps, size_t nr, int64_t *min_ns)
{
	struct sums s = { 0 };
	const struct replay_gap *last = NULL;
	double var;

	*min_ns = 0;
	if (nr < GAPS_MIN)
		return true;
	*min_ns = shortest(gaps, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct replay_gap *g = &gaps[i];

		if (g->end - g->start < *min_ns)
			continue;
		if (last)
			add(&s, g->start - last->end, g->end - g->start);
		last = g;
	}
	var = s.n * s.xx - s.x * s.x;
	/* Always the same work: both come out alike, and arrivals are the usual thing. */
	if (s.n < GAPS_MIN || var <= 0)
		return true;
	return (s.n * s.xy - s.x * s.y) / var < -0.5;
}
