// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lets an allocation of the analysis fail, another one in each run: the operation must be refused,
 * no memory may be lost, and none may be written outside of its block.
 *
 * Some allocations are not essential, and their failure is stated in the result: distributions
 * become approximate, threads and CPUs of the scheduler are dropped and counted.  So each analysis
 * has a limit of failures without a refusal.
 */
#include "heap.h"
#include "analysis/compare/differential.h"
#include "analysis/compare/gate.h"
#include "analysis/timeline/timeline.h"
#include "facts/interruption-sums.h"
#include "analysis/report/locks.h"
#include "analysis/why/pictures.h"
#include "analysis/whatif/replay.h"
#include "analysis/report/requests.h"
#include "analysis/report/schedstats.h"
#include "analysis/report/stats.h"
#include "analysis/tracks/tracks.h"
#include "analysis-program.h"

/*
 * Of an analysis' allocations the first 60 fail in turn, and about this many others, evenly spread.
 */
#define TRIES_MAX	300

static struct made made;

static int functions(void)
{
	struct stats_options o = STATS_OPTIONS_ALL;
	struct stats s;
	int ret = stats_build(made.model, &o, &s);

	if (!ret)
		stats_free(&s);
	return ret;
}

static int locks(void)
{
	struct locks_options o = LOCKS_OPTIONS_ALL;
	struct locks l;
	int ret = locks_build(made.model, &o, &l);

	if (!ret)
		locks_free(&l);
	return ret;
}

static int sched(void)
{
	struct schedstats_options o = SCHEDSTATS_OPTIONS_ALL;
	struct schedstats s;
	int ret = schedstats_build(made.model, &o, &s);

	if (!ret)
		schedstats_free(&s);
	return ret;
}

static int requests(void)
{
	struct requests_options o = REQUESTS_OPTIONS_ALL;
	struct requests q;
	int ret;

	o.nr_slowest = 3;
	ret = requests_build(made.model, &o, &q);
	if (ret)
		return ret;
	for (size_t i = 0; i < q.nr_instances && !ret; i++) {
		struct timeline t;
		struct interruptions interruptions;

		ret = timeline_build(made.model, &q.instances[i], &t);
		if (ret)
			break;
		ret = timeline_interruptions(made.model, &t, &interruptions);
		timeline_free(&t);
	}
	requests_free(&q);
	return ret;
}

static int partition(void)
{
	struct partition_options o = { .from = INT64_MIN, .to = INT64_MAX };
	struct partition p;
	int ret = partition_build(made.model, &o, &p);

	if (!ret)
		partition_free(&p);
	return ret;
}

static int each_picture(const struct why *w)
{
	struct balloons balloons;
	struct boxes boxes;
	struct queues queues;
	struct cpus cpus;
	struct blametree blame;
	int ret = balloons_build(w, 50, &balloons);

	if (ret)
		return ret;
	balloons_free(&balloons);
	ret = boxes_build(w, &boxes);
	if (ret)
		return ret;
	boxes_free(&boxes);
	ret = queues_build(w, &queues);
	if (ret)
		return ret;
	queues_free(&queues);
	ret = cpus_build(w, &cpus);
	if (ret)
		return ret;
	cpus_free(&cpus);
	ret = blametree_build(w, &blame);
	if (!ret)
		blametree_free(&blame);
	return ret;
}

static struct partition parted;

static struct why_options why_options = {
	.target_lo = 70, .target_hi = 100, .reference_lo = 20, .reference_hi = 60,
	.explain = 0.9, .nr_chains = 5,
};

static int why(void)
{
	struct why w;
	int ret = why_build(&parted, &why_options, &w);

	if (!ret)
		why_free(&w);
	return ret;
}

static struct why whole;

static int pictures(void)
{
	return each_picture(&whole);
}

static int differences(void)
{
	struct differential_options o = {
		.target = { &parted, 0, 70, 100 }, .reference = { &parted, 0, 0, 60 }, .nr_shown = 4,
		.nr_resamples = 10,
	};
	struct differential d;
	int ret = differential_build(&o, &d);

	if (!ret)
		differential_free(&d);
	return ret;
}

