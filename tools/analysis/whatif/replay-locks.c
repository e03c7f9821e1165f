// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulates locks.  With WHATIF_FIFO a release hands the lock over to the first waiter, which owns
 * it from then on and continues after its delay.  With WHATIF_BARGING a release makes the lock
 * free; the first waiter tries to take it after its delay, and waits again if another thread was
 * faster.  WHATIF_RECORDED is as WHATIF_BARGING, but waiters are in the order in which they got the
 * lock in the recording.  Consecutive readers in the list get the lock together.
 */
#include "base/search.h"
#include "replay-sim.h"

/* Chooses one of the shards, pseudo-randomly; an acquisition and its release use the same shard. */
static struct sim_lock *lock_of(struct sim *s, const struct step *st)
{
	size_t first = s->first_lock[st->object];
	size_t nr = s->first_lock[st->object + 1] - first;
	uint64_t dice = (uint64_t)st->scaled * 0x9e3779b97f4a7c15ULL >> 32;

	return &s->locks[first + (nr > 1 ? dice % nr : 0)];
}

static bool is_free_for(const struct sim_lock *l, bool is_shared)
{
	return !l->is_taken && (is_shared || !l->nr_readers);
}

static void get(struct sim_lock *l, bool is_shared)
{
	if (is_shared)
		l->nr_readers++;
	else
		l->is_taken = true;
}

static int64_t handover_of(const struct sim *s, const struct step *st)
{
	return st->flags & STEP_F_WAITED ? st->base : s->r->locks[st->object].handover_ns;
}

/* Returns true if a thread that requests a free lock may take it before the first waiter. */
static bool may_pass(const struct sim *s, const struct step *st, uint32_t first)
{
	if (s->run->policy == WHATIF_RECORDED && !(st->flags & STEP_F_SHARED))
		return st->scaled < sim_step_of(s, first)->scaled;
	return s->run->policy != WHATIF_FIFO;
}

/*
 * In the recording, threads may have taken the lock before the waiter of this acquisition.  Returns
 * what was recorded about them; NULL: there were none.
 */
static const struct replay_pass *pass_of(const struct replay *r, int64_t serial)
{
	size_t lo = search(r->nr_passes, i, r->passes[i].serial < serial);

	return lo < r->nr_passes && r->passes[lo].serial == serial ? &r->passes[lo] : NULL;
}

/*
 * Sets the time at which a woken waiter tries again, with the delay that it had in the recording.
 */
static void set_try(struct sim *s, uint32_t runner)
{
	const struct step *st = sim_step_of(s, runner);
	const struct replay_pass *pass = st->flags & STEP_F_WAITED ?
					 pass_of(s->r, st->scaled) : NULL;

	sim_set_turn(s, runner, s->now + (pass && s->runners[runner].nr_tries < pass->nr ?
					  pass->delay : handover_of(s, st)));
}

static void wake(struct sim *s, uint32_t runner)
{
	struct runner *a = &s->runners[runner];

	if (a->is_woken)
		return;
	a->is_woken = true;
	set_try(s, runner);
}

/* Wakes the first waiter, or all readers before the first writer. */
static void wake_first(struct sim *s, const struct sim_lock *l)
{
	for (uint32_t i = l->waiters.first; i != NONE; i = s->runners[i].next) {
		bool is_shared = sim_step_of(s, i)->flags & STEP_F_SHARED;

		if (!is_free_for(l, is_shared) || (!is_shared && i != l->waiters.first))
			return;
		wake(s, i);
		if (!is_shared)
			return;
	}
}

/* Lets waiters continue, as far as the lock is free for them. */
static void serve(struct sim *s, struct sim_lock *l)
{
	if (s->run->policy != WHATIF_FIFO) {
		wake_first(s, l);
		return;
	}
	while (l->waiters.first != NONE) {
		uint32_t first = l->waiters.first;
		const struct step *st = sim_step_of(s, first);
		bool is_shared = st->flags & STEP_F_SHARED;

		if (!is_free_for(l, is_shared))
			return;
		get(l, is_shared);
		sim_list_take(s, &l->waiters);
		s->runners[first].wait = WAIT_NOTHING;
		s->runners[first].has_lock = true;
		sim_set_turn(s, first, s->now + handover_of(s, st));
	}
}

/*
 * A waiter that was woken when the lock was free tries to take it.  Returns true if it has to wait
 * again.
 */
static bool try_again(struct sim *s, uint32_t runner, const struct step *st, struct sim_lock *l)
{
	struct runner *a = &s->runners[runner];
	bool is_shared = st->flags & STEP_F_SHARED;

	a->is_woken = false;
	if (!is_free_for(l, is_shared) || (!is_shared && l->waiters.first != runner)) {
		a->nr_tries += a->nr_tries < UINT8_MAX;
		/* A waiter that sleeps again goes to the end of the list, as with futexes. */
		if (s->run->policy == WHATIF_BARGING) {
			sim_list_remove(s, &l->waiters, runner);
			sim_list_add(s, &l->waiters, runner);
		}
		return true;
	}
	get(l, is_shared);
	a->wait = WAIT_NOTHING;
	sim_list_remove(s, &l->waiters, runner);
	serve(s, l);
	return false;
}

/* Returns true if the runner has to wait. */
bool sim_acquire(struct sim *s, uint32_t runner, const struct step *st)
{
	struct runner *a = &s->runners[runner];
	struct sim_lock *l = lock_of(s, st);
	bool is_shared = st->flags & STEP_F_SHARED;

	if (a->has_lock) {
		a->has_lock = false;
		return false;
	}
	if (a->is_woken)
		return try_again(s, runner, st, l);
	a->has_slept = false;
	if (is_free_for(l, is_shared) &&
	    (l->waiters.first == NONE || may_pass(s, st, l->waiters.first))) {
		get(l, is_shared);
		return false;
	}
	a->wait = WAIT_LOCK;
	a->has_slept = true;
	a->nr_tries = 0;
	if (s->run->policy == WHATIF_RECORDED)
		sim_list_sort_in(s, &l->waiters, runner);
	else
		sim_list_add(s, &l->waiters, runner);
	sim_leave_cpu(s, runner);
	return true;
}

void sim_release(struct sim *s, const struct step *st)
{
	struct sim_lock *l = lock_of(s, st);

	if (l->nr_readers)
		l->nr_readers--;
	else
		l->is_taken = false;
	serve(s, l);
}
