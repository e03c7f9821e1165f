/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the function statistics share. */
#ifndef REPORT_STATS_PRIVATE_H
#define REPORT_STATS_PRIVATE_H

#include <pthread.h>
#include "base/keyed.h"
#include "stats.h"

/* A line of the report.  lock: of the rest; without it only func and site may be read. */
struct stats_key {
	size_t number;
	const struct symbol *func, *site;
	pthread_mutex_t lock;
	struct dist durations, resolutions;
	uint64_t open;
};

struct stats_builder {
	struct model *m;
	const struct stats_options *options;
	double ns_per_tick;
	bool has_epochs;		/* what an address means changes */
	struct dist_pool pool;
	pthread_mutex_t lock;		/* of the keys, and of the symtab */
	struct keyed keys;
	_Atomic size_t limit;		/* of the pool, when all keys were settled last */
};

/* stats.c */

/*
 * The line that invocations of this path belong to; *key NULL: filtered out.
 * 0 or -ENOMEM.  Takes the builder's lock.
 */
int stats_find_key(struct stats_builder *b, uint64_t pc, uint64_t ret, int64_t tick,
		   struct stats_key **key);

/* Gives up what the pool has no room for any more.  0 or -ENOMEM. */
int stats_settle(struct stats_builder *b);

/* stats-sum.c */

/* Adds all rows of the filter to the keys, gaps to *gaps.  0 or -ENOMEM. */
int stats_fold(struct stats_builder *b, const struct reader_filter *filter, struct dist *gaps);

#endif