static int gates(void)
{
	struct gate_result *results = NULL;
	size_t nr = 0;
	char err[256];
	struct gate g;
	int ret;

	if (!gate_parse("p50+5%", &g, err, sizeof(err)))
		bail_out(err);
	ret = gate_check(&g, &parted, &parted, &results, &nr);
	free(results);
	return ret;
}

static int whatif(void)
{
	struct whatif_options o = WHATIF_OPTIONS_ALL;
	struct whatif_change c;
	char err[512];
	struct whatif w;
	int ret = whatif_parse("0x1200*0.5", &c, err, sizeof(err));

	if (ret)
		return ret;
	o.changes = &c;
	o.nr_changes = 1;
	ret = whatif_build(made.model, &o, &w, err, sizeof(err));
	if (!ret)
		whatif_free(&w);
	whatif_change_free(&c);
	return ret;
}

static int nothing(void *arg, const struct segment *s)
{
	return 0;
}

static int tracks(void)
{
	struct tracks_options o = TRACKS_OPTIONS_ALL;
	struct tracks_sink sink = { .segment = nothing };
	struct tracks_result result;

	return tracks_each(made.model, &o, &sink, &result);
}

static long count(int (*analysis)(void))
{
	const long many = 1L << 40;

	atomic_store(&heap_fail_in, many);
	if (analysis())
		bail_out("it fails without a reason");
	return many - atomic_exchange(&heap_fail_in, 0);
}

static void each_fails(const char *name, int (*analysis)(void), long most_taken)
{
	long nr, step, before, nr_lost = 0, nr_taken = 0, nr_tried = 0;

	count(analysis);	/* fills the caches of symbols */
	nr = count(analysis);
	step = nr / TRIES_MAX + 1;
	for (long n = 1; n <= nr; n += n < 60 ? 1 : step) {
		int ret;

		before = atomic_load(&heap_nr);
		atomic_store(&heap_has_failed, false);
		atomic_store(&heap_fail_in, n);
		ret = analysis();
		atomic_store(&heap_fail_in, 0);
		nr_tried++;
		nr_taken += !ret && atomic_load(&heap_has_failed);
		if (atomic_load(&heap_nr) != before && nr_lost++ < 3)
			diag("%s: the failure of allocation %ld of %ld: %ld blocks are lost", name, n, nr,
			     atomic_load(&heap_nr) - before);
	}
	ok(nr > 0, "%s: %ld of %ld allocations fail", name, nr_tried, nr);
	ok(nr_taken <= most_taken, "each time it is refused, but for %ld", nr_taken);
	is_int(nr_lost, 0, "and nothing is lost");
	is_int(atomic_load(&heap_nr_damaged), 0, "nor damaged");
}

int main(void)
{
	static const struct program_options o = {
		.seed = 21, .nr_threads = 3, .has_kernel = true, .nr_requests = 14, .is_simple = true,
	};
	struct partition_options po = { .from = INT64_MIN, .to = INT64_MAX };

	if (!heap_is_ours)
		skip_all("the heap is the sanitizer's");
	program_make(&made, "memory", &o);
	if (partition_build(made.model, &po, &parted) || why_build(&parted, &why_options, &whole))
		bail_out("partition_build");
	diag("the first line, as it has a buffer made");
	each_fails("functions", functions, 12);
	each_fails("locks", locks, 27);
	each_fails("sched", sched, 10);
	each_fails("requests", requests, 10);
	each_fails("partition", partition, 1);
	/*
	 * CPUs that sched.c counts as dropped: 8 of some 1340 allocations.  One in five is tried,
	 * so any of these 8 may be among them.
	 */
	each_fails("why", why, 8);
	each_fails("pictures", pictures, 0);
	each_fails("differences", differences, 0);
	each_fails("gates", gates, 0);
	each_fails("what if", whatif, 1);
	each_fails("tracks", tracks, 1);
	why_free(&whole);
	partition_free(&parted);
	made_close(&made);
	return done();
}
