// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the replay, which is a discrete-event simulation.
 *
 * Each thread executes its steps until one takes time or has to wait; then the thread with the
 * earliest turn continues.  Turns at the same time are in the order in which they were set.  A
 * thread waits for one thing at a time, so it is in one list at most.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay-sim.h"

/* Additional CPUs */

static int64_t base_of(const struct sim *s, const struct step *st)
{
	return s->run->is_changed ? st->scaled : st->base;
}

/*
 * Must be called when the thread goes to sleep: if it runs on an additional CPU, the CPU becomes
 * free.
 */
void sim_leave_cpu(struct sim *s, uint32_t runner)
{
	uint32_t next;

	if (!s->runners[runner].has_new_cpu)
		return;
	s->runners[runner].has_new_cpu = false;
	next = sim_list_take(s, &s->cpu_waiters);
	if (next == NONE) {
		s->nr_free_cpus++;
		return;
	}
	s->runners[next].has_new_cpu = true;
	s->runners[next].wait = WAIT_NOTHING;
	sim_set_turn(s, next, s->now);
}

/* Returns true if the step takes time. */
static bool wait_for_cpu(struct sim *s, uint32_t runner, const struct step *st)
{
	struct runner *a = &s->runners[runner];

	/* A thread that did not sleep stays on its CPU. */
	if (!(st->flags & STEP_F_PREEMPTED) && !a->has_slept)
		return false;
	if (a->has_new_cpu || (s->run->no_preempt && st->flags & STEP_F_PREEMPTED))
		return false;
	if (s->nr_free_cpus) {
		s->nr_free_cpus--;
		a->has_new_cpu = true;
		return false;
	}
	if (s->run->nr_cpus) {
		a->wait = WAIT_CPU;
		sim_list_add(s, &s->cpu_waiters, runner);
	}
	sim_set_turn(s, runner, s->now + st->base);
	return true;
}

/* Queues */

static int64_t delay_of(const struct sim *s, uint32_t item, bool is_idle)
{
	const struct step *st = &s->r->steps[s->r->takes[item]];
	const struct replay_pool *pool = &s->r->pools[s->r->parts[item].pool];

	if (is_idle == !!(st->flags & STEP_F_IDLE))
		return st->base;
	return is_idle ? pool->idle_ns : pool->busy_ns;
}

/*
 * Assigns the item to a runner, which continues with the steps that followed the item's STEP_TAKE
 * in the recording.
 */
static void assign_item(struct sim *s, uint32_t runner, uint32_t item, bool is_idle)
{
	struct runner *a = &s->runners[runner];

	a->step = s->r->takes[item] + 1;
	a->wait = WAIT_NOTHING;
	sim_set_turn(s, runner, s->now + delay_of(s, item, is_idle));
}

static void put(struct sim *s, uint32_t item)
{
	uint32_t pool = s->r->parts[item].pool, taker;
	struct sim_pool *p = &s->pools[pool];

	if (s->r->takes[item] == SIZE_MAX)
		return;
	if (!s->r->pools[pool].is_shared) {
		taker = s->takers[item];
		s->takers[item] = THERE;
		if (taker != NONE)
			assign_item(s, taker, item, true);
		return;
	}
	taker = sim_list_take(s, &p->idle);
	if (taker != NONE) {
		assign_item(s, taker, item, true);
		return;
	}
	s->next_item[item] = NONE;
	if (p->items.first == NONE)
		p->items.first = item;
	else
		s->next_item[p->items.last] = item;
	p->items.last = item;
}

/*
 * The runner is at a STEP_TAKE, or at the end of its steps: it gets the next item and a turn, or
 * waits.
 */
static void take_from_pool(struct sim *s, uint32_t runner, uint32_t pool)
{
	struct sim_pool *p = &s->pools[pool];
	uint32_t item = p->items.first;

	if (item != NONE) {
		p->items.first = s->next_item[item];
		assign_item(s, runner, item, false);
		return;
	}
	s->runners[runner].wait = WAIT_WORK;
	sim_list_add(s, &p->idle, runner);
	sim_leave_cpu(s, runner);
}

