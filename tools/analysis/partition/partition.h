/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A partition divides the time of requests: every nanosecond of every request is in exactly one
 * leaf, which is a state (states.def) at a place.  The times that ldb-why reports are sums over
 * leaves.
 *
 * A request instance is cut into pieces that do not overlap and leave nothing out: going backward
 * from its end, the thread whose span ended last gets the time back to the start of that span, then
 * the span that handed the request over to it, and so on.  Times in queues belong to the queues,
 * and the remaining time is UNKNOWN.  A thread that has several requests open (a batch) works on
 * the request that it ends next; the others are BEHIND this request.
 *
 * In a piece on a thread, a time belongs to the item that attribution.h names: an interrupt, a time
 * off the CPU, a wait for a lock, or the innermost function; else to UNKNOWN.  In a piece in a
 * queue, a time belongs to what the thread did that later took this request out: the other requests
 * on which it worked (BEHIND), else whatever else it did.
 *
 * Start and end times are converted from ticks to nanoseconds, and not durations, so that the
 * shares of a request sum to its latency exactly.
 *
 * The idea is NSight's (Haecki et al., NSDI '22, sections 4.2 and 5.2), with waits, other tasks and
 * queues in the same tree as functions.
 */
#ifndef PARTITION_PARTITION_H
#define PARTITION_PARTITION_H

#include "analysis/attribution/states.h"
#include "facts/samples.h"
#include "facts/sched.h"

/* The label of UNKNOWN time in an observation gap of the thread or of all threads. */
#define PARTITION_UNOBSERVED	"unobserved"
#define PARTITION_BETWEEN	"between threads"

/* A node of the tree of call paths; index 0 is the root, for all classes. */
struct path {
	uint32_t parent;
	uint32_t depth;			/* root: 0 */
	uint32_t leaf;			/* its FUNCTION leaf + 1; 0: none yet */
	uint32_t queue;			/* time in a queue: index in partition.queues + 1; else 0 */
	const struct symbol *func;	/* NULL: root, queue */
};

struct path_queue {
	uint64_t address;		/* 0: not known */
	const struct symbol *symbol;	/* NULL: not known */
};

/* Leaves and paths are only appended; the index of a parent is less than those of its children. */
struct leaf {
	enum leaf_kind kind;
	/* call path of the place; FUNCTION: it ends with the function */
	uint32_t path;
	/* interned: name of the lock, futex, task, class, irq, system call or library call; "" */
	const char *label;
	uint32_t lock;			/* LOCK, FUTEX: index in partition.locks + 1; else 0 */
};

struct leaf_lock {
	uint64_t address;		/* one of the lock's addresses */
	const struct symbol *site;	/* LOCK: where it waited; may be NULL */
	unsigned kind;			/* LOCK: enum ldb_lock_kind */
};

struct share {
	uint32_t leaf;
	/*
	 * invocations, waits or interrupts that began in the leaf; BEHIND: how many spans of other
	 * requests of the class ended on the thread meanwhile; at least 1
	 */
	uint32_t nr;
	/*
	 * may be 0 if nr or nr_faults is not, as for a function whose callees took all of its time
	 */
	int64_t ns;
	uint32_t nr_faults;		/* page faults in this time, if they were recorded */
	uint32_t pad;			/* while the partition is built: number of the request */
	/* ns^2: sum of the squared errors of the starts and ends of the function and its callees */
	double error2;
};

/* A sample of a thread that worked on a request. */
struct partition_sample {
	uint32_t request, leaf;
	uint32_t place;			/* index into partition.places */
};

struct request {
	uint64_t id;
	int64_t start_ns, latency_ns;	/* start_ns: since the start of the recording */
	int64_t start, end;		/* ticks */
	uint32_t class;			/* index into partition.classes */
	uint32_t tid;			/* the thread that ended the request */
	uint32_t nr_ahead;		/* spans of other requests for which it had to wait */
	uint32_t nr_shares;
	uint64_t first;			/* index into partition.shares */
	/* the resolution of functions' times: the coarsest of its frames, at most the latency */
	int64_t resolution_ns;
	int64_t latency_resolution_ns;	/* by how much the latency may be off; 0: it was tagged */
	/* resolution of times off the CPU that come from counters (counters.h) */
	int64_t off_resolution_ns;
	/* the coarsest resolution of frames that began in it, which may exceed the latency */
	int64_t noise_ns;
	bool is_left_out;		/* options.select() has left it out: it has no shares */
};

