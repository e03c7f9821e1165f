/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations for differential.c, and for differential-resample.c, which it calls. */
#ifndef COMPARE_DIFFERENTIAL_PRIVATE_H
#define COMPARE_DIFFERENTIAL_PRIVATE_H

#include "bootstrap.h"
#include "differential.h"

/* The requests of a class of one recording. */
struct run {
	const struct partition *p;
	struct leafkey_map map;
	uint32_t *requests;		/* by start */
	uint32_t *rank;			/* the rank of each request by latency */
	int64_t *sorted;		/* latencies */
	size_t nr;
};

struct slice {
	const struct run *run;
	size_t first, last;		/* the requests with ranks in [first, last) */
};

struct differential_build {
	struct differential *d;
	const struct differential_options *o;
	struct run runs[2];
	size_t nr_runs;
	struct slice target, reference;
	size_t nr_keys;
	struct key_sum {
		int64_t target_ns, reference_ns;
		uint64_t target_nr, reference_nr;
		uint32_t part;
	} *sums;			/* by key: sums over the requests of both slices */
};

#define MEMBER(slice, rank)	((rank) >= (slice)->first && (rank) < (slice)->last)

/* Fills the intervals.  Returns 0 or -ENOMEM. */
int differential_resample(struct differential_build *b);

#endif
