/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Divides the difference between two sets of requests into parts that sum to the difference: slow
 * and usual requests of a run, or the same slice of two runs.
 *
 * For a leaf, c(r) is the time that the request r spent in it.  The leaf's difference is the mean
 * of c over the target requests minus the mean over the reference requests; because the leaves of a
 * request sum to its latency, their differences sum to the difference of the mean latencies.  Means
 * are stored as whole nanoseconds: the sums are integers, and the remainder of their division goes
 * to the leaves with the greatest remainders, so that the means of all leaves sum to the mean
 * latency, rounded.  So a mean is wrong by less than 1 ns, and a difference by less than 2.
 *
 * `share` is Cov(c, latency) / Var(latency) over all requests of the target's class and run, where
 * c is the time in all leaves of a part: how much of the variance between requests is due to that
 * part.  Shares sum to 1 (VProfiler's variance tree, Huang et al., EuroSys '17, in one pass).
 *
 * Intervals (95 %) are by a bootstrap over blocks of all requests of the class, not only of those
 * of the slice, because the limits of the slice vary, too.  The slices of a resample are not chosen
 * again; an influence function, a sum over blocks, accounts for the change of their limits (see
 * differential-resample.c).  Two slices of one run are resampled together.
 *
 * Leaves are aggregated into parts by function, lock, task and so on, whatever their paths.
 */
#ifndef COMPARE_DIFFERENTIAL_H
#define COMPARE_DIFFERENTIAL_H

#include "analysis/partition/leafkey.h"

struct categories;

#define DIFFERENTIAL_SHOWN_MAX	128	/* parts that have an interval */

/* These are the requests of a class between two percentiles of its latencies. */
struct differential_side {
	const struct partition *p;
	uint32_t class;			/* index into p->classes */
	double lo, hi;			/* 99, 100 */
};

struct differential_options {
	struct differential_side target, reference; /* may be of the same partition */
	size_t nr_shown;		/* parts; at most DIFFERENTIAL_SHOWN_MAX */
	unsigned nr_resamples;		/* 0: BOOTSTRAP_RESAMPLES */
	struct categories *categories;	/* NULL: none */
};

struct differential_interval {
	/*
	 * false if the requests of a side are all in one block (bootstrap.h), or if the part is not
	 * among the first DIFFERENTIAL_SHOWN_MAX
	 */
	bool is_known;
	int64_t lo_ns, hi_ns;
};

/* A leaf of the joint table of both sides. */
struct differential_leaf {
	uint32_t key;			/* index into keys.leaves */
	int64_t target_ns, reference_ns; /* means */
	double target_nr, reference_nr;	/* invocations or waits per request */
};

struct differential_part {
	enum leaf_kind kind;
	const char *label;		/* function, lock, task, queue, class; "" */
	const char *where;		/* IO, SLEEP: the function; "" */
	const char *category, *advice;	/* "" */
	size_t first, nr;		/* leaves, greatest difference first */
	int64_t target_ns, reference_ns;
	double target_nr, reference_nr;
	double share;
	struct differential_interval diff; /* of target_ns - reference_ns */
};

struct differential_slice {
	double lo, hi;			/* percentiles */
	size_t nr, nr_class;		/* requests in the slice; in the class */
	int64_t mean_ns;		/* latency */
	int64_t lo_ns, hi_ns;		/* least and greatest */
};

struct differential {
	const char *class;
	struct differential_slice target, reference;
	struct differential_part *parts; /* greatest difference, in either direction, first */
	size_t nr_parts;
	struct differential_leaf *leaves; /* by part */
	size_t nr_leaves;
	struct differential_interval diff; /* the difference of the means */
	size_t nr_shown;
	struct differential_part others; /* parts[nr_shown ..] as one; no leaves */
	unsigned nr_resamples;
	bool has_shares;		/* false: all latencies are the same */
	struct leafkeys keys;
};

/* Returns 0, -ENOMEM, or -ENOENT: a side has no request. */
int differential_build(const struct differential_options *o, struct differential *d);
void differential_free(struct differential *d);

static inline int64_t differential_ns(const struct differential_part *part)
{
	return part->target_ns - part->reference_ns;
}

/* Returns the index of the class of that name; UINT32_MAX: there is none. */
uint32_t differential_class(const struct partition *p, const char *name);

#endif
