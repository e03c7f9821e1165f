// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Times of perf -> ticks of the session.
 *
 * A session on CLOCK_MONOTONIC gets its times from perf as they are, but for the offset
 * of the program's time namespace.  perf cannot
 * stamp with the time stamp counter; there it uses CLOCK_MONOTONIC_RAW, and both
 * are read together again and again.  Between two such looks a time is found by
 * interpolation, so it is off by no more than the looks are, whatever the two
 * clocks do in the long run.  Times only ever lie between two looks: the caller
 * waits for the second.
 */
#include <stdlib.h>
#include <time.h>
#include "record/perf-private.h"
#include "record/session.h"

#define LOOKS_MAX	1024
#define TRIES		8
#define TRIES_HARD	100
#define PATIENCE_NS	100000000	/* after this a bad look is better than none */
#define ROUND_NS	2		/* the kernel's own arithmetic, and ours */

struct look {
	uint64_t ns, tick;
};

struct perf_clock {
	bool same;		/* perf stamps in the session's clock */
	int64_t own_offset_ns;	/* perf knows no time namespaces: that of this process */
	int64_t offset_ns;	/* same: that of the program */
	uint64_t t0;
	struct look looks[LOOKS_MAX];	/* circular, ascending in both */
	size_t first, nr;
	uint64_t best_err, worst_err;	/* of a look, in ticks */
	double ns_per_tick;
};

struct perf_clock *perf_clock_alloc(unsigned clock_id, uint64_t t0, int64_t offset_ns)
{
	struct perf_clock *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->same = clock_id == LDB_CLOCK_MONO;
	c->t0 = t0;
	c->offset_ns = offset_ns;
	clock_offset(0, &c->own_offset_ns);
	c->best_err = UINT64_MAX;
	c->ns_per_tick = 1;
	perf_clock_look(c, true);
	return c;
}

void perf_clock_free(struct perf_clock *c)
{
	free(c);
}

int perf_clock_id(const struct perf_clock *c)
{
	return c->same ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW;
}

uint64_t perf_clock_now(const struct perf_clock *c)
{
	struct timespec ts;

	clock_gettime(perf_clock_id(c), &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec - c->own_offset_ns;
}

static struct look *look_at(struct perf_clock *c, size_t i)
{
	return &c->looks[(c->first + i) % LOOKS_MAX];
}

/* Both clocks, as close together as they can be read. */
static uint64_t read_both(struct perf_clock *c, struct look *look, int tries)
{
	uint64_t err = UINT64_MAX;

	for (int i = 0; i < tries && (!c->nr || err > c->best_err + c->best_err / 2); i++) {
		uint64_t before = clock_now(LDB_CLOCK_TSC), ns = perf_clock_now(c);
		uint64_t after = clock_now(LDB_CLOCK_TSC);

		if ((after - before + 1) / 2 >= err)
			continue;
		err = (after - before + 1) / 2;
		look->ns = ns;
		look->tick = before + (after - before) / 2;
	}
	return err;
}

static void add_look(struct perf_clock *c, const struct look *look, uint64_t err, bool must)
{
	if (err < c->best_err)
		c->best_err = err;
	if (c->nr) {
		const struct look *last = look_at(c, c->nr - 1);

		if (look->ns <= last->ns || look->tick <= last->tick)
			return;
		if (!must && err > 2 * c->best_err && look->ns - last->ns < PATIENCE_NS)
			return;
	}
	if (c->nr == LOOKS_MAX) {
		c->first++;
		c->nr--;
	}
	*look_at(c, c->nr++) = *look;
	if (err > c->worst_err)
		c->worst_err = err;
	if (c->nr > 1)
		c->ns_per_tick = (double)(look->ns - look_at(c, 0)->ns) /
				 (double)(look->tick - look_at(c, 0)->tick);
}

uint64_t perf_clock_look(struct perf_clock *c, bool must)
{
	struct look look;
	uint64_t err;

	if (c->same)
		return perf_clock_now(c);
	err = read_both(c, &look, must ? TRIES_HARD : TRIES);
	add_look(c, &look, err, must);
	return look_at(c, c->nr - 1)->ns;
}

int64_t perf_clock_tick(struct perf_clock *c, uint64_t ns)
{
	const struct look *from, *to;
	size_t low = 0, high = c->nr - 1;

	if (c->same)
		return (int64_t)(ns + c->offset_ns - c->t0);
	if (c->nr < 2)
		return (int64_t)(look_at(c, 0)->tick - c->t0);
	/* Nearly always between the last two, or near them. */
	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (look_at(c, middle)->ns <= ns)
			low = middle;
		else
			high = middle;
	}
	from = look_at(c, low);
	to = look_at(c, high);
	return (int64_t)(from->tick - c->t0) +
	       (int64_t)((__int128)(int64_t)(ns - from->ns) * (int64_t)(to->tick - from->tick) /
			 (int64_t)(to->ns - from->ns));
}

uint64_t perf_clock_err_ns(const struct perf_clock *c)
{
	return c->same ? ROUND_NS : (uint64_t)(c->worst_err * c->ns_per_tick) + 1 + ROUND_NS;
}
