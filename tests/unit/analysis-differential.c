// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests additive differences: sums must be exact, shares right, and intervals must cover the
 * truth.
 */
#include <math.h>
#include <time.h>

#include "analysis/compare/bootstrap.h"
#include "analysis/compare/differential.h"
#include "partition-sample.h"

static struct hand a, b;
static struct differential d;
static struct random dice;

/* 0 .. 1 */
static double uniform(void)
{
	return (random_next(&dice) >> 11) * 0x1p-53;
}

static double exponential(double mean)
{
	return -mean * log(1 - uniform());
}

enum { PARSE, STORE, WAIT, NR_SHARED_LEAVES };

/* Makes the paths main;serve;{parse,store} and a lock in store. */
static void make(struct hand *h)
{
	uint32_t serve, store;

	hand_open(h);
	hand_class(h, "get");
	serve = hand_path(h, hand_path(h, 0, "main", "a.c"), "serve", "a.c");
	store = hand_path(h, serve, "store", "a.c");
	hand_leaf(h, LEAF_FUNCTION, hand_path(h, serve, "parse", "a.c"), "");
	hand_leaf(h, LEAF_FUNCTION, store, "");
	hand_leaf(h, LEAF_LOCK, store, "db_lock");
}

static void add(struct hand *h, int64_t parse, int64_t store, int64_t wait)
{
	hand_request(h, 0);
	hand_share(h, PARSE, parse, 1);
	hand_share(h, STORE, store, 1);
	if (wait)
		hand_share(h, WAIT, wait, 1);
}

/* A side consists of the requests between two percentiles of the latency. */
struct side {
	const struct hand *of;
	double lo, hi;
};

static void build(struct side target, struct side reference, size_t nr_shown)
{
	struct differential_options o = {
		.target = { &target.of->p, 0, target.lo, target.hi },
		.reference = { &reference.of->p, 0, reference.lo, reference.hi },
		.nr_shown = nr_shown,
	};

	if (differential_build(&o, &d))
		bail_out("differential_build");
}

static const struct differential_part *part(const char *label)
{
	static const struct differential_part none;

	for (size_t i = 0; i < d.nr_parts; i++)
		if (!strcmp(d.parts[i].label, label))
			return &d.parts[i];
	return &none;
}

/* Checks everything that must sum to something, at every level. */
static bool sums_are_exact(void)
{
	int64_t target = 0, reference = 0, shown = 0, others = differential_ns(&d.others);
	double share = 0;

	for (size_t i = 0; i < d.nr_parts; i++) {
		const struct differential_part *p = &d.parts[i];
		int64_t t = 0, r = 0;

		for (size_t k = p->first; k < p->first + p->nr; k++) {
			t += d.leaves[k].target_ns;
			r += d.leaves[k].reference_ns;
		}
		if (t != p->target_ns || r != p->reference_ns)
			return false;
		target += t;
		reference += r;
		share += p->share;
		if (i < d.nr_shown)
			shown += differential_ns(p);
	}
	return target == d.target.mean_ns && reference == d.reference.mean_ns &&
	       shown + others == target - reference &&
	       (!d.has_shares || fabs(share - 1) < 1e-9);
}

