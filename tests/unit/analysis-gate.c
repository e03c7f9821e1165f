// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests conditions on two runs: their meaning, and that they are not met by chance. */
#include <math.h>

#include "analysis/compare/bootstrap.h"
#include "analysis/compare/gate.h"
#include "partition-sample.h"

static struct hand before, after;
static struct gate_result *results;
static size_t nr_results;
static struct random dice = { 4711 };

static double uniform(void)
{
	return (random_next(&dice) >> 11) * 0x1p-53;
}

static double exponential(double mean)
{
	return -mean * log(1 - uniform());
}

static void test_parse(void)
{
	static const struct {
		const char *text, *class;
		enum gate_metric metric;
		enum gate_limit limit;
		double part, number;
	} good[] = {
		{ "p99+5%", "*", GATE_PERCENTILE, GATE_PERCENT, 0.99, 0.05 },
		{ "p50+0%", "*", GATE_PERCENTILE, GATE_PERCENT, 0.5, 0 },
		{ "GET:p99.9+0.5%", "GET", GATE_PERCENTILE, GATE_PERCENT, 0.999, 0.005 },
		{ "p99.99+100us", "*", GATE_PERCENTILE, GATE_GROWTH, 0.9999, 100000 },
		{ "max>2ms", "*", GATE_MAX, GATE_ABOVE, 0, 2000000 },
		{ "a:b*:mean+1.5ms", "a:b*", GATE_MEAN, GATE_GROWTH, 0, 1500000 },
		{ "p100>0", "*", GATE_PERCENTILE, GATE_ABOVE, 1, 0 },
	};
	static const char *const bad[] = {
		"", "p99", "p99+", "p99>", "p99+5", "p99-5%", "p99>5%", "p99++5%", "p99+-5%", "p99+nan%",
		"p99+0x10%", "p99+ 5%", "p99+1e9%", "p99+5%%", "p+5%", "p0+5%", "p101+5%", "p9x+5%",
		"p1.2.3+5%", "median+5%", "P99+5%", ":p99+5%", "GET:", "GET:>2ms", "p99>2 parsecs",
		"p99>1e300s", "p99=2ms", "p99999999999999999999999999999999999+5%", "%s%n+5%", "+",
	};
	struct gate g;
	char err[512];
	size_t nr_wrong = 0;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		bool parsed = gate_parse(good[i].text, &g, err, sizeof(err));
		double number = g.limit == GATE_PERCENT ? g.limit_part : g.limit_ns;

		ok(parsed && !strcmp(g.class, good[i].class) && g.metric == good[i].metric &&
		   g.limit == good[i].limit && fabs(number - good[i].number) < 1e-9 &&
		   (g.metric != GATE_PERCENTILE || fabs(g.part - good[i].part) < 1e-9),
		   "%s", good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		*err = '\0';
		if (gate_parse(bad[i], &g, err, sizeof(err)) || !*err || strchr(err, '\n')) {
			diag("taken: '%s' (%s)", bad[i], err);
			nr_wrong++;
		}
	}
	is_int(nr_wrong, 0, "what is no condition is refused with a line");
}

static void open_runs(void)
{
	hand_open(&before);
	hand_open(&after);
	for (int i = 0; i < 2; i++) {
		struct hand *h = i ? &after : &before;

		hand_class(h, "GET");
		hand_class(h, "SET");
		hand_leaf(h, LEAF_FUNCTION, hand_path(h, 0, "serve", "a.c"), "");
	}
}

static void close_runs(void)
{
	hand_close(&before);
	hand_close(&after);
}

static void add(struct hand *h, uint32_t class, int64_t latency)
{
	hand_request(h, class);
	hand_share(h, 0, latency, 1);
}

/* Returns the result for a class; NULL: none. */
static const struct gate_result *check(const char *text, const char *class)
{
	static struct gate g;
	char err[512];

	free(results);
	results = NULL;
	nr_results = 0;
	if (!gate_parse(text, &g, err, sizeof(err)))
		bail_out(err);
	if (gate_check(&g, &before.p, &after.p, &results, &nr_results))
		bail_out("gate_check");
	for (size_t i = 0; i < nr_results; i++)
		if (!strcmp(results[i].class, class))
			return &results[i];
	return NULL;
}

