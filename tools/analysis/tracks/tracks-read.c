// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the rows of a trace and sorts them by thread and time.  If the number of functions is
 * limited, a pass before the others finds how long a function must be to be retained.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "facts/estimate.h"
#include "facts/instances.h"
#include "facts/lock-events.h"
#include "facts/rows.h"
#include "facts/sched-log.h"
#include "facts/tasks.h"
#include "facts/ticks.h"
#include "tracks-private.h"

/*
 * Short ranges of kernel events begin at multiples of this, so that near requests have the same
 * one.
 */
#define STEP_NS		5000000

#ifndef MEMORY		/* tests/fuzz sets a smaller one */
#define MEMORY		(192UL << 20)
#endif

/*
 * Reports progress: `done` of about nr rows were read; the reported value is between `from` and
 * `to`.
 */
static void report_progress(const struct tracks *k, const char *what, double from, double to,
			    uint64_t done, uint64_t nr)
{
	double share = nr ? (double)done / nr : 0;

	if (k->o->progress)
		k->o->progress(k->o->progress_arg, what, from + (to - from) * (share < 1 ? share : 1));
}

static bool is_selected(const struct tracks *k, uint32_t tid, int64_t tick)
{
	return !k->o->thread || model_thread_matches(k->o->thread, tid, model_thread(k->m, tid, tick));
}

static bool is_wanted(const struct tracks *k, uint32_t tid, int64_t start, int64_t end)
{
	return !k->o->wants || k->o->wants(k->o->wants_arg, tid, start, end);
}

bool tracks_wants(const struct tracks *k, uint32_t tid, int64_t start, int64_t end)
{
	return is_selected(k, tid, start) && is_wanted(k, tid, start, end);
}

/* Functions */

#define NR_FINE		64	/* buckets per power of two */

static unsigned bucket_of(uint64_t ticks)
{
	unsigned log;

	if (ticks < NR_FINE)
		return ticks;
	log = 63 - __builtin_clzll(ticks);
	return (log - 5) * NR_FINE + (ticks >> (log - 6)) % NR_FINE;
}

static uint64_t bucket_min(unsigned bucket)
{
	if (bucket < NR_FINE)
		return bucket;
	return (uint64_t)(NR_FINE + bucket % NR_FINE) << (bucket / NR_FINE - 1);
}

struct lengths {
	struct tracks *k;
	uint64_t nr_rows;
	uint64_t nr[64 * NR_FINE];
};

static int count_lengths(void *arg, const struct reader_rows *rows)
{
	struct lengths *l = arg;

	l->nr_rows += rows->nr;
	report_progress(l->k, "functions", 0, 0.1, l->nr_rows, l->k->m->seen);
	for (size_t i = 0; i < rows->nr; i++) {
		struct estimate e = estimate_func(&rows->func[i]);

		if (!l->k->o->thread || is_selected(l->k, rows->func[i].tid, e.start_max))
			l->nr[bucket_of(e.end - e.start)]++;
	}
	return 0;
}

/* Finds the least length of functions to retain, so that there are at most max_functions. */
static int find_min(struct tracks *k)
{
	struct reader_filter filter = ROWS_WITHIN(k->o->from, k->o->to);
	struct lengths *l;
	uint64_t nr = 0;
	unsigned i = 64 * NR_FINE;
	int ret;

	if (k->o->min_ns > 0)
		k->min_ticks = ticks_sane(reader_tick(k->m->reader, k->o->min_ns)) -
			       ticks_sane(reader_tick(k->m->reader, 0));
	if (!k->o->max_functions)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->k = k;
	ret = reader_each(k->m->reader, LDB_BLK_FUNC, &filter, count_lengths, l);
	while (i && nr + l->nr[i - 1] <= k->o->max_functions)
		nr += l->nr[--i];
	if (i && bucket_min(i) > (uint64_t)k->min_ticks)
		k->min_ticks = bucket_min(i);
	free(l);
	return ret;
}

static int add_funcs(void *arg, const struct reader_rows *rows)
{
	struct tracks *k = arg;
	int ret = 0;

	k->nr_read += rows->nr;
	report_progress(k, "functions", 0.2, 0.45, k->nr_read, k->m->seen);
	for (size_t i = 0; i < rows->nr && !ret; i++) {
		const struct ldb_row_func *row = &rows->func[i];
		struct estimate e = estimate_func(row);

		if (k->o->thread && !is_selected(k, row->tid, row->start_max))
			continue;
		if (e.end - e.start < k->min_ticks) {
			k->result->nr_left_out++;
			continue;
		}
		/* The row is needed if the function may have been running in the range. */
		if (!is_wanted(k, row->tid, e.start_min, e.end_max))
			continue;
		ret = spill_add(&k->funcs, model_thread_order(k->m, row->tid, row->start_max),
				e.start, row, sizeof(*row));
	}
	return ret;
}

/* Locks */

static int add_lock(void *arg, const struct lock_event *e)
{
	struct tracks *k = arg;

	if (!is_wanted(k, e->tid, e->begin, e->end))
		return 0;
	return spill_add(&k->locks, model_thread_order(k->m, e->tid, e->begin), e->begin, e,
			 sizeof(*e));
}

