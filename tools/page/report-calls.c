// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects the invocations of the report page. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "page/report-private.h"

#define NR_MEMO	(sizeof(((struct report_calls *)0)->memo) / sizeof(struct call_memo))

int report_calls_init(struct report *r)
{
	uint64_t max = r->o->calls_max ? r->o->calls_max : REPORT_CALLS_MAX;
	struct report_calls *c = &r->calls;

	c->is_each = r->stats.count + r->stats.open <= max;
	cells_init(&c->by_time, &r->coarse, true);
	cells_init(&c->by_request, &r->request_coarse, true);
	for (size_t i = 0; i < r->stats.nr; i++) {
		const struct stats_entry *e = r->rows[i];

		if (hash_add(&c->rows, stats_hash(STATS_BY_SITE, e->func, e->site), i))
			return -ENOMEM;
	}
	return 0;
}

/* Returns the number of the function's row + 1; 0: the function has no row. */
static uint32_t find_key(struct report *r, const struct symbol *func, const struct symbol *site)
{
	struct report_calls *c = &r->calls;
	struct call_memo *memo = &c->memo[((uintptr_t)func >> 4 ^ (uintptr_t)site >> 5) % NR_MEMO];
	uint32_t n;

	if (memo->func == func && memo->site == site && memo->key)
		return memo->key;
	hash_each(&c->rows, stats_hash(STATS_BY_SITE, func, site), n) {
		if (!stats_is_of(r->rows[n], STATS_BY_SITE, func, site))
			continue;
		*memo = (struct call_memo){ func, site, n + 1 };
		return n + 1;
	}
	return 0;
}

static int add_call(struct report_calls *c, const struct call *call)
{
	if (!array_room(&c->at, &c->room, c->nr, sizeof(*c->at)))
		return -ENOMEM;
	c->at[c->nr++] = *call;
	return 0;
}

/*
 * Adds a call to the cells by time and to the cells by request, because the page selects by both.
 */
static int add_cells(struct report_calls *c, const struct call *call, const struct request *q)
{
	struct cell like = { .key = call->key, .first = call->first, .last = call->last };
	int ret = cells_add(&c->by_time, &like, call->duration_ns, call->resolution_ns,
			    call->is_open);

	if (ret || !q)
		return ret;
	like = (struct cell){ .key = call->key, .place = report_place(q) };
	return cells_add(&c->by_request, &like, call->duration_ns, call->resolution_ns,
			 call->is_open);
}

int report_calls_add(struct report *r, const struct segment *s)
{
	const struct request *q = NULL;
	uint32_t key = find_key(r, s->func, s->site);
	struct call call = {
		.key = key - 1, .thread = r->thread, .is_open = s->is_truncated,
		.duration_ns = s->duration_ns, .resolution_ns = s->duration_resolution_ns,
		.first = bins_first(&r->bins, s->row_start),
		.last = bins_last(&r->bins, s->row_end),
	};

	/* Invocations whose row does not overlap the selected time are not in the report. */
	if (!key || s->row_end < r->o->from || s->row_start > r->o->to)
		return 0;
	if (s->has_req)
		q = report_request(&r->instances, s->req, s->start, s->end);
	/* A request without an end has no latency, so the page cannot select it. */
	if (q && !q->is_complete)
		q = NULL;
	if (!r->calls.is_each)
		return add_cells(&r->calls, &call, q);
	if (q)
		call.place = report_place(q);
	call.request = q ? q->number + 1 : 0;
	return add_call(&r->calls, &call);
}

/*
 * Writes the calls.  Each has the number of its request, or, if requests are summed, its place in
 * the heat map.
 */
static int write_each(struct report *r)
{
	const char *columns = r->instances.is_each ? "key first+ last+ request+ thread+ sum resolution open" :
		"key first+ last+ request+ thread+ sum resolution open class from to bucket";
	const struct report_calls *k = &r->calls;
	struct store s;

	store_init(&s, columns);
	for (const struct call *c = k->at; c < k->at + k->nr; c++)
		store_add(&s, (int64_t[]){
			c->key, coarse_first(&r->heat, c->first), coarse_last(&r->heat, c->last),
			r->instances.is_each ? c->request : 0, c->thread, c->is_open ? 0 : c->duration_ns,
			c->is_open ? 0 : c->resolution_ns, c->is_open,
			c->place.is_any ? (int64_t)c->place.class + 1 : 0,
			coarse_first(&r->heat, c->place.first), coarse_last(&r->heat, c->place.last),
			c->place.bucket });
	return store_finish(&s, &r->page, "calls");
}

int report_calls_write(struct report *r)
{
	int ret;

	if (r->calls.is_each)
		return write_each(r);
	ret = cells_write(&r->calls.by_time, &r->page, "calls", "key");
	return ret ? ret : cells_write(&r->calls.by_request, &r->page, "request_calls", "key");
}

void report_calls_free(struct report_calls *c)
{
	cells_free(&c->by_time);
	cells_free(&c->by_request);
	free(c->at);
	hash_free(&c->rows);
}
