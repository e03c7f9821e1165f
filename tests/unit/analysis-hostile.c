// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This test writes valid blocks of rows with random content: everything that can be built from them
 * is built and shown in every format.  It must end, and no sanitizer may complain.
 */
#include <sys/stat.h>
#include "analysis-sample.h"
#include "export/export.h"
#include "facts/ticks.h"
#include "render/flows.h"
#include "render/pictures.h"
#include "render/render.h"
#include "render/why.h"

static FILE *null;
static uint64_t nr_shown, nr_switches, nr_off, nr_exported, nr_disorder, nr_failed, nr_parted, nr_missing;

static void show_stats(struct model *m, const struct render *r, enum stats_by by)
{
	struct stats_options o = STATS_OPTIONS_ALL;
	struct render_functions f = { .model = m, .by = by, .sorted_by = "total" };
	const struct stats_entry **rows;
	struct stats s;

	o.by = by;
	if (stats_build(m, &o, &s))
		bail_out("stats_build");
	rows = calloc(s.nr + 1, sizeof(*rows));
	for (size_t i = 0; i < s.nr; i++)
		rows[i] = &s.entries[i];
	f.stats = &s;
	f.rows = rows;
	f.nr = s.nr;
	render_as(r, RENDER_TEXT, &functions_printer, &f);
	render_as(r, RENDER_JSON, &functions_printer, &f);
	render_as(r, RENDER_CSV, &functions_printer, &f);
	text_head(r, m, &s);
	render_as(r, RENDER_TEXT, &summary_printer, &(struct render_summary){ m, &s });
	render_as(r, RENDER_JSON, &summary_printer, &(struct render_summary){ m, &s });
	nr_shown += s.nr;
	free(rows);
	stats_free(&s);
}

static void show_locks(struct model *m, const struct render *r)
{
	struct locks_options o = LOCKS_OPTIONS_ALL;
	struct render_locks show = { .model = m };
	struct locks locks;

	if (locks_build(m, &o, &locks))
		bail_out("locks_build");
	show.locks = &locks;
	show.nr = locks.nr;
	render_as(r, RENDER_TEXT, &locks_printer, &show);
	render_as(r, RENDER_JSON, &locks_printer, &show);
	render_as(r, RENDER_CSV, &locks_printer, &show);
	nr_shown += locks.nr;
	locks_free(&locks);
}

static void show_sched(struct model *m, const struct render *r)
{
	struct schedstats_options o = SCHEDSTATS_OPTIONS_ALL;
	struct render_sched show = { .model = m, .nr_contexts = 20 };
	struct schedstats s;

	for (int part = 0; part < 2; part++) {
		if (schedstats_build(m, &o, &s))
			bail_out("schedstats_build");
		show.stats = &s;
		show.nr = s.nr;
		render_as(r, RENDER_TEXT, &sched_printer, &show);
		render_as(r, RENDER_JSON, &sched_printer, &show);
		render_as(r, RENDER_CSV, &sched_printer, &show);
		nr_shown += s.nr;
		nr_switches += s.result.nr_switches;
		schedstats_free(&s);
		o.from = sample_random() % 20000;
		o.to = sample_value();
	}
}

static void show_requests(struct model *m, const struct render *r, bool has_id)
{
	struct requests_options o = REQUESTS_OPTIONS_ALL;
	struct timeline timelines[30];
	struct requests q;

	o.nr_slowest = 30;
	o.has_id = has_id;	/* selects the requests with id 0 (o.id), which are not rare */
	if (requests_build(m, &o, &q))
		bail_out("requests_build");
	if (q.nr_instances > 30)
		q.nr_instances = 30;
	for (size_t i = 0; i < q.nr_instances; i++) {
		struct render_timeline show = {
			.model = m, .timeline = &timelines[i], .nth = 1, .nr_occurrences = 1,
			.nr_lines = 20, .p50_ns = q.all.p50_ns,
		};

		if (timeline_build(m, &q.instances[i], &timelines[i]))
			bail_out("timeline_build");
		text_timeline(r, &show);
		json_timelines(r, &show, 1, i & 1);
		csv_timeline(r, &show, 1);
		nr_shown += timelines[i].nr_segments;
		for (size_t k = 0; k < timelines[i].nr_segments; k++)
			nr_off += timelines[i].segments[k].sched != NULL;
	}
	if (q.nr_instances)
		text_instances(r, m, q.instances, q.nr_instances, 1);
	render_as(r, RENDER_TEXT, &requests_printer, &(struct render_requests){ m, &q, timelines });
	render_as(r, RENDER_JSON, &requests_printer, &(struct render_requests){ m, &q, timelines });
	render_as(r, RENDER_CSV, &requests_printer, &(struct render_requests){ m, &q, timelines });
	for (size_t i = 0; i < q.nr_instances; i++)
		timeline_free(&timelines[i]);
	requests_free(&q);
}

