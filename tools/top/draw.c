// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws one screen: what was observed, requests, locks, functions that are running, functions.  The
 * columns are those of ldb-report.  On a terminal each table except the last has only a few lines,
 * and the last one takes the remaining lines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/minmax.h"
#include "cli/document.h"
#include "cli/units.h"
#include "render/columns.h"
#include "render/text.h"
#include "render/wrap.h"
#include "top/top.h"

#define INDENT		4	/* indentation of continued lines */
#define SCREEN_CLASSES	3
#define SCREEN_REQUESTS	4
#define SCREEN_LOCKS	4
#define SCREEN_RUNNING	3

static void put_title(const struct render *r, const struct top_options *o, const struct view *v,
		      const struct draw_state *d)
{
	const struct snapshot_info *i = snapshot_info(v->snapshot);
	const char *cmdline = reader_meta(v->wide, "cmdline");
	char a[UNITS_ROOM], b[UNITS_ROOM], text[256], name[TEXT_ROOM];

	snprintf(text, sizeof(text), "  process %d: last %s of %s%s%s", (int)i->status.pid,
		 text_ns(i->window_ns, a), text_ns(i->status.now_ns - i->status.begin_ns, b),
		 i->status.end ? ", which has ended" : "", d->is_paused ? "  PAUSED (p)" : "");
	text_style(r, TEXT_BOLD);
	snprintf(name, sizeof(name), "%.500s", cmdline && *cmdline ? cmdline : "a program");
	text_cell(r, name, r->width > strlen(text) + 10 ? r->width - strlen(text) : 10, false);
	text_style(r, TEXT_PLAIN);
	text_cell(r, text, r->width > strlen(name) ? r->width - strlen(name) : strlen(text), false);
	fputc('\n', r->out);
}

static double per_second(uint64_t nr, int64_t ns)
{
	return ns > 0 ? nr * 1e9 / ns : 0;
}

/* Prints how many calls were observed, and what was lost. */
static void put_seen(const struct render *r, const struct view *v)
{
	const struct snapshot_info *i = snapshot_info(v->snapshot);
	char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM];
	uint64_t seen = min(i->seen, i->made);

	fprintf(r->out, "%s calls/s, %s observed",
		units_count(per_second(i->made, i->window_ns), a),
		text_share(seen, i->made, b));
	if (v->stats.seen_from_ns)
		fprintf(r->out, " (below about %s, fewer than 95 %%)",
			text_ns(v->stats.seen_from_ns, c));
	fprintf(r->out, "; %" PRIu64 " thread%s\n", i->status.nr_threads,
		i->status.nr_threads == 1 ? "" : "s");
	if (i->nr_lost || i->is_cut || v->model->nr_unobserved) {
		text_style(r, TEXT_WARN);
		if (i->nr_lost)
			fprintf(r->out, "%" PRIu64 " records lost. ", i->nr_lost);
		if (v->model->nr_unobserved)
			fprintf(r->out, "%" PRIu64 " unobserved threads. ", v->model->nr_unobserved);
		if (i->is_cut)
			fputs("The events did not fit into --memory: a shorter time is shown.", r->out);
		text_style(r, TEXT_PLAIN);
		fputc('\n', r->out);
	}
}

static void put_requests(const struct render *r, const struct view *v, size_t nr_classes,
			 size_t nr_slowest)
{
	const struct requests *q = &v->requests;

	if (!q->all.count)
		return;
	fputc('\n', r->out);
	text_classes(r, q, nr_classes);
	if (q->nr_instances && nr_slowest)
		text_slowest(r, v->model, v->timelines, min(q->nr_instances, nr_slowest));
}

