/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files that build a timeline, grouped by file. */
#ifndef TIMELINE_TIMELINE_PRIVATE_H
#define TIMELINE_TIMELINE_PRIVATE_H

#include "analysis/partition/partition.h"
#include "facts/lockset.h"
#include "facts/sched.h"
#include "timeline.h"

/* In [start, end) a thread was blocked by another one. */
struct edge {
	uint32_t tid, by;
	int64_t start, end;		/* ticks */
	const struct segment *hold;	/* an entry of all[]; NULL: inferred from the delay */
	enum edge_source source;
	bool is_wait;			/* tid waited for a lock or the like */
	bool is_free;			/* nobody held the lock: `by` was to take it first */
	/* `by` is the thread that signalled last, and may not be the waker */
	bool is_likely;
};

struct timeline_build {
	struct model *m;
	const struct instance *instance;
	struct timeline *t;
	size_t room_segments;
	int64_t from, to;		/* ticks: the range that is read */
	int64_t before, after;		/* ticks: margins around it, see tracks.h */
	uint32_t *tids;			/* threads that are needed; sorted */
	size_t nr_tids;
	/* gather.c: all events on these threads in that range */
	struct segment *all;
	size_t nr_all, room_all;
	/* how many of all[] are functions; times off the CPU, system calls and library calls */
	size_t nr_functions, nr_offs;
	int64_t min_function, min_off;	/* ticks: shorter ones are left out */
	struct sched_migration *migrations;
	size_t nr_migrations, room_marks, room_migrations;
	struct sample *samples;		/* samples, by thread and tick */
	size_t nr_samples, room_samples;
	struct intervals own;	/* work of threads on the request; by tid, start; disjoint */
	struct causes *causes;
	/* times in which threads blocked the request; sorted like own */
	struct intervals blamed;
	struct edge *edges;		/* sorted by tid and start */
	size_t nr_edges, room_edges;
};

/* index.c: numbers of some segments, in order of a key, then of their ends */
struct index {
	struct segment *const *segments; /* the array, which may move */
	uint64_t (*key)(const struct segment *s);
	size_t *at;
	size_t nr;
};

uint64_t index_by_thread(const struct segment *s);
uint64_t index_by_lock(const struct segment *s);
/* Returns 0 or -ENOMEM; the caller frees at. */
int index_make(struct index *x, struct segment *const *segments, size_t nr,
	       bool (*is_in)(const struct segment *s), uint64_t (*key)(const struct segment *s));
/*
 * Returns the position in at[] of the first segment with this key that ends after the tick. If
 * there is none, it is that of a later key, or nr.
 */
size_t index_first(const struct index *x, uint64_t key, int64_t tick);

static inline const struct segment *index_at(const struct index *x, size_t n)
{
	return &(*x->segments)[x->at[n]];
}

/* timeline.c */
struct segment *timeline_add(struct timeline_build *b, enum segment_kind kind, uint32_t tid,
			     int64_t start, int64_t end);
/* Adds the part [start, end) of a segment of all[]; NULL: out of memory. */
struct segment *timeline_add_part(struct timeline_build *b, const struct segment *s, int64_t start,
				  int64_t end);

/* gather.c */
/* Retains rows in the times of the requests, which are read several times: see reader_retain(). */
int gather_retain(struct model *m, const struct instance *instances, size_t nr);
int gather_start(struct timeline_build *b);
int gather_threads(struct timeline_build *b);
/*
 * Widens b->from and b->to, so that functions at both ends of the request are estimated as in the
 * whole trace.
 */
int gather_range(struct timeline_build *b);
/*
 * Callbacks for partition.h, which add to all[], samples[] and migrations[] of a struct
 * timeline_build.
 */
bool gather_wants(void *build, uint32_t tid, int64_t start, int64_t end);
int gather_segment(void *build, const struct segment *s);
int gather_sample(void *build, const struct sample *s);
int gather_migration(void *build, const struct sched_migration *m);

/* blame.c: makes segments of waits and holds, and finds the threads that block the request */
int blame_own(struct timeline_build *b);
/*
 * Returns the thread that ended a sleep, or a wait that has no holder; 0: it was not a thread of
 * the program, or is not known, or the sleep was for a disk.
 */
uint32_t blame_waker(const struct model *m, const struct segment *s);
/*
 * Returns the thread that held the lock when the wait began or, if there is no holder, that ended
 * the wait; 0: not known.
 */
uint32_t blame_owner(const struct model *m, const struct segment *wait);
/* Returns the thread that released a lock and so woke the one that waited for it; 0: not known. */
uint32_t blame_releaser(const struct model *m, const struct segment *wait);

/*
 * Returns the thread of the program that ran while the segment's thread waited long for a CPU; 0:
 * none.
 */
uint32_t blame_running(const struct timeline_build *b, const struct segment *s);

/* executed.c */
struct executed {
	const struct symbol *func;
	int64_t ns, resolution_ns;
};

/*
 * Finds the function in which the thread of segment `in` was for more than half of that time;
 * false: it is not known.
 */
bool executed_find(const struct timeline_build *b, const struct segment *in, struct executed *x);

/* disk.c: sets what block devices did in the sleeps among the timeline's segments; 0 or -ENOMEM */
int disk_find(struct timeline_build *b);

/* chain.c: follows a cause with a wait or a time off the CPU.  Returns 0 or -ENOMEM. */
int chain_build(const struct timeline_build *b, struct timeline_cause *c);

/* blockers.c: finds the blockers behind a cause */
bool segment_is_off(const struct segment *s);
bool segment_is_hold(const struct segment *s);
struct context blocker_of(const struct segment *s, int64_t *ns);
/*
 * Returns the function that explains best what the thread of segment `in` did in that time; NULL:
 * not known.
 */
const struct segment *blockers_function(const struct timeline *t, const struct segment *in);
/*
 * Returns the longest of the delays (times off the CPU and, if has_waits is set, waits for locks)
 * of the kind that took most of the time of segment `in`, and sets *ns to the sum of these; NULL:
 * there was none.
 */
const struct segment *blockers_delay(const struct segment *segments, size_t nr_segments,
				     const struct segment *in, bool has_waits, int64_t *ns);
void blockers_find(const struct timeline *t, struct timeline_cause *c);

/* causes.c: makes the request's partition, while all[] is filled, and the causes from that */
int causes_read(struct timeline_build *b);
int causes_build(struct timeline_build *b);
void causes_free(struct timeline_build *b);

#endif
