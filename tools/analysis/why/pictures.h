/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes the numbers of the pictures of ldb-why: sums of struct why, and, for the CPUs, of the
 * kernel's events.  The pictures are NSight's (Haecki et al., NSDI '22, sections 3, 5.3 and 7),
 * except the blame flame graph.
 *
 * Strings belong to the struct why and the model, which must exist as long as these structs.
 */
#ifndef WHY_PICTURES_H
#define WHY_PICTURES_H

#include "why.h"

/* Quartiles are by nearest rank, as in dist.h. */
struct box {
	size_t nr;
	int64_t min, q1, median, q3, max;
	int64_t total;
};

/* Sorts the values, and returns their quartiles and sum. */
struct box box_of(int64_t *values, size_t nr);

/*
 * pictures.c: the outlier plot (NSight's balloon plot).  It shows the BALLOON_CAUSES greatest
 * causes of each target.
 */
#define BALLOON_CAUSES	3

struct balloon {
	uint32_t target;	/* index into why.targets */
	size_t number;		/* its request's number in order of arrival, from 0 */
};

/* The latencies of nr requests that arrived one after the other. */
struct balloon_bin {
	size_t first, nr;	/* numbers */
	int64_t min_ns, median_ns, max_ns;
};

struct balloons {
	struct balloon *at;	/* by number */
	size_t nr;
	struct balloon_bin *bins;
	size_t nr_bins;
	size_t nr_requests;
};

/*
 * Makes at most max_bins bins, which is not 0.  Returns 0 or -ENOMEM, as do the other functions
 * *_build().
 */
int balloons_build(const struct why *w, size_t max_bins, struct balloons *b);
void balloons_free(struct balloons *b);

/* pictures.c: how much time each cause added to the targets that have it. */
struct cause_box {
	uint32_t cause;		/* index into why.causes */
	struct box box;
};

/* The causes of one category; causes without a category are grouped by kind. */
struct cause_group {
	const char *name;
	struct box box;		/* sums of a target's causes in it */
	size_t first, nr;	/* in boxes.at */
};

struct boxes {
	struct cause_box *at;	/* by group, then in the order of why.causes */
	size_t nr;
	struct cause_group *groups; /* in the order of their first causes */
	size_t nr_groups;
};

/* Returns the name of a cause's group. */
const char *boxes_group(const struct why_cause *c);

int boxes_build(const struct why *w, struct boxes *b);
void boxes_free(struct boxes *b);

/*
 * pictures-queues.c: how many more requests than in the reference were ahead of the targets, and
 * how much longer these waited.  The reference is that of why.classes: requests of the class whose
 * latency is from reference_lo_ns to reference_hi_ns.
 */
struct queue_extra {
	/* how many more requests were ahead than the median of the reference; > 0 */
	int64_t extra;
	size_t nr;		/* targets */
};

struct queue_depth {
	uint32_t class;		/* class of the requests that waited; index into why.classes */
	const char *where;	/* "queue NAME", or the function that processes a batch */
	const char *behind;	/* class of the requests ahead */
	int64_t reference, reference_ns; /* medians; 0 if most had none ahead */
	struct queue_extra *extras; /* by extra */
	size_t nr_extras;
	struct box depth;	/* extra, over the targets in extras */
	struct box box;		/* their additional waits, in ns; not below 0 */
};

struct queues {
	struct queue_depth *at;	/* most time first */
	size_t nr;
};

int queues_build(const struct why *w, struct queues *q);
void queues_free(struct queues *q);

/*
 * pictures-cpus.c: which tasks ran on which CPU during the targets, summed over all of them.
 * Other tasks are not observed while no thread of the program waits for a CPU.
 */
struct cpu_context {
	enum context_kind kind;
	const char *name;	/* the name of a thread of the program, else of a task; "" */
	bool is_own;		/* it is a thread of the program, and not one of ldb */
	int64_t ns;
};

struct cpu_bar {
	uint32_t cpu;
	struct cpu_context *contexts; /* the program's first, each by time; IDLE last */
	size_t nr_contexts;
	int64_t known_ns;	/* their sum; for the rest of lifetime_ns, the task is not known */
};

struct cpus {
	struct cpu_bar *at;	/* by number */
	size_t nr;
	int64_t lifetime_ns;	/* latencies of the targets, summed */
	bool has_events;	/* false: the recording has no kernel events */
};

int cpus_build(const struct why *w, struct cpus *c);
void cpus_free(struct cpus *c);

/*
 * pictures-blame.c: the deviation of the targets as a tree: class, path of the request, what it
 * waited for, the holder, and what blocked the holder.  Only targets whose chains were followed
 * have frames beyond the wait.
 */
#define BLAMETREE_FRAMES_MAX 32768	/* further frames are part of their parents */

struct blametree_frame {
	uint32_t parent;	/* less than its own index; the root, 0, is its own */
	uint32_t depth;
	unsigned kind;		/* leaf_kind or link_kind */
	const char *name;
	int64_t own_ns, all_ns;	/* all_ns: including its children */
	size_t nr;		/* how many times were added to own_ns */
};

/*
 * pictures-blamed.c: the deviation by the end of each chain, whatever the path to it.  The sums are
 * exact, and add up to that of the whole tree.  Waits without a known blocker are one row
 * (LINK_NOT_FOLLOWED), and the time that no cause explains is another.
 */
struct blamed {
	unsigned kind;		/* leaf_kind or link_kind */
	const char *label, *call, *file, *thread; /* what the link names; "" */
	uint32_t tid;		/* the thread, if it is always the same one; else 0 */
	size_t nr_threads;	/* threads with that name */
	size_t nr_requests;	/* requests that lost time to it */
	size_t nr;		/* number of times that are summed in total_ns */
	int64_t total_ns;	/* the time lost to it */
	/* the part that belongs to the last link; the rest belongs to links before it */
	int64_t own_ns;
	size_t last_target;
};

struct blametree {
	struct blametree_frame *at;	/* a frame, then its children, greatest first */
	size_t nr;
	/* how often a frame was left out, because there are BLAMETREE_FRAMES_MAX frames */
	size_t nr_dropped;
	struct blamed *sums;	/* most time first */
	size_t nr_sums;
};

int blamed_build(const struct why *w, struct blamed **rows, size_t *nr);

/* Builds the tree and the sums. */
int blametree_build(const struct why *w, struct blametree *b);
void blametree_free(struct blametree *b);

#endif
