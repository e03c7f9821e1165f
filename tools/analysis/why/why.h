/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Explains why requests are slow: their deviations from a reference, each explained by causes
 * (NSight, NSDI '22, sections 4.2 and 5.2).
 *
 * The reference is the requests of the same class between two percentiles (40 to 60).  The
 * deviation of a node in the tree of paths and leaves is its time in the request minus its median
 * in the reference.  A parent is a cause only if the causes below it explain less than
 * options.explain of its deviation, and then only of the rest.  So no time is attributed to two
 * causes.
 *
 * For the slowest requests (options.nr_chains), timeline.h is used to follow a wait to the holder
 * of the lock, and to what blocked the holder.
 */
#ifndef WHY_WHY_H
#define WHY_WHY_H

#include "analysis/partition/partition.h"
#include "analysis/timeline/chain.h"

struct why_cause {
	enum anomaly anomaly;
	enum leaf_kind kind;	/* FUNCTION: path ends in the function */
	unsigned lock_kind;	/* LOCK: enum ldb_lock_kind */
	uint32_t path, leaf;	/* leaf: UINT32_MAX for an inner node */
	const char *label;	/* "db_lock", "parse", "hog" */
	const char *call;	/* IO, SLEEP: the system call, "read of a pipe"; "" */
	const char *category, *advice; /* categories.h; "" */
	bool has_faults;	/* the time came with more page faults than usual */
	size_t nr_requests;	/* targets that have this cause */
	size_t nr_first;	/* targets whose first cause this is */
	/* the deviation that it explains: median and sum over the targets that have it */
	int64_t median_ns;
	int64_t total_ns;
	int64_t reference_ns;	/* median in the reference */
	/* the chain of the slowest request that has this cause; NULL: not followed */
	const struct chain *chain;
	struct split split;	/* FUNCTION, UNKNOWN: its parts, by samples of all targets */
};

struct why_amount {
	uint32_t cause;
	uint32_t nr_more;	/* how many more invocations, or requests ahead, than the median */
	/* the part of the request's deviation that the cause explains; > 0 */
	int64_t ns;
	const struct chain *chain; /* the chain from the wait to the blocker; NULL: not followed */
};

struct why_target {
	const struct request *request;
	const struct why_amount *amounts; /* biggest first */
	size_t nr_amounts;
	int64_t deviation_ns;	/* latency minus the class's reference median */
	double coverage;	/* explained / deviation; may exceed 1 */
	/* unobserved_ns: the part of unknown_ns in observation gaps */
	int64_t unknown_ns, unobserved_ns;
	const struct chain *chain; /* the chain of its first cause; NULL: not followed */
	unsigned root;		/* kind of the chain's root, else of the first cause; LINK_NONE */
	const char *root_label;
};

struct why_class {
	const char *name;
	size_t nr, nr_reference, nr_targets;
	int64_t reference_ns;	/* median latency of the reference */
	int64_t reference_lo_ns, reference_hi_ns; /* latencies that delimit it */
	int64_t target_lo_ns, target_hi_ns;
};

struct why_options {
	double target_lo, target_hi;	/* percentiles: 99, 100 */
	double reference_lo, reference_hi; /* 40, 60 */
	const char *class;		/* glob: explain only those; NULL: all */
	bool has_id;
	uint64_t id;
	/* if no id is given: this many of the slowest requests; 0: by percentiles */
	size_t nr_slowest;
	double explain;			/* 0.8 */
	bool is_strict;			/* NSight's own rule: children's deviations, not amounts */
	size_t nr_chains;		/* 500: the first amount of so many targets is followed */
	bool has_all_chains;		/* all amounts of these are followed, not only the first */
	struct categories *categories; /* NULL: none */
};

struct why {
	const struct partition *p;
	struct why_target *targets;	/* slowest first */
	size_t nr_targets;
	struct why_cause *causes;	/* sorted by nr_first, then by total_ns, both descending */
	size_t nr_causes;
	struct why_class *classes;	/* by index of partition.classes */
	double coverage_min, coverage_median;
	/*
	 * shares of the targets' time whose cause is not known, and the part of that in observation
	 * gaps
	 */
	double unknown, unobserved;
	size_t nr_chains;		/* followed */
	struct why_private *private;
};

/*
 * For partition_options.select, with the why_options as its argument: it leaves out requests that
 * why_build() does not need.  Returns 0 or -ENOMEM.
 */
int why_select(void *options, struct partition *p);

/* Returns 0, -ENOMEM or another -errno of a temporary file. */
int why_build(const struct partition *p, const struct why_options *o, struct why *w);
void why_free(struct why *w);

const char *anomaly_name(enum anomaly a);

/* Returns the kind of a cause, a leaf_kind or a link_kind: page faults have one of their own. */
unsigned why_cause_kind(const struct why_cause *c);

/*
 * Sorts the amounts of all targets by cause: those of a cause are ns[at[cause]] to ns[at[cause + 1]
 * - 1].  Returns 0 or -ENOMEM.
 */
struct why_sorted {
	size_t *at;
	int64_t *ns;
};
int why_sort_amounts(const struct why *w, struct why_sorted *s);
void why_sorted_free(struct why_sorted *s);

#endif
