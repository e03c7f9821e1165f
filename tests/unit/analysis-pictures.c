// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the numbers behind the pictures of ldb-why. */
#include "analysis/why/pictures.h"
#include "why-sample.h"

#define NR	2000

static struct why_sample s;

static void test_box(void)
{
	int64_t values[] = { 9, 1, 5, 3, 7 }, four[] = { 4, 3, 2, 1 };
	struct box b = box_of(values, 5);

	ok(b.nr == 5 && b.min == 1 && b.q1 == 3 && b.median == 5 && b.q3 == 7 && b.max == 9,
	   "quartiles of five");
	is_int(b.total, 25, "their sum");
	b = box_of(four, 4);
	ok(b.q1 == 1 && b.median == 2 && b.q3 == 3, "nearest rank: of four, values of the four");
	b = box_of(values, 1);
	ok(b.min == 1 && b.q1 == 1 && b.median == 1 && b.q3 == 1 && b.max == 1, "of one");
	b = box_of(values, 0);
	ok(!b.nr && !b.max && !b.total, "of none");
}

static void test_balloons(void)
{
	size_t nr = 0, wrong = 0, covered = 0;
	struct balloons b;

	if (balloons_build(&s.w, 300, &b))
		bail_out("balloons_build");
	is_int(b.nr, s.w.nr_targets, "a balloon for each target");
	for (size_t i = 0; i < b.nr; i++) {
		wrong += s.w.targets[b.at[i].target].request->id != 1000 + b.at[i].number;
		wrong += i && b.at[i].number <= b.at[i - 1].number;
	}
	is_int(wrong, 0, "in order of arrival");
	is_int(b.nr_bins, 300, "as many bins as asked for");
	wrong = 0;
	for (size_t i = 0; i < b.nr_bins; i++) {
		struct balloon_bin *bin = &b.bins[i];
		int64_t min = INT64_MAX, max = 0;

		wrong += bin->first != covered;
		covered += bin->nr;
		nr += bin->nr > 0;
		for (size_t k = bin->first; k < bin->first + bin->nr; k++) {
			int64_t ns = s.p.requests[k].latency_ns;

			min = ns < min ? ns : min;
			max = ns > max ? ns : max;
		}
		wrong += bin->min_ns != min || bin->max_ns != max || bin->median_ns < min ||
			 bin->median_ns > max;
	}
	ok(covered == NR && nr == 300 && !wrong, "bins hold each request once, least and greatest");
	balloons_free(&b);
	if (balloons_build(&s.w, 10 * NR, &b))
		bail_out("balloons_build");
	ok(b.nr_bins == NR && b.bins[303].nr == 1 &&
	   b.bins[303].median_ns == s.p.requests[303].latency_ns, "few requests: one a bin");
	balloons_free(&b);
}

/* Computes a cause's total from the rules of the sample, and not from the struct why. */
static int64_t total_of(int cause, size_t *count)
{
	int64_t total = 0;
	unsigned nr;

	*count = 0;
	for (size_t i = 0; i < NR; i++) {
		int64_t ns = why_sample_ns(i, cause, &nr);

		total += ns;
		*count += ns > 0;
	}
	return total;
}

static void test_boxes(void)
{
	static const int order[] = { CAUSE_LOCK, CAUSE_IO, CAUSE_BEHIND, CAUSE_PREEMPTED, CAUSE_SLOWER };
	struct boxes b;
	size_t both = 0;
	unsigned nr;

	if (boxes_build(&s.w, &b))
		bail_out("boxes_build");
	is_int(b.nr, NR_WHY_CAUSES, "a box for each cause");
	for (size_t i = 0; i < b.nr; i++) {
		size_t count;
		int64_t total = total_of(order[i], &count);

		ok(b.at[i].cause == (uint32_t)order[i] && b.at[i].box.nr == count &&
		   b.at[i].box.total == total, "cause %d: all amounts of its targets", order[i]);
	}
	/* The lock's amounts are 12, 11.5, ... 2.5 ms, each five times. */
	ok(b.at[0].box.min == 2500000 && b.at[0].box.max == 12000000 &&
	   b.at[0].box.median == 7000000 && b.at[0].box.q1 == 4500000 &&
	   b.at[0].box.q3 == 9500000, "the lock's quartiles");
	is_int(b.nr_groups, 4, "by category, else by kind");
	is_str(b.groups[0].name, "Storage", "the first group");
	ok(b.groups[0].first == 0 && b.groups[0].nr == 2, "has the lock and the I/O");
	is_str(b.groups[1].name, "head_of_line", "a kind is a group");
	for (size_t i = 0; i < NR; i++)
		both += why_sample_ns(i, CAUSE_LOCK, &nr) || why_sample_ns(i, CAUSE_IO, &nr);
	is_int(b.groups[0].box.nr, both, "a target with both causes counts once in the group");
	is_int(b.groups[0].box.total, b.at[0].box.total + b.at[1].box.total, "with their sum");
	boxes_free(&b);
}

