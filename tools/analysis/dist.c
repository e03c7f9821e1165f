// SPDX-License-Identifier: GPL-2.0-or-later
/* Distributions in bounded memory; see dist.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/dist.h"

#define SUB_BITS	7
#define NR_SUB		(1U << SUB_BITS)
#define NR_BUCKETS	((64 - SUB_BITS + 1) * NR_SUB)

void dist_init(struct dist *d, struct dist_pool *pool)
{
	*d = (struct dist){ .pool = pool };
}

void dist_free(struct dist *d)
{
	if (d->pool)
		d->pool->nr_used -= d->room;
	free(d->values);
	free(d->buckets);
	dist_init(d, d->pool);
}

/* Values below NR_SUB have a bucket each. */
static unsigned bucket_of(uint64_t value)
{
	unsigned exp;

	if (value < NR_SUB)
		return value;
	exp = 63 - __builtin_clzll(value);
	return (exp - SUB_BITS + 1) * NR_SUB + ((value >> (exp - SUB_BITS)) & (NR_SUB - 1));
}

/* The middle of a bucket. */
static uint64_t bucket_value(unsigned bucket)
{
	unsigned shift;
	uint64_t lo;

	if (bucket < NR_SUB)
		return bucket;
	shift = bucket / NR_SUB - 1;
	lo = (uint64_t)(NR_SUB + bucket % NR_SUB) << shift;
	return lo + (((uint64_t)1 << shift) - 1) / 2;
}

static int to_buckets(struct dist *d, uint64_t nr)
{
	uint64_t *buckets = calloc(NR_BUCKETS, sizeof(*buckets));

	if (!buckets)
		return -ENOMEM;
	for (uint64_t i = 0; i < nr; i++)
		buckets[bucket_of(d->values[i])]++;
	free(d->values);
	d->values = NULL;
	d->pool->nr_used -= d->room;
	d->room = 0;
	d->buckets = buckets;
	return 0;
}

/* Room for one more value; false: not within the limits. */
static bool grow(struct dist *d, uint64_t nr)
{
	size_t room = d->room ? d->room * 2 : 8;
	uint64_t *values;

	if (nr < d->room)
		return true;
	if (room > DIST_EXACT_MAX ||
	    (room > DIST_EXACT_MIN && d->pool->nr_used + room - d->room > DIST_POOL_MAX))
		return false;
	values = reallocarray(d->values, room, sizeof(*values));
	if (!values)
		return false;
	d->pool->nr_used += room - d->room;
	d->values = values;
	d->room = room;
	return true;
}

int dist_add(struct dist *d, uint64_t value)
{
	uint64_t nr = d->nr++;
	int ret;

	d->sum += value;
	if (value > d->max)
		d->max = value;
	if (!nr || value < d->min)
		d->min = value;
	d->is_sorted = false;
	if (!d->buckets && !grow(d, nr)) {
		ret = to_buckets(d, nr);
		if (ret)
			return ret;
	}
	if (d->buckets)
		d->buckets[bucket_of(value)]++;
	else
		d->values[nr] = value;
	return 0;
}

int dist_merge(struct dist *d, const struct dist *from)
{
	int ret = 0;

	if (!from->buckets) {
		for (uint64_t i = 0; i < from->nr && !ret; i++)
			ret = dist_add(d, from->values[i]);
		return ret;
	}
	if (!d->buckets) {
		ret = to_buckets(d, d->nr);
		if (ret)
			return ret;
	}
	for (unsigned i = 0; i < NR_BUCKETS; i++)
		d->buckets[i] += from->buckets[i];
	if (from->max > d->max)
		d->max = from->max;
	if (!d->nr || from->min < d->min)
		d->min = from->min;
	d->nr += from->nr;
	d->sum += from->sum;
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static uint64_t bucket_percentile(const struct dist *d, uint64_t rank)
{
	uint64_t seen = 0, value;

	for (unsigned i = 0; i < NR_BUCKETS; i++) {
		seen += d->buckets[i];
		if (seen >= rank) {
			value = bucket_value(i);
			return value > d->max ? d->max : value < d->min ? d->min : value;
		}
	}
	return d->max;
}

uint64_t dist_percentile(struct dist *d, unsigned num, unsigned den)
{
	uint64_t rank = ((unsigned __int128)d->nr * num + den - 1) / den;

	if (!d->nr)
		return 0;
	if (!rank)
		rank = 1;
	/* Both ends are known exactly. */
	if (rank >= d->nr)
		return d->max;
	if (d->buckets)
		return bucket_percentile(d, rank);
	if (!d->is_sorted) {
		qsort(d->values, d->nr, sizeof(*d->values), compare);
		d->is_sorted = true;
	}
	return d->values[rank - 1];
}

uint64_t dist_mean(const struct dist *d)
{
	return d->nr ? (uint64_t)((d->sum + d->nr / 2) / d->nr) : 0;
}

uint64_t dist_sum(const struct dist *d)
{
	return d->sum > INT64_MAX ? INT64_MAX : (uint64_t)d->sum;
}

bool dist_is_exact(const struct dist *d)
{
	return !d->buckets;
}

/* The share of things of this duration that fall on a look. */
static double share_seen(const struct dist *d, double duration)
{
	double sum = 0;

	if (d->buckets) {
		for (unsigned i = 0; i < NR_BUCKETS; i++) {
			double gap = bucket_value(i);

			if (d->buckets[i])
				sum += d->buckets[i] * (gap <= duration ? 1 : duration / gap);
		}
	} else {
		for (uint64_t i = 0; i < d->nr; i++) {
			double gap = d->values[i];

			sum += gap <= duration ? 1 : duration / gap;
		}
	}
	return sum / d->nr;
}

uint64_t dist_seen_from(const struct dist *d, unsigned pct)
{
	uint64_t lo = 0, hi = d->max;

	if (!d->nr)
		return 0;
	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (share_seen(d, mid) * 100 >= pct)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}