/*
 * Checks that the shares of each request add up to its latency, or to 0 if the request is left out,
 * also for rows that make no sense, and shows the causes, chains and pictures.
 */
static void show_why(struct model *m, const struct render *r)
{
	struct partition_options o = { .from = INT64_MIN, .to = INT64_MAX };
	struct why_options wo = {
		.target_lo = 50, .target_hi = 100, .reference_lo = 40, .reference_hi = 60,
		.explain = 0.8, .nr_chains = 20, .is_strict = sample_random() % 2,
	};
	struct partition p;
	struct traits traits;
	struct why w;

	if (sample_random() % 2) {
		o.select = why_select;
		o.select_arg = &wo;
	}
	if (partition_build(m, &o, &p))
		bail_out("partition_build");
	for (size_t i = 0; i < p.nr_requests; i++) {
		int64_t sum = p.requests[i].is_left_out ? p.requests[i].latency_ns : 0;

		for (uint32_t k = 0; k < p.requests[i].nr_shares; k++)
			sum += p.shares[p.requests[i].first + k].ns;
		nr_missing += sum != p.requests[i].latency_ns;
	}
	nr_parted += p.nr_requests;
	if (why_build(&p, &wo, &w))
		bail_out("why_build");
	if (traits_build(m, &w, &traits))
		bail_out("traits_build");
	render_as(r, RENDER_TEXT, &why_printer, &(struct render_why){ m, &w, &wo, 100, 100, &traits });
	render_as(r, RENDER_CSV, &why_shares_printer, &(struct render_why){ m, &w, &wo, 100, 100, &traits });
	render_as(r, RENDER_JSON, &why_shares_printer, &(struct render_why){ m, &w, &wo, 100, 100, &traits });
	traits_free(&traits);
	for (unsigned i = 0; i < NR_PICTURES; i++)
		for (unsigned form = RENDER_TEXT; form <= RENDER_CSV; form++) {
			struct render in_form = *r;

			in_form.form = form;
			if (picture_show(&in_form, i, false, &w))
				bail_out("picture_show");
		}
	why_free(&w);
	partition_free(&p);
}

/* Checks that segments come in order and functions nest, whatever the rows say. */
struct walk {
	int64_t last, ends[256];
	unsigned nr;
};

static int walk_thread(void *arg, const struct thread *t)
{
	*(struct walk *)arg = (struct walk){ .last = INT64_MIN };
	return 0;
}

static int walk_segment(void *arg, const struct segment *s)
{
	struct walk *w = arg;

	nr_disorder += s->start < w->last || s->end < s->start;
	w->last = s->start;
	if (s->kind != SEGMENT_FUNCTION)
		return 0;
	while (w->nr && w->ends[w->nr - 1] <= s->start)
		w->nr--;
	nr_disorder += w->nr && s->end > w->ends[w->nr - 1];
	if (w->nr < 256)
		w->ends[w->nr++] = s->end;
	return 0;
}

static void export_all(struct model *m)
{
	struct tracks_options to = TRACKS_OPTIONS_ALL;
	struct walk w;
	struct tracks_sink sink = { .thread = walk_thread, .segment = walk_segment, .arg = &w };
	struct export_result result = { .nr_threads = 0 };
	struct export_options o = { .from = INT64_MIN, .to = INT64_MAX, .result = &result };
	struct tracks_result tracks;
	char err[1024], path[300], command[400];

	if (tracks_each(m, &to, &sink, &tracks))
		bail_out("tracks_each");
	snprintf(path, sizeof(path), "%s", sample_path("hostile.out"));
	snprintf(command, sizeof(command), "rm -rf %s", path);
	for (const struct export_format *f = export_formats; f->name; f++) {
		int ret;

		*err = '\0';
		ret = f->to_stream ? f->to_stream(m, &o, null, err, sizeof(err)) :
		      f->to_path(m, &o, path, err, sizeof(err));
		if (ret && !*err) {
			nr_failed++;
			diag("%s: %d", f->name, ret);
		}
		if (system(command))
			bail_out("rm");
	}
	nr_exported += result.nr[SEGMENT_FUNCTION];
}

