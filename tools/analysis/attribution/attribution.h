/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread was in at each time: the one answer whose sums the partition, stacks, flame
 * graphs and profiles are.
 *
 * A thread's interrupts and segments, as timeline.h and tracks.h give them, are played in
 * order of time.  At each time the thread is in one item: of those that have begun and not
 * ended the one of the highest rank (states.def), an interrupt, else a wait for a CPU, else a
 * sleep, else a wait for a lock, else the innermost function.  Of equal rank it is the one
 * that began last.  What covers functions belongs to the one that it began in, also when the
 * estimated end of that one comes first; a wait for a lock says which one that is.
 *
 * Times are ticks.  Not thread-safe for one struct.
 */
#ifndef ATTRIBUTION_ATTRIBUTION_H
#define ATTRIBUTION_ATTRIBUTION_H

#include "states.h"

/* Something that the thread is in, or a request that it works on. */
struct attribution_item {
	enum leaf_kind kind;
	int64_t start, end;
	uint64_t gen;			/* FUNCTION */
	const struct symbol *func;	/* FUNCTION */
	size_t place;			/* functions around it when it began */
	/* For the user of this module; 0 when the item begins. */
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
	const char *name;		/* the model's */
};

/* What begins: either segment or irq is not NULL. */
struct attribution_begin {
	const struct segment *segment;
	const struct attribution_irq *irq;
	const struct attribution_item *in; /* the function it is in; NULL: none that is known */
};

#define ATTRIBUTION_COVERS_MAX	16	/* at a time */

struct attribution {
	/* NULL: not wanted.  A return that is not 0 stops, and is returned. */
	int (*begin)(void *arg, const struct attribution_begin *what, struct attribution_item *item);
	int (*end)(void *arg, struct attribution_item *item);	/* the innermost first */
	/* It was in item in [start, end): nothing begins or ends in between.  NULL: in none. */
	int (*spend)(void *arg, int64_t start, int64_t end, struct attribution_item *item);
	/* Its requests have changed; begin() and end() are called for each of them, too. */
	int (*work)(void *arg);
	void *arg;
	/* For users to read. */
	int64_t cursor;			/* time up to here is processed */
	struct attribution_item *functions, *works;	/* outermost, oldest first */
	size_t depth, nr_works;
	/* Private. */
	size_t room_functions, room_works;
	struct attribution_item covers[ATTRIBUTION_COVERS_MAX];
	size_t nr_covers;
	struct attribution_irq *irqs;
	size_t nr_irqs, room_irqs, next_irq;
};

/* Begins a thread: nothing is open. */
void attribution_start(struct attribution *a);

/* Drops all that is open and all interrupts to come: time goes on from the cursor. */
void attribution_forget(struct attribution *a);

/* These return 0, -ENOMEM, or what a function of the user returned. */

/*
 * Adds its segments, by start, the outer ones first; interrupts may come before all others.
 * Holds, queues and faults are ignored.
 */
int attribution_segment(struct attribution *a, const struct segment *s);

/* Processes time up to the tick. */
int attribution_to(struct attribution *a, int64_t tick);

/* Ends the thread, and all that is open. */
int attribution_finish(struct attribution *a);

void attribution_free(struct attribution *a);

#endif
