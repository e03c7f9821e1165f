// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes intervals by resampling blocks of requests; see bootstrap.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "bootstrap.h"

#define MARKS_MAX	2048

/* The generator is splitmix64. */
uint64_t random_next(struct random *r)
{
	uint64_t x = r->state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/*
 * A block has about half as many requests as the cube root of their number, or more: the best size
 * is proportional to the cube root.
 */
struct blocks bootstrap_blocks(size_t nr_requests, size_t nr_max)
{
	size_t size = cbrt(nr_requests) / 2;
	size_t least = (nr_requests + nr_max - 1) / nr_max;

	size = max(size, least);
	size = max(size, 1UL);
	return (struct blocks){ (nr_requests + size - 1) / size, size };
}

void bootstrap_draw(struct random *r, const struct blocks *blocks, uint32_t *times)
{
	memset(times, 0, blocks->nr * sizeof(*times));
	for (size_t i = 0; i < blocks->nr; i++)
		times[(random_next(r) >> 32) * blocks->nr >> 32]++;
}

/*
 * Uses the expansion 26.7.5 of Abramowitz and Stegun.  With at most 5 degrees of freedom it uses
 * the exact 97.5 % quantile, and scales it to z.
 */
double bootstrap_student(double z, size_t nr_independent)
{
	static const double few[] = { 12.706, 12.706, 4.303, 3.182, 2.776, 2.571 };
	size_t freedom = nr_independent > 1 ? nr_independent - 1 : 1;
	double n = freedom;

	if (freedom < sizeof(few) / sizeof(few[0]))
		return few[freedom] * z / BOOTSTRAP_Z;
	return z + (pow(z, 3) + z) / (4 * n) +
	       (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n) +
	       (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * n * n * n);
}

struct interval bootstrap_interval(double *values, size_t nr, size_t nr_independent)
{
	double n = nr_independent > 1 ? nr_independent : 2;
	double tail = erfc(sqrt(n / (n - 1)) * bootstrap_student(BOOTSTRAP_Z, n) / sqrt(2)) / 2;
	size_t cut = tail * nr;

	if (!nr)
		return (struct interval){ 0 };
	return (struct interval){ values[cut], values[nr - 1 - cut] };
}

struct item {
	int64_t latency;
	uint32_t block;
};

COMPARE(compare_items, struct item, UP(latency))

static void count_marks(struct resampler *s)
{
	uint32_t *row = s->below;

	for (size_t mark = 1; mark < s->nr_marks; mark++) {
		size_t end = mark * s->step < s->nr ? mark * s->step : s->nr;

		memcpy(row + s->blocks.nr, row, s->blocks.nr * sizeof(*row));
		row += s->blocks.nr;
		for (size_t i = (mark - 1) * s->step; i < end; i++)
			row[s->block_of[i]]++;
	}
}

int resampler_open(struct resampler *s, const int64_t *latencies, size_t nr)
{
	struct item *items = calloc(nr + 1, sizeof(*items));

	*s = (struct resampler){ .blocks = bootstrap_blocks(nr, BOOTSTRAP_BLOCKS), .nr = nr };
	s->step = (nr + MARKS_MAX - 1) / MARKS_MAX;
	s->nr_marks = s->step ? (nr + s->step - 1) / s->step + 1 : 1;
	s->sorted = calloc(nr + 1, sizeof(*s->sorted));
	s->block_of = calloc(nr + 1, sizeof(*s->block_of));
	s->below = calloc(s->nr_marks * s->blocks.nr + 1, sizeof(*s->below));
	s->sums = calloc(s->blocks.nr + 1, sizeof(*s->sums));
	if (!items || !s->sorted || !s->block_of || !s->below || !s->sums) {
		free(items);
		resampler_close(s);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		items[i] = (struct item){ latencies[i], i / s->blocks.size };
		s->sums[i / s->blocks.size] += latencies[i];
	}
	qsort(items, nr, sizeof(*items), compare_items);
	for (size_t i = 0; i < nr; i++) {
		s->sorted[i] = items[i].latency;
		s->block_of[i] = items[i].block;
	}
	free(items);
	count_marks(s);
	return 0;
}

void resampler_close(struct resampler *s)
{
	free(s->sorted);
	free(s->block_of);
	free(s->below);
	free(s->sums);
	*s = (struct resampler){ 0 };
}

static uint64_t count_below(const struct resampler *s, const uint32_t *times, size_t mark)
{
	const uint32_t *row = s->below + mark * s->blocks.nr;
	uint64_t count = 0;

	for (size_t b = 0; b < s->blocks.nr; b++)
		count += (uint64_t)times[b] * row[b];
	return count;
}

/* Returns the least rank, counted from 1, that is at least part * nr. */
static uint64_t rank_of(double part, uint64_t nr)
{
	/* In floating point, 0.55 * 100 is a little more than 55. */
	double rank = ceil(part * nr - 1e-9 * nr);

	return rank < 1 ? 1 : rank > nr ? nr : rank;
}

int64_t resampler_percentile(const struct resampler *s, const uint32_t *times, double part)
{
	size_t lo, last = s->nr_marks - 1;
	uint64_t rank, count;

	if (!s->nr)
		return 0;
	if (!times)
		return s->sorted[rank_of(part, s->nr) - 1];
	rank = rank_of(part, count_below(s, times, last));
	/* Finds the last mark before which there are fewer than `rank` latencies. */
	lo = last ? search_range(1, last, i, count_below(s, times, i) < rank) - 1 : 0;
	count = count_below(s, times, lo);
	for (size_t i = lo * s->step; i < s->nr; i++) {
		count += times[s->block_of[i]];
		if (count >= rank)
			return s->sorted[i];
	}
	return s->sorted[s->nr - 1];
}

double resampler_mean(const struct resampler *s, const uint32_t *times)
{
	double sum = 0;
	uint64_t nr = 0;

	for (size_t b = 0; b < s->blocks.nr; b++) {
		size_t first = b * s->blocks.size, left = s->nr - first;
		uint32_t drawn = times ? times[b] : 1;

		sum += drawn * s->sums[b];
		nr += drawn * (left < s->blocks.size ? left : s->blocks.size);
	}
	return nr ? sum / nr : 0;
}
