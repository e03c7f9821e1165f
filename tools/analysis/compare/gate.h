/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A condition on two runs, for a build that must fail if requests have become slower:
 *
 *	[CLASS:]METRIC+N%	p99+5%: over 5 % more than before
 *	[CLASS:]METRIC+TIME	GET:p50+100us
 *	[CLASS:]METRIC>TIME	p99.9>2ms: the second run is over 2 ms
 *
 * METRIC is p50, p90, p99, p99.9, p99.99 or another p above 0 and up to 100, max or mean; CLASS is
 * a glob.  Each class is judged separately, because a different mix of classes changes percentiles
 * while no request is slower.
 *
 * A condition on growth (+) holds if the growth is over the limit and the 95 % interval of the
 * change, by bootstrap.h, is above 0.  A condition on a value (>) has no interval.
 */
#ifndef COMPARE_GATE_H
#define COMPARE_GATE_H

#include <stdbool.h>
#include "analysis/partition/partition.h"

enum gate_metric { GATE_PERCENTILE, GATE_MAX, GATE_MEAN };

enum gate_limit { GATE_PERCENT, GATE_GROWTH, GATE_ABOVE };

struct gate {
	const char *text;		/* as given */
	char class[128];		/* glob; "*" if none was given */
	char metric_name[16];
	enum gate_metric metric;
	enum gate_limit limit;
	double part;			/* PERCENTILE: 0..1 */
	double limit_part;		/* PERCENT: 0.05 */
	int64_t limit_ns;		/* GROWTH, ABOVE */
};

/*
 * Returns false, and writes a line to err, if the text is wrong.  The text must exist as long as
 * the gate.
 */
bool gate_parse(const char *text, struct gate *g, char *err, size_t err_size);

struct gate_result {
	const struct gate *gate;
	const char *class;
	size_t nr_before, nr_after;	/* requests */
	int64_t before_ns, after_ns;
	int64_t change_lo_ns, change_hi_ns; /* 95 % */
	bool is_over;			/* the measured value, or its change, is over the limit */
	bool is_certain;		/* the interval is above 0, and is of several blocks */
	/* one of the runs has so few requests that the percentile is its greatest latency */
	bool is_coarse;
	bool holds;			/* the build fails */
};

/*
 * Checks each matching class that both runs have, and appends to *results, which the caller frees.
 * Returns 0 or -ENOMEM.
 */
int gate_check(const struct gate *g, const struct partition *before, const struct partition *after,
	       struct gate_result **results, size_t *nr);

#endif
