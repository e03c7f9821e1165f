/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums time by stack: the self time of each thread's functions, added up over all times with the
 * same stack.
 *
 * attribution.h attributes a thread's time.  If with_classes is set, stacks are separate for each
 * class of the request that the thread works on.
 *
 * Memory is limited by the number of nodes.  If the limit is reached, the time of calls with
 * further stacks is added to their callers; nr_cut counts these calls.
 */
#ifndef EXPORT_STACKS_H
#define EXPORT_STACKS_H

#include "analysis/attribution/attribution.h"
#include "base/hash.h"
#include "facts/ticks.h"

#define STACKS_MAX	(1U << 20)

/* Why a thread did not execute its function: a wait, a time off the CPU, or an interrupt. */
struct stacks_cause {
	enum leaf_kind kind;
	const struct symbol *lock_symbol; /* LOCK, FUTEX; may be NULL */
	uint64_t lock;
	/* RUNNABLE, PREEMPTED: running task; IRQ: name; IO, SLEEP: system call; NULL: not known */
	const char *who;
	unsigned state;		/* IO, SLEEP: enum ldb_sched_state */
};

/* A node: a root, or a cause or a function below another node. */
struct stacks_node {
	struct stacks_node *parent;	/* NULL: this is a root */
	const struct symbol *func;	/* NULL: this is a root or a cause */
	/* where the parent called it; NULL: not known, or with_sites is not set */
	const struct symbol *site;
	const char *thread, *class;	/* only for a root: its thread and its class */
	bool is_cause;
	struct stacks_cause cause;
	/* calls with this stack that were observed from start to end */
	uint64_t nr_calls;
	/* calls whose start or end was not observed, and later pieces of calls (walk.c) */
	uint64_t nr_open;
	int64_t self_ns;
	/* by order of creation, from 0; parents come before children */
	size_t nr;
};

struct stacks_options {
	bool with_sites;	/* separate nodes for calls from different lines */
	bool with_classes;	/* separate nodes for calls for requests of different classes */
	/* waits and interrupts are nodes below the functions that contain them */
	bool with_causes;
	size_t max_nodes;	/* limit of nodes; 0: STACKS_MAX */
};

struct stacks {
	struct model *m;
	struct stacks_options options;
	struct stacks_node **nodes;	/* in the order of creation */
	size_t nr_nodes, room_nodes;
	struct hash by_path;		/* numbers of nodes */
	uint64_t nr_cut;
	/* the thread whose segments are processed */
	const char *name;
	struct attribution attribution;
	struct ticks_last last;
	const char *class;
};

void stacks_init(struct stacks *s, struct model *m, const struct stacks_options *options);
void stacks_free(struct stacks *s);

/*
 * Begins a thread, whose segments follow.  Returns 0 or -ENOMEM, like stacks_segment() and
 * stacks_finish().
 */
int stacks_thread(struct stacks *s, const struct thread *t);

/* Returns true if the segment contributes to the stacks. */
bool stacks_wants(const struct stacks *s, const struct segment *segment);

/* Segments must come in order of their starts, parents first. */
int stacks_segment(struct stacks *s, const struct segment *segment);

/* Must be called after the last segment. */
int stacks_finish(struct stacks *s);

/* Returns the cause of an item that is not a function, when it begins. */
struct stacks_cause stacks_cause_of(const struct attribution_begin *what);

/* Writes a text such as "[lock db_lock]", "[preempted by hog]"; buf has size bytes. */
const char *stacks_cause_text(const struct stacks_cause *c, char *buf, size_t size);

#endif
