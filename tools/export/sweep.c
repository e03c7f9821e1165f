// SPDX-License-Identifier: GPL-2.0-or-later
/* Begins, ends, and the times between; see sweep.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/sweep.h"

static int pass(struct sweep *w, int64_t to)
{
	int64_t from = w->now;

	if (to <= from)
		return 0;
	w->now = to;
	return w->nr_open && w->pass ? w->pass(w->arg, from, to) : 0;
}

static int end(struct sweep *w, size_t i)
{
	int ret = w->end ? w->end(w->arg, &w->open[i]) : 0;

	memmove(&w->open[i], &w->open[i + 1], (w->nr_open - i - 1) * sizeof(*w->open));
	w->nr_open--;
	return ret;
}

static int advance(struct sweep *w, int64_t to)
{
	int ret = 0;

	while (w->nr_open && !ret) {
		size_t first = w->nr_open - 1;

		for (size_t i = first; i-- > 0;)
			if (w->open[i].s.end_ns < w->open[first].s.end_ns)
				first = i;
		if (w->open[first].s.end_ns > to)
			break;
		ret = pass(w, w->open[first].s.end_ns);
		if (!ret)
			ret = end(w, first);
	}
	return ret ? ret : pass(w, to);
}

int sweep_segment(struct sweep *w, const struct segment *s)
{
	struct sweep_open *o;
	int ret = advance(w, s->start_ns);

	if (ret)
		return ret;
	if (!w->nr_open)
		w->now = s->start_ns;
	if (w->nr_open == w->room_open) {
		size_t room = w->room_open ? 2 * w->room_open : 64;
		struct sweep_open *open = reallocarray(w->open, room, sizeof(*open));

		if (!open)
			return -ENOMEM;
		w->open = open;
		w->room_open = room;
	}
	o = &w->open[w->nr_open++];
	*o = (struct sweep_open){ .s = *s };
	ret = w->begin ? w->begin(w->arg, o) : 0;
	o->s.sched = NULL;	/* it lives no longer than the call */
	return ret;
}

int sweep_finish(struct sweep *w)
{
	int ret = 0;

	while (w->nr_open && !ret) {
		int64_t last = w->open[0].s.end_ns;

		for (size_t i = 1; i < w->nr_open; i++)
			if (w->open[i].s.end_ns > last)
				last = w->open[i].s.end_ns;
		ret = advance(w, last);
	}
	w->nr_open = 0;
	w->now = INT64_MIN;
	return ret;
}

void sweep_free(struct sweep *w)
{
	free(w->open);
	w->open = NULL;
	w->nr_open = w->room_open = 0;
}

struct sweep_open *sweep_function(const struct sweep *w)
{
	for (size_t i = w->nr_open; i-- > 0;)
		if (w->open[i].s.kind == SEGMENT_FUNCTION)
			return &w->open[i];
	return NULL;
}
