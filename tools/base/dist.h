/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is a distribution of non-negative numbers in bounded memory: exact while it is small,
 * then a log-linear histogram of 128 buckets per power of two (a percentile is off by at most
 * 0.4 %).  Count, sum, least and greatest are always exact.
 *
 * Percentiles are by nearest rank: the value that at least that share of the
 * values do not exceed.
 *
 * The number of values up to which a distribution is exact depends only on how many distributions
 * of the pool have more values than that, and not on the order in which values are added.
 */
#ifndef BASE_DIST_H
#define BASE_DIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIST_EXACT_MAX	65536		/* values retained in one distribution, ... */
#define DIST_POOL_MAX	(16U << 20)	/* ... and in all of a pool; */
#define DIST_EXACT_MIN	4096		/* this many in any case: buckets would take more */

#define DIST_OCTAVES	58

/* All distributions of a report share this limit; several threads may share it. */
struct dist_pool {
	_Atomic size_t nr_used;
	_Atomic size_t nr_big;	/* distributions of more than DIST_EXACT_MIN values */
};

struct dist {
	struct dist_pool *pool;
	uint64_t nr, min, max;
	unsigned __int128 sum;
	uint64_t *values;	/* nr of them; NULL once buckets are used */
	uint32_t **octaves;	/* DIST_OCTAVES of 128 buckets, NULL where all are 0 */
	uint32_t **carries;	/* their upper halves; NULL: as octaves, or no bucket is so full */
	size_t room;
	bool is_sorted, is_big;
};

/* A struct dist of zeros, with the pool set, is an empty distribution, too. */
void dist_init(struct dist *d, struct dist_pool *pool);
void dist_free(struct dist *d);

/* Returns 0 or -ENOMEM: then the value is counted in nr, sum, min and max alone. */
int dist_add(struct dist *d, uint64_t value);
int dist_add_many(struct dist *d, const uint64_t *values, size_t nr);

/* Adds all of from to d. */
int dist_merge(struct dist *d, const struct dist *from);

/* Returns how many values a distribution may retain now: fewer, the more of the pool are big. */
size_t dist_limit(const struct dist_pool *pool);

/*
 * Drops values over the limit, which may have been higher when they were added.  Returns 0 or
 * -ENOMEM.
 */
int dist_settle(struct dist *d);

/* Returns the value that num / den of the values do not exceed; 0 if there are none. */
uint64_t dist_percentile(struct dist *d, unsigned num, unsigned den);

/*
 * Calls fn for each bucket that has values, upwards: nr of them are below `below`, and not below those
 * of the former buckets.
 */
typedef void dist_bucket_fn(void *arg, uint64_t below, uint64_t nr);
void dist_each_bucket(struct dist *d, dist_bucket_fn *fn, void *arg);

/* Reports show these figures of durations. */
#define DIST_TIMES										\
	uint64_t count;										\
	int64_t p50_ns, p99_ns, p999_ns, p9999_ns, max_ns, mean_ns;				\
	int64_t total_ns;	/* saturates */							\
	bool is_exact;		/* percentiles are of all values, not of a histogram */

struct dist_times { DIST_TIMES };

/* The times are a member of that name, and members of the struct around it as well. */
#define DIST_TIMES_AS(name)	union { struct dist_times name; struct { DIST_TIMES }; }

struct dist_times dist_times(struct dist *d);

/* Are percentiles exact? */
bool dist_is_exact(const struct dist *d);

/*
 * Returns the offset of the number by which struct dist_times are sorted: "total", "max",
 * "mean", "count", "p50", "p99" and percentiles up to finest, as 999.  -1: no such key.
 */
int dist_times_offset(const char *key, unsigned finest);

/* Compares the numbers at that offset: the greater one comes first. */
static inline int dist_times_compare(const struct dist_times *a, const struct dist_times *b,
				     int offset)
{
	const int64_t *of_a = (const void *)((const char *)a + offset);
	const int64_t *of_b = (const void *)((const char *)b + offset);

	return *of_a > *of_b ? -1 : *of_a < *of_b;
}

/*
 * If the values are the times between two samples, returns the shortest duration of which
 * samples at random times observe at least pct percent.
 */
uint64_t dist_seen_from(const struct dist *d, unsigned pct);

#endif
