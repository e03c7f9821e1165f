/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects latencies of requests, by class, and either the slowest request instances or those of
 * one id, of one trace or of a set.
 */
#ifndef REPORT_REQUESTS_H
#define REPORT_REQUESTS_H

#include "base/dist.h"
#include "facts/asked.h"
#include "facts/links.h"
#include "facts/instances.h"
#include "facts/model.h"
#include "facts/notes.h"

#define REQUESTS_MATCHES_MAX	(1U << 20)

struct requests_options {
	int64_t from, to;	/* ticks: requests that start in this range are counted */
	const char *class;	/* glob; NULL: all */
	size_t nr_slowest;	/* how many request instances to retain */
	bool has_id;
	/* if has_id: retain all request instances of this id, instead of the slowest ones */
	uint64_t id;
	int64_t ended_from;	/* ticks: leaves out complete requests that end earlier */
	const struct note_filter *notes; /* a request must match all of these */
	size_t nr_notes;
	const struct link_want *trace;	/* retain those of this trace (W3C), by start; NULL: any */
	bool has_at;		/* retain the slowest requests that were open at tick `at`, */
	int64_t at;		/* including those that did not end */
	const struct asked *among;	/* retain these instead, by start; NULL: any */
};
#define REQUESTS_OPTIONS_ALL { INT64_MIN, INT64_MAX, NULL, 0, false, 0, INT64_MIN, NULL, 0, NULL, false, 0, NULL }

struct request_class {
	const char *name;	/* "": requests without a class */
	DIST_TIMES_AS(times);	/* latencies of complete ones */
	uint64_t incomplete, lost_handoffs;
};

struct requests {
	struct request_class all;
	struct request_class *classes;	/* slowest p99 first */
	size_t nr_classes;
	struct instance *instances;	/* slowest first; if has_id, trace or among: by start */
	size_t nr_instances;
	uint64_t nr_not_kept;	/* matching instances beyond REQUESTS_MATCHES_MAX */
	struct instances_result result;
};

/* Returns 0 or -ENOMEM. */
int requests_build(struct model *m, const struct requests_options *options, struct requests *r);
void requests_free(struct requests *r);

/* Returns the median latency of a class; -1: it has no complete request. */
int64_t requests_p50_ns(const struct requests *r, const char *class);

int64_t instance_latency_ns(const struct model *m, const struct instance *instance);

#endif