static void test_known(void)
{
	make(&a);
	make(&b);
	for (int i = 0; i < 100; i++) {
		add(&a, 1000, 2000, 0);
		add(&b, 1000, 5000, i % 4 < 2 ? 400 : 0);
	}
	build((struct side){ &b, 0, 100 }, (struct side){ &a, 0, 100 }, 10);
	is_int(d.target.mean_ns - d.reference.mean_ns, 3200, "the difference");
	is_int(differential_ns(part("store")), 3000, "of the function that is slower");
	is_int(differential_ns(part("db_lock")), 200, "of a lock that half of them waited for");
	is_int(differential_ns(part("parse")), 0, "of what is as it was");
	ok(!strcmp(d.parts[0].label, "store"), "the greatest first");
	ok(part("db_lock")->target_nr == 0.5 && part("db_lock")->reference_nr == 0, "waits per request");
	ok(part("db_lock")->kind == LEAF_LOCK, "it is a wait");
	is_int(d.nr_shown, 2, "what is 0 is not shown");
	ok(sums_are_exact(), "sums");
	/* All of the variance is due to the lock. */
	ok(fabs(part("db_lock")->share - 1) < 1e-9, "share");
	ok(part("store")->diff.is_known && part("store")->diff.lo_ns == 3000 &&
	   part("store")->diff.hi_ns == 3000, "what does not vary has an interval without width");
	ok(part("db_lock")->diff.lo_ns > 0 && part("db_lock")->diff.lo_ns < 200 &&
	   part("db_lock")->diff.hi_ns > 200 && part("db_lock")->diff.hi_ns < 400, "what varies has one");
	differential_free(&d);
	hand_close(&a);
	hand_close(&b);
}

/*
 * The time of store() has an error; `unobserved` is unobserved time.  Both are the same in all
 * requests.
 */
static void fill_doubtful(struct hand *h, int64_t store, double error, int64_t unobserved)
{
	uint32_t unknown;

	make(h);
	unknown = hand_leaf(h, LEAF_UNKNOWN, 0, PARTITION_UNOBSERVED);
	for (int i = 0; i < 100; i++) {
		add(h, 1000, store, 0);
		h->p.shares[h->p.nr_shares - 1].error2 = error * error;
		if (unobserved)
			hand_share(h, unknown, unobserved, 1);
	}
}

static bool is_diff(const struct differential_part *part, int64_t lo, int64_t hi)
{
	return part->diff.is_known && part->diff.lo_ns == lo && part->diff.hi_ns == hi;
}

/* In all requests of one of the two recordings, a task takes the CPU for the same time. */
static void fill_preempted(struct hand *h, const char *task, int64_t ns)
{
	uint32_t leaf;

	make(h);
	leaf = hand_leaf(h, LEAF_PREEMPTED, 0, task);
	for (int i = 0; i < 100; i++) {
		add(h, 1000, 2000, 0);
		if (ns)
			hand_share(h, leaf, ns, 1);
	}
}

static void test_own_tasks(void)
{
	fill_preempted(&a, "ldb-record", 0);
	fill_preempted(&b, "ldb-record", 800);
	build((struct side){ &b, 0, 100 }, (struct side){ &a, 0, 100 }, 10);
	ok(is_diff(part("ldb-record"), 0, 1600), "where ldb ran is no difference that is sure");
	differential_free(&d);
	hand_close(&a);
	hand_close(&b);

	fill_preempted(&a, "ldb-recorder", 0);
	fill_preempted(&b, "ldb-recorder", 800);
	build((struct side){ &b, 0, 100 }, (struct side){ &a, 0, 100 }, 10);
	ok(is_diff(part("ldb-recorder"), 800, 800), "where another task ran may be one");
	differential_free(&d);
	hand_close(&a);
	hand_close(&b);
}

static void test_doubts(void)
{
	fill_doubtful(&a, 2000, 300, 0);
	fill_doubtful(&b, 2500, 400, 0);
	build((struct side){ &b, 0, 100 }, (struct side){ &a, 0, 100 }, 10);
	ok(is_diff(part("store"), -200, 1200), "the resolution of both recordings, however many requests");
	ok(is_diff(part("parse"), 0, 0), "of the function that has one");
	differential_free(&d);
	hand_close(&b);

	fill_doubtful(&b, 1000, 0, 900);
	build((struct side){ &b, 0, 100 }, (struct side){ &a, 0, 100 }, 10);
	ok(is_diff(part("store"), -1300, 200), "what was observed in one of them only may be its time");
	ok(is_diff(part(PARTITION_UNOBSERVED), 0, 900), "and is no difference that is sure");
	is_int(d.diff.lo_ns, -100, "a latency is measured");
	is_int(d.diff.hi_ns, -100, "exactly");
	differential_free(&d);

	build((struct side){ &b, 90, 100 }, (struct side){ &b, 0, 50 }, 10);
	ok(is_diff(part("store"), 0, 0), "slices of one recording have the same errors");
	differential_free(&d);
	hand_close(&a);
	hand_close(&b);
}

