// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores the ends of open segments; see ends.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/heap.h"
#include "export/ends.h"

static bool is_before(void *none, const struct export_end *a, const struct export_end *b)
{
	return a->at != b->at ? a->at < b->at : a->nr > b->nr;
}

HEAP(ends, struct export_end, void *, is_before, heap_moved_none)

int ends_push(struct export_ends *e, const struct export_end *end)
{
	struct export_end new = *end;

	if (!array_room(&e->heap, &e->room, e->nr, sizeof(*e->heap)))
		return -ENOMEM;
	new.nr = ++e->nr_pushed;
	ends_up(NULL, e->heap, e->nr++, new);
	return 0;
}

static struct export_end pop(struct export_ends *e)
{
	struct export_end first = e->heap[0];

	e->nr--;
	ends_down(NULL, e->heap, e->nr, 0, e->heap[e->nr]);
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