static void take_recorded(struct sim *s, uint32_t runner, uint32_t item)
{
	if (s->takers[item] == THERE) {
		assign_item(s, runner, item, false);
		return;
	}
	s->takers[item] = runner;
	s->runners[runner].wait = WAIT_ITEM;
	sim_leave_cpu(s, runner);
}

/* Events, ends */

/* Returns true if the runner has to wait. */
static bool await(struct sim *s, uint32_t runner, const struct step *st)
{
	s->runners[runner].has_slept = s->events[st->object] != THERE;
	if (!s->runners[runner].has_slept)
		return false;
	s->events[st->object] = runner;
	s->runners[runner].wait = WAIT_EVENT;
	sim_leave_cpu(s, runner);
	return true;
}

static void post(struct sim *s, uint32_t event)
{
	uint32_t runner = s->events[event];

	s->events[event] = THERE;
	if (runner == NONE)
		return;
	s->runners[runner].wait = WAIT_NOTHING;
	sim_set_turn(s, runner, s->now + sim_step_of(s, runner)->base);
	s->runners[runner].step++;
}

static void end(struct sim *s, uint32_t runner)
{
	uint32_t next;

	s->runners[runner].has_exited = true;
	while ((next = sim_list_take(s, &s->exits[runner])) != NONE) {
		s->runners[next].wait = WAIT_NOTHING;
		s->runners[next].step++;
		sim_set_turn(s, next, s->now);
	}
}

/* Steps */

/* Returns true when the turn is over. */
static bool do_step(struct sim *s, uint32_t runner)
{
	struct runner *a = &s->runners[runner];
	const struct step *st = &s->r->steps[a->step];
	uint32_t pool;

	switch (st->kind) {
	case STEP_UNTIL:
		a->has_slept = st->base > s->now;
		sim_leave_cpu(s, runner);
		a->step++;
		sim_set_turn(s, runner, st->base);
		return true;
	case STEP_SLEEP:
		a->has_slept = true;
		sim_leave_cpu(s, runner);
		/* fallthrough */
	case STEP_RUN:
		a->step++;
		sim_set_turn(s, runner, s->now + base_of(s, st));
		return true;
	case STEP_DELAY:
		a->has_slept = true;
		a->step++;
		sim_set_turn(s, runner, s->now + st->base);
		return true;
	case STEP_CPU:
		if (!wait_for_cpu(s, runner, st))
			break;
		a->step++;
		return true;
	case STEP_ACQUIRE:
		if (sim_acquire(s, runner, st))
			return true;
		break;
	case STEP_RELEASE:
		sim_release(s, st);
		break;
	case STEP_BEGIN:
		if (s->begin[st->object] == INT64_MIN)
			s->begin[st->object] = s->now;
		break;
	case STEP_END:
		if (s->begin[st->object] != INT64_MIN)
			s->run->latency_ns[st->object] = s->now - s->begin[st->object];
		break;
	case STEP_PUT:
		put(s, st->object);
		break;
	case STEP_TAKE:
		pool = s->r->parts[st->object].pool;
		if (s->r->pools[pool].is_shared)
			take_from_pool(s, runner, pool);
		else
			take_recorded(s, runner, st->object);
		return true;
	case STEP_POST:
		post(s, st->object);
		break;
	case STEP_AWAIT:
		if (await(s, runner, st))
			return true;
		break;
	case STEP_JOIN:
		a->has_slept = false;
		if (s->runners[st->object].has_exited || !s->r->actors[st->object].nr_steps)
			break;
		a->wait = WAIT_EXIT;
		a->has_slept = true;
		sim_list_add(s, &s->exits[st->object], runner);
		sim_leave_cpu(s, runner);
		return true;
	default:
		sim_leave_cpu(s, runner);
		end(s, runner);
		/* A thread of a pool may get more items than in the recording. */
		if (s->r->actors[runner].pool != NONE)
			take_from_pool(s, runner, s->r->actors[runner].pool);
		return true;
	}
	a->step++;
	return false;
}