/* The numbers do not divide evenly, but sums must be exact. */
static void test_sums(void)
{
	size_t nr_wrong = 0, nr_far = 0;

	for (int round = 0; round < 200; round++) {
		int nr_a = 1 + random_next(&dice) % 300, nr_b = 1 + random_next(&dice) % 300;
		double sum_a = 0, sum_b = 0;

		make(&a);
		make(&b);
		for (int i = 0; i < nr_a; i++) {
			add(&a, exponential(1000), exponential(100000), exponential(10));
			sum_a += a.p.requests[i].latency_ns;
		}
		for (int i = 0; i < nr_b; i++) {
			add(&b, exponential(1e9), exponential(3), 0);
			sum_b += b.p.requests[i].latency_ns;
		}
		build((struct side){ &b, 0, 100 }, (struct side){ &a, 0, 100 }, round % 4);
		nr_wrong += !sums_are_exact();
		/* The means must be those of the latencies, rounded once. */
		nr_far += fabs(d.target.mean_ns - sum_b / nr_b) > 0.51 ||
			  fabs(d.reference.mean_ns - sum_a / nr_a) > 0.51;
		differential_free(&d);
		build((struct side){ &b, 90, 100 }, (struct side){ &b, 40, 60 }, 1);
		nr_wrong += !sums_are_exact();
		differential_free(&d);
		hand_close(&a);
		hand_close(&b);
	}
	is_int(nr_wrong, 0, "400 differences sum to the nanosecond, at every level");
	is_int(nr_far, 0, "to the difference of the latencies");
}

static void test_slices(void)
{
	make(&a);
	for (int i = 0; i < 1000; i++)
		add(&a, 1000, 1000 + (i * 7919) % 1000, i % 100 == 3 ? 1000000 + i : 0);
	build((struct side){ &a, 99, 100 }, (struct side){ &a, 40, 60 }, 3);
	is_int(d.target.nr, 10, "p99 to p100 of 1000");
	is_int(d.reference.nr, 200, "p40 to p60");
	ok(d.target.lo_ns > 1000000 && d.reference.hi_ns < 3000, "the slow ones and the usual ones");
	is_str(d.parts[0].label, "db_lock", "the lock makes the difference");
	ok(sums_are_exact(), "sums");
	ok(part("db_lock")->share > 0.99, "and the variance");
	ok(d.diff.is_known && d.diff.lo_ns > 0, "for sure");
	differential_free(&d);
	build((struct side){ &a, 100, 100 }, (struct side){ &a, 0, 0 }, 3);
	ok(d.target.nr == 1 && d.reference.nr == 1 && d.target.lo_ns > d.reference.lo_ns,
	   "an empty slice is the request nearest to it");
	ok(!d.diff.is_known, "of one request, no interval");
	differential_free(&d);
	build((struct side){ &a, 0, 100 }, (struct side){ &a, 0, 100 }, 3);
	ok(!d.target.mean_ns == !d.reference.mean_ns && sums_are_exact() && !d.nr_shown &&
	   d.diff.lo_ns == 0 && d.diff.hi_ns == 0, "a slice against itself: nothing, and that is certain");
	differential_free(&d);
	hand_close(&a);
}

/*
 * Parts are joined by names, not numbers: the other run has leaves of its own, and lacks some of
 * the first run's.
 */
