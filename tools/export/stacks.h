/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums time by stack: the self time of each thread's functions, added up over all times with the
 * same stack.
 *
 * attribution.h attributes a thread's time.  Stacks are distinguished by the class of the request
 * that the thread works on, if with_classes is set.
 *
 * Memory is bounded by the number of nodes.  If there is no room for one, its time is added to
 * the caller; nr_cut counts these calls.
 */
#ifndef EXPORT_STACKS_H
#define EXPORT_STACKS_H

#include "analysis/attribution/attribution.h"
#include "base/hash.h"
#include "facts/ticks.h"

#define STACKS_MAX	(1U << 20)

/* An object for which a thread waited, or an interrupt. */
struct stacks_cause {
	enum leaf_kind kind;
	const struct symbol *lock_symbol; /* LOCK, FUTEX; may be NULL */
	uint64_t lock;
	const char *who;	/* RUNNABLE, PREEMPTED: running task; IRQ: name; IO, SLEEP: call; NULL: unknown */
	unsigned state;		/* IO, SLEEP: enum ldb_sched_state */
};

/* A node: a function called from one place, below another node; or a root, or a cause. */
struct stacks_node {
	struct stacks_node *parent;	/* NULL: a root */
	const struct symbol *func;	/* NULL: a root, a cause */
	const struct symbol *site;	/* where the parent called it; NULL: not known */
	const char *thread, *class;	/* a root's */
	bool is_cause;
	struct stacks_cause cause;
	uint64_t nr_calls;		/* that ended here and were observed from start to end */
	uint64_t nr_open;		/* observed in part */
	int64_t self_ns;
	size_t nr;			/* from 0, in the order of creation: parents first */
};

struct stacks_options {
	bool with_sites;	/* calls from different lines are different nodes */
	bool with_classes;	/* calls for requests of different classes, too */
	bool with_causes;	/* waits are nodes below the functions that contain them */
	size_t max_nodes;	/* 0: STACKS_MAX */
};

struct stacks {
	struct model *m;
	struct stacks_options options;
	struct stacks_node **nodes;	/* in the order of creation */
	size_t nr_nodes, room_nodes;
	struct hash by_path;		/* nodes */
	uint64_t nr_cut;
	/* the thread whose segments are processed */
	const char *name;
	struct attribution attribution;
	struct ticks_last last;
	const char *class;
};

void stacks_init(struct stacks *s, struct model *m, const struct stacks_options *options);
void stacks_free(struct stacks *s);

/* Begins a thread, whose segments follow.  Returns 0 or -ENOMEM, as the functions below. */
int stacks_thread(struct stacks *s, const struct thread *t);

/* Is the segment used? */
bool stacks_wants(const struct stacks *s, const struct segment *segment);

/* Segments come in order of their starts, parents first. */
int stacks_segment(struct stacks *s, const struct segment *segment);

/* Call it after the last segment. */
int stacks_finish(struct stacks *s);

/* Returns the cause of an item that begins and is not a function. */
struct stacks_cause stacks_cause_of(const struct attribution_begin *what);

/* Writes "[lock db_lock]", "[preempted by hog]"; buf has size bytes. */
const char *stacks_cause_text(const struct stacks_cause *c, char *buf, size_t size);

#endif
