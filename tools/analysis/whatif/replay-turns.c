// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts runners by their next turn, and implements lists of runners without a turn. */
#include "base/heap.h"
#include "replay-sim.h"

/* The heap of turns */

static bool is_before(const struct sim *s, const uint32_t *a, const uint32_t *b)
{
	const struct runner *x = &s->runners[*a], *y = &s->runners[*b];

	return x->at != y->at ? x->at < y->at : x->order < y->order;
}

static void moved(struct sim *s, const uint32_t *runner, size_t i)
{
	s->runners[*runner].heap = i;
}

HEAP(turns, uint32_t, struct sim *, is_before, moved)

void sim_unset_turn(struct sim *s, uint32_t runner)
{
	size_t i = s->runners[runner].heap;
	uint32_t last = s->heap[--s->nr_heap];

	s->runners[runner].heap = NONE;
	if (last == runner)
		return;
	turns_down(s, s->heap, s->nr_heap, i, last);
	turns_up(s, s->heap, s->runners[last].heap, last);
}

void sim_set_turn(struct sim *s, uint32_t runner, int64_t at)
{
	struct runner *a = &s->runners[runner];

	if (a->heap != NONE)
		sim_unset_turn(s, runner);
	if (at > SIM_END)
		at = SIM_END;
	a->at = at > s->now ? at : s->now;
	a->order = s->order++;
	turns_up(s, s->heap, s->nr_heap++, runner);
}

/* Lists of runners */

void sim_list_add(struct sim *s, struct list *l, uint32_t runner)
{
	s->runners[runner].next = NONE;
	if (l->first == NONE)
		l->first = runner;
	else
		s->runners[l->last].next = runner;
	l->last = runner;
}

uint32_t sim_list_take(struct sim *s, struct list *l)
{
	uint32_t first = l->first;

	if (first != NONE)
		l->first = s->runners[first].next;
	return first;
}

void sim_list_remove(struct sim *s, struct list *l, uint32_t runner)
{
	uint32_t before = NONE;

	for (uint32_t i = l->first; i != runner; i = s->runners[i].next)
		before = i;
	if (before == NONE)
		l->first = s->runners[runner].next;
	else
		s->runners[before].next = s->runners[runner].next;
	if (l->last == runner)
		l->last = before;
}

void sim_list_sort_in(struct sim *s, struct list *l, uint32_t runner)
{
	int64_t serial = sim_step_of(s, runner)->scaled;
	uint32_t before = NONE, next = l->first;

	while (next != NONE && sim_step_of(s, next)->scaled <= serial) {
		before = next;
		next = s->runners[next].next;
	}
	s->runners[runner].next = next;
	if (before == NONE)
		l->first = runner;
	else
		s->runners[before].next = runner;
	if (next == NONE)
		l->last = runner;
}