/*
 * Returns the median number of requests ahead of the GETs with a latency of lo to hi, counted one
 * by one.
 */
static int64_t median_ahead(int64_t lo, int64_t hi)
{
	size_t count[5] = { 0 }, all = 0, seen = 0;
	int64_t ahead = 0;
	unsigned nr;

	for (size_t i = 0; i < NR; i++) {
		if (i % 3 == 0 || s.p.requests[i].latency_ns < lo || s.p.requests[i].latency_ns > hi)
			continue;
		count[why_sample_ns(i, CAUSE_BEHIND, &nr) ? nr : 0]++;
		all++;
	}
	while (seen + count[ahead] < (all + 1) / 2)
		seen += count[ahead++];
	return ahead;
}

static int64_t reference_ahead(int64_t lo, int64_t hi)
{
	int64_t reference = -1;
	struct queues q;

	s.w.classes[0].reference_lo_ns = lo;
	s.w.classes[0].reference_hi_ns = hi;
	if (queues_build(&s.w, &q))
		bail_out("queues_build");
	for (size_t i = 0; i < q.nr; i++)
		if (q.at[i].class == 0)
			reference = q.at[i].reference;
	queues_free(&q);
	return reference;
}

static void test_median(void)
{
	struct why_class saved = s.w.classes[0];
	size_t wrong = 0, nr = 0;

	/*
	 * For four targets, no more requests were ahead than for the reference, so there is no row.
	 */
	for (int64_t lo = 0; lo < 2000000; lo += 50000)
		for (int64_t hi = lo + 500000; hi < 13000000; hi += 450000) {
			int64_t got = reference_ahead(lo, hi);

			wrong += got >= 0 && got != median_ahead(lo, hi);
			nr += got > 0;
		}
	if (!ok(!wrong && nr > 50, "medians of mixed references, also where most have none ahead"))
		diag("%zu wrong, %zu not 0", wrong, nr);
	s.w.classes[0] = saved;
}

static void test_queues(void)
{
	size_t count[5] = { 0 }, gets = 0;
	const struct queue_depth *d;
	struct queues q;
	unsigned nr;

	for (size_t i = 0; i < NR; i++)
		if (why_sample_ns(i, CAUSE_BEHIND, &nr) && i % 3) {
			count[nr]++;
			gets++;
		}
	if (queues_build(&s.w, &q))
		bail_out("queues_build");
	is_int(q.nr, 2, "requests of two classes waited behind one");
	d = &q.at[q.nr > 1 && q.at[0].class ? 1 : 0];
	is_str(s.w.classes[d->class].name, "GET", "of class GET");
	ok(!strcmp(d->behind, "PUT") && !strcmp(d->where, "queue 0x1000"), "behind PUTs, in the queue");
	is_int(d->reference, 0, "the median request has none ahead");
	is_int(d->depth.nr, gets, "all that waited");
	ok(d->nr_extras == 4, "from one to four ahead");
	for (size_t i = 0; i < d->nr_extras; i++)
		ok(d->extras[i].extra == (int64_t)i + 1 && d->extras[i].nr == count[i + 1],
		   "%zu ahead: %zu requests", i + 1, count[i + 1]);
	ok(d->box.min == 700000 && d->box.max == 2800000, "and what it cost");
	ok(q.at[0].box.total >= q.at[1].box.total, "most time first");
	queues_free(&q);

	/* The reference waits, too, so only additional time counts. */
	for (size_t c = 0; c < 2; c++)
		s.w.classes[c].reference_lo_ns = s.w.classes[c].reference_hi_ns = WHY_REFERENCE_NS + 1400000;
	if (queues_build(&s.w, &q))
		bail_out("queues_build");
	ok(q.nr && q.at[0].reference == 2 && q.at[0].reference_ns == 1400000, "medians of the reference");
	ok(q.nr && q.at[0].nr_extras == 2 && q.at[0].extras[0].extra == 1 &&
	   q.at[0].box.min == 700000, "what is more than that");
	queues_free(&q);
	for (size_t c = 0; c < 2; c++)
		s.w.classes[c].reference_lo_ns = s.w.classes[c].reference_hi_ns = WHY_REFERENCE_NS;
}

