/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations that only the files of the replay use, grouped by file.
 *
 * An item is a recorded event of a thread; a step is what is replayed.  Times are nanoseconds since
 * the start of the recording.
 */
#ifndef WHATIF_REPLAY_PRIVATE_H
#define WHATIF_REPLAY_PRIVATE_H

#include "base/array.h"
#include "base/hash.h"
#include "replay.h"

#define NONE	UINT32_MAX

enum item_kind {
	ITEM_PART,		/* span of a request; object: its index in parts[] */
	/* puts a request into a queue; object: index in parts[] of the span in the queue */
	ITEM_PUT,
	ITEM_POST,		/* wakes another thread; object: number of the event */
	ITEM_HOLD,		/* object: lock */
	/* wait for a lock; mid: when its last holder released it, unless ITEM_F_BLIND */
	ITEM_WAIT,
	ITEM_FAILED,		/* a wait for a lock that ended without the lock */
	/*
	 * asleep until another thread woke it, at mid; object: the waker, from add_posts() on the
	 * event
	 */
	ITEM_EVENT,
	/* asleep until something other than a thread of the program woke it */
	ITEM_FIXED,
	ITEM_JOIN,		/* object: actor */
	ITEM_IO,		/* asleep in I/O */
	ITEM_SLEEP,		/* asleep until a time, or for a duration */
	ITEM_RUNNABLE, ITEM_PREEMPTED,
};

#define ITEM_F_SHARED	1	/* HOLD, WAIT: as a reader */
#define ITEM_F_PAIRED	2	/* WAIT: a HOLD follows; HOLD: follows a WAIT */
#define ITEM_F_BLIND	4	/* WAIT: it is not known who held the lock */
#define ITEM_F_IDLE	8	/* a kind of sleep in which threads wait for work */

struct item {
	int64_t start, end, mid;
	uint32_t actor, object;
	uint8_t kind, flags;	/* enum item_kind, ITEM_F_* */
	/* WAIT: how often threads that did not wait took the lock during the wait */
	uint8_t nr_passes;
	/* the longest time from a release until such a thread took the lock */
	uint32_t pass_ns;
};

enum step_kind {
	STEP_RUN,		/* runs for base; for scaled, if the replay has changes */
	STEP_SLEEP,		/* sleeps, for base or scaled */
	STEP_UNTIL,		/* waits until time base */
	STEP_DELAY,		/* waits for base, which no change scales */
	STEP_CPU,		/* waits for a CPU */
	/* base: delay from the release to the acquisition; scaled: serial number */
	STEP_ACQUIRE,
	STEP_RELEASE,		/* scaled: serial number of the acquisition */
	STEP_BEGIN, STEP_END,	/* object: request instance */
	STEP_PUT, STEP_TAKE,	/* object: span in a queue; TAKE: base: delay */
	STEP_POST, STEP_AWAIT,	/* object: event; AWAIT: base: delay */
	STEP_JOIN,		/* object: actor */
	STEP_EXIT,
};

#define STEP_F_SHARED		1
#define STEP_F_WAITED		2	/* ACQUIRE: base was recorded */
#define STEP_F_IDLE		2	/* TAKE: the thread waited for the item */
#define STEP_F_PREEMPTED	4	/* CPU: another task had taken the CPU */

struct step {
	uint8_t kind, flags;
	uint32_t object;
	int64_t base, scaled;
};

struct replay_part {		/* a span of a request instance */
	int64_t start, end;
	uint64_t queue;
	uint32_t instance;
	/*
	 * the actor that worked on the request or put it into the queue; NONE: it came from outside
	 */
	uint32_t actor;
	/* on a thread: the span in a queue from which the thread took the request, or NONE */
	uint32_t item;
	uint32_t pool;		/* in a queue: index of the pool, or NONE */
	bool is_queue, is_first;
};

struct replay_instance {
	uint64_t id;
	int64_t start, end;
	const char *class;
	bool is_counted;	/* complete, and selected by the options */
};

struct replay_actor {		/* a thread, or the source of requests from outside */
	uint32_t tid;
	size_t first_step, nr_steps;
	/* the pool, if this is the only one that it takes from and is shared; else NONE */
	uint32_t pool;
};

struct replay_pool {		/* a queue and the threads that take from it */
	uint64_t queue;
	/* requests from outside: the only thread that takes them; else NONE */
	uint32_t taker;
	unsigned nr_takers;
	bool is_shared;		/* the next item goes to any thread that is free */
	/* median delays of taking: if the thread waited, and if the item waited */
	int64_t idle_ns, busy_ns;
};

