// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares observation gaps of threads with a table of every tick. */
#include <string.h>

#include "facts/gaps.h"
#include "tap.h"

#define NR_TICKS	400
#define NR_TIDS		4	/* 0: all threads */

static bool away[NR_TIDS][NR_TICKS];
static uint64_t seed = 1;

static unsigned chance(unsigned below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

static void make(struct intervals *g, unsigned nr)
{
	memset(away, 0, sizeof(away));
	while (nr--) {
		unsigned tid = chance(NR_TIDS), start = chance(NR_TICKS), end = start + chance(40);

		if (end > NR_TICKS)
			end = NR_TICKS;
		if (start < end && intervals_add(g, tid, start, end))
			bail_out("intervals_add");
		for (unsigned t = start; t < end; t++)
			away[tid][t] = true;
	}
	if (intervals_merge(g))
		bail_out("intervals_merge");
}

static bool is_away(unsigned tid, unsigned tick)
{
	return away[0][tick] || away[tid][tick];
}

/* Counts ticks for which the gaps and the table differ; NR_TICKS: gaps_cover() does not advance. */
static unsigned count_wrong(const struct intervals *g, unsigned tid)
{
	unsigned nr = 0;

	for (int64_t tick = 0; tick < NR_TICKS;) {
		int64_t until = NR_TICKS;
		bool said = gaps_cover(g, tid, tick, &until);

		if (until <= tick)
			return NR_TICKS;
		for (; tick < until; tick++)
			nr += said != is_away(tid, tick);
	}
	return nr;
}

static unsigned sum_of(unsigned tid, unsigned start, unsigned end)
{
	unsigned nr = 0;

	for (; start < end; start++)
		nr += is_away(tid, start);
	return nr;
}

/*
 * Sums the ticks from start to end that are in gaps, according to gaps_cover(); more than NR_TICKS:
 * it does not advance.
 */
static unsigned sum_within(const struct intervals *g, unsigned tid, int64_t start, int64_t end)
{
	unsigned nr = 0;

	while (start < end) {
		int64_t until = end;
		bool said = gaps_cover(g, tid, start, &until);

		if (until <= start)
			return NR_TICKS + 1;
		nr += said ? until - start : 0;
		start = until;
	}
	return nr;
}

/* Counts the answers that depend on where the search starts. */
static unsigned count_near(const struct intervals *g)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < 50; i++) {
		unsigned tid = chance(NR_TIDS + 1), tick = chance(NR_TICKS + 50);

		nr += intervals_near(g, tid, tick, chance(g->nr + 1)) != intervals_first(g, tid, tick);
	}
	return nr;
}

int main(void)
{
	unsigned wrong = 0, wrong_sums = 0, wrong_near = 0, nr_away = 0;
	struct intervals g = { 0 };
	int64_t until = 77;

	ok(!gaps_cover(&g, 3, 5, &until) && until == 77, "none");
	for (unsigned round = 0; round < 200; round++) {
		make(&g, chance(30));
		for (unsigned tid = 0; tid < NR_TIDS; tid++) {
			unsigned start = chance(NR_TICKS), end = start + chance(NR_TICKS - start);

			wrong += count_wrong(&g, tid);
			nr_away += sum_of(tid, 0, NR_TICKS);
			wrong_sums += sum_within(&g, tid, start, end) != sum_of(tid, start, end);
		}
		wrong_near += count_near(&g);
		intervals_free(&g);
	}
	diag("%u ticks in gaps", nr_away);
	ok(nr_away > 10000, "there were some");
	is_int(wrong, 0, "each tick is in a gap or not");
	is_int(wrong_sums, 0, "and they are counted right");
	is_int(wrong_near, 0, "where a search begins does not matter");
	return done();
}
