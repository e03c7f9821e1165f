/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intervals by resampling blocks of requests.
 *
 * Requests that follow each other are slow together, so blocks of neighbours are drawn
 * and not requests.  For a mean, blocks are slices of the recording's time, BOOTSTRAP_SLICES
 * of them: so long that what lasts for a while, a busy neighbour or a scanner that was away,
 * is within one, and what drifts differs between them (batch means: Schmeiser, "Batch size
 * effects in the analysis of simulation output", 1982, section 3: 10 to 30).  A percentile
 * needs more, BOOTSTRAP_BLOCKS, as few requests tell where it is.  Draws are the same in
 * every run.
 *
 * A percentile of few draws is too near to the middle; the ends of an interval are taken
 * as far out as makes it as wide as Student's would be (Hesterberg, "What teachers should
 * know about the bootstrap", 2015, section 5.3).
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
#define BOOTSTRAP_Z		1.959964 /* so many standard errors to each side of a normal value */

struct random {
	uint64_t state;
};

uint64_t random_next(struct random *r);

/* Requests 0 .. nr as blocks: request i is in block i / size. */
struct blocks {
	size_t nr, size;
};

/* There are at most nr_max blocks. */
struct blocks bootstrap_blocks(size_t nr_requests, size_t nr_max);

/* Draws blocks->nr of them: how often each came. */
void bootstrap_draw(struct random *r, const struct blocks *blocks, uint32_t *times);

/*
 * How many standard errors Student's distribution has on each side where the normal one has z;
 * nr_independent: blocks that the error rests upon.
 */
double bootstrap_student(double z, size_t nr_independent);

struct interval {
	double lo, hi;
};

/* The interval of nr values, which are sorted; nr_independent: blocks that they depend on. */
struct interval bootstrap_interval(double *values, size_t nr, size_t nr_independent);

/*
 * Percentiles of resamples of latencies, in the time of a search each: of the sorted
 * ones, how many of each block are below each of some marks is known.
 */
struct resampler {
	struct blocks blocks;
	int64_t *sorted;
	uint32_t *block_of;		/* of the sorted ones */
	size_t nr;
	uint32_t *below;		/* [mark][block]: of the first mark * step */
	size_t nr_marks, step;
	double *sums;			/* of each block */
};

/* latencies: by start.  0 or -ENOMEM. */
int resampler_open(struct resampler *s, const int64_t *latencies, size_t nr);
void resampler_close(struct resampler *s);

/*
 * part (0..1) of the latencies are at most the result (nearest rank); 0: there are none.
 * times: of bootstrap_draw(); NULL: of the sample itself.
 */
int64_t resampler_percentile(const struct resampler *s, const uint32_t *times, double part);
double resampler_mean(const struct resampler *s, const uint32_t *times);

#endif