/* A wait belongs to the queue that its path is in. */
static void test_place(void)
{
	struct leaf *leaf = &s.p.leaves[s.leaves[CAUSE_BEHIND]];
	uint32_t queue = leaf->path;
	struct queues q;

	leaf->path = partition_path(&s.p, queue, &why_functions[1]);
	if (queues_build(&s.w, &q))
		bail_out("queues_build");
	ok(q.nr && !strcmp(q.at[0].where, "queue 0x1000"), "in a function, in the queue");
	queues_free(&q);
	leaf->path = s.main_path;
	if (queues_build(&s.w, &q))
		bail_out("queues_build");
	ok(q.nr && !strcmp(q.at[0].where, "main"), "in a function alone");
	queues_free(&q);
	leaf->path = queue;
}

/* Returns how much of [from, to) the targets took, in total. */
static int64_t overlap(int64_t from, int64_t to)
{
	int64_t ns = 0;

	for (size_t i = 0; i < s.w.nr_targets; i++) {
		const struct request *r = s.w.targets[i].request;
		int64_t start = r->start_ns > from ? r->start_ns : from;
		int64_t end = r->start_ns + r->latency_ns;

		end = end < to ? end : to;
		ns += end > start ? end - start : 0;
	}
	return ns;
}

static void write_events(void)
{
	writer_add_meta(s.made.w, "pid", "1");
	made_thread(&s.made, 11, "worker", 0, 300000000);
	made_task(&s.made, 11, 1, "worker");
	made_task(&s.made, 500, 500, "hog");
	made_switch(&s.made, .tick = 1000000, .next = 11);
	made_switch(&s.made, .tick = 40000000, .prev = 11, .state = LDB_SCHED_F_PREEMPT,
		    .next = 500);
	made_switch(&s.made, .tick = 50000000, .prev = 500, .next = 11);
	made_switch(&s.made, .tick = 100000000, .prev = 11, .state = LDB_STATE_DISK);
	made_switch(&s.made, .tick = 120000000, .next = 11);
	made_switch(&s.made, .tick = 130000000, .prev = 11, .state = LDB_STATE_DISK);
	/*
	 * An unknown task ran before this switch: the task that leaves is not the one that came
	 * last.
	 */
	made_switch(&s.made, .tick = 150000000, .prev = 500, .next = 11);
	made_switch(&s.made, .tick = 160000000, .prev = 11);
}

static void test_cpus(void)
{
	int64_t ns[3] = { 0 }, lifetime = 0;
	struct cpus c;

	if (cpus_build(&s.w, &c))
		bail_out("cpus_build");
	for (size_t i = 0; i < s.w.nr_targets; i++)
		lifetime += s.w.targets[i].request->latency_ns;
	ok(c.has_events, "there are kernel events");
	is_int(c.lifetime_ns, lifetime, "the targets' instances");
	is_int(c.nr, 1, "one CPU");
	if (c.nr != 1)
		return;
	for (size_t i = 0; i < c.at[0].nr_contexts; i++) {
		const struct cpu_context *k = &c.at[0].contexts[i];

		ns[k->kind == CONTEXT_IDLE ? 2 : !strcmp(k->name, "hog")] += k->ns;
	}
	is_int(ns[0], overlap(1000000, 40000000) + overlap(50000000, 100000000) +
	       overlap(120000000, 130000000) + overlap(150000000, 160000000), "the worker's");
	is_int(ns[1], overlap(40000000, 50000000), "the hog's");
	is_int(ns[2], overlap(100000000, 120000000), "idle, not what is not known");
	ok(c.at[0].contexts[0].is_own && !strcmp(c.at[0].contexts[0].name, "worker"), "the program's first");
	ok(!c.at[0].contexts[1].is_own, "the hog is not of the program");
	ok(c.at[0].contexts[c.at[0].nr_contexts - 1].kind == CONTEXT_IDLE, "idle last");
	is_int(c.at[0].known_ns, ns[0] + ns[1] + ns[2], "their sum");
	cpus_free(&c);
}

static int64_t frame_ns(const struct blametree *b, const char *path)
{
	char text[1024];
	int64_t ns = 0;

	for (size_t i = 0; i < b->nr; i++) {
		uint32_t at[64], nr = 0;
		size_t used = 0;

		for (uint32_t f = i; f; f = b->at[f].parent)
			at[nr++] = f;
		*text = '\0';
		while (nr--)
			used += snprintf(text + used, sizeof(text) - used, "%s%s:%s", used ? ";" : "",
					 link_kind_name(b->at[at[nr]].kind), b->at[at[nr]].name);
		if (!strcmp(text, path))
			ns += b->at[i].own_ns;
	}
	return ns;
}

static int64_t sum_of(const struct blametree *b, unsigned kind, const char *label)
{
	int64_t ns = 0;

	for (size_t i = 0; i < b->nr_sums; i++)
		if (b->sums[i].kind == kind && !strcmp(b->sums[i].label, label))
			ns += b->sums[i].total_ns;
	return ns;
}

