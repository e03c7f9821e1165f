// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds which function, wait or interrupt a thread was in at each time; see attribution.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attribution.h"
#include "base/array.h"
#include "facts/ticks.h"

static struct attribution_item *highest(struct attribution *a)
{
	struct attribution_item *best = NULL;
	unsigned most = 0;

	for (size_t i = 0; i < a->nr_covers; i++) {
		unsigned rank = leaf_kinds[a->covers[i].kind].rank;

		if (!best || rank >= most) {
			best = &a->covers[i];
			most = rank;
		}
	}
	return best;
}

static int call_end(struct attribution *a, struct attribution_item *item)
{
	return a->end ? a->end(a->arg, item) : 0;
}

static int end_covers(struct attribution *a)
{
	size_t nr = 0;
	int ret = 0;

	for (size_t i = a->nr_covers; a->end && i-- > 0 && !ret;)
		if (a->covers[i].end <= a->cursor)
			ret = call_end(a, &a->covers[i]);
	for (size_t i = 0; i < a->nr_covers; i++)
		if (a->covers[i].end > a->cursor)
			a->covers[nr++] = a->covers[i];
	a->nr_covers = nr;
	return ret;
}

static int end_works(struct attribution *a)
{
	size_t nr = 0, nr_before = a->nr_works;
	int ret = 0;

	for (size_t i = 0; i < nr_before; i++) {
		struct attribution_item work = a->works[i];

		if (work.end > a->cursor)
			a->works[nr++] = work;
		else if (!ret)
			ret = call_end(a, &work);
	}
	a->nr_works = nr;
	return ret || nr == nr_before || !a->work ? ret : a->work(a->arg);
}

static int end_items(struct attribution *a)
{
	int ret = a->nr_covers ? end_covers(a) : 0;

	while (a->depth && a->functions[a->depth - 1].end <= a->cursor && !ret) {
		a->nr_changes++;
		ret = call_end(a, &a->functions[--a->depth]);
	}
	return ret || !a->nr_works ? ret : end_works(a);
}

/*
 * Adds an item that covers functions, such as a sleep.  If there are too many, the first one is
 * dropped.
 */
static int add_cover(struct attribution *a, const struct attribution_item *item)
{
	int ret = 0;

	if (a->nr_covers == ATTRIBUTION_COVERS_MAX) {
		ret = call_end(a, &a->covers[0]);
		memmove(a->covers, a->covers + 1, --a->nr_covers * sizeof(*a->covers));
	}
	a->covers[a->nr_covers++] = *item;
	return ret;
}

const struct attribution_item *attribution_function(const struct attribution *a, size_t nr)
{
	while (nr && a->functions[nr - 1].kind != LEAF_FUNCTION)
		nr--;
	return nr ? &a->functions[nr - 1] : NULL;
}

static int call_begin(struct attribution *a, struct attribution_begin *what,
		      struct attribution_item *item)
{
	what->around = item->place ? &a->functions[item->place - 1] : NULL;
	what->in = attribution_function(a, item->place);
	return a->begin ? a->begin(a->arg, what, item) : 0;
}

/* Makes the item of an interrupt, in the function that is the innermost one now. */
static struct attribution_item irq_item(const struct attribution *a, size_t nr, int64_t start)
{
	const struct attribution_irq *irq = &a->irqs[nr];

	return (struct attribution_item){
		.kind = irq->kind, .start = start, .end = irq->end, .place = a->depth,
		.irq = nr + 1, .nr_changes = a->nr_changes,
	};
}

static int start_irqs(struct attribution *a)
{
	int ret = 0;

	for (; a->next_irq < a->nr_irqs && a->irqs[a->next_irq].start <= a->cursor && !ret; a->next_irq++) {
		struct attribution_begin what = { .irq = &a->irqs[a->next_irq] };
		struct attribution_item item = irq_item(a, a->next_irq, a->cursor);

		if (item.end <= a->cursor)
			continue;
		ret = call_begin(a, &what, &item);
		if (!ret)
			ret = add_cover(a, &item);
	}
	return ret;
}

/* Moves the interrupts into the function that is the innermost one now. */
static int move_irqs(struct attribution *a)
{
	int ret = 0;

	for (size_t i = 0; i < a->nr_covers && !ret; i++) {
		struct attribution_item *item = &a->covers[i];
		struct attribution_begin what = { .is_moved = true };

		if (!item->irq || item->nr_changes == a->nr_changes)
			continue;
		what.irq = &a->irqs[item->irq - 1];
		ret = call_end(a, item);
		*item = irq_item(a, item->irq - 1, item->start);
		if (!ret)
			ret = call_begin(a, &what, item);
	}
	return ret;
}

/*
 * Returns the item that the thread is in from the cursor on, and reduces *until to the time at
 * which that may change.
 */
