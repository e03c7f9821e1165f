// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements distributions in bounded memory; see dist.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dist.h"
#include "sort.h"

#define SUB_BITS	7
#define NR_SUB		(1U << SUB_BITS)

_Static_assert(DIST_OCTAVES == 64 - SUB_BITS + 1, "values below NR_SUB have a bucket each");

void dist_init(struct dist *d, struct dist_pool *pool)
{
	*d = (struct dist){ .pool = pool };
}

void dist_free(struct dist *d)
{
	if (d->pool) {
		d->pool->nr_used -= d->room;
		d->pool->nr_big -= d->is_big;
	}
	free(d->values);
	for (unsigned i = 0; i < DIST_OCTAVES; i++) {
		if (d->octaves)
			free(d->octaves[i]);
		if (d->carries)
			free(d->carries[i]);
	}
	free(d->octaves);
	free(d->carries);
	dist_init(d, d->pool);
}

static unsigned octave_of(uint64_t value)
{
	return value < NR_SUB ? 0 : 63 - __builtin_clzll(value) - SUB_BITS + 1;
}

static unsigned sub_of(uint64_t value, unsigned octave)
{
	return value >> (octave ? octave - 1 : 0) & (NR_SUB - 1);
}

/* Returns the middle of a bucket. */
static uint64_t bucket_value(unsigned octave, unsigned sub)
{
	unsigned shift = octave - 1;

	if (!octave)
		return sub;
	return ((uint64_t)(NR_SUB + sub) << shift) + (((uint64_t)1 << shift) - 1) / 2;
}

static uint64_t bucket_count(const struct dist *d, unsigned octave, unsigned sub)
{
	uint64_t carry = d->carries && d->carries[octave] ? d->carries[octave][sub] : 0;

	return d->octaves[octave] ? d->octaves[octave][sub] | carry << 32 : 0;
}

static uint32_t *get_octave(uint32_t ***octaves, unsigned octave)
{
	if (!*octaves)
		*octaves = calloc(DIST_OCTAVES, sizeof(**octaves));
	if (*octaves && !(*octaves)[octave])
		(*octaves)[octave] = calloc(NR_SUB, sizeof(***octaves));
	return *octaves ? (*octaves)[octave] : NULL;
}

static int add_count(struct dist *d, unsigned octave, unsigned sub, uint64_t count)
{
	uint32_t *low = get_octave(&d->octaves, octave), *carry;
	uint64_t sum;

	if (!low)
		return -ENOMEM;
	sum = low[sub] + count;
	low[sub] = sum;
	if (!(sum >> 32))
		return 0;
	carry = get_octave(&d->carries, octave);
	if (!carry)
		return -ENOMEM;
	carry[sub] += sum >> 32;
	return 0;
}

static int add_to_buckets(struct dist *d, const uint64_t *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		unsigned octave = octave_of(values[i]), sub = sub_of(values[i], octave);
		uint32_t *low = d->octaves[octave];

		if (low && low[sub] != UINT32_MAX)
			low[sub]++;
		else if (add_count(d, octave, sub, 1))
			return -ENOMEM;
	}
	return 0;
}

static int to_buckets(struct dist *d, uint64_t nr)
{
	d->octaves = calloc(DIST_OCTAVES, sizeof(*d->octaves));
	if (!d->octaves || add_to_buckets(d, d->values, nr))
		return -ENOMEM;
	free(d->values);
	d->values = NULL;
	d->pool->nr_used -= d->room;
	d->room = 0;
	return 0;
}

size_t dist_limit(const struct dist_pool *pool)
{
	size_t limit = DIST_EXACT_MAX, nr_big = pool->nr_big;

	while (limit > DIST_EXACT_MIN && limit * nr_big > DIST_POOL_MAX)
		limit /= 2;
	return limit;
}

/*
 * Makes room for a total of nr values; returns false if the limits do not permit that many values,
 * or if there is no memory.
 */
