// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This automaton checks calls between components: the functions, sums, lengths, and long calls.
 *
 * Each sum belongs to a known function and an existing thread, and only grows.  No more calls are
 * timed than were made, and long calls are among the timed ones.  Long calls lie within the
 * lifetime of their thread and within the recording, are not shorter than the threshold, and nest.
 *
 * Legal exceptions:
 * - Calls that a longjmp() or an exception left, and calls that had not returned at the end, may be
 *   shorter than the threshold, and end when that is noticed.
 * - Calls of a thread that switches between stacks need not nest: only those of one block of
 *   invocations are compared, and none if the program calls a function that switches.
 * - The sums of a thread may be missing: then its long calls are not checked against sums.
 * - A region is read while its thread runs: the lengths may include a few more calls than the sums.
 */
#include <inttypes.h>
#include "map.h"

struct api {
	bool is_known;
	uint32_t flags;
};

struct sum {
	struct ldb_row_flow last;	/* the sum's last row; with 0 calls if there was none */
	uint64_t nr_long;
};

struct call {
	const struct instance *instance;
	struct ldb_row_flow_call row;
};

struct flows {
	struct oracle *o;
	struct map apis, sums;		/* by id; by thread and id */
	struct call *calls;
	size_t nr_calls, nr_lengths;
	int64_t threshold;		/* ticks */
	bool has_switches;
};

#define bad(f, rule, ...)	oracle_violation((f)->o, ORACLE_FLOWS, rule, __VA_ARGS__)

static void *more(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	array = realloc(array, (nr ? 2 * nr : 1) * size);
	if (!array)
		oracle_out_of_memory();
	return array;
}

static const struct api *api_of(struct flows *f, uint32_t id, const char *what)
{
	const struct api *api = map_find(&f->apis, id);

	if (!api)
		bad(f, "flow of an unknown function", "%s of function %" PRIu32, what, id);
	return api;
}

static const struct instance *instance_of(struct flows *f, uint32_t tid, int64_t tick, const char *what)
{
	const struct instance *l = oracle_instance(f->o, tid, tick);

	if (!l && !f->o->nr_unobserved)
		bad(f, "flow of no thread", "%s of thread %" PRIu32, what, tid);
	return l;
}

static int add_api(void *arg, const struct reader_rows *rows)
{
	struct flows *f = arg;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct ldb_row_flow_api *row = &rows->flow_api[i];

		struct api *api = map_get(&f->apis, row->id);

		if (api->is_known)
			bad(f, "function twice", "%" PRIu32 ", %s", row->id, row->name);
		*api = (struct api){ true, row->flags };
		if (!row->id || !*row->name)
			bad(f, "function without a name", "%" PRIu32, row->id);
		if (row->tick > f->o->end)
			bad(f, "function after the end", "%s at %" PRId64, row->name, row->tick);
		f->has_switches |= !strcmp(row->name, "swapcontext") || !strcmp(row->name, "setcontext");
	}
	return 0;
}

static uint64_t key_of(const struct flows *f, const struct instance *l, uint32_t api)
{
	return (l ? (uint64_t)(l - f->o->instances) + 1 : 0) << 32 | api;
}

/*
 * Checks a sum of calls against the least and the greatest of them, if all of the calls were timed:
 * an estimated sum has no such bounds.
 */
static void check_exact(struct flows *f, const struct ldb_row_flow *row)
{
	if (row->timed != row->calls || !row->timed)
		return;
	if (row->sum < row->max || (row->min > 1 && row->sum / row->timed < row->min) ||
	    row->sum / row->timed > row->max)
		bad(f, "sum out of its bounds", "thread %" PRIu32 " function %" PRIu32 ": %" PRIu64 " in %" PRIu64
		    " calls of %" PRIu64 " to %" PRIu64, row->tid, row->api, row->sum, row->timed, row->min, row->max);
}

static void check_sum(struct flows *f, const struct ldb_row_flow *row)
{
	const struct api *api = api_of(f, row->api, "a sum");
	const struct instance *l = instance_of(f, row->tid, row->tick, "a sum");
	struct sum *s = map_get(&f->sums, key_of(f, l, row->api));

	if (row->timed > row->calls)
		bad(f, "timed more than called", "thread %" PRIu32 " function %" PRIu32, row->tid, row->api);
	if (row->tick > f->o->end)
		bad(f, "sum after the end", "%" PRId64, row->tick);
	if (api && api->flags & LDB_FLOW_F_NOTIME && row->timed)
		bad(f, "timed what is not timed", "function %" PRIu32, row->api);
	check_exact(f, row);
	if (s->last.calls && (row->calls < s->last.calls || row->timed < s->last.timed || row->tick < s->last.tick))
		bad(f, "sum shrinks", "thread %" PRIu32 " function %" PRIu32, row->tid, row->api);
	s->last = *row;
}

static int add_sum(void *arg, const struct reader_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		check_sum(arg, &rows->flow[i]);
	return 0;
}

