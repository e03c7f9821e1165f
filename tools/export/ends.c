// SPDX-License-Identifier: GPL-2.0-or-later
/* A heap of ends; see ends.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "export/ends.h"

static bool is_before(const struct export_end *a, const struct export_end *b)
{
	return a->at != b->at ? a->at < b->at : a->nr > b->nr;
}

int ends_push(struct export_ends *e, const struct export_end *end)
{
	struct export_end new = *end;
	size_t i = e->nr;

	if (!array_room(&e->heap, &e->room, e->nr, sizeof(*e->heap)))
		return -ENOMEM;
	new.nr = ++e->nr_pushed;
	e->nr++;
	for (; i && is_before(&new, &e->heap[(i - 1) / 2]); i = (i - 1) / 2)
		e->heap[i] = e->heap[(i - 1) / 2];
	e->heap[i] = new;
	return 0;
}

static struct export_end pop(struct export_ends *e)
{
	struct export_end first = e->heap[0], last = e->heap[--e->nr];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < e->nr) {
		if (child + 1 < e->nr && is_before(&e->heap[child + 1], &e->heap[child]))
			child++;
		if (!is_before(&e->heap[child], &last))
			break;
		e->heap[i] = e->heap[child];
		i = child;
	}
	e->heap[i] = last;
	return first;
}

int ends_until(struct export_ends *e, int64_t at, int (*end)(void *arg, const struct export_end *end),
	       void *arg)
{
	int ret = 0;

	while (!ret && e->nr && e->heap[0].at <= at) {
		struct export_end first = pop(e);

		ret = end(arg, &first);
	}
	return ret;
}

void ends_free(struct export_ends *e)
{
	free(e->heap);
	*e = (struct export_ends){ 0 };
}