struct replay_lock {
	uint64_t address;
	const struct symbol *symbol;
	int64_t handover_ns;	/* median delay from a release to the next acquisition */
	unsigned nr_shards;
	double factor;		/* the factor by which the time of holds is multiplied */
	uint32_t changes;	/* bits: changes of this lock */
};

/* a wait during which threads that came later took the lock first */
struct replay_pass {
	int64_t serial;		/* the number of the acquisition */
	/* time from a release until the waiter tries again: longer than those threads took */
	int64_t delay;
	unsigned nr;		/* how often that happened */
};

struct replay_piece {		/* from start on, the thread's time is scaled by the factor */
	int64_t start;
	uint32_t actor;
	double factor;
};

struct replay {
	struct model *m;
	const struct whatif_options *o;
	struct whatif *w;
	char *err;
	size_t err_size;
	int ret;		/* -errno after a failure: later results are not valid */
	int64_t spare[16];	/* used if there is no memory for an element */
	struct replay_instance *instances;
	size_t nr_instances, room_instances;
	struct replay_part *parts;
	size_t nr_parts, room_parts;
	struct replay_actor *actors;	/* the threads of the model come first */
	size_t nr_actors, room_actors;
	struct replay_pool *pools;
	size_t nr_pools, room_pools;
	struct replay_lock *locks;
	size_t nr_locks, room_locks;
	struct hash by_address;		/* locks */
	struct item *items;
	size_t nr_items, room_items;
	struct replay_piece *pieces;
	size_t nr_pieces, room_pieces;
	struct step *steps;
	size_t nr_steps, room_steps;
	size_t *takes;			/* by span in a queue: number of its STEP_TAKE */
	struct replay_pass *passes;	/* by serial */
	size_t nr_passes, room_passes;
	size_t nr_events;
	int64_t handover_ns;		/* median handover time of all locks */
};

/* replay.c: sets and returns ret */
__attribute__((format(printf, 2, 3))) int replay_refuse(struct replay *r, const char *format, ...);

/*
 * Returns a new element of an array, which has nr_array and room_array in the same struct.  If
 * there is no memory, ret is -ENOMEM, and the element is r->spare, which is never read.
 */
#define replay_add(r, of, array) __extension__ ({						\
	_Static_assert(sizeof(*(of)->array) <= sizeof((r)->spare), "room for one that is spare"); \
	(__typeof__((of)->array))replay_room(r, &(of)->array, &(of)->nr_##array,		\
					     &(of)->room_##array, sizeof(*(of)->array));	\
})
void *replay_room(struct replay *r, void *array, size_t *nr, size_t *room, size_t size);

/* Adds a step after the last one. */
struct step *replay_add_step(struct replay *r, enum step_kind kind, uint32_t object, int64_t base);

/* replay-read.c */
void replay_read(struct replay *r);
struct item *replay_add_item(struct replay *r, enum item_kind kind, uint32_t actor, int64_t start,
			     int64_t end, uint32_t object);

/* replay-queues.c */
void replay_read_instances(struct replay *r);
/* Adds an actor without steps, and returns its index. */
uint32_t replay_new_actor(struct replay *r, uint32_t tid);
/* Returns the actor of a tid that is not a thread of the model, or NONE. */
uint32_t replay_find_stranger(const struct replay *r, uint32_t tid);

/* replay-funcs.c: when which factor applies to a thread */
struct replay_funcs;
struct replay_funcs *replay_funcs_open(struct replay *r);
void replay_funcs_close(struct replay_funcs *f);
void replay_funcs_thread(struct replay_funcs *f, uint32_t actor);
void replay_funcs_add(struct replay_funcs *f, const struct segment *s);
void replay_funcs_end(struct replay_funcs *f);
bool replay_wants_funcs(const struct replay *r);

/* replay-waits.c */
void replay_join_waits(struct replay *r);
void replay_set_delays(struct replay *r);

/* replay-steps.c */
void replay_make_steps(struct replay *r);

/* replay-sim.c */
struct replay_run {
	enum whatif_policy policy;
	bool is_changed;	/* scaled durations, shards, CPUs */
	bool no_preempt;
	unsigned nr_cpus;	/* number of additional CPUs */
	int64_t *latency_ns;	/* by request instance; -1: it did not end */
};
int replay_simulate(const struct replay *r, struct replay_run *run);

#endif