static int add_length(void *arg, const struct reader_rows *rows)
{
	struct flows *f = arg;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct ldb_row_flow_hist *row = &rows->flow_hist[i];

		api_of(f, row->api, "a length");
		if (row->bucket >= LDB_FLOW_BUCKETS || !row->count)
			bad(f, "no such length", "bucket %" PRIu64 ", %" PRIu64 " calls", row->bucket, row->count);
		f->nr_lengths++;
	}
	return 0;
}

static void check_call(struct flows *f, const struct ldb_row_flow_call *row)
{
	const struct api *api = api_of(f, row->api, "a call");
	const struct instance *l = instance_of(f, row->tid, row->start, "a call");
	struct sum *s = map_find(&f->sums, key_of(f, l, row->api));

	if (row->end < row->start || row->end > f->o->end)
		bad(f, "call outside of the recording", "%" PRId64 " to %" PRId64, row->start, row->end);
	if (l && ((l->start != TICK_UNKNOWN && row->start < l->start) || (l->exited && row->end > l->end)))
		bad(f, "call outside of its thread", "thread %" PRIu32 ": %" PRId64 " to %" PRId64, row->tid,
		    row->start, row->end);
	if (!(row->flags & (LDB_FLOW_CALL_F_OPEN | LDB_FLOW_CALL_F_LEFT)) && row->end - row->start < f->threshold)
		bad(f, "call below the threshold", "%" PRId64 " ticks", row->end - row->start);
	if (api && api->flags & LDB_FLOW_F_NOTIME)
		bad(f, "timed what is not timed", "function %" PRIu32, row->api);
	if (s && ++s->nr_long > s->last.timed && !(row->flags & LDB_FLOW_CALL_F_OPEN))
		bad(f, "more long calls than calls", "thread %" PRIu32 " function %" PRIu32, row->tid, row->api);
	f->calls = more(f->calls, f->nr_calls, sizeof(*f->calls));
	f->calls[f->nr_calls++] = (struct call){ l, *row };
}

static int add_call(void *arg, const struct reader_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		check_call(arg, &rows->flow_call[i]);
	return 0;
}

/* Sorts by thread and block, then the outer calls first. */
static int by_thread(const void *pa, const void *pb)
{
	const struct call *a = pa, *b = pb;

	if (a->instance != b->instance)
		return a->instance < b->instance ? -1 : 1;
	if ((uint16_t)a->row.gen != (uint16_t)b->row.gen)
		return (uint16_t)a->row.gen < (uint16_t)b->row.gen ? -1 : 1;
	if (a->row.start != b->row.start)
		return a->row.start < b->row.start ? -1 : 1;
	return a->row.end > b->row.end ? -1 : a->row.end < b->row.end;
}

static void check_nesting(struct flows *f)
{
	const struct call **open = calloc(f->nr_calls + 1, sizeof(*open));
	size_t nr = 0;

	if (!open)
		oracle_out_of_memory();
	if (f->nr_calls)
		qsort(f->calls, f->nr_calls, sizeof(*f->calls), by_thread);
	for (size_t i = 0; i < f->nr_calls && !f->has_switches; i++) {
		const struct call *c = &f->calls[i];

		if (!c->row.gen || c->row.flags & LDB_FLOW_CALL_F_LEFT)
			continue;
		while (nr && (open[nr - 1]->instance != c->instance ||
			      (uint16_t)open[nr - 1]->row.gen != (uint16_t)c->row.gen ||
			      open[nr - 1]->row.end <= c->row.start))
			nr--;
		if (nr && c->row.end > open[nr - 1]->row.end)
			bad(f, "calls overlap", "thread %" PRIu32 ": %" PRId64 " to %" PRId64 " and %" PRId64 " to %"
			    PRId64, c->row.tid, open[nr - 1]->row.start, open[nr - 1]->row.end, c->row.start,
			    c->row.end);
		open[nr++] = c;
	}
	free(open);
}

void check_flows(struct oracle *o)
{
	const char *threshold = reader_meta(o->r, "flows_threshold_ns");
	struct flows f = { .o = o, .apis = MAP_OF(struct api), .sums = MAP_OF(struct sum) };

	if (!threshold)
		return;
	/* the threshold was rounded down when it was converted to ticks */
	f.threshold = reader_tick(o->r, strtoll(threshold, NULL, 10)) - reader_tick(o->r, 0) - 2;
	reader_each(o->r, LDB_BLK_FLOW_API, NULL, add_api, &f);
	reader_each(o->r, LDB_BLK_FLOW, NULL, add_sum, &f);
	reader_each(o->r, LDB_BLK_FLOW_HIST, NULL, add_length, &f);
	reader_each(o->r, LDB_BLK_FLOW_CALL, NULL, add_call, &f);
	check_nesting(&f);
	oracle_counts(o, ORACLE_FLOWS, "%zu functions, %zu sums, %zu lengths, %zu long calls", f.apis.nr, f.sums.nr,
		      f.nr_lengths, f.nr_calls);
	map_exit(&f.apis);
	map_exit(&f.sums);
	free(f.calls);
}
