/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that only the files of the function statistics use. */
#ifndef REPORT_STATS_PRIVATE_H
#define REPORT_STATS_PRIVATE_H

#include <pthread.h>
#include "base/keyed.h"
#include "stats.h"

/* A line of the report.  `lock` protects durations, resolutions and open. */
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
	bool has_epochs;		/* the meaning of an address changes during the recording */
	struct dist_pool pool;
	pthread_mutex_t lock;		/* protects the keys, and the symtab */
	struct keyed keys;
	_Atomic size_t limit;		/* the pool's limit when all keys were last adapted to it */
};

/* stats.c */

/*
 * Finds the line of the report in which calls of the function at pc from ret are counted; *key is
 * NULL if the options leave them out.  Returns 0 or -ENOMEM.  Takes the builder's lock.
 */
int stats_find_key(struct stats_builder *b, uint64_t pc, uint64_t ret, int64_t tick,
		   struct stats_key **key);

/*
 * Changes distributions to histograms if they have more values than they may retain by now
 * (dist.h).  Takes the builder's lock, and those of the keys.  Returns 0 or -ENOMEM.
 */
int stats_settle(struct stats_builder *b);

/* stats-sum.c */

/*
 * Adds all FUNC rows that the filter and the options select to the keys, and for each invocation
 * that was observed from start to end the time between the two samples around its start to *gaps.
 * Returns 0 or -ENOMEM.
 */
int stats_fold(struct stats_builder *b, const struct reader_filter *filter, struct dist *gaps);

#endif