static bool grow(struct dist *d, uint64_t nr)
{
	size_t room = d->room ? d->room : 8;
	uint64_t *values;

	if (nr > DIST_EXACT_MIN && !d->is_big) {
		d->is_big = true;
		d->pool->nr_big++;
	}
	if (nr > DIST_EXACT_MIN && nr > dist_limit(d->pool))
		return false;
	if (nr <= d->room)
		return true;
	while (room < nr)
		room *= 2;
	values = reallocarray(d->values, room, sizeof(*values));
	if (!values)
		return false;
	d->pool->nr_used += room - d->room;
	d->values = values;
	d->room = room;
	return true;
}

int dist_add_many(struct dist *d, const uint64_t *values, size_t nr)
{
	uint64_t before = d->nr, min = before ? d->min : UINT64_MAX, max = d->max;
	unsigned __int128 sum = 0;
	int ret;

	if (!nr)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		sum += values[i];
		max = values[i] > max ? values[i] : max;
		min = values[i] < min ? values[i] : min;
	}
	d->nr += nr;
	d->sum += sum;
	d->max = max;
	d->min = min;
	d->is_sorted = false;
	if (!d->octaves && grow(d, d->nr)) {
		memcpy(d->values + before, values, nr * sizeof(*values));
		return 0;
	}
	ret = d->octaves ? 0 : to_buckets(d, before);
	return ret ? ret : add_to_buckets(d, values, nr);
}

int dist_add(struct dist *d, uint64_t value)
{
	return dist_add_many(d, &value, 1);
}

int dist_settle(struct dist *d)
{
	return d->values && d->nr > DIST_EXACT_MIN && d->nr > dist_limit(d->pool) ?
	       to_buckets(d, d->nr) : 0;
}

int dist_merge(struct dist *d, const struct dist *from)
{
	int ret = 0;

	if (!from->octaves)
		return dist_add_many(d, from->values, from->nr);
	if (!d->octaves)
		ret = to_buckets(d, d->nr);
	for (unsigned i = 0; i < DIST_OCTAVES * NR_SUB && !ret; i++) {
		uint64_t count = bucket_count(from, i / NR_SUB, i % NR_SUB);

		if (count)
			ret = add_count(d, i / NR_SUB, i % NR_SUB, count);
	}
	if (from->max > d->max)
		d->max = from->max;
	if (!d->nr || from->min < d->min)
		d->min = from->min;
	d->nr += from->nr;
	d->sum += from->sum;
	return ret;
}

COMPARE_NUMBERS(compare, uint64_t)

#define DIGIT_BITS	11
#define FEW		256	/* fewer values are sorted faster by qsort() */

/* Sorts by radix, by as many digits as the greatest value has; returns false if out of memory. */
static bool sort_by_digits(struct dist *d)
{
	uint64_t *in = d->values, *out = malloc(d->nr * sizeof(*out)), *swap;
	uint32_t at[1 << DIGIT_BITS], sum, nr;

	if (!out)
		return false;
	for (unsigned shift = 0; shift < 64 && d->max >> shift; shift += DIGIT_BITS) {
		memset(at, 0, sizeof(at));
		for (uint64_t i = 0; i < d->nr; i++)
			at[in[i] >> shift & ((1 << DIGIT_BITS) - 1)]++;
		sum = 0;
		for (unsigned i = 0; i < 1 << DIGIT_BITS; i++) {
			nr = at[i];
			at[i] = sum;
			sum += nr;
		}
		for (uint64_t i = 0; i < d->nr; i++)
			out[at[in[i] >> shift & ((1 << DIGIT_BITS) - 1)]++] = in[i];
		swap = in;
		in = out;
		out = swap;
	}
	if (in != d->values)
		memcpy(d->values, in, d->nr * sizeof(*in));
	free(in == d->values ? out : in);
	return true;
}

static void sort(struct dist *d)
{
	if (d->is_sorted)
		return;
	if (d->nr < FEW || !sort_by_digits(d))
		qsort(d->values, d->nr, sizeof(*d->values), compare);
	d->is_sorted = true;
}