/* Prints one line for each lock, with the call site at which threads waited longest. */
static void put_locks(const struct render *r, const struct view *v, size_t nr)
{
	char name[TEXT_ROOM], text[TEXT_ROOM];

	nr = min(nr, v->locks.nr);
	if (!nr || !v->locks.entries[0].waits.count)
		return;
	fputc('\n', r->out);
	text_times_heads(r, " lock, most waited for in");
	for (size_t i = 0; i < nr && v->locks.entries[i].waits.count; i++) {
		const struct lock_entry *e = &v->locks.entries[i];
		const struct lock_site *s = NULL;

		for (size_t k = 0; k < e->nr_sites && !s; k++)
			if (e->sites[k].op == LDB_LOCK_OP_WAIT)
				s = &e->sites[k];
		if (e->symbol && e->symbol->known)
			snprintf(text, sizeof(text), "%s %.400s", lock_kind_name(e->kind),
				 text_clean(e->symbol->function, name));
		else
			text_lock(e->kind, e->lock, e->symbol, text);
		text_times(r, "wait", &e->waits, text, s ? s->where : NULL);
	}
}

static void put_running(const struct render *r, const struct view *v, size_t nr)
{
	char name[TEXT_ROOM], thread[TEXT_ROOM], fit[TEXT_ROOM], place[TEXT_ROOM], a[UNITS_ROOM];

	if (!v->nr_running || !nr)
		return;
	text_styled(r, TEXT_BOLD, "\n %9s  %-20s %s\n", "running", "thread", "innermost function");
	for (size_t i = 0; i < min(nr, v->nr_running); i++) {
		const struct view_running *f = &v->running[i];

		fprintf(r->out, " %c%8s  ", f->is_at_least ? '>' : ' ', text_ns(f->ns, a));
		text_cell(r, wrap_numbered(text_thread(f->tid, f->thread, thread), 20, fit), 20, true);
		text_place(f->func->func_file, f->func->func_line, place);
		wrap_name(text_function(f->func, name),
			  r->width > 60 + strlen(place) ? r->width - 34 - strlen(place) : 26, fit);
		fprintf(r->out, " %s%s%s\n", fit, *place ? " " : "", place);
	}
}

static void put_functions(const struct render *r, const struct top_options *o,
			  const struct view *v, const struct draw_state *d)
{
	size_t skip = min(d->skip, v->nr_rows), nr = v->nr_rows - skip;

	fputc('\n', r->out);
	if (!v->nr_rows) {
		fputs("No call was observed to end.\n", r->out);
		return;
	}
	if (!d->lines)
		nr = min(nr, o->nr_rows);
	text_function_heads(r, o->by);
	for (size_t i = 0; i < nr && i < (d->lines ? d->lines : SIZE_MAX); i++)
		text_function_row(r, v->rows[skip + i], o->by);
	if (!d->lines && nr < v->nr_rows)
		fprintf(r->out, "%zu more functions.  Sorted by %s.\n", v->nr_rows - nr,
			functions_sort_key(d->sort));
}

static void put_help(const struct render *r)
{
	fputs("\n"
	      "  q                 quit; the program is left as it was\n"
	      "  s, right or left  sort the functions by another column\n"
	      "  up, down, pages   scroll the functions\n"
	      "  p or space        pause the display; the recording continues\n"
	      "  d                 write what is shown into a trace\n"
	      "  h                 show or hide this text\n"
	      "\n"
	      "Percentiles are of the calls that were observed to end in the time shown;\n"
	      "+- is the possible error of each.  See ldb-top(1).\n", r->out);
}

static void put_status(const struct render *r, const struct draw_state *d)
{
	char text[sizeof(d->note) + 128];

	snprintf(text, sizeof(text), "sorted by %s   q quit  s sort  p pause  d dump  h help%s%s",
		 functions_sort_key(d->sort), *d->note ? "   " : "", d->note);
	text_style(r, TEXT_DIM);
	text_cell(r, text, r->width, false);
	text_style(r, TEXT_PLAIN);
	fputc('\n', r->out);
}

