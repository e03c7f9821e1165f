// SPDX-License-Identifier: GPL-2.0-or-later
/* Distributions: nearest rank, exact and in buckets, merged, bounded. */
#include "analysis/dist.h"
#include "tap.h"

static int compare(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static uint64_t state = 88172645463325252ULL;

static uint64_t random_u64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void test_ranks(void)
{
	struct dist_pool pool = { 0 };
	struct dist d;

	dist_init(&d, &pool);
	is_int(dist_percentile(&d, 1, 2), 0, "nothing has percentile 0");
	for (uint64_t v = 100; v >= 1; v--)
		dist_add(&d, v);
	is_int(dist_percentile(&d, 1, 2), 50, "p50 of 1..100");
	is_int(dist_percentile(&d, 99, 100), 99, "p99 of 1..100");
	is_int(dist_percentile(&d, 999, 1000), 100, "p99.9 of 1..100 is the greatest");
	is_int(dist_percentile(&d, 1, 100), 1, "p1 of 1..100");
	is_int(dist_percentile(&d, 0, 100), 1, "p0 is the least");
	dist_add(&d, 1000);
	is_int(dist_percentile(&d, 1, 2), 51, "p50 of 101 values, after a value was added");
	is_int(dist_mean(&d), (5050 + 1000 + 50) / 101, "mean");
	is_int(dist_sum(&d), 6050, "sum");
	ok(dist_is_exact(&d), "small ones are exact");
	dist_free(&d);
	is_int(pool.nr_used, 0, "the pool is given back");
}

/* Against a sorted copy of the same values. */
static void test_buckets(void)
{
	enum { NR = 300000 };
	static const unsigned nums[] = { 1, 50, 90, 99, 100 };
	struct dist_pool pool = { 0 };
	uint64_t *values = malloc(NR * sizeof(*values));
	struct dist d, half[2];
	double worst = 0;

	dist_init(&d, &pool);
	dist_init(&half[0], &pool);
	dist_init(&half[1], &pool);
	for (int i = 0; i < NR; i++) {
		values[i] = random_u64() >> (random_u64() % 60);
		dist_add(&d, values[i]);
		dist_add(&half[i & 1], values[i]);
	}
	qsort(values, NR, sizeof(*values), compare);
	ok(!dist_is_exact(&d), "many values are not kept");
	for (unsigned i = 0; i < 5; i++) {
		uint64_t want = values[(uint64_t)NR * nums[i] / 100 - 1];
		double off = (double)dist_percentile(&d, nums[i], 100) / want - 1;

		worst = off > worst ? off : -off > worst ? -off : worst;
	}
	ok(worst <= 0.004, "percentiles are off by at most 0.4 %% (%.3f %%)", worst * 100);
	is_int(dist_percentile(&d, 1, 1), values[NR - 1], "the greatest is exact");
	is_int(d.min, values[0], "the least is exact");
	dist_merge(&half[0], &half[1]);
	is_int(half[0].nr, NR, "merged: count");
	is_int(dist_percentile(&half[0], 99, 100), dist_percentile(&d, 99, 100), "merged: p99");
	ok(half[0].sum == d.sum, "merged: sum");
	dist_free(&d);
	dist_free(&half[0]);
	dist_free(&half[1]);
	is_int(pool.nr_used, 0, "the pool is given back");
	free(values);
}

static void test_merge_small(void)
{
	struct dist_pool pool = { 0 };
	struct dist a, b, big;

	dist_init(&a, &pool);
	dist_init(&b, &pool);
	dist_init(&big, &pool);
	for (unsigned i = 0; i < 10; i++)
		dist_add(&a, i);
	for (unsigned i = 10; i < 20; i++)
		dist_add(&b, i);
	dist_merge(&a, &b);
	ok(dist_is_exact(&a) && dist_percentile(&a, 1, 2) == 9, "small and small stays exact");
	for (unsigned i = 0; i < DIST_EXACT_MAX + 1; i++)
		dist_add(&big, 5);
	dist_merge(&a, &big);
	is_int(dist_percentile(&a, 1, 2), 5, "small and big");
	is_int(a.nr, 20 + DIST_EXACT_MAX + 1, "small and big: count");
	dist_free(&a);
	dist_free(&b);
	dist_free(&big);
}

static void test_pool(void)
{
	enum { NR = 300 };
	struct dist_pool pool = { 0 };
	struct dist *d = calloc(NR, sizeof(*d));
	bool bounded = true;

	for (int i = 0; i < NR; i++) {
		dist_init(&d[i], &pool);
		for (unsigned k = 0; k < DIST_EXACT_MAX; k++)
			dist_add(&d[i], k);
		bounded &= pool.nr_used <= DIST_POOL_MAX + NR * DIST_EXACT_MIN;
	}
	ok(bounded, "the pool bounds what is kept");
	ok(dist_is_exact(&d[0]) && !dist_is_exact(&d[NR - 1]), "first come, first kept");
	for (int i = 0; i < NR; i++)
		dist_free(&d[i]);
	is_int(pool.nr_used, 0, "the pool is given back");
	free(d);
}

static void test_seen(void)
{
	struct dist_pool pool = { 0 };
	struct dist d;

	dist_init(&d, &pool);
	is_int(dist_seen_from(&d, 95), 0, "no looks, no claim");
	for (int i = 0; i < 1000; i++)
		dist_add(&d, 1000);
	is_int(dist_seen_from(&d, 95), 950, "looks 1000 apart see 95 % of what takes 950");
	for (int i = 0; i < 1000; i++)
		dist_add(&d, 10);
	ok(dist_seen_from(&d, 95) / 10 == 90, "half of them 10 apart: 900");
	dist_free(&d);
}

int main(void)
{
	test_ranks();
	test_buckets();
	test_merge_small();
	test_pool();
	test_seen();
	return done();
}