static uint64_t bucket_percentile(const struct dist *d, uint64_t rank)
{
	uint64_t seen = 0, value;

	for (unsigned i = 0; i < DIST_OCTAVES * NR_SUB; i++) {
		seen += bucket_count(d, i / NR_SUB, i % NR_SUB);
		if (seen >= rank) {
			value = bucket_value(i / NR_SUB, i % NR_SUB);
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
	/* The greatest value is known exactly, also by a histogram. */
	if (rank >= d->nr)
		return d->max;
	if (d->octaves)
		return bucket_percentile(d, rank);
	sort(d);
	return d->values[rank - 1];
}

struct dist_times dist_times(struct dist *d)
{
	return (struct dist_times){
		.count = d->nr,
		.p50_ns = dist_percentile(d, 1, 2), .p99_ns = dist_percentile(d, 99, 100),
		.p999_ns = dist_percentile(d, 999, 1000),
		.p9999_ns = dist_percentile(d, 9999, 10000), .max_ns = d->max,
		.mean_ns = d->nr ? (uint64_t)((d->sum + d->nr / 2) / d->nr) : 0,
		.total_ns = d->sum > INT64_MAX ? INT64_MAX : (int64_t)d->sum,
		.is_exact = dist_is_exact(d),
	};
}

bool dist_is_exact(const struct dist *d)
{
	return !d->octaves;
}

int dist_times_offset(const char *key, unsigned finest)
{
#define KEY(name, member, percentile) { name, offsetof(struct dist_times, member), percentile }
	static const struct {
		const char *key;
		int offset;
		unsigned percentile;
	} keys[] = {
		KEY("total", total_ns, 0), KEY("max", max_ns, 0), KEY("p9999", p9999_ns, 9999),
		KEY("p999", p999_ns, 999), KEY("p99", p99_ns, 99), KEY("p50", p50_ns, 50),
		KEY("mean", mean_ns, 0), KEY("count", count, 0),
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i].key, key) && keys[i].percentile <= finest)
			return keys[i].offset;
	return -1;
}

/* Returns the share of intervals of this duration that a sample observes. */
static double share_observed(const struct dist *d, double duration)
{
	double sum = 0;

	for (unsigned i = 0; d->octaves && i < DIST_OCTAVES * NR_SUB; i++) {
		uint64_t count = bucket_count(d, i / NR_SUB, i % NR_SUB);
		double gap = bucket_value(i / NR_SUB, i % NR_SUB);

		if (count)
			sum += count * (gap <= duration ? 1 : duration / gap);
	}
	for (uint64_t i = 0; !d->octaves && i < d->nr; i++) {
		double gap = d->values[i];

		sum += gap <= duration ? 1 : duration / gap;
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

		if (share_observed(d, mid) * 100 >= pct)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* Returns the least value that is above a bucket. */
static uint64_t bucket_end(unsigned octave, unsigned sub)
{
	unsigned shift = octave ? octave - 1 : 0;
	uint64_t end = octave ? ((uint64_t)(NR_SUB + sub) + 1) << shift : sub + 1ULL;

	return end ? end : UINT64_MAX;
}

void dist_each_bucket(struct dist *d, dist_bucket_fn *fn, void *arg)
{
	uint64_t nr_now = 0;

	if (d->values)
		dist_percentile(d, 1, 2);	/* this sorts the values */
	for (uint64_t i = 0; d->values && i < d->nr; i++) {
		unsigned octave = octave_of(d->values[i]), sub = sub_of(d->values[i], octave);
		uint64_t end = bucket_end(octave, sub);

		nr_now++;
		if (i + 1 < d->nr && d->values[i + 1] < end)
			continue;
		fn(arg, end, nr_now);
		nr_now = 0;
	}
	for (unsigned octave = 0; d->octaves && octave < DIST_OCTAVES; octave++)
		for (unsigned sub = 0; sub < NR_SUB; sub++)
			if (bucket_count(d, octave, sub))
				fn(arg, bucket_end(octave, sub), bucket_count(d, octave, sub));
}