static void test_meaning(void)
{
	const struct gate_result *r;

	open_runs();
	for (int i = 0; i < 1000; i++) {
		add(&before, 0, 1000 + i * 37 % 1000);
		add(&after, 0, 1100 + i * 37 % 1000);
		add(&before, 1, 5000);
		add(&after, 1, 5000);
	}
	r = check("p99+4%", "GET");
	ok(r->before_ns == 1989 && r->after_ns == 2089, "percentiles by nearest rank: %d, %d",
	   (int)r->before_ns, (int)r->after_ns);
	ok(r->holds && r->is_over && r->is_certain, "p99 is 5 %% slower");
	ok(r->change_lo_ns > 0 && r->change_lo_ns <= 100 && r->change_hi_ns >= 100,
	   "the interval holds the change: %d to %d", (int)r->change_lo_ns, (int)r->change_hi_ns);
	is_int(nr_results, 2, "a result for each class");
	r = check("p99+4%", "SET");
	ok(!r->holds && !r->is_over && !r->is_certain, "the class that did not change");
	r = check("p99+6%", "GET");
	ok(!r->holds && !r->is_over && r->is_certain, "below the limit");
	ok(check("mean+99ns", "GET")->holds && !check("mean+100ns", "GET")->holds, "the mean, by a time");
	ok(check("max>2098ns", "GET")->holds && !check("max>2099ns", "GET")->holds, "the greatest, a limit");
	ok(!check("p50>6us", "SET")->holds && check("p50>4.9us", "SET")->holds,
	   "a limit does not ask what was before");
	ok(!check("SET:p50+1%", "GET") && nr_results == 1, "of one class");
	ok(check("G*:p50+1%", "GET") && nr_results == 1, "a glob");
	ok(!check("PUT:p50+1%", "GET") && !nr_results, "of none");
	ok(check("p99.9+0%", "GET")->is_coarse == false && check("p99.99+0%", "GET")->is_coarse,
	   "p99.99 of 1000 requests is their greatest, and it says so");
	close_runs();
	open_runs();
	add(&before, 0, 1000);
	add(&after, 0, 9000);
	r = check("mean+1%", "GET");
	ok(r->is_over && !r->is_certain && !r->holds, "one request proves nothing");
	close_runs();
	open_runs();
	add(&before, 0, 1000);
	add(&after, 1, 9000);
	ok(!check("mean+1%", "GET") && !check("mean+1%", "SET"), "classes that one run has not");
	close_runs();
}

/* Makes requests; the machine delays some of them, several in a row. */
static void fill(struct hand *h, int nr, double slower)
{
	int64_t wait = 0;

	for (int i = 0; i < nr; i++) {
		if (i % 5 == 0)
			wait = uniform() < 0.05 ? exponential(50000) : 0;
		add(h, 0, slower * (10000 + exponential(2000)) + wait);
	}
}

/* Returns for what percentage of pairs of runs the condition is met. */
static double holds(const char *text, double slower)
{
	enum { ROUNDS = 100, NR = 1500 };
	size_t count = 0;

	for (int round = 0; round < ROUNDS; round++) {
		open_runs();
		fill(&before, NR, 1);
		fill(&after, NR, slower);
		count += check(text, "GET")->holds;
		close_runs();
	}
	return 100.0 * count / ROUNDS;
}

static void test_chance(void)
{
	static const char *const texts[] = { "p50+0%", "p99+0%", "p99.9+0%", "max+0%", "mean+0%" };

	/* Each end of a 95 % interval is wrong in 2.5 % of the cases. */
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		double rate = holds(texts[i], 1);

		ok(rate <= 7, "%s holds for %.1f %% of equal runs", texts[i], rate);
	}
	ok(holds("p50+0%", 1.05) > 95, "p50+0%% holds when each is 5 %% slower");
	ok(holds("p50+5%", 1.05) < 80, "p50+5%% then holds for about a half");
	ok(holds("p90+5%", 3) > 95, "p90+5%% holds when each takes three times as long");
	ok(holds("max+5%", 50) > 95, "max+5%% holds when each is slower than the slowest was");
}

/* Compares percentiles of resamples with those of the complete list of the resample's values. */
static void test_resampler(void)
{
	size_t nr_wrong = 0;

	for (int round = 0; round < 300; round++) {
		size_t nr = 1 + random_next(&dice) % 6000, nr_all = 0;
		int64_t *all = calloc(BOOTSTRAP_BLOCKS * 64, sizeof(*all)), *latencies = calloc(nr, sizeof(*all));
		uint32_t times[BOOTSTRAP_BLOCKS + 1];
		struct resampler s;
		double part = uniform();

		if (!all || !latencies)
			bail_out("out of memory");
		for (size_t i = 0; i < nr; i++)
			latencies[i] = random_next(&dice) % 1000;
		if (resampler_open(&s, latencies, nr))
			bail_out("resampler_open");
		bootstrap_draw(&dice, &s.blocks, times);
		for (size_t i = 0; i < nr; i++)
			for (uint32_t k = 0; k < times[i / s.blocks.size]; k++)
				if (nr_all < BOOTSTRAP_BLOCKS * 64)
					all[nr_all++] = latencies[i];
		if (nr_all < BOOTSTRAP_BLOCKS * 64) {
			int64_t got = resampler_percentile(&s, times, part);
			size_t less = 0, equal = 0;

			for (size_t i = 0; i < nr_all; i++) {
				less += all[i] < got;
				equal += all[i] == got;
			}
			nr_wrong += !(less < part * nr_all + 1e-6 && less + equal >= part * nr_all - 1e-6 && equal);
		}
		resampler_close(&s);
		free(all);
		free(latencies);
	}
	is_int(nr_wrong, 0, "percentiles of 300 resamples");
}

int main(void)
{
	test_parse();
	test_meaning();
	test_resampler();
	test_chance();
	free(results);
	return done();
}