static void test_runs(void)
{
	uint32_t serve, other;

	make(&a);
	hand_open(&b);
	hand_class(&b, "put");
	hand_class(&b, "get");
	other = hand_path(&b, 0, "start", "b.c");
	serve = hand_path(&b, hand_path(&b, 0, "main", "a.c"), "serve", "a.c");
	hand_leaf(&b, LEAF_FUNCTION, other, "");
	hand_leaf(&b, LEAF_FUNCTION, hand_path(&b, serve, "store", "a.c"), "");
	hand_leaf(&b, LEAF_IO, serve, "");
	for (int i = 0; i < 10; i++) {
		add(&a, 10, 20, 30);
		hand_request(&b, 1);
		hand_share(&b, 1, 25, 1);
		hand_share(&b, 2, 100, 1);
		hand_request(&b, 0);
		hand_share(&b, 0, 7777, 1);
	}
	struct differential_options o = {
		.target = { &b.p, differential_class(&b.p, "get"), 0, 100 },
		.reference = { &a.p, differential_class(&a.p, "get"), 0, 100 }, .nr_shown = 10,
	};
	if (differential_build(&o, &d))
		bail_out("differential_build");
	is_int(differential_class(&a.p, "put"), UINT32_MAX, "a class that a run has not");
	is_int(d.target.mean_ns - d.reference.mean_ns, 65, "requests of that class alone");
	is_int(differential_ns(part("store")), 5, "in both");
	is_int(differential_ns(part("db_lock")), -30, "gone");
	is_int(differential_ns(part("")), 100, "new");
	is_str(part("")->where, "serve", "I/O has a place");
	ok(!part("start")->target_ns, "nothing of other classes");
	ok(sums_are_exact(), "sums");
	differential_free(&d);
	o.target.class = 0;
	o.target.p = &a.p;
	hand_class(&a, "empty");
	o.target.class = 1;
	is_int(differential_build(&o, &d), -2, "a class without requests: ENOENT");
	hand_close(&a);
	hand_close(&b);
}

/* Intervals */

static double rate(size_t nr, size_t of)
{
	return 100.0 * nr / of;
}

/*
 * Makes requests that depend on each other: with a probability of 0.1, all of `burst` successive
 * requests wait for the same time.
 */
static void fill(struct hand *h, int nr, double store, int burst)
{
	int64_t wait = 0;

	make(h);
	for (int i = 0; i < nr; i++) {
		if (i % burst == 0)
			wait = uniform() < 0.1 ? exponential(20000) : 0;
		add(h, 1000 + exponential(500), store + exponential(1000), wait);
	}
}

static bool holds(const struct differential_interval *i, int64_t diff)
{
	return i->lo_ns <= diff && i->hi_ns >= diff;
}

/*
 * The intervals of the parts must hold simultaneously; the interval of the whole must hold
 * separately.
 */
static void cover_means(int nr, int burst, double least)
{
	enum { ROUNDS = 200 };
	size_t nr_parts = 0, nr_all = 0;

	for (int round = 0; round < ROUNDS; round++) {
		fill(&a, nr, 1000, burst);
		fill(&b, nr, 1500, burst);
		build((struct side){ &b, 0, 100 }, (struct side){ &a, 0, 100 }, 3);
		nr_parts += holds(&part("store")->diff, 500) && holds(&part("db_lock")->diff, 0) &&
			    holds(&part("parse")->diff, 0);
		nr_all += holds(&d.diff, 500);
		differential_free(&d);
		hand_close(&a);
		hand_close(&b);
	}
	ok(rate(nr_parts, ROUNDS) >= least && rate(nr_all, ROUNDS) >= least,
	   "%d requests, stalls of %d: 95 %% intervals cover %.1f %% (three parts at once), %.1f %% (all)",
	   nr, burst, rate(nr_parts, ROUNDS), rate(nr_all, ROUNDS));
	if (nr > 300)
		ok(nr_parts < ROUNDS && nr_all < ROUNDS, "and are no wider than that");
}