/* Functions and locks are read together, because functions bound the starts of holds. */
static int read_funcs_and_locks(struct tracks *k)
{
	struct lock_events_options options = {
		.from = k->o->from, .to = k->o->to, .thread = k->o->thread,
		.futexes = &k->futexes, .no_funcs = k->o->no_functions, .after = k->o->after,
	};
	struct lock_events_sink sink = { .event = add_lock, .funcs = add_funcs, .arg = k };
	int ret = lock_events_each(k->m, &options, &sink, &k->result->nr_not_kept);

	if (k->result->nr_left_out)
		k->result->min_ns = ticks_ns(k->m->reader, k->min_ticks);
	return ret;
}

/* Kernel events */

static int emit_wakeup(struct tracks *k, const struct sched_off *off)
{
	struct tracks_wakeup w = {
		.tick = off->woken, .tid = off->tid, .waker = off->waker, .cpu = off->cpu_wait,
		.waker_cpu = off->cpu_waker,
	};

	if (off->is_preempted || !off->has_woken || off->is_counted || !k->sink->wakeup)
		return 0;
	w.thread = model_thread(k->m, off->tid, off->woken);
	context_identify(k->m, &w.waker, off->woken);
	return k->sink->wakeup(k->sink->arg, &w);
}

static int on_off(void *arg, const struct sched_off *off)
{
	struct tracks *k = arg;
	/* In memory, the array of spans comes directly after the event. */
	struct {
		struct sched_off off;
		struct sched_span spans[SCHED_SPANS_MAX];
	} item;
	int ret = futexes_add(k->m, &k->futexes, off);

	if (ret || !is_selected(k, off->tid, off->out))
		return ret;
	ret = emit_wakeup(k, off);
	if (ret || off->in <= off->out || off->in < k->o->from || off->out > k->o->to ||
	    !is_wanted(k, off->tid, off->out, off->in))
		return ret;
	if (k->sink->off_before && !off->has_out)
		ret = k->sink->off_before(k->sink->arg, off->tid);
	if (ret)
		return ret;
	item.off = *off;
	memcpy(item.spans, off->spans, off->nr_spans * sizeof(*off->spans));
	return spill_add(&k->offs, model_thread_order(k->m, off->tid, off->out), off->out, &item,
			 sizeof(item.off) + off->nr_spans * sizeof(*item.spans));
}

static int on_migration(void *arg, const struct sched_migration *migration)
{
	struct tracks *k = arg;

	if (!is_selected(k, migration->tid, migration->tick))
		return 0;
	return k->sink->migration(k->sink->arg, migration);
}

static int on_cpu(void *arg, const struct sched_cpu_run *c)
{
	struct tracks *k = arg;
	struct tracks_run run = {
		.cpu = c->cpu, .who = c->who, .start = c->start, .end = c->end,
		.has_start = c->has_start, .has_end = c->has_end, .state = c->state,
	};

	context_identify(k->m, &run.who, run.start);
	return k->sink->run(k->sink->arg, &run);
}

struct reader_range tracks_sched_range(const struct model *m, int64_t start, int64_t end, int64_t before,
				       int64_t after)
{
	int64_t step = ticks_sane(reader_tick(m->reader, STEP_NS)) - ticks_sane(reader_tick(m->reader, 0));
	int64_t from = ticks_sane(start) - before, to = ticks_sane(end) + after;

	from = from > 0 && step ? from - from % step : 0;
	return (struct reader_range){ from, max(to, from + before + after + 2 * step) };
}

/*
 * Reads all kernel events, or those around the emitted range.  A range around one request is read
 * several times, and also serves requests near it: see sched-log.h.
 */
static int each_sched(struct tracks *k, const struct sched_sink *sink, struct sched_result *result)
{
	const struct tracks_options *o = k->o;
	struct reader_range range;

	if (!o->before)
		return sched_each(k->m, ticks_sane(o->from), ticks_sane(o->to) + o->after, sink, result);
	range = tracks_sched_range(k->m, o->emit_from, o->emit_to, o->before, o->after);
	range.from = min(range.from, ticks_sane(o->from));
	range.to = max(range.to, ticks_sane(o->to));
	return sink->cpu ? sched_each(k->m, range.from, range.to, sink, result) :
			   sched_log_each(k->m, range.from, range.to, sink, result);
}

static int read_sched(struct tracks *k)
{
	struct sched_sink sink = {
		.off = on_off, .migration = k->sink->migration ? on_migration : NULL,
		.cpu = k->sink->run ? on_cpu : NULL, .arg = k,
	};
	struct sched_result result;
	int ret;

	if (!k->m->has_sched)
		return 0;
	k->off_resolution_ns = sched_resolution_ns(k->m);
	ret = each_sched(k, &sink, &result);
	k->result->nr_broken = result.nr_broken;
	futexes_sort(&k->futexes);
	return ret;
}

/* Requests */