static void put_page(const struct render *r, const struct top_options *o, const struct view *v,
		     const struct draw_state *d)
{
	bool is_screen = d->lines;

	if (!v->model) {
		fputs("ldb-top: waiting for the first numbers (q quits)\n", r->out);
		return;
	}
	put_title(r, o, v, d);
	if (is_screen)
		put_status(r, d);
	put_seen(r, v);
	if (d->is_help) {
		put_help(r);
		return;
	}
	put_requests(r, v, is_screen ? SCREEN_CLASSES : o->nr_rows,
		     is_screen ? SCREEN_REQUESTS : o->nr_rows);
	put_locks(r, v, is_screen ? SCREEN_LOCKS : o->nr_rows);
	put_running(r, v, is_screen ? SCREEN_RUNNING : o->nr_rows);
	put_functions(r, o, v, d);
	if (!is_screen)
		fputc('\n', r->out);
}

void draw_text(const struct render *r, const struct top_options *o, const struct view *v,
	       const struct draw_state *d)
{
	struct wrap w;

	put_page(wrap_begin(&w, r), o, v, d);
	wrap_end(&w, INDENT);
}

static double realtime(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec + ts.tv_nsec / 1000000 / 1e3;
}

#define ROW struct view_running
GET(get_thread, text, model_thread_name(e->thread))

FROM(site, site_rows(e->site))

static const struct column running_columns[] = {
	SAME(tid), MADE("thread", get_thread), VIA("function", func, function),
	PART_AT(NULL, site, site_columns), COLUMN("so_far_ns", ns), COLUMN("at_least", is_at_least),
	{ 0 }
};
#undef ROW

#define ROW struct view
static const struct column view_columns[] = {
	NESTED("running", running, nr_running, running_columns), { 0 }
};
#undef ROW

void draw_json(const struct render *r, const struct top_options *o, const struct view *v)
{
	const struct snapshot_info *i = snapshot_info(v->snapshot);
	struct render_functions f = {
		.model = v->model, .stats = &v->stats, .rows = v->rows, .nr = v->nr_rows, .by = o->by,
	};
	struct render_locks l = { .model = v->model, .locks = &v->locks, .nr = v->locks.nr };
	struct render_requests q = {
		.model = v->model, .requests = &v->requests, .timelines = v->timelines,
	};
	static int64_t last_tick, last_ns;
	int64_t from_ns = reader_ns(v->wide, i->from);
	struct json j;

	/*
	 * The estimated rate of the clock changes with each snapshot, but the same tick must always
	 * be printed as the same time.
	 */
	if (i->from == last_tick)
		from_ns = last_ns;
	last_tick = i->to;
	last_ns = reader_ns(v->wide, i->to);
	/* Each document is one line, so that a reader need not wait for the end of the output. */
	json_init(&j, r->out);
	json_flat(&j);
	document_begin(&j, DOCUMENT_TOP);
	json_double(&j, "time", realtime());
	json_i64(&j, "pid", i->status.pid);
	json_string(&j, "cmdline", reader_meta(v->wide, "cmdline"));
	json_i64(&j, "from_ns", from_ns);
	json_i64(&j, "to_ns", last_ns);
	json_string(&j, "ended", i->status.end);
	json_u64(&j, "threads", i->status.nr_threads);
	json_u64(&j, "calls", i->made);
	json_u64(&j, "observed_calls", i->seen);
	json_u64(&j, "events", i->nr_events);
	json_u64(&j, "lost", i->nr_lost);
	json_bool(&j, "cut", i->is_cut);
	json_i64(&j, "resolution_ns", v->stats.resolution_ns);
	json_i64(&j, "observed_from_ns", v->stats.seen_from_ns);
	json_string(&j, "sorted_by", functions_sort_key(o->sort));
	relation_json(&j, functions_printer.columns, &f);
	relation_json(&j, view_columns, v);
	relation_json(&j, requests_printer.columns, &q);
	relation_json(&j, locks_printer.columns, &l);
	json_object_end(&j);
	json_end(&j);
}