static unsigned long nr_flows, nr_unequal;

/*
 * Returns false if times come near TICKS_MAX (36 years): they are limited, and then sums are not
 * equal.
 */
static bool is_small(const struct flowstats *s)
{
	int64_t all = 0;

	for (size_t i = 0; i < s->nr_cells; i++)
		if (s->cells[i].ns > TICKS_MAX / 64)
			return false;
		else
			all = ticks_sane(all + s->cells[i].ns);
	return all < TICKS_MAX / 64;
}

/*
 * Shows the calls between components, and checks their self times: these are differences of random
 * sums, but together they are the time of all threads.
 */
static void show_flows(struct model *m, const struct render *r)
{
	struct flows *f = flows_open(m);
	struct render_flows shown = { .model = m, .top = SIZE_MAX };
	struct flowstats_options o = { 0 };
	struct flowstats s;
	uint64_t sum = 0;

	if (!f || flowstats_build(f, &o, &s))
		bail_out("no memory");
	for (size_t i = 0; i < s.nr_parts; i++)
		sum += (uint64_t)s.parts[i].self_ns;
	nr_flows += s.nr_entries;
	nr_unequal += sum != (uint64_t)s.lifetime_ns && s.lifetime_ns < TICKS_MAX / 64 && is_small(&s);
	shown.stats = &s;
	for (shown.view = FLOWS_ALL; shown.view < NR_FLOW_VIEWS; shown.view++) {
		render_as(r, RENDER_TEXT, flows_printer(shown.view, RENDER_TEXT), &shown);
		render_as(r, RENDER_CSV, flows_printer(shown.view, RENDER_CSV), &shown);
	}
	render_as(r, RENDER_JSON, flows_printer(FLOWS_ALL, RENDER_JSON), &shown);
	flowstats_free(&s);
	flows_close(f);
}

static void show(const char *path, bool with_exports)
{
	struct render r = { .out = null, .width = 60 + sample_random() % 200, .is_verbose = true };
	struct made t = { 0 };

	snprintf(t.path, sizeof(t.path), "%s", path);
	made_open(&t);
	r.has_color = sample_random() % 2;
	show_stats(t.model, &r, STATS_BY_SITE);
	show_stats(t.model, &r, STATS_BY_MODULE);
	show_locks(t.model, &r);
	show_sched(t.model, &r);
	show_requests(t.model, &r, false);
	show_requests(t.model, &r, true);
	show_why(t.model, &r);
	show_flows(t.model, &r);
	if (with_exports)
		export_all(t.model);
	made_close(&t);
}

static void narrow_sched(struct ldb_row_sched *row, uint64_t x)
{
	static const uint32_t ops[] = {
		LDB_SCHED_OP_SWITCH, LDB_SCHED_OP_SWITCH, LDB_SCHED_OP_SWITCH, LDB_SCHED_OP_RUNNING,
		LDB_SCHED_OP_WAKING, LDB_SCHED_OP_WAKEUP, LDB_SCHED_OP_WAKEUP, LDB_SCHED_OP_MIGRATE,
		LDB_SCHED_OP_FUTEX_WAIT, LDB_SCHED_OP_FUTEX_WAKE, LDB_SCHED_OP_FORK,
		LDB_SCHED_OP_EXEC, LDB_SCHED_OP_EXIT,
	};

	row->op = ops[x % (sizeof(ops) / sizeof(ops[0]))];
	row->flags = (x >> 8) % 0x800;
	row->tid = (x >> 20) % 6;
	row->other = (x >> 24) % 6;
	row->cpu = (x >> 28) % 3;
	row->value = (x >> 32) % 4;
	row->addr = (x >> 36) % 100;
	row->gen = (x >> 44) % 64 << 16;
	/* Some rows are out of order. */
	row->tick += (int64_t)(x >> 50) % 300;
}

