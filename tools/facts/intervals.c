// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "base/search.h"
#include "intervals.h"

ORDER_KEY(interval_tid, struct thread_interval, tid)
ORDER_KEY(interval_start, struct thread_interval, start)

int intervals_add(struct intervals *list, uint32_t tid, int64_t start, int64_t end)
{
	return array_push(list->at, list->nr, list->room, { start, end, tid });
}

int intervals_sort(struct intervals *list)
{
	static const order_key keys[] = { interval_tid, interval_start };

	list->room = list->nr;
	return order_sort(&list->at, list->nr, sizeof(*list->at), keys, 2);
}

int intervals_merge(struct intervals *list)
{
	int ret = intervals_sort(list);
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		struct thread_interval *last = nr ? &list->at[nr - 1] : NULL, *in = &list->at[i];

		if (!last || last->tid != in->tid || last->end < in->start)
			list->at[nr++] = *in;
		else if (last->end < in->end)
			last->end = in->end;
	}
	list->nr = nr;
	return ret;
}

void intervals_free(struct intervals *list)
{
	free(list->at);
	*list = (struct intervals){ 0 };
}

size_t intervals_first(const struct intervals *list, uint32_t tid, int64_t tick)
{
	return search_by(list->at, list->nr, in, interval_is_before(in, tid, tick));
}

size_t intervals_search_near(const struct intervals *list, uint32_t tid, int64_t tick, size_t last)
{
	const struct thread_interval *at = list->at;

	/* The index to begin at must be less than nr. */
	if (last == list->nr && last)
		last--;
	return search_near(0, list->nr, last, i, interval_is_before(&at[i], tid, tick));
}
