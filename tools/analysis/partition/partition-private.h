/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations for the files that build a partition: they divide request instances into pieces on
 * threads and pieces in queues, and these, thread by thread, into leaves.
 */
#ifndef PARTITION_PARTITION_PRIVATE_H
#define PARTITION_PARTITION_PRIVATE_H

#include "analysis/attribution/attribution.h"
#include "analysis/tracks/tracks.h"
#include "base/array.h"
#include "facts/intervals.h"
#include "facts/instances.h"
#include "facts/ticks.h"
#include "partition.h"

#define NO_REQUEST	UINT32_MAX
#define NO_LEAF		UINT32_MAX
#define PATH_DEPTH_MAX	64	/* the time of deeper functions belongs to the one at this depth */

/* A span: the time in which a request was open on a thread. */
struct work {
	int64_t start, end;		/* ticks */
	/* the part of the span that is a piece of the request; may be empty */
	int64_t piece_start, piece_end;
	uint32_t tid;
	uint32_t request;		/* NO_REQUEST: the request is not in the partition */
	uint32_t class;
};

/* Returns true if a request in this queue waits for another server. */
static inline bool partition_is_upstream(uint64_t queue)
{
	return (queue & ((1ULL << 48) - 1)) == LDB_REQ_QUEUE_UPSTREAM;
}

/* A piece in which the request was in a queue. */
struct queued {
	int64_t start, end;		/* ticks */
	uint32_t server;		/* the thread that took the request out; 0: not known */
	uint32_t request;
	uint32_t path;
};

/*
 * An active interval, in which a thread worked on one of its open requests. The intervals of a
 * thread do not overlap.
 */
struct active {
	int64_t start, end;		/* ticks */
	int64_t start_ns, end_ns;
	const struct work *work;
};

/* An active interval of a request of one class. */
struct class_active {
	int64_t sum_ns;			/* sum of this and all earlier intervals of the class */
	uint32_t nr_ended;		/* how many spans ended at the ends of these intervals */
	size_t active;			/* index of the interval */
};

/* What a thread did while it worked on no request. */
struct idle {
	int64_t start, end;		/* ticks */
	uint32_t leaf;
	/* a sleep that was ended by an interrupt, and not by a thread */
	bool is_nap;
};

#define NEEDED_LAST	64

struct spent {				/* the time in a leaf, in the current piece */
	int64_t ns;
	double error2;
	uint32_t nr, nr_faults;
	uint32_t stamp;			/* number of the piece */
};

struct partition_build {
	struct partition *p;
	const struct partition_options *o;
	struct model *m;
	int ret;			/* -errno after a failure: later results are not valid */
	struct ticks_last last;
	/* made by partition-instances.c */
	struct work *works;		/* finally sorted by tid, start */
	size_t nr_works, room_works;
	struct queued *queued;		/* finally sorted by server, start */
	size_t nr_queued, room_queued;
	size_t room_requests, room_shares;
	struct intervals needed;	/* times of threads whose events are needed */
	/* cache: the index in needed that was found last, by tid */
	size_t last_needed[NEEDED_LAST];
	uint64_t *tids;			/* a bit for each tid: the thread was processed */
	size_t nr_tid_words;
	/* These describe the current thread. */
	uint32_t tid;
	const struct work *thread_works;
	size_t nr_thread_works;
	struct active *active;
	size_t nr_active, room_active;
	/* sorted by class: class c is from class_at[c] to class_at[c + 1] */
	struct class_active *by_class;
	size_t *class_at;
	struct idle *idle;
	size_t nr_idle, room_idle;
	bool is_nap;			/* the thread is in a sleep that an interrupt ended */
	bool has_queued;
	bool has_unknown;		/* requests whose server is not known have been processed */
	/* index of the first element of active[] that has not ended */
	size_t spot;
	struct attribution attribution;
	int64_t *faults;		/* ticks */
	size_t nr_faults, room_faults, next_fault;
	struct sample *samples;
	size_t nr_samples, room_samples, next_sample, room_placed;
	/* These describe the current piece. */
	struct spent *spent, spare;	/* by leaf; spare: used when there is no memory */
	size_t nr_spent, room_spent;
	uint32_t *touched;		/* leaves */
	size_t nr_touched, room_touched;
	uint32_t stamp;
};

int64_t partition_ns(struct partition_build *b, int64_t tick);
void partition_add_share(struct partition_build *b, uint32_t request, uint32_t leaf,
			 const struct spent *s);
/* Adds a share of a leaf that is not a function. */
void partition_add_time(struct partition_build *b, uint32_t request, enum leaf_kind kind,
			uint32_t path, const char *label, int64_t ns, uint32_t nr);

/* partition-instances.c */
void partition_read_instances(struct partition_build *b);

/* partition-needed.c: finds the times needed for requests that are not left out */
void partition_find_needed(struct partition_build *b);
/* Returns the index of the thread's first span that starts after tick; spans are sorted. */
size_t partition_first_work(const struct partition_build *b, uint32_t tid, int64_t tick);
bool partition_is_needed(void *arg, uint32_t tid, int64_t start, int64_t end);

/*
 * partition-behind.c: makes active[] of the thread, adds the BEHIND leaves and the time in queues
 */
void partition_own(struct partition_build *b);
void partition_add_behind(struct partition_build *b);
void partition_add_queued(struct partition_build *b, const struct queued *first, size_t nr);

/* partition-sweep.c */
void partition_sweep(struct partition_build *b);
/* Only calls options.piece(). */
void partition_find_pieces(struct partition_build *b);

/* partition-names.c: stores each text, path and leaf once; NO_LEAF or UINT32_MAX: out of memory */
int partition_names_open(struct partition *p);
/* No path and no leaf is added from now on: frees what finds equal ones. */
void partition_names_settle(struct partition *p);
void partition_names_close(struct partition *p);
const char *partition_intern(struct partition *p, const char *text);
uint32_t partition_class(struct partition *p, const char *name);
uint32_t partition_path(struct partition *p, uint32_t parent, const struct symbol *func);
uint32_t partition_queue_path(struct partition *p, uint64_t queue, int64_t tick);
/* `lock` may be NULL; of equal leaves, that of the first is stored. */
uint32_t partition_leaf(struct partition *p, enum leaf_kind kind, uint32_t path,
			const char *label, const struct leaf_lock *lock);
/* Returns the leaf of the path's own function. */
uint32_t partition_function(struct partition *p, uint32_t path);
/* partition-label.c: the leaf of a segment that is not a function */
#define PARTITION_LABEL_MAX	192
enum leaf_kind partition_label(const struct segment *s, char *label);
uint32_t partition_segment_leaf(struct partition *p, const struct segment *s, uint32_t path);

#endif
