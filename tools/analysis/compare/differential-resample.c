// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes the intervals of an additive differential.
 *
 * Let c be the time that a request spent in one part.  The mean of c over the requests between two
 * percentiles of latency is, to first order, the mean over all requests of each request's
 * influence: with the slice's part a = hi - lo of the requests, its limits q_lo and q_hi, and m(q)
 * the mean of c among requests about as slow as q, a request of latency l adds
 *
 * 	(c if q_lo < l <= q_hi  + m(q_hi) * (hi - [l <= q_hi]) - m(q_lo) * (lo - [l <= q_lo])) / a
 *
 * minus the mean itself.  The last two terms are there because one more request below a limit moves
 * the limit.  So one number for each block and part is enough, however many requests there are, and
 * a resample is a sum over blocks.
 *
 * The intervals hold simultaneously.  Of twenty intervals that each hold with a probability of 95
 * %, at least one would be wrong in most comparisons.  So the width of each, in standard errors, is
 * such that in 95 % of the resamples no part deviates by more (Romano and Wolf, "Exact and
 * approximate stepdown methods for multiple hypothesis testing", 2005).
 *
 * Which other tasks ran does not depend on the program.  It hardly varies within a recording, but
 * it varies between recordings, because the kernel puts other processes on other CPUs.  The load of
 * the machine makes slices of time differ as a whole, and so is part of the error of the whole
 * latency.  Therefore in a comparison of two recordings the error of the whole latency is added to
 * that of each part of class ANOMALY_CONTEXT, in which the CPU ran something else.
 *
 * Some errors are the same throughout a recording and different in the next one, so resamples do
 * not show them, either: where between two samples of the stack a function begins and ends, and
 * what ran while the scanner was off its CPU.  These errors have bounds, but their distribution is
 * not known: the difference is anywhere between two ends, and only these ends have a standard error
 * (Imbens and Manski, "Confidence intervals for partially identified parameters", Econometrica,
 * 2004).  So between two recordings the interval of a function is widened by the resolution of
 * both, which does not become finer with more requests, and by the time that was unobserved in only
 * one of them.  Whether ldb's own tasks share a CPU with the program differs from recording to
 * recording, and does not depend on the build of the program: so all of the time that these tasks
 * took counts as error.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/sort.h"
#include "differential-private.h"

struct resample {
	struct differential_build *b;
	const struct run *run;		/* the run that is being added */
	struct blocks blocks;
	size_t nr_columns;		/* parts with an interval, and all others as one */
	double *z;			/* [block][column]: influence */
	double *near_lo, *near_hi;	/* by column: m(q_lo), m(q_hi) */
	double *inside;			/* [block][column]: c of the slice */
	uint32_t *nr_block, *below_lo, *below_hi; /* by block: requests */
	uint32_t *times;
	/*
	 * [column][resample]: the deviation of each part; then columns for the parts not shown, for
	 * all parts, and for sorting
	 */
	double *values;
	/* by column of values[], without the last: standard errors */
	double *errors;
	double *row;			/* the results of one resample */
};

static size_t column_of(const struct resample *r, uint32_t part)
{
	return part < r->nr_columns - 1 ? part : r->nr_columns - 1;
}

/* Returns the number of requests on each side of a limit that are used to compute m(q). */
static size_t width_at(size_t rank, size_t nr)
{
	size_t width = sqrt(nr);

	if (width > (nr - rank) / 4)
		width = (nr - rank) / 4;
	width = min(width, rank / 4);
	return width ? width : 1;
}

static bool is_near(size_t rank, size_t limit, size_t width)
{
	return rank + width >= limit && rank < limit + width;
}

static void add_columns(struct resample *r, const struct request *request, double *to)
{
	const struct run *run = r->run;
	const struct share *share = &run->p->shares[request->first];

	for (uint32_t i = 0; i < request->nr_shares; i++, share++)
		to[column_of(r, r->b->sums[run->map.leaves[share->leaf]].part)] += share->ns;
}

static void clear(struct resample *r)
{
	size_t size = r->blocks.nr * sizeof(*r->nr_block);

	memset(r->near_lo, 0, r->nr_columns * sizeof(*r->near_lo));
	memset(r->near_hi, 0, r->nr_columns * sizeof(*r->near_hi));
	memset(r->inside, 0, r->blocks.nr * r->nr_columns * sizeof(*r->inside));
	memset(r->nr_block, 0, size);
	memset(r->below_lo, 0, size);
	memset(r->below_hi, 0, size);
}

static void add_requests(struct resample *r, const struct slice *s)
{
	const struct run *run = r->run;
	size_t width_lo = width_at(s->first, run->nr), width_hi = width_at(s->last, run->nr);
	size_t nr_lo = 0, nr_hi = 0;

	clear(r);
	for (size_t i = 0; i < run->nr; i++) {
		const struct request *request = &run->p->requests[run->requests[i]];
		size_t rank = run->rank[i], block = i / r->blocks.size;

		r->nr_block[block]++;
		r->below_lo[block] += rank < s->first;
		r->below_hi[block] += rank < s->last;
		if (MEMBER(s, rank))
			add_columns(r, request, r->inside + block * r->nr_columns);
		if (is_near(rank, s->first, width_lo)) {
			add_columns(r, request, r->near_lo);
			nr_lo++;
		}
		if (is_near(rank, s->last, width_hi)) {
			add_columns(r, request, r->near_hi);
			nr_hi++;
		}
	}
	for (size_t c = 0; c < r->nr_columns; c++) {
		r->near_lo[c] /= nr_lo ? nr_lo : 1;
		r->near_hi[c] /= nr_hi ? nr_hi : 1;
	}
}

/* Adds the influence of a slice to z, or with a sign of -1 subtracts it. */
static void add_slice(struct resample *r, const struct slice *s, double sign)
{
	double nr = r->run->nr, lo = s->first / nr, hi = s->last / nr, part = hi - lo;

	add_requests(r, s);
	for (size_t c = 0; c < r->nr_columns; c++) {
		double mean = 0;

		for (size_t k = 0; k < r->blocks.nr; k++)
			mean += r->inside[k * r->nr_columns + c] / (s->last - s->first);
		for (size_t k = 0; k < r->blocks.nr; k++)
			r->z[k * r->nr_columns + c] += sign / part / nr *
				(r->inside[k * r->nr_columns + c] - part * mean * r->nr_block[k] +
				 r->near_hi[c] * (hi * r->nr_block[k] - r->below_hi[k]) -
				 r->near_lo[c] * (lo * r->nr_block[k] - r->below_lo[k]));
	}
}

/* Counts the blocks that contain requests of the slice: an interval depends only on these. */
static size_t count_blocks(const struct slice *s)
{
	struct blocks blocks = bootstrap_blocks(s->run->nr, BOOTSTRAP_SLICES);
	size_t nr = 0, last = SIZE_MAX;

	for (size_t i = 0; i < s->run->nr; i++) {
		if (!MEMBER(s, s->run->rank[i]) || i / blocks.size == last)
			continue;
		last = i / blocks.size;
		nr++;
	}
	return nr;
}

/* Draws blocks of one run, and adds the results to the resamples. */
static void draw(struct resample *r, struct random *random)
{
	struct differential *d = r->b->d;

	for (unsigned n = 0; n < d->nr_resamples; n++) {
		bootstrap_draw(random, &r->blocks, r->times);
		memset(r->row, 0, r->nr_columns * sizeof(*r->row));
		for (size_t k = 0; k < r->blocks.nr; k++) {
			const double *z = r->z + k * r->nr_columns;
			double times = r->times[k];

			if (!r->times[k])
				continue;
			for (size_t c = 0; c < r->nr_columns; c++)
				r->row[c] += times * z[c];
		}
		for (size_t c = 0; c < r->nr_columns; c++)
			r->values[c * d->nr_resamples + n] += r->row[c];
	}
}

static int add_run(struct resample *r, const struct run *run, struct random *random)
{
	struct differential_build *b = r->b;
	int ret = -ENOMEM;

	r->run = run;
	r->blocks = bootstrap_blocks(run->nr, BOOTSTRAP_SLICES);
	r->z = calloc(r->blocks.nr * r->nr_columns, sizeof(*r->z));
	r->inside = calloc(r->blocks.nr * r->nr_columns, sizeof(*r->inside));
	r->nr_block = calloc(r->blocks.nr, sizeof(*r->nr_block));
	r->below_lo = calloc(r->blocks.nr, sizeof(*r->below_lo));
	r->below_hi = calloc(r->blocks.nr, sizeof(*r->below_hi));
	r->times = calloc(r->blocks.nr, sizeof(*r->times));
	if (r->z && r->inside && r->nr_block && r->below_lo && r->below_hi && r->times) {
		if (b->target.run == run)
			add_slice(r, &b->target, 1);
		if (b->reference.run == run)
			add_slice(r, &b->reference, -1);
		draw(r, random);
		ret = 0;
	}
	free(r->z);
	free(r->inside);
	free(r->nr_block);
	free(r->below_lo);
	free(r->below_hi);
	free(r->times);
	return ret;
}

static double *values_of(const struct resample *r, size_t column)
{
	return r->values + column * r->b->d->nr_resamples;
}

static void add_totals(struct resample *r)
{
	const struct differential *d = r->b->d;
	double *others = values_of(r, r->nr_columns), *all = values_of(r, r->nr_columns + 1);

	for (size_t c = 0; c < r->nr_columns; c++)
		for (size_t n = 0; n < d->nr_resamples; n++) {
			double off = values_of(r, c)[n];

			all[n] += off;
			others[n] += c < d->nr_shown ? 0 : off;
		}
}

/*
 * Adds to each part of class ANOMALY_CONTEXT the error of the whole latency, taken from another,
 * independent resample.
 */
static void widen_contexts(struct resample *r)
{
	const struct differential *d = r->b->d;
	const double *all = values_of(r, r->nr_columns + 1);
	size_t nr = d->nr_resamples;

	for (size_t c = 0; c + 1 < r->nr_columns; c++)
		for (size_t n = 0; n < nr && leaf_kinds[d->parts[c].kind].anomaly == ANOMALY_CONTEXT; n++)
			values_of(r, c)[n] += all[(n + nr / 2) % nr];
}

/* Corrects for a sample of nr_blocks blocks: its variance is too small by one part in nr_blocks. */
static double standard_error(const double *values, size_t nr, double nr_blocks)
{
	double sum = 0;

	for (size_t n = 0; n < nr; n++)
		sum += values[n] * values[n];
	return sqrt(sum / nr * nr_blocks / (nr_blocks - 1));
}

COMPARE_NUMBERS(compare_doubles, double)

/* Returns a limit in standard errors: in 95 % of the resamples no part exceeds it. */
static double count_errors(struct resample *r)
{
	size_t nr = r->b->d->nr_resamples;
	double *most = values_of(r, r->nr_columns + 2), z;

	for (size_t c = 0; c <= r->nr_columns; c++)
		for (size_t n = 0; n < nr && r->errors[c] > 0; n++) {
			double off = fabs(values_of(r, c)[n]) / r->errors[c];

			most[n] = max(off, most[n]);
		}
	qsort(most, nr, sizeof(*most), compare_doubles);
	z = nr ? most[(size_t)(BOOTSTRAP_CONFIDENCE * nr)] : 0;
	return max(z, BOOTSTRAP_Z);
}

static bool is_unobserved(const struct differential_part *part)
{
	return part->kind == LEAF_UNKNOWN && !strcmp(part->label, PARTITION_UNOBSERVED);
}

/* Adds the mean error of each part over the requests of a slice. */
static void add_errors(struct resample *r, const struct slice *s, double *errors)
{
	const struct run *run = s->run;

	for (size_t i = 0; i < run->nr; i++) {
		const struct request *request = &run->p->requests[run->requests[i]];
		const struct share *share = &run->p->shares[request->first];

		for (uint32_t k = 0; MEMBER(s, run->rank[i]) && k < request->nr_shares; k++, share++)
			errors[column_of(r, r->b->sums[run->map.leaves[share->leaf]].part)] +=
				min(sqrt(share->error2), (double)request->latency_ns) /
				(s->last - s->first);
	}
}

static struct differential_interval interval_around(int64_t diff, double width)
{
	return (struct differential_interval){
		.is_known = true, .lo_ns = diff - llround(width), .hi_ns = diff + llround(width),
	};
}

static void widen(struct differential_interval *i, double less, double more)
{
	i->lo_ns -= llround(less);
	i->hi_ns += llround(more);
}

/*
 * Time that was unobserved in one recording may belong to any function that was observed in the
 * other.
 */
static void widen_functions(struct resample *r)
{
	struct differential *d = r->b->d;
	double *errors = r->row, more = 0;

	memset(errors, 0, r->nr_columns * sizeof(*errors));
	add_errors(r, &r->b->target, errors);
	add_errors(r, &r->b->reference, errors);
	for (size_t i = 0; i < d->nr_parts; i++)
		if (is_unobserved(&d->parts[i]))
			more += differential_ns(&d->parts[i]);
	for (size_t c = 0; c + 1 < r->nr_columns; c++) {
		struct differential_part *part = &d->parts[c];

		if (is_unobserved(part))
			widen(&part->diff, max(more, 0.0), max(-more, 0.0));
		else if (part->kind == LEAF_FUNCTION || part->kind == LEAF_UNKNOWN)
			widen(&part->diff, errors[c] + max(-more, 0.0), errors[c] + max(more, 0.0));
	}
	widen(&d->others.diff, errors[r->nr_columns - 1] + max(-more, 0.0),
	      errors[r->nr_columns - 1] + max(more, 0.0));
}

static bool is_due_to_ldb(const struct differential_part *part)
{
	return (part->kind == LEAF_PREEMPTED || part->kind == LEAF_RUNNABLE) &&
	       (!strcmp(part->label, "ldb-record") || !strcmp(part->label, "ldb-scan") ||
		!strcmp(part->label, "ldb-control"));
}

static void widen_own_tasks(struct resample *r)
{
	for (size_t c = 0; c + 1 < r->nr_columns; c++) {
		struct differential_part *part = &r->b->d->parts[c];
		int64_t most = max(part->target_ns, part->reference_ns);

		if (is_due_to_ldb(part))
			widen(&part->diff, most, most);
	}
}

static void set_intervals(struct resample *r, size_t nr_blocks)
{
	struct differential *d = r->b->d;
	double width;

	add_totals(r);
	if (r->b->nr_runs > 1)
		widen_contexts(r);
	for (size_t c = 0; c < r->nr_columns + 2; c++)
		r->errors[c] = standard_error(values_of(r, c), d->nr_resamples, nr_blocks);
	width = bootstrap_student(count_errors(r), nr_blocks);
	for (size_t c = 0; c + 1 < r->nr_columns; c++)
		d->parts[c].diff = interval_around(differential_ns(&d->parts[c]), width * r->errors[c]);
	d->others.diff = interval_around(differential_ns(&d->others), width * r->errors[r->nr_columns]);
	if (r->b->nr_runs > 1) {
		widen_functions(r);
		widen_own_tasks(r);
	}
	d->diff = interval_around(d->target.mean_ns - d->reference.mean_ns,
				 bootstrap_student(BOOTSTRAP_Z, nr_blocks) * r->errors[r->nr_columns + 1]);
}

int differential_resample(struct differential_build *b)
{
	size_t nr = count_blocks(&b->target), other = count_blocks(&b->reference);
	struct resample r = { .b = b };
	struct random random = { BOOTSTRAP_SEED };
	struct differential *d = b->d;
	int ret = -ENOMEM;

	nr = min(nr, other);
	if (nr < 2 || !d->nr_parts)
		return 0;
	r.nr_columns = (d->nr_parts < DIFFERENTIAL_SHOWN_MAX ? d->nr_parts : DIFFERENTIAL_SHOWN_MAX) + 1;
	r.near_lo = calloc(r.nr_columns, sizeof(*r.near_lo));
	r.near_hi = calloc(r.nr_columns, sizeof(*r.near_hi));
	r.row = calloc(r.nr_columns, sizeof(*r.row));
	r.errors = calloc(r.nr_columns + 2, sizeof(*r.errors));
	r.values = calloc((r.nr_columns + 3) * (size_t)d->nr_resamples, sizeof(*r.values));
	if (r.near_lo && r.near_hi && r.row && r.errors && r.values)
		ret = 0;
	for (size_t i = 0; i < b->nr_runs && !ret; i++)
		ret = add_run(&r, &b->runs[i], &random);
	if (!ret)
		set_intervals(&r, nr);
	free(r.near_lo);
	free(r.near_hi);
	free(r.row);
	free(r.errors);
	free(r.values);
	return ret;
}
