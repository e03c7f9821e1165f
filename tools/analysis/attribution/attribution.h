/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds which function, wait or interrupt a thread was in at each time.  The partition, stacks,
 * flame graphs and profiles are sums of this result.
 *
 * A thread's interrupts and segments, from timeline.h and tracks.h, are processed in order of time.
 * At each time the thread is in at most one item: of those that have begun and not ended, the one
 * with the highest rank (states.def).  This is an interrupt, else a wait for a CPU, else a sleep,
 * else time that the hypervisor took (stolen time), else a wait for a lock, else the innermost
 * function or call of a library's function.  Of several items with this rank it is the one that
 * began last.
 *
 * A wait or a sleep belongs to the function in which it began, also when the estimated end of that
 * function comes first; the record of a wait for a lock names this function.  An interrupt, or
 * stolen time, belongs to the innermost function at each time: a request may begin during the
 * interrupt, and what is read for this request alone does not show in which function the interrupt
 * began.
 *
 * Times are ticks.  One struct may be used by one thread at a time.
 */
#ifndef ATTRIBUTION_ATTRIBUTION_H
#define ATTRIBUTION_ATTRIBUTION_H

#include "states.h"

/* An item: a function, wait or interrupt that the thread is in, or a request that it works on. */
struct attribution_item {
	enum leaf_kind kind;
	int64_t start, end;
	uint64_t gen;			/* FUNCTION */
	const struct symbol *func;	/* FUNCTION, LIBCALL */
	/* number of functions and library calls around it when it began; an interrupt: now */
	size_t place;
	size_t irq;			/* private: index of the interrupt + 1; 0: it is none */
	uint64_t nr_changes;		/* private: see struct attribution */
	/* For the caller's use; 0 when the item begins. */
	void *node;
	const char *text;
	uint64_t nr;
	int64_t ns;
	uint32_t path, leaf;
	bool flag;
};

struct attribution_irq {
	enum leaf_kind kind;
	int64_t start, end;
	const char *name;		/* owned by the model */
};

/* What begins: either segment or irq is not NULL. */
struct attribution_begin {
	const struct segment *segment;
	const struct attribution_irq *irq;
	const struct attribution_item *in; /* the function that contains it; NULL: not known */
	const struct attribution_item *around; /* that function, or a library call in it */
	bool is_moved;			/* an interrupt that began earlier, in another function */
};

#define ATTRIBUTION_COVERS_MAX	16	/* sleeps, waits and interrupts at a time */

struct attribution {
	/*
	 * These functions may be NULL.  A return value other than 0 ends the attribution, and is
	 * returned.
	 */
	int (*begin)(void *arg, const struct attribution_begin *what, struct attribution_item *item);
	/* of functions that end together, the innermost is the first */
	int (*end)(void *arg, struct attribution_item *item);
	/*
	 * The thread was in `item` in [start, end), or in no item if this is NULL.  No item begins
	 * in between, and no request ends.  Items that `item` covers may end in between; end() is
	 * called for them afterwards.
	 */
	int (*spend)(void *arg, int64_t start, int64_t end, struct attribution_item *item);
	/*
	 * The requests on which the thread works have changed; each of them also has a begin() and
	 * an end().
	 */
	int (*work)(void *arg);
	void *arg;
	/* Callers may read these. */
	int64_t cursor;			/* time up to here is processed */
	/* functions: and library calls, the outermost first; works: requests, the oldest first */
	struct attribution_item *functions, *works;
	size_t depth, nr_works;
	/* Private. */
	size_t room_functions, room_works;
	struct attribution_item covers[ATTRIBUTION_COVERS_MAX];
	size_t nr_covers;
	struct attribution_irq *irqs;
	size_t nr_irqs, room_irqs, next_irq;
	/*
	 * how often functions[] has changed; an interrupt with another number may have to be moved
	 * to another function
	 */
	uint64_t nr_changes;
};

/*
 * Returns the innermost of the first nr items that is a function and not a library call, or NULL.
 */
const struct attribution_item *attribution_function(const struct attribution *a, size_t nr);

/* Begins a thread; it is in no item. */
void attribution_start(struct attribution *a);

/* Drops all open items and all interrupts; time continues from the cursor. */
void attribution_forget(struct attribution *a);

/* These return 0, -ENOMEM, or the return value of one of the caller's functions. */

/*
 * Adds a segment of the thread.  Segments come in order of start, the outer ones first; an
 * interrupt may be added before segments that start earlier.  Holds, queues, faults, events of the
 * program and system calls are ignored; sleeps in system calls are segments of their own.
 */
int attribution_segment(struct attribution *a, const struct segment *s);

/* Processes time up to the tick. */
int attribution_to(struct attribution *a, int64_t tick);

/* Ends the thread, and all open items. */
int attribution_finish(struct attribution *a);

void attribution_free(struct attribution *a);

#endif
