/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Predicts what would happen if durations changed: the recording is replayed with changed
 * durations.
 *
 * Each thread becomes a sequence of steps: compute for some time, take and release locks, sleep,
 * put requests into queues and take them out.  A simulation runs these sequences; it computes the
 * waits for locks and queues.  Arrivals, durations and delays of wake-ups are those of the
 * recording.
 *
 * Before a prediction, a replay without changes must reproduce the measured 50th and 99th
 * percentile of the latencies to within WHATIF_ERROR_MAX: the self-check.
 *
 *	GLOB*F			time inside functions of that name, times F: their self time and
 *				that of what they call, sleeps and I/O included; waits for
 *				locks and queues in them are computed by the simulation
 *	self:GLOB*F		only their self time
 *	lock:NAME*F		time with the lock held
 *	lock:NAME=sharded(N)	N locks instead of one, each acquisition takes one of them
 *	no-preempt		no thread is preempted
 *	cpus+N			a thread that waits for a CPU may take one of N new ones
 *
 * Which of several waiters gets a lock depends on its implementation and on chance, so everything
 * is replayed with several policies.  The predictions with those policies that pass the self-check
 * are a range:
 *
 *	FIFO		a lock is handed over in the order of arrival
 *	BARGING		a released lock is free until the first waiter is awake; a thread that
 *			requests it before that takes it
 *	RECORDED	as BARGING, but waiters are in the order in which they got the lock in the
 *			recording
 */
#ifndef WHATIF_REPLAY_H
#define WHATIF_REPLAY_H

#include "facts/model.h"

#define WHATIF_ERROR_MAX	0.05
#define WHATIF_CHANGES_MAX	16
#define WHATIF_ITEMS_MAX	(8U << 20)	/* events that can be replayed: some 1.5 GB */
#define WHATIF_CLASS_MIN	100		/* requests of a class that the self-check needs */

enum whatif_kind {
	WHATIF_FUNCTION,
	WHATIF_SELF,
	WHATIF_HOLD,
	WHATIF_SHARDED,
	WHATIF_NO_PREEMPT,
	WHATIF_CPUS,
};

struct whatif_change {
	const char *text;	/* as the user gave it */
	enum whatif_kind kind;
	char *name;		/* glob; owned */
	double factor;
	unsigned n;		/* shards, CPUs */
	uint64_t nr;		/* number of invocations, holds, waits for a CPU */
	int64_t ns;		/* their time, as recorded */
	int64_t resolution_ns;	/* of ns: errors of starts and ends */
};

/* Returns 0, -ENOMEM, or -EINVAL and one line in err.  text must exist as long as the change. */
int whatif_parse(const char *text, struct whatif_change *c, char *err, size_t err_size);
void whatif_change_free(struct whatif_change *c);

enum whatif_policy { WHATIF_FIFO, WHATIF_BARGING, WHATIF_RECORDED, NR_WHATIF_POLICIES };

enum whatif_point { WHATIF_P50, WHATIF_P90, WHATIF_P99, WHATIF_P999, WHATIF_MAX, NR_WHATIF_POINTS };

struct whatif_class {
	const char *name;	/* "" */
	size_t nr;		/* complete requests */
	int64_t measured_ns[NR_WHATIF_POINTS];
	/* the replay with nothing changed */
	int64_t replayed_ns[NR_WHATIF_POLICIES][NR_WHATIF_POINTS];
	int64_t predicted_ns[NR_WHATIF_POLICIES][NR_WHATIF_POINTS];
	/* the lowest and the highest of the policies that passed the self-check */
	int64_t lo_ns[NR_WHATIF_POINTS], hi_ns[NR_WHATIF_POINTS];
};

struct whatif_request {
	uint64_t id;
	const char *class;
	int64_t start_ns;
	int64_t before_ns;	/* measured */
	int64_t lo_ns, hi_ns;	/* after */
};

struct whatif_options {
	/* as parsed; whatif.changes also has their nr and ns */
	const struct whatif_change *changes;
	size_t nr_changes;
	int64_t from, to;	/* ticks: requests that start in it are counted */
	const char *class;	/* glob; NULL: all */
	size_t nr_requests;	/* how many of the requests that change most are listed */
	void (*progress)(void *arg, const char *what, double done); /* 0..1; may be NULL */
	void *progress_arg;
};
#define WHATIF_OPTIONS_ALL { NULL, 0, INT64_MIN, INT64_MAX, NULL, 10, NULL, NULL }

struct whatif {
	const struct model *model;
	struct whatif_change changes[WHATIF_CHANGES_MAX]; /* names belong to the options */
	size_t nr_changes;
	struct whatif_class all;
	struct whatif_class *classes;
	size_t nr_classes;
	struct whatif_request *requests; /* greatest change first */
	size_t nr_requests;
	uint64_t nr_changed;	/* requests whose latency changes */
	/* the error of the self-check, signed: 0.03 is 3 % too long */
	double error[NR_WHATIF_POLICIES];
	bool is_good[NR_WHATIF_POLICIES];
	size_t nr_steps, nr_threads, nr_locks, nr_queues;
	/* What the prediction is based on. */
	/* some changes are about functions, whose times are the scanner's estimates */
	bool has_functions;
	bool has_sched;
	bool has_holds;			/* holds above the threshold were recorded: --mutex=hold */
	const char *mutex;		/* the level given to --mutex; "": not known */
	int64_t lock_threshold_ns;
	uint64_t nr_waits, nr_blind_waits; /* for locks; those without a known holder */
	int64_t wait_ns, blind_ns;	/* their time */
	uint64_t nr_fixed;		/* waits with an unknown waker: they end as recorded */
	int64_t fixed_ns;
};

/*
 * Returns 0, -ENOMEM, another -errno of a temporary file, or -EINVAL and one line in err: the
 * recording cannot be replayed, or has nothing of that name.
 */
int whatif_build(struct model *m, const struct whatif_options *o, struct whatif *w, char *err,
		 size_t err_size);
void whatif_free(struct whatif *w);

#endif