/* Limits the ids in random rows to small numbers, so that rows refer to each other. */
static void narrow(unsigned kind, union sample_row *r)
{
	uint64_t x = sample_random();

	switch (kind) {
	case LDB_BLK_FUNC:
		r->func.tid = x % 4;
		r->func.gen = (x >> 8) % 64 << 16;
		r->func.parent_gen = (x >> 16) % 64 << 16;
		r->func.depth = (x >> 24) % 5;
		break;
	case LDB_BLK_LOCK:
		r->lock.op = 1 + x % 2;
		r->lock.tid = (x >> 8) % 4;
		r->lock.owner = (x >> 16) % 4;
		r->lock.lock = (x >> 24) % 3;
		r->lock.gen = (x >> 32) % 64 << 16;
		break;
	case LDB_BLK_REQ:
		r->req.op = 1 + x % 4;
		r->req.tid = (x >> 8) % 4;
		r->req.id = (x >> 16) % 50;
		r->req.queue = (x >> 24) % 3;
		break;
	case LDB_BLK_THREAD:
		r->thread.tid = x % 4;
		break;
	case LDB_BLK_TASK:
		r->task.tid = x % 6;
		break;
	case LDB_BLK_SCHED:
		narrow_sched(&r->sched, x);
		break;
	case LDB_BLK_FLOW_API:
		r->flow_api.id = x % 6;
		break;
	case LDB_BLK_FLOW:
		r->flow.tid = x % 4;
		r->flow.api = (x >> 8) % 6;
		r->flow.timed = (x >> 16) % 100;
		r->flow.calls = r->flow.timed + (x >> 24) % 100;
		break;
	case LDB_BLK_FLOW_HIST:
		r->flow_hist.tid = x % 4;
		r->flow_hist.api = (x >> 8) % 6;
		r->flow_hist.bucket = (x >> 16) % (LDB_FLOW_BUCKETS + 2);
		break;
	case LDB_BLK_FLOW_CALL:
		r->flow_call.tid = x % 4;
		r->flow_call.api = (x >> 8) % 6;
		r->flow_call.gen = (x >> 16) % 64 << 16;
		r->flow_call.nr_later = (x >> 24) % 3;
		break;
	case LDB_BLK_FAULT:
		r->fault.tid = x % 4;
		break;
	case LDB_BLK_IRQ:
		r->irq.tid = x % 4;
		r->irq.kind = (x >> 8) % 5;
		break;
	}
}

static void make(const char *path, size_t nr, bool is_narrow)
{
	char err[256];
	struct writer *w = writer_open(path, &sample_header, err, sizeof(err));
	struct sample_strings s;
	union sample_row r;

	if (!w)
		bail_out(err);
	writer_add_meta(w, "flows_threshold_ns", "10");
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < SAMPLE_KINDS; k++) {
			sample_row(sample_kinds[k], &r, &s, i * 100);
			if (is_narrow)
				narrow(sample_kinds[k], &r);
			sample_write(w, sample_kinds[k], &r);
		}
	}
	if (writer_close(w))
		bail_out("writer_close");
}

/*
 * A thread that ended before it began must have no lifetime, and no share of that time may be
 * reported as the cost of polling.
 */
static void test_instance(void)
{
	struct render r = { .width = 100 };
	struct made t;
	char *text;
	size_t size;

	made_begin(&t, "instance.data");
	writer_add_meta(t.w, "budget", "5%");
	made_thread(&t, 1, "odd", 0, 1000000);
	made_open(&t);
	t.model->threads[0].start = INT64_MAX;
	t.model->threads[0].end = INT64_MIN;
	t.model->threads[0].cost_ns = 1000;
	r.out = open_memstream(&text, &size);
	text_head(&r, t.model, NULL);
	fclose(r.out);
	if (!ok(!strstr(text, "Budget:"), "no cost of polling as a share of a lifetime that cannot be"))
		diag("%s", text);
	free(text);
	made_close(&t);
}

int main(void)
{
	test_instance();
	null = fopen("/dev/null", "w");
	for (int i = 0; i < 24; i++) {
		const char *path = sample_path("hostile.data");

		make(path, 20 + 20 * i, i % 3);
		show(path, i % 3 == 1);
		unlink(path);
	}
	ok(nr_shown > 1000, "random rows are shown: %lu", (unsigned long)nr_shown);
	ok(nr_switches > 1000 && nr_off > 100, "and %lu switches, %lu times off the CPU",
	   (unsigned long)nr_switches, (unsigned long)nr_off);
	ok(nr_exported > 1000, "and exported: %lu", (unsigned long)nr_exported);
	is_int(nr_disorder, 0, "in order and nested, even so");
	ok(nr_parted > 200, "%lu requests are partitioned", (unsigned long)nr_parted);
	is_int(nr_missing, 0, "and their shares are their latency");
	ok(nr_flows > 50 && !nr_unequal, "%lu functions of libraries are summed", nr_flows);
	is_int(nr_failed, 0, "no export fails without saying why");
	fclose(null);
	return done();
}