/*
 * Two recordings of one build are simulated, with as many parts as real ones have: two functions
 * whose time moves from one to the other for ten requests (the scanner was off its CPU), one that
 * grows and shrinks slowly (drift), one with stalls of ten requests, others that vary, and rare
 * ones.  In some recordings another process takes the CPU during each 25th request.
 */
enum { NR_FUNCTIONS = 20 };

static uint32_t open_machine(struct hand *h)
{
	uint32_t path;

	hand_open(h);
	hand_class(h, "get");
	path = hand_path(h, 0, "main", "a.c");
	for (int i = 0; i < NR_FUNCTIONS; i++) {
		static char names[NR_FUNCTIONS][8];

		snprintf(names[i], sizeof(names[i]), "f%d", i);
		hand_leaf(h, LEAF_FUNCTION, hand_path(h, path, names[i], "a.c"), "");
	}
	return hand_leaf(h, LEAF_PREEMPTED, path, "other");
}

static void fill_machine(struct hand *h, int nr, bool is_disturbed, double slower)
{
	uint32_t other = open_machine(h);
	double moved = 0, phase = 6.28 * uniform();
	int stall = 0;

	for (int i = 0; i < nr; i++) {
		if (i % 10 == 0)
			moved = 3000 * uniform();
		if (!stall && uniform() < 0.005)
			stall = 10;
		hand_request(h, 0);
		hand_share(h, 0, 5000 + moved + slower, 1);
		hand_share(h, 1, 8000 - moved, 1);
		hand_share(h, 2, 3000 + 1000 * sin(phase + i * 12.56 / nr), 1);
		hand_share(h, 3, 1000 + (stall ? exponential(20000) : 0), 1);
		for (int k = 4; k < 12; k++)
			hand_share(h, k, 1 + exponential(2000), 1);
		for (int k = 12; k < NR_FUNCTIONS; k++)
			if (uniform() < 0.02)
				hand_share(h, k, 1 + exponential(5000), 1);
		if (is_disturbed && i % 25 == 7)
			hand_share(h, other, 5000 + exponential(1000), 1);
		stall -= !!stall;
	}
}

static void test_machine(void)
{
	enum { ROUNDS = 100, NR = 500 };
	size_t nr_quiet = 0, nr_named = 0;

	for (int round = 0; round < ROUNDS; round++) {
		bool is_quiet = true;

		fill_machine(&a, NR, round % 2, 0);
		fill_machine(&b, NR, round / 2 % 2, 0);
		build((struct side){ &b, 0, 100 }, (struct side){ &a, 0, 100 }, NR_FUNCTIONS + 1);
		for (size_t i = 0; i < d.nr_shown; i++)
			is_quiet &= holds(&d.parts[i].diff, 0);
		nr_quiet += is_quiet;
		differential_free(&d);
		hand_close(&b);
		fill_machine(&b, NR, round / 2 % 2, 4000);
		build((struct side){ &b, 0, 100 }, (struct side){ &a, 0, 100 }, NR_FUNCTIONS + 1);
		nr_named += !strcmp(d.parts[0].label, "f0") && d.parts[0].diff.lo_ns > 0;
		differential_free(&d);
		hand_close(&a);
		hand_close(&b);
	}
	ok(rate(nr_quiet, ROUNDS) >= 90, "of two recordings of one build no part is sure in %.0f %%",
	   rate(nr_quiet, ROUNDS));
	ok(rate(nr_named, ROUNDS) >= 95, "a function that is slower is the first, and sure, in %.0f %%",
	   rate(nr_named, ROUNDS));
}

