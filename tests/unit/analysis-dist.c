// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests distributions: their percentiles while they are exact and when they consist of buckets, and
 * that they can be merged and use limited memory.
 */
#include "base/dist.h"
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
	is_int(dist_times(&d).mean_ns, (5050 + 1000 + 50) / 101, "mean");
	is_int(dist_times(&d).total_ns, 6050, "sum");
	ok(dist_is_exact(&d), "small ones are exact");
	dist_free(&d);
	is_int(pool.nr_used, 0, "the pool is empty again");
}

/* Tests each rank of exact distributions, with numbers of one to 64 bits. */
static void test_sorted(void)
{
	enum { NR = 1000 };
	uint64_t values[NR];
	size_t wrong = 0;

	for (unsigned bits = 1; bits <= 64; bits++) {
		struct dist_pool pool = { 0 };
		struct dist d;

		dist_init(&d, &pool);
		for (int i = 0; i < NR; i++) {
			values[i] = random_u64() >> (64 - bits);
			dist_add(&d, values[i]);
		}
		qsort(values, NR, sizeof(*values), compare);
		for (int i = 1; i <= NR; i++)
			wrong += dist_percentile(&d, i, NR) != values[i - 1];
		dist_free(&d);
	}
	ok(!wrong, "every rank of numbers of 1 to 64 bits");
}

/* Compares with a sorted copy of the same values. */
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
	is_int(pool.nr_used, 0, "the pool is empty again");
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
	for (int i = 0; i < NR; i++)
		dist_settle(&d[i]);
	ok(!dist_is_exact(&d[0]) && !dist_is_exact(&d[NR - 1]), "too many are all treated alike");
	ok(pool.nr_used == 0 && dist_limit(&pool) == DIST_EXACT_MAX / 2, "what is kept of each");
	for (int i = 0; i < NR; i++)
		dist_free(&d[i]);
	is_int(pool.nr_used, 0, "the pool is empty again");
	free(d);
}

/*
 * Two pools get the same values: one pool gets them for all distributions in turns, the other for
 * one distribution after the other.
 */
static void test_order(void)
{
	enum { NR = 400, MAX = 50000 };
	struct dist_pool pools[2] = { { 0 }, { 0 } };
	struct dist *d[2] = { calloc(NR, sizeof(struct dist)), calloc(NR, sizeof(struct dist)) };
	size_t differ = 0, exact = 0;

	for (int i = 0; i < NR; i++) {
		dist_init(&d[0][i], &pools[0]);
		dist_init(&d[1][i], &pools[1]);
	}
	for (uint64_t k = 0; k < MAX; k++)
		for (int i = 0; i < NR; i++)
			if (k < (uint64_t)i * MAX / NR)
				dist_add(&d[0][i], k * 977 % MAX);
	for (int i = NR; i--;)
		for (uint64_t k = (uint64_t)i * MAX / NR; k--;)
			dist_add(&d[1][i], k * 977 % MAX);
	/* All distributions exist before the first one is released, which makes room. */
	for (int i = 0; i < NR; i++)
		if (dist_settle(&d[0][i]) || dist_settle(&d[1][i]))
			bail_out("dist_settle");
	for (int i = 0; i < NR; i++) {
		exact += dist_is_exact(&d[0][i]);
		differ += dist_is_exact(&d[0][i]) != dist_is_exact(&d[1][i]);
		for (unsigned pct = 0; pct <= 100; pct++)
			differ += dist_percentile(&d[0][i], pct, 100) !=
				  dist_percentile(&d[1][i], pct, 100);
		dist_free(&d[0][i]);
		dist_free(&d[1][i]);
	}
	ok(!differ && exact > 0 && exact < NR, "the order makes no difference (%zu of %d exact)",
	   exact, NR);
	free(d[0]);
	free(d[1]);
}

/* A count exceeds 32 bits, both by adding single values and by merging. */
static void test_full_bucket(void)
{
	struct dist_pool pool = { 0 };
	struct dist sum, power, copy;

	dist_init(&sum, &pool);
	dist_init(&power, &pool);
	dist_init(&copy, &pool);
	dist_add(&power, 1000);
	for (unsigned i = 0; i < 32; i++) {
		dist_merge(&sum, &power);
		dist_merge(&copy, &power);
		dist_merge(&power, &copy);
		dist_free(&copy);
	}
	is_int(sum.nr, UINT32_MAX, "as many as fit");
	for (unsigned i = 0; i < 1000; i++)
		dist_add(&sum, 1000);
	for (unsigned i = 0; i < 10; i++)
		dist_add(&sum, 1000000);
	ok(dist_percentile(&sum, 1, 2) >= 996 && dist_percentile(&sum, 1, 2) <= 1004,
	   "and more: the median");
	dist_merge(&sum, &power);
	is_int(sum.nr, 2 * ((uint64_t)UINT32_MAX + 1) + 1009, "merged: count");
	ok(dist_percentile(&sum, 1, 1000) >= 996 && dist_percentile(&sum, 999, 1000) <= 1004,
	   "merged: percentiles");
	dist_free(&sum);
	dist_free(&power);
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
	test_sorted();
	test_buckets();
	test_merge_small();
	test_pool();
	test_order();
	test_full_bucket();
	test_seen();
	return done();
}
