// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Converts times of kernel events to ticks of the session.
 *
 * If the session's clock is CLOCK_MONOTONIC, times are only corrected by the offset of the
 * program's time namespace.  If it is the time stamp counter, perf and BPF programs stamp with
 * another clock, because they cannot use the counter.  Then both clocks are read together
 * repeatedly, and a time between two such samples is found by interpolation.  So its error is about
 * that of the samples, even if the clocks' rates change slowly.  Two samples that are close
 * together say little about these rates, so callers take another sample before they convert a time
 * that is later than the last one.
 */
#include <stdlib.h>
#include <time.h>
#include "base/minmax.h"
#include "base/search.h"
#include "record/kernel/clock.h"
#include "record/session/session.h"

#define SAMPLES_MAX	1024
#define TRIES		8
#define TRIES_HARD	100	/* for a sample that must be used */
/* an inaccurate sample is accepted this long after the last sample */
#define PATIENCE_NS	100000000
/* rounding errors of the kernel's arithmetic and of this file's */
#define ROUND_NS	2

struct sample {
	uint64_t ns, tick;
};

struct kernel_clock {
	bool same;		/* stamps are in CLOCK_MONOTONIC, the session's clock */
	clockid_t stamps;
	/* offset of the recorder's time namespace, which the kernel's stamps do not include */
	int64_t own_offset_ns;
	int64_t offset_ns;	/* offset of the program's time namespace */
	uint64_t t0;
	struct sample samples[SAMPLES_MAX];	/* circular, ascending in both clocks */
	size_t first, nr;
	uint64_t best_err, worst_err;	/* errors of samples, in ticks */
	double ns_per_tick;
};

struct kernel_clock *kernel_clock_alloc(unsigned clock_id, clockid_t stamps, uint64_t t0,
					int64_t offset_ns)
{
	struct kernel_clock *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->same = clock_id == LDB_CLOCK_MONO;
	c->stamps = c->same ? CLOCK_MONOTONIC : stamps;
	c->t0 = t0;
	c->offset_ns = offset_ns;
	clock_offset(0, &c->own_offset_ns);
	c->best_err = UINT64_MAX;
	c->ns_per_tick = 1;
	kernel_clock_sample(c, true);
	return c;
}

void kernel_clock_free(struct kernel_clock *c)
{
	free(c);
}

clockid_t kernel_clock_id(const struct kernel_clock *c)
{
	return c->stamps;
}

uint64_t kernel_clock_now(const struct kernel_clock *c)
{
	struct timespec ts;

	clock_gettime(c->stamps, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec - c->own_offset_ns;
}

static struct sample *sample_at(struct kernel_clock *c, size_t i)
{
	return &c->samples[(c->first + i) % SAMPLES_MAX];
}

/* Returns true if a sample with this error is accurate enough after so many tries. */
static bool is_accurate(const struct kernel_clock *c, uint64_t err, int tries)
{
	return c->nr && err <= (tries < TRIES ? c->best_err + c->best_err / 2 : 2 * c->best_err);
}

/* Reads both clocks, with as little time in between as possible.  Returns the error in ticks. */
static uint64_t read_both(struct kernel_clock *c, struct sample *sample, int tries)
{
	uint64_t err = UINT64_MAX;

	for (int i = 0; i < tries && !is_accurate(c, err, i); i++) {
		uint64_t before = clock_now(LDB_CLOCK_TSC), ns = kernel_clock_now(c);
		uint64_t after = clock_now(LDB_CLOCK_TSC);

		if ((after - before + 1) / 2 >= err)
			continue;
		err = (after - before + 1) / 2;
		sample->ns = ns;
		sample->tick = before + (after - before) / 2;
	}
	return err;
}

static void add_sample(struct kernel_clock *c, const struct sample *sample, uint64_t err, bool must)
{
	c->best_err = min(c->best_err, err);
	if (c->nr) {
		const struct sample *last = sample_at(c, c->nr - 1);

		if (sample->ns <= last->ns || sample->tick <= last->tick)
			return;
		if (!must && err > 2 * c->best_err && sample->ns - last->ns < PATIENCE_NS)
			return;
	}
	if (c->nr == SAMPLES_MAX) {
		c->first++;
		c->nr--;
	}
	*sample_at(c, c->nr++) = *sample;
	c->worst_err = max(c->worst_err, err);
	if (c->nr > 1)
		c->ns_per_tick = (double)(sample->ns - sample_at(c, 0)->ns) /
				 (double)(sample->tick - sample_at(c, 0)->tick);
}

uint64_t kernel_clock_sample(struct kernel_clock *c, bool must)
{
	struct sample sample;
	uint64_t err;

	if (c->same)
		return kernel_clock_now(c);
	err = read_both(c, &sample, must ? TRIES_HARD : TRIES);
	add_sample(c, &sample, err, must);
	return sample_at(c, c->nr - 1)->ns;
}

int64_t kernel_clock_tick(struct kernel_clock *c, uint64_t ns)
{
	const struct sample *from, *to;
	size_t low;

	if (c->same)
		return (int64_t)(ns + c->offset_ns - c->t0);
	if (c->nr < 2)
		return (int64_t)(sample_at(c, 0)->tick - c->t0);
	/* The time is usually between the last two samples, or close to them. */
	low = search_range(1, c->nr - 1, i, sample_at(c, i)->ns <= ns) - 1;
	from = sample_at(c, low);
	to = sample_at(c, low + 1);
	return (int64_t)(from->tick - c->t0) +
	       (int64_t)((__int128)(int64_t)(ns - from->ns) * (int64_t)(to->tick - from->tick) /
			 (int64_t)(to->ns - from->ns));
}

void kernel_clock_stamp(struct kernel_clock *c, struct ldb_rec *recs, bool has_begin)
{
	recs[0].tsc = c->t0 + kernel_clock_tick(c, recs[0].tsc);
	if (has_begin)
		recs[0].arg = c->t0 + kernel_clock_tick(c, recs[0].arg);
}

int64_t kernel_clock_err(const struct kernel_clock *c)
{
	return c->same ? ROUND_NS : (int64_t)(c->worst_err + ROUND_NS / c->ns_per_tick) + 1;
}

uint64_t kernel_clock_err_ns(const struct kernel_clock *c)
{
	return c->same ? ROUND_NS : (uint64_t)(c->worst_err * c->ns_per_tick) + 1 + ROUND_NS;
}