/* Compares slices of two equal runs: the limits of the slices vary, and no difference is real. */
static void cover_slices(double lo, double hi)
{
	enum { ROUNDS = 200, NR = 2000 };
	size_t nr = 0;

	for (int round = 0; round < ROUNDS; round++) {
		fill(&a, NR, 1000, 1);
		fill(&b, NR, 1000, 1);
		build((struct side){ &b, lo, hi }, (struct side){ &a, lo, hi }, 3);
		nr += d.diff.lo_ns <= 0 && d.diff.hi_ns >= 0;
		differential_free(&d);
		hand_close(&a);
		hand_close(&b);
	}
	ok(rate(nr, ROUNDS) >= 91 && nr < ROUNDS, "p%g to p%g of equal runs: 0 is in %.1f %% of the "
	   "intervals", lo, hi, rate(nr, ROUNDS));
}

/*
 * The latencies have an exponential distribution, so the true mean of a tail is known: its
 * threshold plus the mean of all latencies.
 */
static void cover_tail(void)
{
	enum { ROUNDS = 200, NR = 3000 };
	const double mean = 100000, want = mean * (log(20) + 1) - mean * (1 - log(2));
	double sum = 0;
	size_t nr = 0;

	for (int round = 0; round < ROUNDS; round++) {
		make(&a);
		for (int i = 0; i < NR; i++) {
			double x = exponential(mean);

			hand_request(&a, 0);
			hand_share(&a, STORE, x, 1);
		}
		build((struct side){ &a, 95, 100 }, (struct side){ &a, 0, 50 }, 3);
		/*
		 * The mean below the median of an exponential distribution is 1 - log 2 times its
		 * mean.
		 */
		nr += d.diff.lo_ns <= want && d.diff.hi_ns >= want;
		sum += d.target.mean_ns - d.reference.mean_ns;
		differential_free(&d);
		hand_close(&a);
	}
	ok(rate(nr, ROUNDS) >= 91 && nr < ROUNDS,
	   "the true difference of a tail (%.0f; mean of the measured: %.0f) is in %.1f %% of the intervals",
	   want, sum / ROUNDS, rate(nr, ROUNDS));
}

static void test_repeats(void)
{
	struct differential_interval first;

	fill(&a, 500, 1000, 10);
	build((struct side){ &a, 90, 100 }, (struct side){ &a, 40, 60 }, 3);
	first = d.diff;
	differential_free(&d);
	build((struct side){ &a, 90, 100 }, (struct side){ &a, 40, 60 }, 3);
	ok(first.lo_ns == d.diff.lo_ns && first.hi_ns == d.diff.hi_ns && first.lo_ns < first.hi_ns,
	   "the same intervals each time");
	differential_free(&d);
	hand_close(&a);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void test_size(void)
{
	enum { NR = 1000000, SHARES = 10 };
	uint32_t path = 0, leaves[SHARES];
	double begin, took;

	hand_open(&a);
	hand_class(&a, "get");
	for (int i = 0; i < SHARES; i++) {
		static char names[SHARES][8];

		snprintf(names[i], sizeof(names[i]), "f%d", i);
		path = hand_path(&a, path, names[i], "a.c");
		leaves[i] = hand_leaf(&a, LEAF_FUNCTION, path, "");
	}
	for (int i = 0; i < NR; i++) {
		hand_request(&a, 0);
		for (int k = 0; k < SHARES; k++)
			hand_share(&a, leaves[k], random_next(&dice) % 100000, 1);
	}
	begin = seconds();
	build((struct side){ &a, 99, 100 }, (struct side){ &a, 40, 60 }, 10);
	took = seconds() - begin;
	/* This takes about 0.7 s; the limit allows for other load. */
	ok(took < 8 && sums_are_exact(), "a million requests of ten leaves: %.2f s", took);
	differential_free(&d);
	hand_close(&a);
}

int main(void)
{
	dice.state = 4711;
	test_known();
	test_own_tasks();
	test_doubts();
	test_sums();
	test_slices();
	test_runs();
	cover_means(1000, 1, 92);
	cover_means(2000, 8, 88);
	cover_means(30, 1, 88);
	cover_slices(0, 100);
	cover_slices(20, 30);
	cover_slices(99, 100);
	cover_tail();
	test_machine();
	test_repeats();
	test_size();
	return done();
}
