// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose turn is when, and lists of those who have none. */
#include "replay-sim.h"

/* The heap of turns */

static bool is_before(const struct sim *s, uint32_t a, uint32_t b)
{
	const struct runner *x = &s->runners[a], *y = &s->runners[b];

	return x->at != y->at ? x->at < y->at : x->order < y->order;
}

static void heap_set(struct sim *s, size_t i, uint32_t runner)
{
	s->heap[i] = runner;
	s->runners[runner].heap = i;
}

static void heap_up(struct sim *s, size_t i, uint32_t runner)
{
	while (i && is_before(s, runner, s->heap[(i - 1) / 2])) {
		heap_set(s, i, s->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	heap_set(s, i, runner);
}

static void heap_down(struct sim *s, size_t i, uint32_t runner)
{
	for (size_t child; (child = 2 * i + 1) < s->nr_heap; i = child) {
		if (child + 1 < s->nr_heap && is_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!is_before(s, s->heap[child], runner))
			break;
		heap_set(s, i, s->heap[child]);
	}
	heap_set(s, i, runner);
}

void sim_unset_turn(struct sim *s, uint32_t runner)
{
	size_t i = s->runners[runner].heap;
	uint32_t last = s->heap[--s->nr_heap];

	s->runners[runner].heap = NONE;
	if (last == runner)
		return;
	heap_down(s, i, last);
	heap_up(s, s->runners[last].heap, last);
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
	heap_up(s, s->nr_heap++, runner);
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
