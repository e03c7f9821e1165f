/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what the files tools/record/metrics*.c share. */
#ifndef RECORD_METRICS_PRIVATE_H
#define RECORD_METRICS_PRIVATE_H

#include "base/dist.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/slots.h"
#include "record/metrics.h"
#include "record/req-tags.h"

#define METRICS_SERIES_MAX	1024	/* of each kind; what others have is counted */
#define METRICS_SLOWEST		5	/* requests of a minute */
#define METRICS_OPEN_MAX	(1U << 18)	/* requests and threads that are followed */

enum metrics_kind { METRICS_FUNCTION, METRICS_REQUEST, METRICS_LOCK, METRICS_CPU, METRICS_NR };

struct series {
	uint64_t key;			/* address, number of the class */
	struct dist dist;		/* ns */
};

struct kind {
	struct hash hash;		/* by key */
	struct series *all;
	size_t nr, room;
	uint64_t nr_dropped;		/* values */
};

struct slow {
	uint64_t id;
	uint32_t class;
	uint64_t ns;
};

struct begun {
	struct slot slot;
	int64_t since;			/* tick; INT64_MIN: not yet */
	uint32_t class, tid;		/* of a thread, class is 1: it is of the program */
};

struct metrics {
	const char *path;
	const struct filter *filter;
	double ns_per_tick;
	struct dist_pool pool;
	struct kind kinds[METRICS_NR];
	struct intern classes;
	metrics_thread_fn *is_of_program;
	void *thread_arg;
	struct slots requests, waiting;	/* of struct begun: by id, and threads that wait by tid */
	struct req_tags *tags;		/* number of the class */
	struct slow slowest[METRICS_SLOWEST], before[METRICS_SLOWEST];	/* of this minute, and the last */
	int64_t first_minute, minute;
};

/* metrics-write.c: what a series is called; NULL: it is written with another one. */
const char *metrics_name(const struct metrics *m, enum metrics_kind kind, const struct series *s, char *buf, size_t size);

#endif
