/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chain leads from what a request waited for to the thread that ended the wait, to what that
 * thread was executing or waiting for until then, to the thread that ended this wait, and so on.
 * ldb-timeline and ldb-why print the same chains.
 */
#ifndef TIMELINE_CHAIN_H
#define TIMELINE_CHAIN_H

#include "analysis/attribution/states.h"
#include "facts/model.h"

/* Says how a link of a chain is known. */
enum edge_source {
	/* ldb's wrappers of pthread functions recorded the hold, or who signalled last */
	EDGE_SHIM,
	EDGE_OWNER,		/* the wait named the holder; the hold was not recorded */
	EDGE_FUTEX,		/* the kernel's events have the sleep on the futex */
	EDGE_WAKER,		/* the scheduler's events name the task that woke the thread */
	/* the scheduler's events name the task that ran on the CPU for which the thread waited */
	EDGE_RUNNING,
	EDGE_TAG,		/* the program's request tags */
	EDGE_SCANNER,		/* the stack of the thread at that time */
	EDGE_CODE,		/* the function's code: it may not have been executed */
	NR_EDGE_SOURCES
};

/* The kind of a link, or of a frame of a blame tree: a state, or one of these. */
enum link_kind {
	LINK_NONE = NR_LEAF_KINDS,
	LINK_HELD_BY, LINK_WOKEN_BY,
	LINK_TAKEN_BY,		/* the thread that took the request out of a queue */
	LINK_CALLS,		/* a function that the function before it may call */
	LINK_REQUEST,		/* a request that was ahead */
	LINK_PAGE_FAULTS,
	LINK_ALL, LINK_CLASS,	/* only in blame trees */
	LINK_UNEXPLAINED,	/* only in blame trees and sums: time that no cause explains */
	LINK_NOT_FOLLOWED,	/* only in sums: a wait without a known blocker */
	NR_LINK_KINDS
};

/* The strings belong to the model, the symtab or the partition. */
struct chain_link {
	unsigned kind;		/* leaf_kind or link_kind */
	/* the kind of the lock, for a LOCK and for the link after it: enum ldb_lock_kind; else 0 */
	unsigned lock_kind;
	const char *label;	/* lock, function, task */
	const char *call;	/* IO, SLEEP: the system call, "read of a pipe"; "" */
	struct segment_disk disk; /* IO: the device, and its time; device NULL: not known */
	const char *file;	/* of a function: "app.c:120"; "" */
	const struct symbol *func; /* the function; NULL: none */
	uint32_t tid;		/* 0: none */
	const char *thread;	/* the name of thread tid; "" */
	/* the thread's process; NULL: there is only one, or it is not known */
	const struct process *process;
	int64_t start_ns, end_ns; /* where it is drawn; 0, 0: it is not drawn */
	int64_t ns;
	int64_t resolution_ns;
	enum edge_source source;
	bool is_likely;		/* the link is inferred, not recorded */
	/* WOKEN_BY: nobody held the lock; the waker was to take it */
	bool is_free;
	/* 0..1: the part of the previous link's time that this link accounts for */
	double confidence;
};

#define CHAIN_LINKS_MAX	24

/* The first link is what the request waited for; chain_root() returns the root. */
struct chain {
	struct chain_link links[CHAIN_LINKS_MAX];
	size_t nr;
};

/* Return the names in JSON: "waker", ..., and "lock_wait", "held_by", ... */
const char *edge_source_name(enum edge_source s);
const char *link_kind_name(unsigned kind);

/*
 * Adds a link without a thread.  If the chain is full, it returns a link that is not part of the
 * chain.
 */
struct chain_link *chain_add(struct chain *chain, unsigned kind, const char *label, int64_t ns,
			     enum edge_source source);

/* Returns the root: the last link that can be the cause of the delay. */
const struct chain_link *chain_root(const struct chain *chain);

/* Returns "exact", "likely", or, for a link that is only read from the code, "possible". */
const char *chain_certainty(const struct chain_link *link);

/* Sets the function that the link is about. */
void chain_set_function(struct model *m, struct chain_link *link, const struct symbol *func);

#endif