struct partition {
	struct model *m;
	struct request *requests;	/* by start */
	size_t nr_requests;
	/* sorted by request, then leaf; each leaf once per request */
	struct share *shares;
	size_t nr_shares;
	/* samples of threads that worked on requests; by time in each thread */
	struct partition_sample *samples;
	size_t nr_samples;
	struct places places;
	struct leaf *leaves;
	size_t nr_leaves;
	struct path *paths;
	size_t nr_paths;
	struct leaf_lock *locks;	/* of leaves */
	size_t nr_locks;
	struct path_queue *queues;	/* of paths */
	size_t nr_queues;
	const char **classes;		/* names, interned; "" */
	size_t nr_classes;
	uint64_t nr_incomplete;		/* requests that are left out because they did not end */
	/* requests that were put into a queue and never taken out */
	uint64_t nr_lost_handoffs;
	uint64_t nr_losses;		/* LOST rows about kernel events while requests were open */
	/* such events were recorded, so a count of 0 means that there were none */
	bool has_sched, has_faults, has_irqs;
	bool has_calls;			/* leaves of sleeps have the names of system calls */
	struct partition_names *names;	/* owns the strings */
};

/* Returns true if the path is time in a queue, whether or not the queue's address is known. */
static inline bool path_is_queue(const struct path *path)
{
	return path->queue;
}

/* Returns the lock of the leaf; if it has none, one whose members are all 0. */
static inline const struct leaf_lock *leaf_lock(const struct partition *p, const struct leaf *leaf)
{
	static const struct leaf_lock none;

	return leaf->lock ? &p->locks[leaf->lock - 1] : &none;
}

struct partition_options {
	/* ticks: requests that start in this range; with only: the range that is read */
	int64_t from, to;
	const char *class;		/* glob; NULL: all */
	void (*progress)(void *arg, const char *what, double done); /* 0..1; may be NULL */
	void *progress_arg;
	/*
	 * May be NULL.  It is called when only the requests are known, and sets is_left_out of
	 * those whose shares are not needed, so that a million requests can be processed.
	 */
	int (*select)(void *arg, struct partition *p);
	void *select_arg;
	/*
	 * NULL, or the only selected request, complete or not: only its time is read, and of other
	 * requests only the events in that time.  before and after are margins in ticks, see
	 * tracks.h.
	 */
	const struct instance *only;
	int64_t before, after;
	/*
	 * May be NULL.  Called with each segment that begins, and its leaf.  A return value other
	 * than 0 ends the build, and is returned.
	 */
	int (*begins)(void *arg, const struct segment *s, uint32_t leaf);
	/* Called with each piece on a thread, in ticks, of requests that are not left out. */
	int (*piece)(void *arg, uint32_t tid, int64_t start, int64_t end, const struct request *r);
	/* Only piece() is called, thread by thread, in order of time: there are no shares. */
	bool only_pieces;
	/*
	 * May be NULL.  If `only` is NULL, called with each request instance of the trace, complete
	 * or not, before all calls of piece().  The instance is valid until it returns.
	 */
	int (*instance)(void *arg, const struct instance *instance);
	/*
	 * Called with each time in these pieces that belongs to one leaf: thread by thread, and in
	 * order of time for each thread.
	 */
	int (*spent)(void *arg, uint32_t tid, int64_t start, int64_t end, uint32_t leaf);
	/*
	 * Called with the segments (except interrupts, faults and requests), migrations and samples
	 * of the threads that wants() selects, so that a caller that also shows the request need
	 * not read them again.  The call site of a function is not set.  wants() is used only if
	 * select or only is set.
	 */
	int (*segment)(void *arg, const struct segment *s);
	int (*sample)(void *arg, const struct sample *s);
	int (*migration)(void *arg, const struct sched_migration *m);
	bool (*wants)(void *arg, uint32_t tid, int64_t start, int64_t end);
	void *arg;		/* argument of begins() and of the functions after it */
};

/*
 * Returns 0, -ENOMEM, another -errno of a temporary file, or what a function of the options has
 * returned.  One model may be used by one thread at a time.
 */
int partition_build(struct model *m, const struct partition_options *o, struct partition *p);
void partition_free(struct partition *p);

/* Returns true if both symbols, of any addresses, belong to the same function, or are NULL. */
bool path_same_function(const struct symbol *a, const struct symbol *b);

/* Returns the name of a path's node: the function's, "queue NAME" or "".  It is interned. */
const char *path_name(const struct partition *p, uint32_t path);

/* Writes "main;serve;lookup": outermost first; cut to size.  Returns buf. */
char *path_text(const struct partition *p, uint32_t path, char *buf, size_t size);

#endif
