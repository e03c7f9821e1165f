/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is a distribution of non-negative numbers in bounded memory: exact while it is small,
 * then a log-linear histogram of 128 buckets per power of two (a percentile is off by at most
 * 0.4 %).  Count, sum, least and greatest are always exact.
 *
 * A percentile is found by nearest rank: it is the least value that is not less than the given
 * share of all values.
 *
 * The number of values up to which a distribution is exact depends only on how many distributions
 * of the pool have more than DIST_EXACT_MIN values and, after dist_settle(), not on the order in
 * which values are added.
 */
#ifndef BASE_DIST_H
#define BASE_DIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIST_EXACT_MAX	65536		/* the most values that one distribution retains */
/* the most values that the distributions with more than DIST_EXACT_MIN values retain together */
#define DIST_POOL_MAX	(16U << 20)
/* each distribution may retain this many values, however many distributions there are */
#define DIST_EXACT_MIN	4096

#define DIST_OCTAVES	58

/*
 * The distributions of a report share one pool, which limits their memory; several threads may use
 * it.
 */
struct dist_pool {
	_Atomic size_t nr_used;
	_Atomic size_t nr_big;	/* distributions of more than DIST_EXACT_MIN values */
};

struct dist {
	struct dist_pool *pool;
	uint64_t nr, min, max;
	unsigned __int128 sum;
	uint64_t *values;	/* nr values; NULL once buckets are used */
	uint32_t **octaves;	/* DIST_OCTAVES arrays of 128 counts; NULL where all are 0 */
	uint32_t **carries;	/* upper 32 bits of the counts; NULL where no count needs them */
	size_t room;
	bool is_sorted, is_big;
};

/* A struct dist of zeros whose pool is set is an empty distribution, too. */
void dist_init(struct dist *d, struct dist_pool *pool);
void dist_free(struct dist *d);

/* Returns 0, or -ENOMEM if the value is counted in nr, sum, min and max alone. */
int dist_add(struct dist *d, uint64_t value);
int dist_add_many(struct dist *d, const uint64_t *values, size_t nr);

/* Adds all values of `from` to d.  Returns 0 or -ENOMEM. */
int dist_merge(struct dist *d, const struct dist *from);

/*
 * Returns how many values a distribution may retain now.  The more distributions of the pool have
 * more than DIST_EXACT_MIN values, the fewer each of these may retain.
 */
size_t dist_limit(const struct dist_pool *pool);

/*
 * Makes a histogram of the values if there are more than the limit, which may have been higher when
 * they were added.  Returns 0 or -ENOMEM.
 */
int dist_settle(struct dist *d);

/* Returns the value that num / den of the values do not exceed; 0 if there are none. */
uint64_t dist_percentile(struct dist *d, unsigned num, unsigned den);

/*
 * Calls fn for each bucket that has values, upwards: the bucket has nr values, which are less than
 * `below` and not less than the bound of the bucket before it.
 */
typedef void dist_bucket_fn(void *arg, uint64_t below, uint64_t nr);
void dist_each_bucket(struct dist *d, dist_bucket_fn *fn, void *arg);

/* These are the figures that reports show of a set of durations. */
#define DIST_TIMES										\
	uint64_t count;										\
	int64_t p50_ns, p99_ns, p999_ns, p9999_ns, max_ns, mean_ns;				\
	int64_t total_ns;	/* saturates */							\
	bool is_exact;		/* percentiles are of all values, not of a histogram */

struct dist_times { DIST_TIMES };

/*
 * Declares the times in a struct: as a member with this name, whose own members can also be used as
 * members of that struct.
 */
#define DIST_TIMES_AS(name)	union { struct dist_times name; struct { DIST_TIMES }; }

struct dist_times dist_times(struct dist *d);

/* Returns true if percentiles are exact. */
bool dist_is_exact(const struct dist *d);

/*
 * Returns the offset in struct dist_times of the member with this name as a key of --sort: "total",
 * "max", "mean", "count", "p50", "p99", "p999", "p9999".  Returns -1 if there is no such key, or if
 * it is a percentile beyond `finest` (50, 99, 999 or 9999).
 */
int dist_times_offset(const char *key, unsigned finest);

/* Compares the numbers at an offset from dist_times_offset(); the greater one comes first. */
static inline int dist_times_compare(const struct dist_times *a, const struct dist_times *b,
				     int offset)
{
	const int64_t *of_a = (const void *)((const char *)a + offset);
	const int64_t *of_b = (const void *)((const char *)b + offset);

	return *of_a > *of_b ? -1 : *of_a < *of_b;
}

/*
 * Each value must be the time between the two samples around the start of an invocation.  Returns
 * the shortest duration such that a sample falls into at least pct percent of the intervals that
 * have this duration and begin at a random time between such two samples.
 */
uint64_t dist_seen_from(const struct dist *d, unsigned pct);

#endif
