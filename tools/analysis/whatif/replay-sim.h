/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that only the files of the simulation use, grouped by file. */
#ifndef WHATIF_REPLAY_SIM_H
#define WHATIF_REPLAY_SIM_H

#include "replay-private.h"

enum wait_for { WAIT_NOTHING, WAIT_LOCK, WAIT_ITEM, WAIT_WORK, WAIT_EVENT, WAIT_EXIT, WAIT_CPU };

struct runner {			/* a thread */
	size_t step;
	int64_t at;		/* its next turn, if it has one */
	uint32_t heap;		/* its position in the heap, or NONE */
	uint64_t order;
	uint32_t next;		/* next one in the list in which it waits */
	uint8_t wait;
	bool is_woken;		/* not with FIFO: it will try again to take the lock */
	uint8_t nr_tries;	/* failed attempts */
	bool has_slept;		/* it slept in its last wait */
	bool has_lock;		/* the lock for which it waited was handed over to it */
	bool has_new_cpu;
	bool has_exited;
};

/* No turn is later than this.  A step is so short that the sum of both does not overflow. */
#define SIM_END		(INT64_MAX / 2)

struct list {			/* a list of runners or of items */
	uint32_t first, last;
};

struct sim_lock {
	uint32_t nr_readers;
	bool is_taken;		/* by a writer */
	struct list waiters;
};

struct sim_pool {
	struct list items, idle;
};

struct sim {
	const struct replay *r;
	struct replay_run *run;
	struct runner *runners;
	uint32_t *heap;
	size_t nr_heap;
	uint64_t order;
	struct sim_lock *locks;
	size_t *first_lock;	/* by lock: index of its first shard */
	struct sim_pool *pools;
	uint32_t *next_item;	/* by span in a queue: next one in the list of its pool */
	/* by span in a queue: the actor that waits for it; THERE: it was put into the queue */
	uint32_t *takers;
	uint32_t *events;	/* by event: the actor that waits for it; THERE: it has happened */
	struct list *exits;	/* by actor: the actors that wait for its end */
	struct list cpu_waiters;
	unsigned nr_free_cpus;
	int64_t now;
	int64_t *begin;		/* by request instance */
};

#define THERE	(UINT32_MAX - 1)

static inline const struct step *sim_step_of(const struct sim *s, uint32_t runner)
{
	return &s->r->steps[s->runners[runner].step];
}

/* replay-turns.c: turns of threads, and lists of threads without a turn */
void sim_set_turn(struct sim *s, uint32_t runner, int64_t at);
void sim_unset_turn(struct sim *s, uint32_t runner);
void sim_list_add(struct sim *s, struct list *l, uint32_t runner);
uint32_t sim_list_take(struct sim *s, struct list *l);	/* the first, or NONE */
void sim_list_remove(struct sim *s, struct list *l, uint32_t runner);
/* Inserts the runner before those that got the lock later in the recording. */
void sim_list_sort_in(struct sim *s, struct list *l, uint32_t runner);

/* replay-locks.c */
bool sim_acquire(struct sim *s, uint32_t runner, const struct step *st);
void sim_release(struct sim *s, const struct step *st);

/* replay-sim.c */
void sim_leave_cpu(struct sim *s, uint32_t runner);

#endif