static void do_turn(struct sim *s)
{
	uint32_t runner = s->heap[0];

	s->now = s->runners[runner].at;
	sim_unset_turn(s, runner);
	/*
	 * The thread got the CPU that it also got in the recording, before an additional CPU became
	 * free.
	 */
	if (s->runners[runner].wait == WAIT_CPU) {
		s->runners[runner].wait = WAIT_NOTHING;
		sim_list_remove(s, &s->cpu_waiters, runner);
	}
	while (!do_step(s, runner))
		;
}

/* Start and end */

static int alloc(struct sim *s)
{
	const struct replay *r = s->r;
	size_t nr_locks = 0;

	s->runners = calloc(r->nr_actors + 1, sizeof(*s->runners));
	s->heap = calloc(r->nr_actors + 1, sizeof(*s->heap));
	s->first_lock = calloc(r->nr_locks + 1, sizeof(*s->first_lock));
	for (size_t i = 0; i < r->nr_locks && s->first_lock; i++) {
		s->first_lock[i] = nr_locks;
		nr_locks += s->run->is_changed ? r->locks[i].nr_shards : 1;
	}
	if (s->first_lock)
		s->first_lock[r->nr_locks] = nr_locks;
	s->locks = calloc(nr_locks + 1, sizeof(*s->locks));
	s->pools = calloc(r->nr_pools + 1, sizeof(*s->pools));
	s->next_item = calloc(r->nr_parts + 1, sizeof(*s->next_item));
	s->takers = malloc((r->nr_parts + 1) * sizeof(*s->takers));
	s->events = malloc((r->nr_events + 1) * sizeof(*s->events));
	s->exits = calloc(r->nr_actors + 1, sizeof(*s->exits));
	s->begin = malloc((r->nr_instances + 1) * sizeof(*s->begin));
	if (!s->runners || !s->heap || !s->first_lock || !s->locks || !s->pools || !s->next_item ||
	    !s->takers || !s->events || !s->exits || !s->begin)
		return -ENOMEM;
	memset(s->takers, 0xff, r->nr_parts * sizeof(*s->takers));
	memset(s->events, 0xff, r->nr_events * sizeof(*s->events));
	for (size_t i = 0; i < nr_locks; i++)
		s->locks[i].waiters.first = NONE;
	for (size_t i = 0; i < r->nr_pools; i++)
		s->pools[i].items.first = s->pools[i].idle.first = NONE;
	for (size_t i = 0; i < r->nr_actors; i++)
		s->exits[i].first = NONE;
	for (size_t i = 0; i < r->nr_instances; i++) {
		s->begin[i] = INT64_MIN;
		s->run->latency_ns[i] = -1;
	}
	return 0;
}

static void free_all(struct sim *s)
{
	free(s->runners);
	free(s->heap);
	free(s->first_lock);
	free(s->locks);
	free(s->pools);
	free(s->next_item);
	free(s->takers);
	free(s->events);
	free(s->exits);
	free(s->begin);
}

int replay_simulate(const struct replay *r, struct replay_run *run)
{
	struct sim s = { .r = r, .run = run, .cpu_waiters = { NONE, NONE }, .now = INT64_MIN,
			 .nr_free_cpus = run->nr_cpus };
	int ret = alloc(&s);

	for (size_t i = 0; i < r->nr_actors && !ret; i++) {
		s.runners[i].heap = NONE;
		s.runners[i].step = r->actors[i].first_step;
		if (r->actors[i].nr_steps)
			sim_set_turn(&s, i, INT64_MIN);
	}
	while (!ret && s.nr_heap)
		do_turn(&s);
	free_all(&s);
	return ret;
}