static struct attribution_item *current_item(struct attribution *a, int64_t *until)
{
	struct attribution_item *item = highest(a);

	if (!item && a->depth)
		item = &a->functions[a->depth - 1];
	if (item && item->end < *until)
		*until = item->end;
	if (item && item->irq && a->depth && a->functions[a->depth - 1].end < *until)
		*until = a->functions[a->depth - 1].end;
	if (a->next_irq < a->nr_irqs && a->irqs[a->next_irq].start < *until)
		*until = a->irqs[a->next_irq].start;
	for (size_t i = 0; i < a->nr_works; i++)
		if (a->works[i].end < *until)
			*until = a->works[i].end;
	return item;
}

int attribution_to(struct attribution *a, int64_t tick)
{
	int ret = 0;

	while (a->cursor < tick && !ret) {
		int64_t from = a->cursor, until = tick;
		struct attribution_item *item;

		ret = end_items(a);
		if (!ret)
			ret = start_irqs(a);
		if (!ret && a->nr_covers)
			ret = move_irqs(a);
		if (ret)
			return ret;
		item = current_item(a, &until);
		ret = a->spend ? a->spend(a->arg, from, until, item) : 0;
		a->cursor = until;
	}
	return ret ? ret : end_items(a);
}

/*
 * Returns how many functions and library calls contain the segment.  The record of a wait for a
 * lock has the generation of the function that waited.  So functions with a later generation did
 * not contain the wait, even if they did according to their estimated times.
 */
static size_t place_of(const struct attribution *a, const struct segment *s)
{
	size_t depth = a->depth;

	while (depth > 1 && s->kind == SEGMENT_LOCK_WAIT && s->gen &&
	       a->functions[depth - 1].kind == LEAF_FUNCTION && a->functions[depth - 1].gen > s->gen)
		depth--;
	return depth;
}

static int add_function(struct attribution *a, struct attribution_item *item)
{
	if (!array_room(&a->functions, &a->room_functions, a->depth, sizeof(*a->functions)))
		return -ENOMEM;
	a->functions[a->depth++] = *item;
	a->nr_changes++;
	return 0;
}

static int add_work(struct attribution *a, struct attribution_item *item)
{
	if (!array_room(&a->works, &a->room_works, a->nr_works, sizeof(*a->works)))
		return -ENOMEM;
	a->works[a->nr_works++] = *item;
	return a->work ? a->work(a->arg) : 0;
}

static int add_irq(struct attribution *a, const struct segment *s)
{
	if (s->end <= s->start)
		return 0;
	if (!array_room(&a->irqs, &a->room_irqs, a->nr_irqs, sizeof(*a->irqs)))
		return -ENOMEM;
	a->irqs[a->nr_irqs++] = (struct attribution_irq){
		leaf_kind_of(s), ticks_sane(s->start), ticks_sane(s->end), s->irq->name,
	};
	return 0;
}

int attribution_segment(struct attribution *a, const struct segment *s)
{
	struct attribution_begin what = { .segment = s };
	struct attribution_item item = {
		.kind = leaf_kind_of(s), .start = s->start, .end = ticks_sane(s->end),
		.gen = s->gen, .func = s->func,
	};
	int ret;

	if (s->kind == SEGMENT_IRQ)
		return add_irq(a, s);
	if (s->kind == SEGMENT_LOCK_HOLD || s->kind == SEGMENT_QUEUE || s->kind == SEGMENT_FAULT ||
	    s->kind == SEGMENT_EVENT || s->kind == SEGMENT_SYSCALL)
		return 0;
	ret = attribution_to(a, s->start);
	item.place = place_of(a, s);
	if (!ret)
		ret = call_begin(a, &what, &item);
	if (ret)
		return ret;
	if (s->kind == SEGMENT_FUNCTION || s->kind == SEGMENT_LIBCALL)
		return add_function(a, &item);
	return s->kind == SEGMENT_REQUEST ? add_work(a, &item) : add_cover(a, &item);
}

void attribution_forget(struct attribution *a)
{
	a->depth = a->nr_works = a->nr_covers = 0;
	a->nr_irqs = a->next_irq = 0;
}

void attribution_start(struct attribution *a)
{
	attribution_forget(a);
	a->cursor = -TICKS_MAX;
}

int attribution_finish(struct attribution *a)
{
	int ret = attribution_to(a, TICKS_MAX);

	attribution_start(a);
	return ret;
}

void attribution_free(struct attribution *a)
{
	free(a->functions);
	free(a->works);
	free(a->irqs);
	a->functions = a->works = NULL;
	a->irqs = NULL;
	a->room_functions = a->room_works = a->room_irqs = 0;
	attribution_start(a);
}
