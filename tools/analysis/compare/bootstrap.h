/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes intervals by resampling blocks of requests.
 *
 * Consecutive requests are often slow together, so blocks of consecutive requests are drawn, and
 * not single requests.  For the parts of a differential, which are means, requests are divided into
 * at most BOOTSTRAP_SLICES blocks.  These are so long that a temporary disturbance, such as another
 * busy process or a scanner that was off its CPU, is within one block; and a slow drift makes
 * blocks differ (batch means: Schmeiser, "Batch size effects in the analysis of simulation output",
 * 1982, section 3: 10 to 30).  A percentile needs more blocks, up to BOOTSTRAP_BLOCKS, because few
 * requests determine it; gates use them for means, too.  The draws are the same in every run.
 *
 * With few blocks the percentiles of the draws are too close to the middle; the ends of an interval
 * are moved out, so that it is as wide as one from Student's distribution (Hesterberg, "What
 * teachers should know about the bootstrap", 2015, section 5.3).
 */
#ifndef COMPARE_BOOTSTRAP_H
#define COMPARE_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#define BOOTSTRAP_RESAMPLES	2000
#define BOOTSTRAP_BLOCKS	200
#define BOOTSTRAP_SLICES	20
#define BOOTSTRAP_SEED		0x1db0b007ULL
#define BOOTSTRAP_CONFIDENCE	0.95
/* standard errors on each side of a normal value, for 95 % */
#define BOOTSTRAP_Z		1.959964

struct random {
	uint64_t state;
};

uint64_t random_next(struct random *r);

/* Divides requests into nr blocks: request i is in block i / size. */
struct blocks {
	size_t nr, size;
};

/* Returns at most nr_max blocks. */
struct blocks bootstrap_blocks(size_t nr_requests, size_t nr_max);

/* Draws blocks->nr blocks, and counts how often each was drawn. */
void bootstrap_draw(struct random *r, const struct blocks *blocks, uint32_t *times);

/*
 * Converts the half-width of an interval, in standard errors, from the normal distribution (z) to
 * Student's.  nr_independent is the number of blocks on which the error depends.
 */
double bootstrap_student(double z, size_t nr_independent);

struct interval {
	double lo, hi;
};

/*
 * Returns the 95 % interval of nr resampled values, which must be sorted; nr_independent is the
 * number of blocks on which they depend.
 */
struct interval bootstrap_interval(double *values, size_t nr, size_t nr_independent);

/*
 * Computes percentiles of resamples of latencies, each by one search.  Every step-th place of the
 * sorted latencies is a mark; for each mark, below[] has how many latencies of each block are
 * before it.
 */
struct resampler {
	struct blocks blocks;
	int64_t *sorted;
	uint32_t *block_of;		/* the block of each sorted latency */
	size_t nr;
	/* [mark][block]: how many of the first mark * step latencies are in the block */
	uint32_t *below;
	size_t nr_marks, step;
	double *sums;			/* the sum of each block */
};

/* latencies must be in order of their requests' starts.  Returns 0 or -ENOMEM. */
int resampler_open(struct resampler *s, const int64_t *latencies, size_t nr);
void resampler_close(struct resampler *s);

/*
 * Returns a percentile of the latencies (nearest rank), which the fraction `part` of them do not
 * exceed; 0: there are none.  `times` is the result of bootstrap_draw(); NULL: computes the
 * percentile of the sample itself.
 */
int64_t resampler_percentile(const struct resampler *s, const uint32_t *times, double part);
double resampler_mean(const struct resampler *s, const uint32_t *times);

#endif