static int add_instance(struct tracks *k, const struct instance *instance)
{
	size_t parts = instance->nr_parts * sizeof(*instance->parts);
	char *item;
	int ret;

	if (!k->sink->request)
		return 0;
	if (parts > UINT32_MAX / 2)
		return -E2BIG;
	item = malloc(sizeof(*instance) + parts);
	if (!item)
		return -ENOMEM;
	memcpy(item, instance, sizeof(*instance));
	if (parts)
		memcpy(item + sizeof(*instance), instance->parts, parts);
	ret = spill_add(&k->instances, 0, instance->start, item, sizeof(*instance) + parts);
	free(item);
	return ret;
}

static int on_instance(void *arg, struct instance *instance)
{
	struct tracks *k = arg;
	struct spill *to;
	bool has_part = false;
	int ret = 0;

	if (instance->end < k->o->from || instance->start > k->o->to)
		return 0;
	for (size_t i = 0; i < instance->nr_parts && !ret; i++) {
		struct tracks_part p = { .part = instance->parts[i], .req = instance->id };

		if (!is_selected(k, p.part.tid, p.part.start))
			continue;
		has_part = true;
		if (p.part.end > instance->end)
			p.part.end = instance->end;
		if (p.part.end < p.part.start || p.part.end < k->o->from ||
		    p.part.start > k->o->to)
			continue;
		to = p.part.is_queue ? &k->queues : &k->parts;
		ret = spill_add(to, model_thread_order(k->m, p.part.tid, p.part.start),
				p.part.start, &p, sizeof(p));
	}
	return ret || !has_part ? ret : add_instance(k, instance);
}

static int add_moments(void *arg, const struct reader_rows *rows)
{
	struct tracks *k = arg;
	int ret = 0;

	for (size_t i = 0; i < rows->nr && !ret; i++) {
		const struct ldb_row_req *row = &rows->req[i];
		int64_t tick = ticks_sane(row->tick);
		struct req_moment m = { row->gen, 0 };

		if (!row->nr_later || !is_selected(k, row->tid, tick))
			continue;
		m.innermost = innermost_of(row->gen, row->nr_later);
		ret = spill_add(&k->moments, model_thread_order(k->m, row->tid, tick), tick, &m, sizeof(m));
	}
	return ret;
}

/*
 * Reads the starts and ends of requests, which bound functions; also if requests are not emitted.
 */
static int read_moments(struct tracks *k)
{
	struct reader_filter filter = ROWS_WITHIN(k->o->from, k->o->to);

	return reader_each(k->m->reader, LDB_BLK_REQ, &filter, add_moments, k);
}

/*
 * Opens the sources, each with a share of the memory.  Events that the trace does not have, or that
 * are not wanted, have no share, so that the others are less often sorted in files.
 */
static void open_sources(struct tracks *k)
{
	const struct tracks_options *o = k->o;
	const unsigned shares[NR_TRACKS_SOURCES] = {
		[0] = o->no_functions ? 0 : 6,		/* funcs */
		[1] = 2,				/* locks */
		[2] = k->m->has_sched ? 2 : 0,		/* offs */
		[3] = !o->no_requests,			/* parts */
		[4] = !o->no_requests,			/* queues */
		[5] = o->with_faults && k->m->has_faults,
		[6] = o->with_irqs && k->m->has_irqs,
		[7] = o->with_marks,
		[8] = k->sink->sample && *k->m->samples,
		[9] = k->m->has_calls,
		[10] = k->m->has_flows,
		[11] = !o->no_requests && k->sink->request ? 2 : 0,	/* instances */
		[12] = !o->no_functions,		/* moments */
	};
	size_t memory = o->memory ? o->memory : MEMORY;
	unsigned all = 0;

	for (size_t i = 0; i < NR_TRACKS_SOURCES; i++)
		all += shares[i];
	for (size_t i = 0; i < NR_TRACKS_SOURCES; i++)
		spill_open(&k->sources[i], memory / max(all, 16U) * shares[i]);
}

int tracks_read(struct tracks *k)
{
	struct instances_result result;
	int ret;

	open_sources(k);
	ret = k->o->no_functions ? 0 : find_min(k);
	if (!ret) {
		report_progress(k, "kernel events", 0.1, 0.1, 0, 0);
		ret = read_sched(k);
	}
	if (!ret) {
		report_progress(k, "functions and locks", 0.2, 0.2, 0, 0);
		ret = read_funcs_and_locks(k);
	}
	if (!ret)
		ret = tracks_read_events(k);
	if (!ret && k->m->has_calls)
		ret = tracks_sort_calls(k);
	if (!ret && k->m->has_flows)
		ret = tracks_sort_flows(k);
	if (!ret && !k->o->no_requests) {
		report_progress(k, "requests", 0.5, 0.5, 0, 0);
		ret = instances_each(k->m, on_instance, k, &result);
	}
	if (!ret && !k->o->no_functions)
		ret = read_moments(k);
	for (size_t i = 0; i < NR_TRACKS_SOURCES && !ret; i++)
		ret = spill_sort(&k->sources[i]);
	return ret;
}