static void test_blame(void)
{
	static const char lock[] = "class:GET;function:main;function:serve;function:look_up;lock_wait:db_lock;"
				   "held_by:flusher;function:flush;io:fsync";
	int64_t all = 0, expected = 0, wrong = 0;
	struct blametree b;
	unsigned nr;

	if (blametree_build(&s.w, &b))
		bail_out("blametree_build");
	for (size_t i = 0; i < s.w.nr_targets; i++)
		all += s.w.targets[i].deviation_ns;
	is_int(b.at[0].all_ns, all, "all of it is the deviation of the targets");
	for (size_t i = 1; i < b.nr; i++) {
		wrong += b.at[i].parent >= i || b.at[i].depth != b.at[b.at[i].parent].depth + 1;
		if (b.at[i].parent != i - 1) {
			/* The previous sibling of the box must end directly before it. */
			uint32_t f = i - 1;

			while (b.at[f].parent != b.at[i].parent && f)
				f = b.at[f].parent;
			wrong += !f || b.at[f].all_ns < b.at[i].all_ns;
		}
	}
	is_int(wrong, 0, "parents first, then the biggest children");
	for (size_t i = 0; i < NR; i++)
		if (i % 3 && why_sample_ns(i, CAUSE_LOCK, &nr) > why_sample_ns(i, CAUSE_PREEMPTED, &nr))
			expected += why_sample_ns(i, CAUSE_LOCK, &nr);
	ok(expected > 0 && frame_ns(&b, lock) == expected, "the lock, its holder and what it did");
	ok(frame_ns(&b, "class:PUT;queue:queue 0x1000;head_of_line:PUT") > 0, "head of line");
	ok(frame_ns(&b, "class:PUT;function:main;function:serve;function:parse") > 0,
	   "a function that became slower is where it was called");
	ok(frame_ns(&b, "class:GET;function:main;function:serve;function:parse;preempted:hog") > 0,
	   "running tasks");
	ok(!frame_ns(&b, "class:GET;unexplained:"), "nothing is left");
	all = 0;
	for (size_t i = 0; i < b.nr_sums; i++)
		all += b.sums[i].total_ns;
	is_int(all, b.at[0].all_ns, "sums: all of it");
	expected = 0;
	for (size_t i = 0; i < NR; i++)
		if (why_sample_ns(i, CAUSE_LOCK, &nr) > why_sample_ns(i, CAUSE_PREEMPTED, &nr))
			expected += why_sample_ns(i, CAUSE_LOCK, &nr);
	is_int(sum_of(&b, LEAF_IO, "fsync"), expected, "sums: whatever waited for the lock is its holder's I/O");
	is_int(sum_of(&b, LINK_UNEXPLAINED, ""), 0, "sums: nothing is left");
	blametree_free(&b);

	s.w.targets[0].deviation_ns += 77;
	if (blametree_build(&s.w, &b))
		bail_out("blametree_build");
	is_int(frame_ns(&b, "class:GET;unexplained:") + frame_ns(&b, "class:PUT;unexplained:"), 77,
	       "what no cause explains is shown");
	is_int(sum_of(&b, LINK_UNEXPLAINED, ""), 77, "sums: also there");
	s.w.targets[0].deviation_ns -= 77;
	blametree_free(&b);
}

/* A struct why without targets has pictures, too. */
static void test_empty(void)
{
	struct why w = { .p = &s.p, .classes = s.w.classes };
	struct balloons balloons;
	struct boxes boxes;
	struct queues queues;
	struct blametree blame;
	struct cpus cpus;

	ok(!balloons_build(&w, 100, &balloons) && !balloons.nr && balloons.nr_bins == 100, "no balloons");
	ok(!boxes_build(&w, &boxes) && !boxes.nr && !boxes.nr_groups, "no boxes");
	ok(!queues_build(&w, &queues) && !queues.nr, "no queues");
	ok(!blametree_build(&w, &blame) && blame.nr == 1 && !blame.at[0].all_ns, "no blame");
	ok(!cpus_build(&w, &cpus) && !cpus.lifetime_ns && !cpus.nr, "no CPUs");
	balloons_free(&balloons);
	boxes_free(&boxes);
	queues_free(&queues);
	blametree_free(&blame);
	cpus_free(&cpus);
}

int main(void)
{
	why_sample_begin(&s);
	write_events();
	why_sample_end(&s, NR);
	test_box();
	test_balloons();
	test_boxes();
	test_queues();
	test_median();
	test_place();
	test_cpus();
	test_blame();
	test_empty();
	made_close(&s.made);
	return done();
}
