// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects the data described in report.h, and writes the report page. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/report/locks.h"
#include "analysis/report/schedstats.h"
#include "analysis/timeline/timeline.h"
#include "analysis/tracks/tracks.h"
#include "page/report-private.h"
#include "render/render.h"

/* blocks that are retained, because several of the slowest requests may need the same ones */
#define RETAINED_BYTES	(16U << 20)

static const char *const assets[] = {
	"vendor/uPlot.min.css", "report.css", "vendor/NOTICE.js", "vendor/uPlot.iife.min.js",
	"vendor/d3-dispatch.min.js", "vendor/d3-ease.min.js", "vendor/d3-array.min.js",
	"vendor/d3-color.min.js", "vendor/d3-interpolate.min.js", "vendor/d3-timer.min.js",
	"vendor/d3-hierarchy.min.js", "vendor/d3-format.min.js", "vendor/d3-scale.min.js",
	"vendor/d3-selection.min.js", "vendor/d3-transition.min.js",
	"vendor/d3-flamegraph.umd.min.js", "report-data.js", "report-table.js",
	"report-dist.js", "report-heat.js", "report-flame.js", "report.js", NULL
};

static int build_stats(struct model *m, const struct report_options *o, struct stats *stats,
		       const struct stats_entry ***rows)
{
	struct stats_options options = STATS_OPTIONS_ALL;
	int ret;

	options.from = o->from;
	options.to = o->to;
	options.thread = o->thread;
	ret = stats_build(m, &options, stats);
	if (ret)
		return ret;
	*rows = calloc(stats->nr + 1, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	for (size_t i = 0; i < stats->nr; i++)
		(*rows)[i] = &stats->entries[i];
	/*
	 * Rows are sorted as in ldb-report; rows that are equal in a sorted column remain in that
	 * order.
	 */
	functions_sort(*rows, stats->nr, functions_sort_key(0));
	return 0;
}

static int build_requests(struct model *m, const struct report_options *o, struct requests *q)
{
	struct requests_options options = REQUESTS_OPTIONS_ALL;

	options.from = o->from;
	options.to = o->to;
	options.nr_slowest = REPORT_SLOWEST;
	return requests_build(m, &options, q);
}

/* Processing segments, in the order in which they arrive */

static int on_thread(void *arg, const struct thread *t)
{
	struct report *r = arg;

	r->thread = t - r->m->threads;
	return flame_finish(&r->flame);
}

static int on_segment(void *arg, const struct segment *s)
{
	struct report *r = arg;
	int ret = s->kind == SEGMENT_FUNCTION ? report_calls_add(r, s) : 0;

	return ret ? ret : flame_segment(&r->flame, s);
}

static int read_tracks(struct report *r)
{
	struct tracks_options options = TRACKS_OPTIONS_ALL;
	struct tracks_sink sink = { .thread = on_thread, .segment = on_segment, .arg = r };
	struct tracks_result result;
	int ret;

	options.from = r->o->from;
	options.to = r->o->to;
	options.thread = r->o->thread;
	options.with_irqs = true;
	ret = tracks_each(r->m, &options, &sink, &result);
	return ret ? ret : flame_finish(&r->flame);
}

/* Widens the bins of all tables of a group to those of the widest, and sorts the tables. */
static int settle(struct cells *const *tables, size_t nr, const struct coarse *coarse)
{
	unsigned shift;
	int ret = 0;

	do {
		shift = coarse->shift;
		for (size_t i = 0; i < nr && !ret; i++)
			ret = cells_bound(tables[i]);
	} while (!ret && shift != coarse->shift);
	for (size_t i = 0; i < nr; i++)
		cells_sort(tables[i]);
	return ret;
}

static int settle_all(struct report *r)
{
	struct cells *const heat[] = { &r->instances.cells };
	struct cells *const by_time[] = { &r->calls.by_time, &r->flame.by_time };
	struct cells *const by_request[] = { &r->calls.by_request, &r->flame.by_request };
	int ret = settle(heat, 1, &r->heat);

	/*
	 * Bins of tables are at least as wide as those of the heat map, in which the user selects.
	 */
	if (r->coarse.shift < r->heat.shift)
		r->coarse.shift = r->heat.shift;
	if (r->request_coarse.shift < r->heat.shift)
		r->request_coarse.shift = r->heat.shift;
	if (!ret)
		ret = settle(by_time, 2, &r->coarse);
	return ret ? ret : settle(by_request, 2, &r->request_coarse);
}

static int gather(struct report *r)
{
	int ret = build_stats(r->m, r->o, &r->stats, &r->rows);

	if (!ret)
		ret = build_requests(r->m, r->o, &r->requests);
	if (ret)
		return ret;
	bins_init(&r->bins, r->m, r->o->from, r->o->to);
	flame_init(&r->flame, r->m, &r->bins, &r->instances, &r->coarse, &r->request_coarse);
	ret = report_requests_read(r);
	if (!ret)
		ret = report_calls_init(r);
	if (!ret)
		ret = read_tracks(r);
	return ret ? ret : settle_all(r);
}

/* Contents of the page */

static void put_functions(struct json *j, const struct model *m, const struct stats *stats,
			  const struct stats_entry *const *rows)
{
	struct render_functions f = { .model = m, .stats = stats, .rows = rows, .nr = stats->nr };

	relation_json(j, functions_printer.columns, &f);
}

static int put_requests(struct report *r, struct json *j)
{
	struct render_requests q = { .model = r->m, .requests = &r->requests };
	struct timeline *timelines;
	int ret = reader_retain_begin(r->m->reader, RETAINED_BYTES);

	if (!ret)
		ret = timelines_build(r->m, r->requests.instances, r->requests.nr_instances, &timelines);
	if (ret)
		return ret;
	q.timelines = timelines;
	relation_json(j, requests_printer.columns, &q);
	timelines_free(timelines, r->requests.nr_instances);
	return 0;
}

static int put_locks(struct report *r, struct json *j)
{
	struct locks_options options = LOCKS_OPTIONS_ALL;
	struct render_locks l = { .model = r->m };
	struct locks locks;
	int ret;

	options.from = r->o->from;
	options.to = r->o->to;
	options.thread = r->o->thread;
	ret = locks_build(r->m, &options, &locks);
	if (ret)
		return ret;
	l.locks = &locks;
	l.nr = locks.nr < REPORT_LOCKS ? locks.nr : REPORT_LOCKS;
	json_u64(j, "locks_left_out", locks.nr - l.nr);
	relation_json(j, locks_printer.columns, &l);
	locks_free(&locks);
	return 0;
}

static int put_sched(struct report *r, struct json *j)
{
	struct schedstats_options options = SCHEDSTATS_OPTIONS_ALL;
	struct render_sched s = { .model = r->m };
	struct schedstats stats;
	int ret;

	if (!r->m->has_sched) {
		json_null(j, "sched");
		return 0;
	}
	options.from = r->o->from;
	options.to = r->o->to;
	options.thread = r->o->thread;
	ret = schedstats_build(r->m, &options, &stats);
	if (ret)
		return ret;
	s.stats = &stats;
	s.nr = stats.nr < REPORT_THREADS ? stats.nr : REPORT_THREADS;
	s.nr_contexts = REPORT_CONTEXTS;
	json_u64(j, "sched_left_out", stats.nr - s.nr);
	relation_object(j, "sched", sched_printer.columns, &s);
	schedstats_free(&stats);
	return 0;
}

static void put_bins(struct report *r, struct json *j)
{
	unsigned step = 1U << r->heat.shift;

	json_flat(j);
	json_array_begin(j, "edges");
	for (unsigned i = 0; i < r->bins.nr; i += step)
		json_i64(j, NULL, r->bins.edge[i]);
	json_i64(j, NULL, r->bins.edge[r->bins.nr]);
	json_array_end(j);
	/* In tables by time, a choice is extended to multiples of this many bins. */
	json_u64(j, "time_step", 1U << (r->coarse.shift - r->heat.shift));
	json_u64(j, "request_step", 1U << (r->request_coarse.shift - r->heat.shift));
	json_u64(j, "heat_bits", HEAT_BITS);
	json_u64(j, "value_bits", VALUE_BITS);
	json_bool(j, "each_call", r->calls.is_each);
	json_bool(j, "each_request", r->instances.is_each);
	json_u64(j, "not_followed", r->instances.nr_not_followed);
	json_u64(j, "calls", r->stats.count + r->stats.open);
	json_u64(j, "bins_asked", r->bins.nr);
}

static void put_strings(struct report *r, struct json *j)
{
	json_array_begin(j, "classes");
	for (size_t i = 0; i < r->instances.nr_classes; i++)
		json_string(j, NULL, r->instances.classes[i]);
	json_array_end(j);
	json_string(j, "title", r->o->title);
	json_string(j, "thread", r->o->thread);
	json_string(j, "version", LDB_VERSION);
	json_bool(j, "has_other", r->o->other);
	json_bool(j, "is_part", r->o->from != INT64_MIN || r->o->to != INT64_MAX);
}

/* An id is in two columns, because JavaScript's numbers have only 53 bits. */
static int write_slowest(struct report *r)
{
	struct store s;

	store_init(&s, "id_low id_high");
	for (size_t i = 0; i < r->requests.nr_instances; i++)
		store_add(&s, (int64_t[]){ r->requests.instances[i].id & UINT32_MAX,
					   r->requests.instances[i].id >> 32 });
	return store_finish(&s, &r->page, "slowest");
}

static int write_tables(struct report *r)
{
	struct render_summary summary = { .model = r->m, .stats = &r->stats };
	struct json *j = page_json_begin(&r->page, "report");
	int ret;

	put_strings(r, j);
	put_bins(r, j);
	relation_object(j, "summary", summary_printer.columns, &summary);
	put_functions(j, r->m, &r->stats, r->rows);
	ret = put_requests(r, j);
	if (!ret)
		ret = put_locks(r, j);
	if (!ret)
		ret = put_sched(r, j);
	if (ret)
		return ret;
	page_json_end(&r->page);
	ret = report_requests_write(r);
	if (!ret)
		ret = report_calls_write(r);
	if (!ret)
		ret = write_slowest(r);
	return ret ? ret : flame_write(&r->flame, &r->page, "flame");
}

/* Writing the trace to compare with: its tables, and one flame graph of the whole trace */

static int on_other_thread(void *arg, const struct thread *t)
{
	return flame_finish(arg);
}

static int write_other_flame(struct report *r, const struct bins *bins)
{
	struct tracks_options options = TRACKS_OPTIONS_ALL;
	struct coarse coarse = { 9 };	/* one bin */
	struct report_requests none = { 0 };
	struct tracks_result result;
	struct flame flame;
	struct tracks_sink sink = {
		.thread = on_other_thread, .segment = flame_segment, .arg = &flame,
	};
	int ret;

	flame_init(&flame, r->o->other, bins, &none, &coarse, &coarse);
	flame.marks_requests = true;
	options.with_irqs = true;
	ret = pieces_read(r->o->other, INT64_MIN, INT64_MAX, NULL, NULL, &flame.pieces);
	if (!ret)
		ret = tracks_each(r->o->other, &options, &sink, &result);
	if (!ret)
		ret = flame_finish(&flame);
	if (!ret)
		ret = cells_bound(&flame.by_time);
	if (!ret)
		ret = cells_bound(&flame.by_request);
	if (!ret)
		ret = flame_write(&flame, &r->page, "other");
	flame_free(&flame);
	return ret;
}

static int write_other(struct report *r)
{
	struct report_options all = { .from = INT64_MIN, .to = INT64_MAX };
	struct render_summary summary = { .model = r->o->other };
	const struct stats_entry **rows = NULL;
	struct render_requests q = { .model = r->o->other };
	struct requests requests = { 0 };
	struct stats stats = { 0 };
	struct bins bins;
	struct json *j;
	int ret = build_stats(r->o->other, &all, &stats, &rows);

	if (!ret)
		ret = build_requests(r->o->other, &all, &requests);
	if (!ret) {
		for (size_t i = 0; i < requests.nr_instances; i++)
			instance_free(&requests.instances[i]);
		requests.nr_instances = 0;
		j = page_json_begin(&r->page, "other");
		json_string(j, "title", r->o->other_title);
		summary.stats = &stats;
		q.requests = &requests;
		relation_object(j, "summary", summary_printer.columns, &summary);
		put_functions(j, r->o->other, &stats, rows);
		relation_json(j, requests_printer.columns, &q);
		page_json_end(&r->page);
		bins_init(&bins, r->o->other, INT64_MIN, INT64_MAX);
		ret = write_other_flame(r, &bins);
	}
	free(rows);
	stats_free(&stats);
	requests_free(&requests);
	return ret;
}

static void free_report(struct report *r)
{
	flame_free(&r->flame);
	report_calls_free(&r->calls);
	report_requests_free(&r->instances);
	requests_free(&r->requests);
	stats_free(&r->stats);
	free(r->rows);
	free(r);
}

int report_page(struct model *m, const struct report_options *o, FILE *out)
{
	struct page_options options = { .title = o->title, .assets = assets };
	struct report *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return -ENOMEM;
	r->m = m;
	r->o = o;
	ret = gather(r);
	if (!ret) {
		page_begin(&r->page, out, &options);
		ret = write_tables(r);
		if (!ret && o->other)
			ret = write_other(r);
		page_end(&r->page);
	}
	free_report(r);
	return ret;
}
