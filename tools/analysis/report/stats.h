/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes durations of functions, by function and call site.  It streams over the FUNC rows;
 * memory is bounded by the number of call sites and dist.h.
 */
#ifndef REPORT_STATS_H
#define REPORT_STATS_H

#include "base/dist.h"
#include "facts/model.h"

enum stats_by { STATS_BY_SITE, STATS_BY_FUNCTION, STATS_BY_MODULE };

struct stats_options {
	enum stats_by by;
	int64_t from, to;		/* ticks: invocations that overlap this range are counted */
	const char *thread;		/* tid or glob of the name; NULL: all */
	const char *function;		/* glob; NULL: all */
};
#define STATS_OPTIONS_ALL	{ STATS_BY_SITE, INT64_MIN, INT64_MAX, NULL, NULL }

struct stats_entry {
	/* BY_MODULE: the function of the module whose name sorts first */
	const struct symbol *func;
	const struct symbol *site;	/* NULL unless BY_SITE */
	DIST_TIMES_AS(times);		/* durations of complete invocations */
	uint64_t open;			/* truncated invocations */
	int64_t resolution_ns;		/* median of the invocations */
	int64_t resolution_max_ns;
};

struct stats {
	struct stats_entry *entries;	/* in no order */
	size_t nr;
	uint64_t count, open;		/* the sum of all entries */
	int64_t resolution_ns;		/* median */
	int64_t seen_from_ns;		/* 95 % of the invocations of this length are observed */
};

/* Returns 0 or -ENOMEM. */
int stats_build(struct model *m, const struct stats_options *options, struct stats *stats);
void stats_free(struct stats *stats);

/*
 * Returns a hash for finding the entry that counts calls of func at site: this function returns the
 * same hash for the func and site of that entry.
 */
uint64_t stats_hash(enum stats_by by, const struct symbol *func, const struct symbol *site);
bool stats_is_of(const struct stats_entry *e, enum stats_by by, const struct symbol *func,
		 const struct symbol *site);

#endif
