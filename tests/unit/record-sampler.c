// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests where and how often running threads are sampled, given the rest of the budget and the cost
 * of a sample.
 */
#include "record/kernel/sampler.h"
#include "tap.h"

#define PPM	1000000

static uint64_t cost_ppm(uint64_t price_ns, uint64_t period_ns)
{
	return price_ns * PPM / period_ns;
}

static void test_budget(void)
{
	uint64_t prices[] = { 8000, 10000, 25000, 90000 }, others[] = { 0, 10000, 20000, 35000 };
	bool is_within = true, is_used = true;

	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 4; k++) {
			uint64_t ns = sampler_period_ns(50000, others[k], prices[i]);

			is_within &= cost_ppm(prices[i], ns) <= 50000 - others[k] + 1;
			is_used &= cost_ppm(prices[i], ns) * 100 >= (50000 - others[k]) * 95;
		}
	ok(is_within, "samples take no more than others have left of the budget");
	ok(is_used, "and they take that");
}

static void test_limits(void)
{
	uint64_t least = sampler_period_ns(50000, 50000, 10000);

	ok(cost_ppm(10000, least) * 100 / 12500 >= 95, "if others take all, a quarter is for samples");
	ok(sampler_period_ns(50000, UINT64_MAX, 10000) == least, "however much that is");
	ok(sampler_period_ns(50000, 0, 100) == 100000, "where they are cheap, there are 10,000 a second");
	ok(sampler_period_ns(1, 0, 25000) == 1000000000, "one in a second is taken with the smallest budget");
	ok(sampler_period_ns(1000000, 0, 0) == 100000, "a price of nothing is no fault");
}

static void test_choice(void)
{
	struct sampler *s = sampler_alloc(50000, 0, 2);

	ok(!sampler_choose(s, 0, false), "no CPU is interrupted at first");
	ok(sampler_choose(s, 0, true) && sampler_choose(s, 0, false) && sampler_choose(s, 0, false),
	   "a CPU that was chosen stays so after two decisions against it");
	ok(sampler_choose(s, 0, true) && sampler_choose(s, 0, false) && sampler_choose(s, 0, false),
	   "which must be in a row");
	ok(!sampler_choose(s, 0, false), "and not after a third one");
	ok(!sampler_choose(s, 1, false), "each CPU for itself");
	sampler_free(s);
}

int main(void)
{
	test_choice();
	test_budget();
	test_limits();
	return done();
}
