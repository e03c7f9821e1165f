/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that only the files of why.h use: reference -> deviations -> causes -> chains. */
#ifndef WHY_WHY_PRIVATE_H
#define WHY_WHY_PRIVATE_H

#include "base/hash.h"
#include "base/array.h"
#include "why.h"

#define RARE_PART	10	/* rare: observed in fewer than one in 10 */
/* medians of a class are computed from at most this many requests, evenly spread */
#define REFERENCE_MAX	4000
/*
 * A page fault is assumed to take at most FAULT_NS_MAX; if there are FAULTS_MANY or more, on
 * average at most FAULT_NS_MANY, because on a slow machine some take much longer.
 */
#define FAULT_NS_MAX	10000
#define FAULT_NS_MANY	200000
#define FAULTS_MANY	16

/*
 * The usual amounts of a node in the reference: nodes are first paths, with everything below them,
 * and then leaves.
 */
struct node_reference {
	int64_t median_ns, mad_ns;
	uint32_t median_nr;
	uint32_t nr_present;		/* requests that have the node */
	uint32_t nr_faults;		/* sum over these requests */
};

struct reference {			/* the reference requests of a class */
	struct node_reference *nodes;	/* by node; NULL: not needed */
	uint32_t *requests;		/* indices of those that were measured */
	size_t nr;
};

/* The tree of a request: the nodes of its shares. */
struct node {
	int64_t ns;
	uint32_t nr, nr_faults;
	uint32_t first_child, sibling;	/* indices of nodes; NO_NODE: none */
	uint32_t stamp;
};
#define NO_NODE	UINT32_MAX

struct tree {
	const struct partition *p;
	struct node *nodes;		/* paths, then leaves */
	uint32_t *touched;
	size_t nr_touched;
	uint32_t stamp;
};

int tree_open(struct tree *t, const struct partition *p);
void tree_close(struct tree *t);
void tree_fill(struct tree *t, const struct request *r);

/* why-reference.c: returns 0 or -ENOMEM */
int reference_build(struct tree *t, struct reference *ref);
void reference_free(struct reference *ref);

struct why_private {
	struct tree tree;
	struct reference *references;	/* by class */
	struct why_amount *amounts;
	size_t nr_amounts, room_amounts;
	size_t room_causes, room_targets;
	struct hash by_key;		/* causes */
	int64_t (*by_anomaly)[NR_ANOMALIES]; /* by cause: deviation that it explains */
	size_t room_by_anomaly;
	struct chain *chains;		/* the chains of the first amounts */
	struct chain **more_chains;	/* the chains of the other amounts */
	size_t nr_more_chains, room_more_chains;
};

/* why-explain.c: finds the causes of one target; returns 0 or -ENOMEM */
int explain_target(struct why *w, const struct why_options *o, struct why_target *target);

/*
 * why-ahead.c: the request of a class on which the thread of request r worked longest in r's time
 */
struct ahead {
	uint64_t id;
	int64_t start;			/* ticks */
	/*
	 * how long the thread worked on that request in the time of r; 0: there is no such request
	 */
	int64_t ns;
};
int ahead_find(const struct partition *p, const struct request *r, const char *class, struct ahead *ahead);

/* why-chain.c */
int chains_build(struct why *w, const struct why_options *o);

#endif
